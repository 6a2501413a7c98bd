package patterns

import "patterngate/gateway"

// Limits returns a run's limits in force by name, as decoded values: seconds and counts.
func Limits(s Spec) map[string]any {
	b := s.Budget
	v := map[string]any{"max_seconds": Seconds(b.MaxTime)}
	count := func(name string, n int) {
		if n > 0 {
			v[name] = float64(n)
		}
	}
	limit := func(name string, l gateway.Limit) {
		if l.Named() {
			v[name] = float64(l)
		}
	}
	limit("max_tool_calls", b.MaxToolCalls)
	limit("max_llm_calls", b.MaxLLMCalls)
	limit("max_tokens", b.MaxTokens)
	if b.MaxCost.Named() {
		v["max_cost_usd"] = float64(b.MaxCost)
	}
	switch s.Kind {
	case gateway.TaskDecomposition:
		count("max_plan_steps", b.MaxPlanSteps)
		limit("max_execute_steps", b.MaxExecuteSteps)
	case gateway.Orchestrator:
		count("max_tasks", b.MaxTasks)
		count("max_parallel", b.MaxParallel)
		count("max_retries_per_task", b.MaxRetriesPerTask)
		limit("max_dispatches", b.MaxDispatches)
		v["task_timeout_seconds"] = Seconds(b.TaskTimeout)
	case gateway.Routing:
		count("max_route_attempts", b.MaxRouteAttempts)
		limit("max_delegations", b.MaxDelegations)
	case gateway.Supervisor:
		count("max_steps", b.MaxSteps)
	case gateway.Planning:
		count("max_subtasks", b.MaxSubtasks)
		count("max_depth", b.MaxDepth)
		limit("max_replans", b.MaxReplans)
		count("max_iterations", b.MaxIterations)
		count("max_concurrent", b.MaxConcurrent)
		count("max_retries", b.MaxRetries)
		v["subtask_timeout_seconds"] = Seconds(b.SubtaskTimeout)
	}
	return v
}
