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

// The errors of an evaluation; a cause may be wrapped beside them, for the log only.
var (
	ErrCost  = errors.New("the expression costs more than 1000000 units")
	ErrInput = errors.New("a value does not fit its type")    // what was given is not what the schema said
	ErrValue = errors.New("the result is not what is wanted") // another type, no form in JSON, too large
	ErrEval  = errors.New("the expression has no value")      // an absent member, overflow, a division by zero
)

// Expression is a compiled text. It is safe for concurrent use.
type Expression struct {
	variables []Variable // those that it reads
	want      Type
	root      ast.Expr
	program   func() (cel.Program, error)
}

// newExpression plans the expression when it is first evaluated: planning takes as long as checking, and of the
// expressions of a file few are ever used.
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

// Eval computes the expression from decoded values by the names of its variables; a time.Time may stand for a timestamp.
// The result is a decoded value too: numbers are float64, timestamps and durations text. An optional without a value is nil.
//
// Values are held to the types that were given to Compile: what does not fit is [ErrInput]. The other errors are [ErrCost],
// [ErrEval] and [ErrValue].
func (e *Expression) Eval(values map[string]any) (any, error) {
	v, _, err := e.EvalOptional(values)
	return v, err
}

// eval is Eval, and tells whether there is a value: an optional may have none.
func (e *Expression) EvalOptional(values map[string]any) (v any, there bool, err error) {
	if e == nil {
		return nil, false, fmt.Errorf("%w: there is none", ErrEval)
	}
	given := make(map[string]any, len(e.variables))
	for _, variable := range e.variables {
		value, ok := values[variable.Name]
		if !ok {
			return nil, false, fmt.Errorf("%w: %s is not given", ErrInput, variable.Name)
		}
		if given[variable.Name], err = variable.Type.Convert(value, variable.Name); err != nil {
			return nil, false, err
		}
	}
	return e.EvalConverted(given)
}

// evalTaken computes the expression from values that were taken under their types.
func (e *Expression) EvalConverted(given map[string]any) (v any, there bool, err error) {
	defer func() {
		if p := recover(); p != nil { // the library contains its own panics; this is for what it is given
			v, there, err = nil, false, fmt.Errorf("%w: %.100v", ErrEval, p)
		}
	}()
	if e == nil {
		return nil, false, fmt.Errorf("%w: there is none", ErrEval)
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
		err = fmt.Errorf("%w: %s is wanted", ErrValue, e.want)
	}
	if err != nil {
		return nil, false, err
	}
	return v, true, nil
}

// reads reports whether the value depends on a variable.
func (e *Expression) Reads(variable string) bool {
	return slices.ContainsFunc(e.variables, func(v Variable) bool { return v.Name == variable })
}

// names reports whether a member of that name is read somewhere.
func (e *Expression) ReadsMember(member string) bool { return namesMember(e.root, member) }

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

func evalError(err error) error {
	if cancelled, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && cancelled.Cause == interpreter.CostLimitExceeded {
		return ErrCost
	}
	return fmt.Errorf("%w: %w", ErrEval, err)
}
