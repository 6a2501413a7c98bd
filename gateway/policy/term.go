package policy

import (
	"fmt"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// term is a compiled text of a rule or var. It is safe for concurrent use.
type term struct {
	env     *environment
	checked *ast.AST
	is      Type
	reads   reads
	program func() (cel.Program, error) // planned when it is first evaluated
	leaves  func() []leaf               // what is shown of it
}

func newTerm(env *environment, c *checked, r reads) *term {
	t := &term{env: env, checked: c.ast, is: c.is, reads: r}
	t.program = sync.OnceValues(func() (cel.Program, error) { return planned(env, t.checked) })
	t.leaves = sync.OnceValue(t.findLeaves)
	return t
}

// planned makes a program. Counting costs takes longer than all that a comparison does, so an expression whose cost its text
// bounds is not counted.
func planned(env *environment, checked *ast.AST) (cel.Program, error) {
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if !bounded(checked, checked.Expr()) {
		options = append(options, cel.CostLimit(MaxCost))
	}
	return env.cel.PlanProgram(checked, options...)
}

// eval computes the term; an error is a value too.
func (t *term) eval(from interpreter.Activation) ref.Val {
	program, err := t.program()
	if err != nil {
		return types.WrapErr(fmt.Errorf("%w: %w", ErrEval, err))
	}
	v, _, err := program.Eval(from)
	if err != nil {
		return types.WrapErr(evalError(err))
	}
	return v
}

// plain are the types whose values are compared and added at one cost.
var plain = []types.Kind{types.BoolKind, types.IntKind, types.DoubleKind, types.TimestampKind, types.DurationKind, types.NullTypeKind}

// fixed are the operators whose cost does not depend on what they are given, as far as that is plain.
var fixed = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.Less, operators.LessEquals, operators.Greater,
	operators.GreaterEquals, operators.Equals, operators.NotEquals, operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo,
	operators.Negate,
}

// bounded reports whether what an expression costs is bounded by its own size, so far below [MaxCost].
func bounded(a *ast.AST, e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind, ast.IdentKind:
		return true
	case ast.SelectKind:
		return bounded(a, e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() || !slices.Contains(fixed, call.FunctionName()) {
			return false
		}
		literals := slices.ContainsFunc(call.Args(), func(arg ast.Expr) bool { return arg.Kind() == ast.LiteralKind })
		equality := call.FunctionName() == operators.Equals || call.FunctionName() == operators.NotEquals
		for _, arg := range call.Args() {
			t := a.GetType(arg.ID())
			if !bounded(a, arg) || t == nil || !slices.Contains(plain, t.Kind()) && !(t.Kind() == types.StringKind && equality && literals) {
				return false
			}
		}
		return true
	}
	return false
}

// readsOf finds what an expression names, before it is checked. Where a macro's variable has the name of one of ours it says
// too much.
func readsOf(e ast.Expr) reads {
	r := reads{members: map[string][]string{}, whole: map[string]bool{}}
	r.add(e)
	return r
}

func (r reads) add(e ast.Expr) {
	if operand, field, ok := memberOf(e); ok && operand.Kind() == ast.IdentKind {
		name := root(operand.AsIdent())
		if !slices.Contains(r.members[name], field) {
			r.members[name] = append(r.members[name], field)
		}
		return
	}
	if e.Kind() == ast.IdentKind {
		r.whole[root(e.AsIdent())] = true
		return
	}
	for _, child := range children(e) {
		r.add(child)
	}
}

// memberOf takes a selection apart, one by index too: a.b, a.?b, a["b"], a[?"b"].
func memberOf(e ast.Expr) (operand ast.Expr, field string, ok bool) {
	if operand, field, ok = selected(e); ok {
		return operand, field, true
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return nil, "", false
	}
	call := e.AsCall()
	v, literal := literalOf(call.Args()[1])
	if !literal || call.FunctionName() != operators.Index && call.FunctionName() != operators.OptIndex {
		return nil, "", false
	}
	field, ok = v.Value().(string)
	return call.Args()[0], field, ok
}
