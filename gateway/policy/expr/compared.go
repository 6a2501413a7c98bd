package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// comparing are functions that compare their arguments or the items of these. dyn hides the type, so that a later comparison
// cannot be seen.
var comparing = []string{
	operators.Equals, operators.NotEquals, operators.In, "distinct", "sets.contains", "sets.equivalent", "sets.intersects",
	"hasOnly", "hasAny", "hasAll", "hasExactly", "dyn",
}

// compared returns the fault of a call that compares objects made by [MembersOnly]. Such a comparison fails in every
// evaluation, or is false if the objects are in a list.
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
			f := Fault{Reason: onlyMembersCompared(shorten(w.text(arg))), Want: wantKeysCompared}
			if name == operators.In || !strings.ContainsAny(name, "_@") {
				f.Want = wantKeysMapped
			}
			return []Fault{w.at(first(arg), f)}
		}
	}
	return nil
}

// isEmptyList reports the literal []. It has no items, so any list may be compared with it.
func isEmptyList(e ast.Expr) bool { return e.Kind() == ast.ListKind && e.AsList().Size() == 0 }

// maxLazy bounds how deep a type is searched for such objects.
const maxLazy = 8

// holdsLazy reports whether values of a type hold an object made by [MembersOnly].
func (w *wording) holdsLazy(t *types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	if o := w.scope.provider.objects[structName(t)]; o != nil {
		return o.lazy || slices.ContainsFunc(o.fields, func(f Field) bool { return holdsLazyType(f.Type, depth-1) })
	}
	return slices.ContainsFunc(t.Parameters(), func(p *types.Type) bool { return w.holdsLazy(p, depth-1) })
}

// holdsLazyType is holdsLazy for a [Type].
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
