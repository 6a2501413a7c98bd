package expr

import "sync"

// Scope holds the variables that the expressions of one place may read. Making a scope costs more than compiling one text in
// it, so expressions over the same variables share a scope. It is safe for concurrent use.
type Scope struct {
	variables []Variable
	checker   func() (*Checker, error)
}

// NewScope returns a scope of the variables. It is set up when the first text is compiled.
func NewScope(variables ...Variable) *Scope {
	s := &Scope{variables: variables}
	s.checker = sync.OnceValues(func() (*Checker, error) { return NewChecker(s.variables...) })
	return s
}

// Compile compiles one text in a scope of its own, see [Scope.Compile].
func Compile(text string, want Type, variables ...Variable) (*Expression, []Fault) {
	return NewScope(variables...).Compile(text, want)
}

// Compile compiles a text that should have a value of type want. The expression is nil if a fault is more than a warning. An
// optional value of type want is accepted too: see [Expression.Eval].
func (s *Scope) Compile(text string, want Type) (*Expression, []Fault) {
	c, err := s.checker()
	if err != nil {
		return nil, []Fault{{Line: 1, Column: 1, Reason: noExpressions(err.Error())}}
	}
	checked, faults := c.Check(text, want, nil)
	if checked == nil {
		return nil, faults
	}
	return checked.Expression(), faults
}
