package policy

import (
	"errors"
	"slices"
	"sync"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"patterngate/gateway/policy/expr"
)

// term is a compiled text of a rule or var. It is safe for concurrent use.
type term struct {
	checked *expr.Checked
	is      expr.Type
	sign    string // signature of its type
	reads   reads
	cost    costs
	// program does not count costs; counting and cheap have cost limits.
	program, counting, cheap *expr.Program
	leaves                   func() []leaf // the parts that are shown
}

func newTerm(c *expr.Checked, r reads, lists map[string]bool) *term {
	t := &term{
		checked: c, is: c.Type, sign: c.Type.Signature(), reads: r, cost: costsOf(c.AST, lists),
		program: c.Program(0), counting: c.Program(expr.MaxCost), cheap: c.Program(maxShownCost),
	}
	t.leaves = sync.OnceValue(func() []leaf { return t.findLeaves(lists) })
	return t
}

// eval computes the term if lists of calls hold at most this many. The result may be an error value. Counting costs
// takes longer than most expressions, so eval counts only if the text does not bound the cost.
func (t *term) eval(from interpreter.Activation, calls int) ref.Val {
	plan := t.counting
	if t.cost.within(calls) {
		plan = t.program
	}
	return plan.Eval(from)
}

// evalCheap is eval for a value that is only shown. It returns an error value if the term is expensive.
func (t *term) evalCheap(from interpreter.Activation, calls int) ref.Val {
	plan := t.cheap
	if t.cost.below(maxShownCost, calls) {
		plan = t.program
	}
	return plan.Eval(from)
}

// maxForetold is the cost limit of [term.foretell].
const maxForetold = 10_000

// foretell computes the term from what is known before a call. The result is unknown if the term is expensive.
func (t *term) foretell(from interpreter.Activation) ref.Val {
	plan := t.program
	if !t.cost.within(1) {
		plan = t.checked.Program(maxForetold)
	}
	v := plan.Eval(from)
	if err, bad := v.(*types.Err); bad && errors.Is(err, expr.ErrCost) {
		return unknownValue
	}
	return v
}

// readsOf returns the names that an expression reads, before type checking. If a macro's variable has the name of a
// policy variable, the result holds more than is read.
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
	for _, child := range expr.Children(e) {
		r.add(child)
	}
}

// memberOf splits a selection into operand and field. It also handles an index: a.b, a.?b, a["b"], a[?"b"].
func memberOf(e ast.Expr) (operand ast.Expr, field string, ok bool) {
	if operand, field, ok = expr.Selection(e); ok {
		return operand, field, true
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return nil, "", false
	}
	call := e.AsCall()
	v, literal := expr.Literal(call.Args()[1])
	if !literal || call.FunctionName() != operators.Index && call.FunctionName() != operators.OptIndex {
		return nil, "", false
	}
	field, ok = v.Value().(string)
	return call.Args()[0], field, ok
}
