package expr

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// The errors of an evaluation. An error may also wrap its cause, which is for the log only: it can quote values.
var (
	ErrCost  = errors.New(costsTooMuch)
	ErrInput = errors.New(valueMisfits) // an input breaks the schema
	ErrValue = errors.New(wrongResult)  // of another type, not JSON, or too large
	ErrEval  = errors.New(noValueAtAll) // an absent member, overflow, a division by zero
)

// Expression is a compiled text. It is safe for concurrent use.
type Expression struct {
	variables []Variable // that it reads
	want      Type
	root      ast.Expr
	program   func() (cel.Program, error)
}

// newExpression makes an expression that is planned when it is first evaluated. Planning takes as long as checking, and few
// expressions of a file are ever evaluated.
func newExpression(env *environment, checked *ast.AST, variables []Variable, want Type) *Expression {
	read := map[string]bool{}
	for _, r := range checked.ReferenceMap() {
		read[r.Name] = true
	}
	e := &Expression{want: want, root: checked.Expr()}
	for _, v := range variables {
		if read[v.Name] || read["."+v.Name] {
			e.variables = append(e.variables, v)
		}
	}
	e.program = sync.OnceValues(func() (cel.Program, error) {
		return planned(env, checked, MaxCost)
	})
	return e
}

// Eval computes the expression from decoded values by variable name. A time.Time may be given for a timestamp. The result is a
// decoded value too: numbers are float64, timestamps and durations are text. An optional without a value is nil.
//
// Values are checked against the types of the variables: a value that does not fit is an [ErrInput]. The other errors are
// [ErrCost], [ErrEval] and [ErrValue].
func (e *Expression) Eval(values map[string]any) (any, error) {
	v, _, err := e.EvalOptional(values)
	return v, err
}

// EvalOptional is [Expression.Eval] that also tells whether there is a value: an optional may have none.
func (e *Expression) EvalOptional(values map[string]any) (v any, present bool, err error) {
	if e == nil {
		return nil, false, fmt.Errorf(valueMissing, ErrEval)
	}
	given := make(map[string]any, len(e.variables))
	for _, variable := range e.variables {
		value, ok := values[variable.Name]
		if !ok {
			return nil, false, fmt.Errorf(valueNotGiven, ErrInput, variable.Name)
		}
		if given[variable.Name], err = variable.Type.Convert(value, variable.Name); err != nil {
			return nil, false, err
		}
	}
	return e.EvalConverted(given)
}

// EvalConverted is [Expression.EvalOptional] for values that [Type.Convert] or [Type.ConvertLoosely] returned. They are not
// checked again.
func (e *Expression) EvalConverted(given map[string]any) (v any, present bool, err error) {
	defer func() {
		if p := recover(); p != nil { // the library recovers its own panics; this is for panics of the values
			v, present, err = nil, false, fmt.Errorf("%w: %.100v", ErrEval, p)
		}
	}()
	if e == nil {
		return nil, false, fmt.Errorf(valueMissing, ErrEval)
	}
	program, err := e.program()
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrEval, err)
	}
	result, _, err := program.Eval(given)
	if err != nil {
		return nil, false, evalError(err)
	}
	if optional, ok := result.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, false, nil
		}
		result = optional.GetValue()
	}
	v, err = Decode(result)
	if err == nil && !e.want.Accepts(v) {
		err = fmt.Errorf(typeNeeded, ErrValue, e.want)
	}
	if err != nil {
		return nil, false, err
	}
	return v, true, nil
}

// Reads reports whether the expression reads a variable.
func (e *Expression) Reads(variable string) bool {
	return slices.ContainsFunc(e.variables, func(v Variable) bool { return v.Name == variable })
}

// ReadsMember reports whether the expression reads a member of that name of any object.
func (e *Expression) ReadsMember(member string) bool { return namesMember(e.root, member) }

// namesMember is ReadsMember for a part of the tree.
func namesMember(e ast.Expr, member string) bool {
	if _, field, ok := Selection(e); ok && field == member {
		return true
	}
	if e.Kind() == ast.CallKind {
		for _, arg := range e.AsCall().Args() {
			if v, ok := Literal(arg); ok && v.Value() == any(member) && e.AsCall().FunctionName() != operators.Equals {
				return true // result["error"], "error" in result
			}
		}
	}
	return slices.ContainsFunc(Children(e), func(child ast.Expr) bool { return namesMember(child, member) })
}

// evalError turns an error of the library into one of ours.
func evalError(err error) error {
	if cancelled, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && cancelled.Cause == interpreter.CostLimitExceeded {
		return ErrCost
	}
	return fmt.Errorf("%w: %w", ErrEval, err)
}
