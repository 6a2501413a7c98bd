package cli

import (
	"slices"
	"strings"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
)

// builtinNames are the built-in patterns, in the order in which they are listed: the tools of the four reference patterns,
// and what the names of the planning tools begin with.
var builtinNames = []string{"run_task_decomposition", "run_orchestrator", "route_ticket", "supervised_refund", "plan"}

// builtinKinds are their kinds.
var builtinKinds = map[string]gateway.Kind{
	"run_task_decomposition": gateway.TaskDecomposition,
	"run_orchestrator":       gateway.Orchestrator,
	"route_ticket":           gateway.Routing,
	"supervised_refund":      gateway.Supervisor,
	"plan":                   gateway.Planning,
}

// demoTools are all tools that a pattern over the demo may name.
var demoTools = slices.Concat(demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools)

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

// kindNamed is the kind of a built-in pattern, or of the pattern that a tool is one of.
func kindNamed(name string) (kind gateway.Kind, known bool) {
	if kind, known = builtinKinds[name]; known {
		return kind, true
	}
	if pattern, verb, cut := strings.Cut(name, "_"); cut && builtinKinds[pattern] == gateway.Planning && slices.Contains(planVerbs, patterns.PlanVerb(verb)) {
		return gateway.Planning, true
	}
	return "", false
}

// planVerbs are what the names of a planning pattern's tools end with.
var planVerbs = []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb, patterns.StatusVerb}
