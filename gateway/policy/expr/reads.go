package expr

import (
	"maps"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// typeOf returns the type that the schemas give an expression, as far as it can be followed. Unlike the type of the checker, it
// has the values of an enum. known are the types of the variables.
func (w *wording) typeOf(e ast.Expr, known map[string]Type) Type {
	switch e.Kind() {
	case ast.IdentKind:
		if t, ok := known[strings.TrimPrefix(e.AsIdent(), ".")]; ok {
			return t
		}
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() {
			return w.memberType(e, e.AsSelect().Operand(), e.AsSelect().FieldName(), known)
		}
	case ast.CallKind:
		return w.typeOfCall(e, known)
	}
	return w.ofChecker(w.ast.GetType(e.ID()))
}

// typeOfCall is typeOf for a call.
func (w *wording) typeOfCall(e ast.Expr, known map[string]Type) Type {
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex:
		if t := w.typeOf(call.Args()[0], known); t.item != nil {
			return *t.item
		}
	case operators.OptSelect:
		if operand, field, ok := Selection(e); ok {
			return w.memberType(e, operand, field, known)
		}
	case "orValue", "value":
		if call.IsMemberFunction() {
			return w.typeOf(call.Target(), known)
		}
	}
	return w.ofChecker(w.ast.GetType(e.ID()))
}

// memberType is typeOf for a member that an expression selects.
func (w *wording) memberType(e, operand ast.Expr, field string, known map[string]Type) Type {
	switch t := w.typeOf(operand, known); t.kind {
	case ObjectKind:
		if f, ok := t.object.field(field); ok {
			return f.Type
		}
	case MapKind:
		return *t.item
	}
	return w.ofChecker(w.ast.GetType(e.ID()))
}

// ofChecker returns the type that the checker found, without values. Types that have no members or items are dyn.
func (w *wording) ofChecker(t *types.Type) Type {
	if t == nil {
		return Dyn()
	}
	if isOptional(t) && len(t.Parameters()) == 1 {
		t = t.Parameters()[0]
	}
	switch t.Kind() {
	case types.StructKind:
		if o := w.scope.provider.objects[t.TypeName()]; o != nil {
			return Type{kind: ObjectKind, object: o}
		}
	case types.ListKind:
		return List(w.ofChecker(t.Parameters()[0]))
	case types.MapKind:
		return Map(w.ofChecker(t.Parameters()[1]))
	}
	return Dyn()
}

// computed returns the type of the value of the whole expression, for texts that read it under a name. It has values if the
// expression is a member that has them.
func (w *wording) computed(e ast.Expr) Type {
	found := w.ast.GetType(e.ID())
	if t := w.typeOf(e, w.types); t.values != nil && found != nil && !isOptional(found) {
		return t
	}
	return w.whole(found)
}

// whole returns a type of the checker completely: a type that [Type] cannot express is of kind [ComputedKind].
func (w *wording) whole(t *types.Type) Type {
	if t == nil {
		return Dyn()
	}
	null := t.IsAssignableType(types.NullType)
	switch t.Kind() {
	case types.DynKind:
		return Dyn()
	case types.IntKind, types.DoubleKind, types.StringKind, types.BoolKind:
		if !null {
			return map[types.Kind]Type{types.IntKind: Int(), types.DoubleKind: Double(), types.StringKind: String(), types.BoolKind: Bool()}[t.Kind()]
		}
	case types.TimestampKind:
		return Timestamp()
	case types.StructKind:
		if o := w.scope.provider.objects[t.TypeName()]; o != nil {
			return Type{kind: ObjectKind, object: o}
		}
	case types.ListKind:
		return List(w.whole(t.Parameters()[0]))
	case types.MapKind:
		if t.Parameters()[0].Kind() == types.StringKind {
			return Map(w.whole(t.Parameters()[1]))
		}
	}
	return Type{kind: ComputedKind, cel: t}
}

