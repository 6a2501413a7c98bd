package kinds

import (
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/planexecute"
)

// Of is the code of a kind; unknown kinds have none.
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
