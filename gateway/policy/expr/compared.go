package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// comparing are functions that compare what they are given, or what is in it; dyn hides what that is.
var comparing = []string{
	operators.Equals, operators.NotEquals, operators.In, "distinct", "sets.contains", "sets.equivalent", "sets.intersects",
	"hasOnly", "hasAny", "hasAll", "hasExactly", "dyn",
}

// compared refuses to compare objects of which only members are read, such as calls: it would err for every call, or, in a list, be
// false.
func (w *wording) compared(e ast.Expr) []Fault {
	name := e.AsCall().FunctionName()
	if !slices.Contains(comparing, name) {
		return nil
	}
	args := argsOf(e)
	if slices.ContainsFunc(args, isEmptyList) && name != "dyn" {
		return nil
	}
	for _, arg := range args {
		if w.holdsLazy(w.ast.GetType(arg.ID()), maxLazy) {
			f := Fault{Reason: shorten(w.text(arg)) + " is compared with nothing: only its members are", Want: "x.key == y.key"}
			if name == operators.In || !strings.ContainsAny(name, "_@") {
				f.Want = "x.map(e, e.key)"
			}
			return []Fault{w.at(first(arg), f)}
		}
	}
	return nil
}

// isEmptyList reports [], with which any list may be compared: nothing in it is.
func isEmptyList(e ast.Expr) bool { return e.Kind() == ast.ListKind && e.AsList().Size() == 0 }

// maxLazy bounds how deep such objects are looked for.
const maxLazy = 8

// holdsLazy reports a type of whose values something is an object of which only members are read.
func (w *wording) holdsLazy(t *types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	if o := w.scope.provider.objects[structName(t)]; o != nil {
		return o.lazy || slices.ContainsFunc(o.fields, func(f Field) bool { return holdsLazyType(f.Type, depth-1) })
	}
	return slices.ContainsFunc(t.Parameters(), func(p *types.Type) bool { return w.holdsLazy(p, depth-1) })
}

func holdsLazyType(t Type, depth int) bool {
	switch {
	case depth == 0:
		return false
	case t.object != nil:
		return t.object.lazy || slices.ContainsFunc(t.object.fields, func(f Field) bool { return holdsLazyType(f.Type, depth-1) })
	case t.item != nil:
		return holdsLazyType(*t.item, depth-1)
	}
	return false
}
