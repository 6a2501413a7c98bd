package expr

import "sync"

// Scope is what the expressions of one place may read. Making one costs more than compiling in it, so expressions about the
// same values share theirs. It is safe for concurrent use.
type Scope struct {
	variables []Variable
	checker   func() (*Checker, error)
}

// NewScope takes the variables that may be read. Nothing is set up before the first expression is compiled.
func NewScope(variables ...Variable) *Scope {
	s := &Scope{variables: variables}
	s.checker = sync.OnceValues(func() (*Checker, error) { return NewChecker(s.variables...) })
	return s
}

// Compile is [Scope.Compile] in a scope of its own.
func Compile(text string, want Type, variables ...Variable) (*Expression, []Fault) {
	return NewScope(variables...).Compile(text, want)
}

// Compile reads a text and checks it against the types of what it reads and of what is wanted of it. The expression is nil
// where a fault is more than a warning. An expression may be wanted optional: see [Expression.Eval].
func (s *Scope) Compile(text string, want Type) (*Expression, []Fault) {
	c, err := s.checker()
	if err != nil {
		return nil, []Fault{{Line: 1, Column: 1, Reason: "no expressions here: " + err.Error()}}
	}
	checked, faults := c.Check(text, want, nil)
	if checked == nil {
		return nil, faults
	}
	return checked.Expression(), faults
}
