package cli

import (
	"patterngate/catalog/demo"
	"patterngate/gateway"
)

// builtinNames are the tools of the four reference patterns, in the order in which they are listed.
var builtinNames = []string{"run_task_decomposition", "run_orchestrator", "route_ticket", "supervised_refund"}

// builtinKinds are their kinds.
var builtinKinds = map[string]gateway.Kind{
	"run_task_decomposition": gateway.TaskDecomposition,
	"run_orchestrator":       gateway.Orchestrator,
	"route_ticket":           gateway.Routing,
	"supervised_refund":      gateway.Supervisor,
}

// builtinTools are the tools that a kind was declared with.
var builtinTools = map[gateway.Kind][]string{
	gateway.TaskDecomposition: demo.DecompositionTools,
	gateway.Orchestrator:      demo.OrchestratorWorkers,
	gateway.Routing:           demo.Specialists,
	gateway.Supervisor:        demo.RefundTools,
}

// builtinCompletions are the values that a person is offered while they fill in a kind's prompt: those of the demo.
var builtinCompletions = map[gateway.Kind]map[string][]string{
	gateway.TaskDecomposition: {"goal": {demo.DecompositionGoal}},
	gateway.Orchestrator:      {"goal": {demo.OrchestratorGoal}, "report_date": {demo.ReportDate}, "region": {demo.Region}},
	gateway.Routing:           {"ticket": {demo.RoutingTicket}},
	gateway.Supervisor:        {"goal": {demo.RefundGoal}},
}

func nameOfKind(kind gateway.Kind) string {
	for _, n := range builtinNames {
		if builtinKinds[n] == kind {
			return n
		}
	}
	return string(kind)
}
