package expr

import (
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Program evaluates a checked expression from values of CEL. It is safe for concurrent use.
type Program struct {
	plan func() (cel.Program, error)
}

// Program makes a program that costs limit units at most. With limit 0 costs are not counted, which is faster: it is for texts that
// bound their costs themselves. The program is planned when it is first evaluated.
func (c *Checked) Program(limit uint64) *Program {
	return &Program{plan: sync.OnceValues(func() (cel.Program, error) {
		if limit == 0 {
			return planned(c.checker.environment, fused(c.AST), 0)
		}
		return planned(c.checker.environment, c.AST, limit)
	})}
}

// Eval computes the value. A failure is a value too, of [types.Err]: it wraps [ErrCost] or [ErrEval]. The value is unknown where it
// depends on one that is.
func (p *Program) Eval(from interpreter.Activation) ref.Val {
	program, err := p.plan()
	if err != nil {
		return types.WrapErr(fmt.Errorf("%w: %w", ErrEval, err))
	}
	v, _, err := program.Eval(from)
	if err != nil {
		return types.WrapErr(evalError(err))
	}
	return v
}

// planned makes a program that costs so much at most; 0: costs are not counted.
func planned(env *environment, checked *ast.AST, most uint64) (cel.Program, error) {
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if most > 0 {
		options = append(options, cel.CostLimit(most))
	}
	return env.cel.PlanProgram(bounded(checked), options...)
}
