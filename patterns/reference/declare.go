package reference

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// Declare sets in a spec what the built-in pattern of its kind declares and a file's pattern does not.
func Declare(s *patterns.Spec) {
	s.Supplied = []string{patterns.RequestIDArgument}
	s.FillsUnfit, s.Unmarked, s.OverrunsTokens = true, true, true
	switch s.Kind {
	case gateway.Orchestrator:
		s.InputsOnTop = true
	case gateway.Routing:
		s.Supplied = append(s.Supplied, patterns.TicketArgument)
	}
}