// within returns the types that are known inside a macro: those outside and its own variables.
func (w *wording) within(c ast.ComprehensionExpr, known map[string]Type) map[string]Type {
	inner := maps.Clone(known)
	if inner == nil {
		inner = map[string]Type{}
	}
	inner[c.AccuVar()] = w.typeOf(c.AccuInit(), known)
	over := w.typeOf(c.IterRange(), known)
	item := Dyn()
	if over.item != nil {
		item = *over.item
	}
	switch {
	case c.HasIterVar2():
		inner[c.IterVar()], inner[c.IterVar2()] = Dyn(), item
	case over.kind == MapKind:
		inner[c.IterVar()] = String()
	default:
		inner[c.IterVar()] = item
	}
	return inner
}

// reads warns about members that may be absent, unless something before them says that they are present. present are those
// members, as they are written.
func (w *wording) reads(e ast.Expr, known map[string]Type, present []string) {
	switch e.Kind() {
	case ast.SelectKind:
		w.readMember(e, known, present)
	case ast.CallKind:
		if w.readGuarded(e.AsCall(), known, present) {
			return
		}
	case ast.ComprehensionKind:
		known = w.within(e.AsComprehension(), known)
	}
	for _, child := range Children(e) {
		w.reads(child, known, present)
	}
}

// readGuarded walks an operator that can be a guard. In has(x) && y, y is only needed if x is true, in either order.
func (w *wording) readGuarded(call ast.CallExpr, known map[string]Type, present []string) bool {
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		truth := call.FunctionName() == operators.LogicalAnd
		for i, arg := range args {
			guarded := present
			for j, other := range args {
				if i != j {
					guarded = append(guarded[:len(guarded):len(guarded)], w.tells(other, truth)...)
				}
			}
			w.reads(arg, known, guarded)
		}
		return true
	case operators.Conditional:
		w.reads(args[0], known, present)
		w.reads(args[1], known, append(present[:len(present):len(present)], w.tells(args[0], true)...))
		w.reads(args[2], known, append(present[:len(present):len(present)], w.tells(args[0], false)...))
		return true
	}
	return false
}

// tells returns the members that are present if an expression is true, or false.
func (w *wording) tells(e ast.Expr, truth bool) []string {
	switch e.Kind() {
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() || !truth {
			return nil
		}
		var there []string
		for e.Kind() == ast.SelectKind { // a member is present only if its object is
			there = append(there, w.written(e))
			e = e.AsSelect().Operand()
		}
		return there
	case ast.CallKind:
		call := e.AsCall()
		switch name := call.FunctionName(); {
		case name == operators.LogicalNot:
			return w.tells(call.Args()[0], !truth)
		case name == operators.LogicalAnd && truth, name == operators.LogicalOr && !truth:
			var there []string
			for _, arg := range call.Args() {
				there = append(there, w.tells(arg, truth)...)
			}
			return there
		}
	}
	return nil
}

// written returns the text of a selection; has(a.b) is a.b too.
func (w *wording) written(e ast.Expr) string {
	operand := w.text(e.AsSelect().Operand())
	if operand == "" {
		return ""
	}
	return operand + "." + e.AsSelect().FieldName()
}

// readMember warns about one member that may be absent.
func (w *wording) readMember(e ast.Expr, known map[string]Type, present []string) {
	s := e.AsSelect()
	if s.IsTestOnly() {
		return
	}
	if t := w.ast.GetType(s.Operand().ID()); t == nil || isOptional(t) {
		return
	}
	t := w.typeOf(s.Operand(), known)
	if t.kind != ObjectKind {
		return
	}
	f, ok := t.object.field(s.FieldName())
	if !ok || !f.Optional {
		return
	}
	name := w.written(e)
	for _, there := range present {
		if name == there {
			return
		}
	}
	if name == "" {
		return
	}
	want := "has(" + name + ") &&"
	if instead := absent(f.Type); instead != "" {
		want += orDefault(strings.TrimSuffix(name, f.Name), f.Name, instead)
	}
	w.warnings = append(w.warnings, w.atMember(e, f.Name, Fault{Reason: name + mayBeAbsent, Want: want, Warning: true}))
}

// mayBeAbsent is the end of the reason of such a warning.
const mayBeAbsent = " may be absent"

// absent returns a literal of a type that can replace an absent member; "" if there is none.
func absent(t Type) string {
	return map[Kind]string{StringKind: `""`, IntKind: "0", DoubleKind: "0.0", BoolKind: "false", ListKind: "[]", MapKind: "{}"}[t.kind]
}
