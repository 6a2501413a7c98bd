package expr

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"

	"patterngate/catalog"
	"patterngate/ijson"
)

// wording writes the faults of one expression. It uses the names of the schemas, not those of the checker.
type wording struct {
	scope    *Checker
	source   common.Source
	ast      *ast.AST
	names    []string        // of the variables
	types    map[string]Type // of the variables
	warnings []Fault
}

// at places a fault at an expression.
func (w *wording) at(e ast.Expr, f Fault) Fault {
	location := w.ast.SourceInfo().GetStartLocation(e.ID())
	return placed(f, w.source, location.Line(), location.Column())
}

// atMember places a fault at the name of a member, which is behind a dot after the operand.
func (w *wording) atMember(e ast.Expr, name string, f Fault) Fault {
	f = w.at(e, f)
	from := f.Offset
	if operand, _, ok := Selection(e); ok {
		from = w.at(operand, Fault{}).Offset
	}
	text := w.source.Content()
	for at := from; at < len(text); {
		next := strings.Index(text[at:], name)
		if next < 0 {
			break
		}
		at += next
		before := strings.TrimRight(text[from:at], "?` \t\r\n")
		if strings.HasSuffix(before, ".") && !isWord(text[at+len(name):]) {
			return moved(f, text, at)
		}
		at += len(name)
	}
	return f
}

// isWord reports whether a text begins with a character of a name.
func isWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// atFunction places a fault at the name of a function, before the parenthesis of a call.
func (w *wording) atFunction(e ast.Expr, name string, f Fault) Fault {
	f = w.at(e, f)
	text := w.source.Content()
	if before := strings.TrimRight(text[:f.Offset], " \t\n"); strings.HasSuffix(before, name) {
		return moved(f, text, len(before)-len(name))
	}
	return f
}

// moved places a fault at an offset of the text.
func moved(f Fault, text string, offset int) Fault {
	before := text[:offset]
	f.Offset = offset
	f.Line = 1 + strings.Count(before, "\n")
	f.Column = 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return f
}

// text returns an expression as people write it; "" if a macro made it.
func (w *wording) text(e ast.Expr) string {
	text, err := parser.Unparse(e, w.ast.SourceInfo())
	if err != nil {
		return ""
	}
	return text
}

// fault turns an error of the checker into a fault.
func (w *wording) fault(found *common.Error) Fault {
	e := find(w.ast.Expr(), found.ExprID)
	if e == nil {
		return placed(Fault{Reason: plainWords(found.Message)}, w.source, found.Location.Line(), found.Location.Column())
	}
	switch first, _, _ := strings.Cut(found.Message, "'"); strings.TrimSpace(first) {
	case "undefined field":
		return w.undefined(e)
	case "undeclared reference to":
		return w.undeclared(e, between(found.Message))
	case "found no matching overload for":
		return w.at(e, w.overload(e))
	case "type":
		if operand, field, ok := Selection(e); ok {
			t := w.ast.GetType(operand.ID())
			f := Fault{Reason: noMemberIn(field, celWords(t))}
			if counted := t.Kind() == types.StringKind || t.Kind() == types.ListKind; counted && otherFunctions[field] == "size" {
				f.Want = sizeOf(shorten(w.text(operand)))
			}
			return w.atMember(e, field, f)
		}
	}
	return w.at(e, Fault{Reason: plainWords(found.Message)})
}

// undefined is the fault of a member that an object does not have.
func (w *wording) undefined(e ast.Expr) Fault {
	operand, field, ok := Selection(e)
	if !ok {
		return w.at(e, Fault{Reason: noSuchMember})
	}
	o := w.scope.provider.objects[structName(w.ast.GetType(operand.ID()))]
	if o == nil {
		return w.atMember(e, field, Fault{Reason: noMember(field)})
	}
	return w.atMember(e, field, UnknownName(hasNo(w.owner(o, operand), o.noun), field, o.names()))
}

// owner names an object: arguments and results by their tool, others as the text writes them.
func (w *wording) owner(o *object, written ast.Expr) string {
	switch {
	case o.tool != "" && o.noun == "argument":
		return o.tool
	case o.tool != "":
		return resultOf(o.tool)
	}
	if text := w.text(written); text != "" {
		return shorten(text)
	}
	return theObject
}

