package kinds

import (
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/planexecute"
)

// Of returns the code of a kind. It returns false for an unknown kind.
func Of(kind gateway.Kind) (patterns.Pattern, bool) {
	p, ok := map[gateway.Kind]patterns.Pattern{
		gateway.TaskDecomposition: Decompose,
		gateway.Orchestrator:      Orchestrate,
		gateway.Routing:           Route,
		gateway.Supervisor:        Supervise,
		gateway.Planning:          planexecute.Plan,
		gateway.Call:              Call,
	}[kind]
	return p, ok
}
