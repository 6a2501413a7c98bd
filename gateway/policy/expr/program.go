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

// Program evaluates a checked expression from CEL values. It is safe for concurrent use.
type Program struct {
	plan func() (cel.Program, error)
}

// Program returns a program that may cost limit units. With limit 0 costs are not counted, which is faster: use it if the text
// itself bounds its cost. The program is planned when it is first evaluated.
func (c *Checked) Program(limit uint64) *Program {
	return &Program{plan: sync.OnceValues(func() (cel.Program, error) {
		if limit == 0 {
			return planned(c.checker.environment, fused(c.AST), 0)
		}
		return planned(c.checker.environment, c.AST, limit)
	})}
}

// Eval computes the value. An error is a value too: a [types.Err] that wraps [ErrCost] or [ErrEval]. The value is unknown if it
// depends on an unknown one.
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

// planned prepares an expression to be evaluated for most units of cost; 0: costs are not counted.
func planned(env *environment, checked *ast.AST, most uint64) (cel.Program, error) {
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if most > 0 {
		options = append(options, cel.CostLimit(most))
	}
	return env.cel.PlanProgram(bounded(checked), options...)
}