// undeclared is the fault of a function or variable that does not exist.
func (w *wording) undeclared(e ast.Expr, name string) Fault {
	if e.Kind() == ast.CallKind {
		names := w.scope.functionNames()
		near := otherFunctions[name]
		if !slices.Contains(names, near) {
			near = catalog.NearTyped(name, names)
		}
		return w.atFunction(e, name, Fault{Reason: noFunction(name), DidYouMean: near})
	}
	if e.Kind() == ast.StructKind {
		return w.at(e, noMessages())
	}
	name, _, _ = strings.Cut(name, ".")
	f := UnknownName(noVariable, name, w.names)
	if near := w.nearVariable(e, name); near != "" {
		f.DidYouMean = near
	} else if f.DidYouMean == "" {
		f.Want = w.unquoted(e, name)
	}
	for e.Kind() == ast.SelectKind { // the variable is the beginning of the path
		e = e.AsSelect().Operand()
	}
	return w.at(e, f)
}

// find returns the part with an id; nil if there is none.
func find(e ast.Expr, id int64) ast.Expr {
	if e.ID() == id {
		return e
	}
	for _, child := range Children(e) {
		if found := find(child, id); found != nil {
			return found
		}
	}
	return nil
}

// structName returns the name of an object type, also inside an optional; "" for other types.
func structName(t *types.Type) string {
	if t == nil {
		return ""
	}
	if isOptional(t) && len(t.Parameters()) == 1 {
		t = t.Parameters()[0]
	}
	if t.Kind() != types.StructKind {
		return ""
	}
	return t.TypeName()
}

// celWords returns a type of the checker as [Type.String] does.
func celWords(t *types.Type) string {
	switch {
	case t == nil:
		return "dyn"
	case isOptional(t) && len(t.Parameters()) == 1:
		return "optional(" + celWords(t.Parameters()[0]) + ")"
	}
	switch t.Kind() {
	case types.ListKind:
		return "list(" + celWords(t.Parameters()[0]) + ")"
	case types.MapKind:
		return "map(" + celWords(t.Parameters()[1]) + ")"
	case types.StructKind:
		return "object"
	case types.TimestampKind:
		return "timestamp"
	case types.DurationKind:
		return "duration"
	case types.NullTypeKind:
		return "null"
	case types.BoolKind, types.IntKind, types.DoubleKind, types.StringKind, types.UintKind, types.BytesKind:
		name := map[types.Kind]string{
			types.BoolKind: "bool", types.IntKind: "int", types.DoubleKind: "double",
			types.StringKind: "string", types.UintKind: "uint", types.BytesKind: "bytes",
		}[t.Kind()]
		if t.IsAssignableType(types.NullType) {
			name += " or null"
		}
		return name
	case types.OpaqueKind:
		return t.TypeName()
	}
	return "dyn"
}

var (
	objectName  = regexp.MustCompile(`object:[0-9]+`)
	wrapperName = regexp.MustCompile(`wrapper\(([a-z]+)\)`)
	container   = regexp.MustCompile(` \(in container '[^']*'\)`)
)

// plainWords replaces names that only the checker uses in an error.
func plainWords(text string) string {
	text = objectName.ReplaceAllString(text, "object")
	return container.ReplaceAllString(wrapperName.ReplaceAllString(text, "$1 or null"), "")
}

// syntaxWords shortens an error of the parser.
func syntaxWords(text string) string {
	text = strings.TrimPrefix(text, "Syntax error: ")
	if before, missing, ok := strings.Cut(text, "<EOF> expecting "); ok && strings.HasPrefix(before, "mismatched input") && len(missing) == len("')'") {
		text = endsBefore(missing)
	}
	if strings.Contains(text, "'<EOF>'") {
		text = endsTooEarly
	}
	return notExpression(text)
}

// between returns the first part of a text in single quotes.
func between(text string) string {
	_, rest, _ := strings.Cut(text, "'")
	name, _, _ := strings.Cut(rest, "'")
	return name
}

// maxShown bounds an expression or value in a reason, in bytes.
const maxShown = 60

// shorten cuts an expression for a reason.
func shorten(text string) string {
	if text == "" {
		return "x"
	}
	if len(text) > maxShown {
		return ijson.Cut(text, maxShown) + "..."
	}
	return text
}
