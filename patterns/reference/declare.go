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
	s.Words.Continue = "A waiting run to go on with, as in next, without goal or ticket."
	switch s.Kind {
	case gateway.TaskDecomposition:
		s.Words.Use = "for steps in order"
	case gateway.Orchestrator:
		orchestrate(s)
	case gateway.Routing:
		route(s)
	case gateway.Supervisor:
		supervise(s)
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
	if s.Simulated() {
		s.Words.About = "Hands one ticket to the specialist that fits (billing, technical, sales) and reroutes when that one declines. " +
			"Use it when a request needs exactly one expert. Send your own `route` or leave it out. If the result is `stopped` or " +
			"`waiting`, follow `next`."
	}
}

// supervise declares words about refunds if the pattern's tools are those of the simulation.
func supervise(s *patterns.Spec) {
	s.Words.Closing = "Of kind final: what you tell the customer."
	if s.Words.Use = "when something is changed"; s.Simulated() {
		s.Words.Use, s.Words.Title = "when money moves", "Refund under supervision"
		s.Words.About = "Looks up a customer, pays a refund and sends the mail, each action judged by the refund policy: approved, " +
			"changed, blocked or put to a person. Use it whenever money goes back. Send your own `actions`, one or several, or leave " +
			"them out. High amounts wait for a person; you cannot approve them. Follow `next`."
	}
}
