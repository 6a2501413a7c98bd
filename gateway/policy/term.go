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
	sign    string // of its type
	reads   reads
	cost    costs
	// program does not count costs, counting and cheap have limits.
	program, counting, cheap *expr.Program
	leaves                   func() []leaf // what is shown of it
}

func newTerm(c *expr.Checked, r reads, lists map[string]bool) *term {
	t := &term{
		checked: c, is: c.Type, sign: c.Type.Signature(), reads: r, cost: costsOf(c.AST, lists),
		program: c.Program(0), counting: c.Program(expr.MaxCost), cheap: c.Program(maxShownCost),
	}
	t.leaves = sync.OnceValue(func() []leaf { return t.findLeaves(lists) })
	return t
}

// eval computes the term where lists of calls hold so many at most; an error is a value too. Counting costs takes longer than
// most of what is counted, so it is left out where the text bounds them.
func (t *term) eval(from interpreter.Activation, calls int) ref.Val {
	plan := t.counting
	if t.cost.within(calls) {
		plan = t.program
	}
	return plan.Eval(from)
}

// evalCheap is eval for what is only shown: it is an error where it costs much.
func (t *term) evalCheap(from interpreter.Activation, calls int) ref.Val {
	plan := t.cheap
	if t.cost.below(maxShownCost, calls) {
		plan = t.program
	}
	return plan.Eval(from)
}

// maxForetold is what it may cost to tell something before there is a call.
const maxForetold = 10_000

// foretell computes the term from what is known before there is a call. It is not known what costs much.
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
	for _, child := range expr.Children(e) {
		r.add(child)
	}
}

// memberOf takes a selection apart, one by index too: a.b, a.?b, a["b"], a[?"b"].
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
