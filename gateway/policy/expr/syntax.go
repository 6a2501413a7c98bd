package expr

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types/ref"
)

// Children returns the parts of an expression: operands, arguments, items, the parts of a macro.
func Children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var all []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			all = append(all, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return all
	case ast.StructKind:
		var all []ast.Expr
		for _, f := range e.AsStruct().Fields() {
			all = append(all, f.AsStructField().Value())
		}
		return all
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// Literal returns the value of a literal; false for other expressions.
func Literal(e ast.Expr) (ref.Val, bool) {
	if e.Kind() != ast.LiteralKind {
		return nil, false
	}
	return e.AsLiteral(), true
}

// Selection takes a.b, has(a.b) or a.?b apart into operand and member name; false for other expressions.
func Selection(e ast.Expr) (operand ast.Expr, field string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() == operators.OptSelect && len(call.Args()) == 2 && call.Args()[1].Kind() == ast.LiteralKind {
			field, ok = call.Args()[1].AsLiteral().Value().(string)
			return call.Args()[0], field, ok
		}
	}
	return nil, "", false
}
