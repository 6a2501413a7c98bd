package bench

import (
	"encoding/json"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
)

// Workload is one of the reference runs.
type Workload struct {
	Name string // W1 to W4
	Kind gateway.Kind
	Tool string // the MCP tool
	Task patterns.Task
	// Asks and Calls are how often the run asks the model and how often it calls a tool.
	Asks, Calls int
}

// Workloads lists the four reference runs.
func Workloads() []Workload {
	inputs := patterns.Inputs{"report_date": demo.ReportDate, "region": demo.Region}
	return []Workload{
		{"W1", gateway.TaskDecomposition, "run_task_decomposition", patterns.Task{Goal: demo.DecompositionGoal, Finalize: true}, 2, 5},
		{"W2", gateway.Orchestrator, "run_orchestrator", patterns.Task{Goal: demo.OrchestratorGoal, Inputs: inputs, Finalize: true}, 2, 3},
		{"W3", gateway.Routing, "route_ticket", patterns.Task{Goal: demo.RoutingTicket, Finalize: true}, 3, 2},
		{"W4", gateway.Supervisor, "supervised_refund", patterns.Task{Goal: demo.RefundGoal, Finalize: true}, 4, 3},
	}
}

// params returns the parameters of the tools/call that begins the run.
func (w Workload) params() []byte {
	name := "goal"
	if w.Kind == gateway.Routing {
		name = "ticket"
	}
	arguments := map[string]any{name: w.Task.Goal}
	for n, v := range w.Task.Inputs {
		arguments[n] = v
	}
	b, err := json.Marshal(map[string]any{"name": w.Tool, "arguments": arguments})
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return b
}
