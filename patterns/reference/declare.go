package reference

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// Declare sets in a spec what the built-in pattern of its kind declares and a file's pattern does not. The spec has its
// catalog and its tools already.
func Declare(s *patterns.Spec) {
	s.Supplied = []string{patterns.RequestIDArgument}
	s.FillsUnfit, s.Unmarked, s.OverrunsTokens = true, true, true
	s.Words.Continue = continueWords
	switch s.Kind {
	case gateway.TaskDecomposition:
		s.Words.Use = useSteps
	case gateway.Orchestrator:
		orchestrate(s)
	case gateway.Routing:
		route(s)
	case gateway.Supervisor:
		supervise(s)
	case gateway.Planning:
		s.Words.Use = usePlans
	}
}

func orchestrate(s *patterns.Spec) {
	s.InputsOnTop = true
	s.TextInputs = []patterns.TextInput{
		{Name: "report_date", Words: reportDateWords},
		{Name: "region", Words: regionWords},
	}
	s.Words.Use = useTasks
	s.Words.Args = taskArguments
	s.Words.LeftOut = []string{"report_date", "region", patterns.RequestIDArgument}
}

func route(s *patterns.Spec) {
	s.Supplied = append(s.Supplied, patterns.TicketArgument)
	s.Words.Use, s.Words.Request, s.Words.Target = useRoute, "ticket", "specialist"
	s.Words.Goal = ticketWords
	s.Words.Args = routeArguments
	s.Words.LeftOut = []string{patterns.TicketArgument}
	if s.Simulated() {
		s.Words.About = routeAbout
	}
}

// supervise declares words about refunds if the pattern's tools are those of the simulation.
func supervise(s *patterns.Spec) {
	s.Words.Closing = closingWords
	if s.Words.Use = useWrites; s.Simulated() {
		s.Words.Use, s.Words.Title = useMoney, refundTitle
		s.Words.About = refundAbout
	}
}
