package cli

import (
	"maps"
	"math"
	"slices"

	"patterngate/gateway"
	"patterngate/server/settings/yamldoc"
)

// budgetKeys are the limits of a kind, its own first.
func budgetKeys(kind gateway.Kind, b *gateway.Budget) []configKey {
	var of []configKey
	switch kind {
	case gateway.TaskDecomposition:
		of = []configKey{
			countKey("min_plan_steps", &b.MinPlanSteps, 0, maxCount).means("Steps that a plan has at least."),
			countKey("max_plan_steps", &b.MaxPlanSteps, 0, maxCount).means("Steps of a plan."),
			limitKey("max_execute_steps", &b.MaxExecuteSteps, maxCount).means("Steps of an accepted plan; with more nothing is carried out."),
		}
	case gateway.Orchestrator:
		of = []configKey{
			countKey("max_tasks", &b.MaxTasks, 0, maxCount).means("Tasks of a plan."),
			countKey("max_parallel", &b.MaxParallel, 1, 256).means("Tasks at once."),
			countKey("max_retries_per_task", &b.MaxRetriesPerTask, 0, maxCount).means("How often a task that timed out is tried again."),
			limitKey("max_dispatches", &b.MaxDispatches, maxCount).means("Attempts of all tasks together; the first attempts are counted before anything runs."),
			secondsKey("task_timeout_seconds", &b.TaskTimeout, maxBudget).means("How long one attempt of a task may take."),
		}
	case gateway.Routing:
		of = []configKey{
			countKey("max_route_attempts", &b.MaxRouteAttempts, 0, maxCount).means("Routes that are tried."),
			limitKey("max_delegations", &b.MaxDelegations, maxCount).means("Hand-overs to specialists; one that is refused at the call counts too."),
		}
	case gateway.Supervisor:
		of = []configKey{countKey("max_steps", &b.MaxSteps, 0, maxCount).means("Actions, the closing answer included.")}
	case gateway.Planning:
		of = planningBudgetKeys(b)
	}
	of = append(of,
		secondsKey("max_seconds", &b.MaxTime, maxBudget).means("Running time; waiting for the caller or a person does not count."),
		limitKey("max_tool_calls", &b.MaxToolCalls, maxCount).means("Calls of tools; one that is refused at the call counts too."),
		limitKey("max_llm_calls", &b.MaxLLMCalls, maxCount).means("Requests to the model, retries included."),
		limitKey("max_tokens", &b.MaxTokens, maxTokens).means("Tokens in and out together; once they are spent the model is asked nothing more."),
		costKey("max_cost_usd", &b.MaxCost).means("What its models may cost in USD, by the prices in `llm.models`."),
	)
	if kind != gateway.Planning { // which has it among its own
		of = append(of, limitKey("max_calls_per_tool", &b.MaxCallsPerTool, maxCount).means("Calls of one tool in a run."))
	}
	return append(of, sameCallKey("max_same_call", b), perToolKey("per_tool", &b.PerTool))
}

// costKey is an amount that may be without limit, which is shown as null.
func costKey(name string, target *gateway.USD) configKey {
	return scaledKey(name, bounds{max: math.Inf(1), noun: "an amount in USD"},
		func() any {
			if !target.Named() {
				return nil
			}
			return float64(*target)
		},
		func(v float64) { *target = gateway.USD(v) })
}

// sameCallKey is how often the same call is made. A figure of the file holds for every tool; without one, reads may have more.
func sameCallKey(name string, b *gateway.Budget) configKey {
	key := limitKey(name, &b.MaxSameCall, maxCount)
	show, read := key.show, key.read
	key.show = func() any {
		if b.MaxSameRead != 0 {
			return nil
		}
		return show()
	}
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		b.MaxSameRead = 0
	}
	return key.means("How often the same call, with the same arguments, may be made in a run. Not set: in supervisors of your own 2 for tools that read and 1 for others; else no limit.")
}

// perToolKey are limits of single tools, laid over what is there tool by tool.
func perToolKey(name string, target *map[string]gateway.CallLimit) configKey {
	keys := func(l *gateway.CallLimit) []configKey {
		return []configKey{othersKey("max_calls", &l.MaxCalls), othersKey("max_same_call", &l.MaxSameCall)}
	}
	return configKey{
		name: name, takes: "a mapping of tools to {max_calls, max_same_call}", form: func() map[string]any {
			var l gateway.CallLimit
			return map[string]any{"type": "object", "propertyNames": nameForm, "additionalProperties": orNull(groupSchema(keys(&l)))}
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			all := maps.Clone(*target)
			if all == nil || n.At == (yamldoc.Place{}) { // a snapshot has all of them
				all = map[string]gateway.CallLimit{}
			}
			r.each(n, path, toolNames, func(m yamldoc.Member, below *yamldoc.Path) {
				limit, there := all[m.Key]
				if !there {
					limit = gateway.CallLimit{MaxCalls: gateway.AsOthers, MaxSameCall: gateway.AsOthers}
				}
				r.group(m.Value, below, keys(&limit), unknownKey)
				all[m.Key] = limit
			})
			*target = all
		},
		show: func() any {
			shown := make([]configKey, 0, len(*target))
			for _, tool := range slices.Sorted(maps.Keys(*target)) {
				limit := (*target)[tool]
				shown = append(shown, groupKey(tool, keys(&limit)...))
			}
			return shown
		},
	}.means("Limits of single tools, which count in the place of the two above.")
}

// othersKey is a limit that may be that of every tool, which is shown as null.
func othersKey(name string, target *gateway.Limit) configKey {
	key := limitKey(name, target, maxCount)
	key.show = func() any {
		if *target < 0 {
			return nil
		}
		return float64(*target)
	}
	return key
}
