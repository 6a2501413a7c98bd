package policy

import (
	"errors"
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
	sign    string // of its type
	reads   reads
	cost    costs
	// They are planned when they are first evaluated.
	program, counting, cheap func() (cel.Program, error)
	leaves                   func() []leaf // what is shown of it
}

func newTerm(env *environment, c *checked, r reads, lists map[string]bool) *term {
	t := &term{env: env, checked: c.ast, is: c.is, sign: c.is.signature(), reads: r, cost: costsOf(c.ast, lists)}
	t.program = sync.OnceValues(func() (cel.Program, error) { return planned(env, fused(t.checked), 0) })
	t.counting = sync.OnceValues(func() (cel.Program, error) { return planned(env, t.checked, MaxCost) })
	t.cheap = sync.OnceValues(func() (cel.Program, error) { return planned(env, t.checked, maxShownCost) })
	t.leaves = sync.OnceValue(func() []leaf { return t.findLeaves(lists) })
	return t
}

// planned makes a program that costs so much at most; 0: costs are not counted.
func planned(env *environment, checked *ast.AST, most uint64) (cel.Program, error) {
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if most > 0 {
		options = append(options, cel.CostLimit(most))
	}
	return env.cel.PlanProgram(bounded(checked), options...)
}

// eval computes the term where lists of calls hold so many at most; an error is a value too. Counting costs takes longer than
// most of what is counted, so it is left out where the text bounds them.
func (t *term) eval(from interpreter.Activation, calls int) ref.Val {
	plan := t.counting
	if t.cost.within(calls) {
		plan = t.program
	}
	return run(plan, from)
}

// evalCheap is eval for what is only shown: it is an error where it costs much.
func (t *term) evalCheap(from interpreter.Activation, calls int) ref.Val {
	plan := t.cheap
	if t.cost.below(maxShownCost, calls) {
		plan = t.program
	}
	return run(plan, from)
}

// maxForetold is what it may cost to tell something before there is a call.
const maxForetold = 10_000

// foretell computes the term from what is known before there is a call. It is not known what costs much.
func (t *term) foretell(from interpreter.Activation) ref.Val {
	plan := t.program
	if !t.cost.within(1) {
		plan = func() (cel.Program, error) { return planned(t.env, t.checked, maxForetold) }
	}
	v := run(plan, from)
	if err, bad := v.(*types.Err); bad && errors.Is(err, ErrCost) {
		return unknownValue
	}
	return v
}

func run(plan func() (cel.Program, error), from interpreter.Activation) ref.Val {
	program, err := plan()
	if err != nil {
		return types.WrapErr(fmt.Errorf("%w: %w", ErrEval, err))
	}
	v, _, err := program.Eval(from)
	if err != nil {
		return types.WrapErr(evalError(err))
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
