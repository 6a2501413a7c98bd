package reference

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Declare sets in a spec what the built-in pattern of its kind declares and a file's pattern does not. The spec has its
// catalog and its tools already.
func Declare(s *patterns.Spec) {
	s.Supplied = []string{patterns.RequestIDArgument}
	s.FillsUnfit, s.Unmarked, s.OverrunsTokens = true, true, true
	s.Words.Continue = "A waiting run to go on with, as in next, without goal or ticket."
	switch s.Kind {
	case gateway.TaskDecomposition:
		s.Words.Use = "for steps in order"
	case gateway.Orchestrator:
		orchestrate(s)
	case gateway.Routing:
		route(s)
	case gateway.Supervisor:
		s.Words.Closing = "Of kind final: what you tell the customer."
		if s.Words.Use = "when something is changed"; overDemo(s) {
			s.Words.Use = "when money moves"
		}
	case gateway.Planning:
		s.Words.Use = "for long plans you work through"
	}
}

func orchestrate(s *patterns.Spec) {
	s.InputsOnTop = true
	s.TextInputs = []patterns.TextInput{
		{Name: "report_date", Words: "The day it is about, as YYYY-MM-DD."},
		{Name: "region", Words: "The market it is about, such as US."},
	}
	s.Words.Use = "for independent parts at once"
	s.Words.Args = "The worker's arguments; report_date and region are the call's own and may be left out."
	s.Words.LeftOut = []string{"report_date", "region", patterns.RequestIDArgument}
}

func route(s *patterns.Spec) {
	s.Supplied = append(s.Supplied, patterns.TicketArgument)
	s.Words.Use, s.Words.Request, s.Words.Target = "for one expert", "ticket", "specialist"
	s.Words.Goal = "The customer's message, whole and unchanged."
	s.Words.Args = "The specialist's arguments; ticket may be left out."
	s.Words.LeftOut = []string{patterns.TicketArgument}
}

// overDemo reports whether a pattern may call a tool of the demo.
func overDemo(s *patterns.Spec) bool {
	return slices.ContainsFunc(s.Execution, func(name string) bool {
		t, ok := s.Catalog.Tool(name)
		return ok && t.Demo
	})
}
