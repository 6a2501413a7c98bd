package settings

import (
	"maps"
	"math"
	"slices"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// budgetKeys returns the keys of the limits of a kind. The limits that only this kind has come first.
func budgetKeys(kind gateway.Kind, b *gateway.Budget) []grammar.Key {
	var of []grammar.Key
	switch kind {
	case gateway.TaskDecomposition:
		of = []grammar.Key{
			grammar.Count("min_plan_steps", &b.MinPlanSteps, 0, grammar.MaxCount).Means("The fewest steps of a plan."),
			grammar.Count("max_plan_steps", &b.MaxPlanSteps, 0, grammar.MaxCount).Means("The most steps of a plan."),
			limitKey("max_execute_steps", &b.MaxExecuteSteps, grammar.MaxCount).Means("The most steps that an accepted plan can carry out. A longer plan does not start."),
		}
	case gateway.Orchestrator:
		of = []grammar.Key{
			grammar.Count("max_tasks", &b.MaxTasks, 0, grammar.MaxCount).Means("Tasks of a plan."),
			grammar.Count("max_parallel", &b.MaxParallel, 1, 256).Means("Tasks that run at the same time."),
			grammar.Count("max_retries_per_task", &b.MaxRetriesPerTask, 0, grammar.MaxCount).Means("Retries of a task that timed out."),
			limitKey("max_dispatches", &b.MaxDispatches, grammar.MaxCount).Means("Attempts of all tasks together. The first attempts are counted before anything runs."),
			grammar.Seconds("task_timeout_seconds", &b.TaskTimeout, grammar.MaxSeconds).Means("How long one attempt of a task can take."),
		}
	case gateway.Routing:
		of = []grammar.Key{
			grammar.Count("max_route_attempts", &b.MaxRouteAttempts, 0, grammar.MaxCount).Means("Routes that are tried."),
			limitKey("max_delegations", &b.MaxDelegations, grammar.MaxCount).Means("Calls of specialists. A call that is refused counts too."),
		}
	case gateway.Supervisor:
		of = []grammar.Key{grammar.Count("max_steps", &b.MaxSteps, 0, grammar.MaxCount).Means("Actions, including the final answer.")}
	case gateway.Planning:
		of = planningBudgetKeys(b)
	}
	of = append(of, inheritedKeys(b)...)
	if kind != gateway.Planning { // planning has this key among its own
		of = append(of, callsPerToolKey(b))
	}
	return append(of, sameCallKey("max_same_call", b), perToolKey("per_tool", &b.PerTool))
}

// inheritedKeys returns the keys of the limits that a pattern passes on to the patterns that it calls. Every kind has them.
func inheritedKeys(b *gateway.Budget) []grammar.Key {
	return []grammar.Key{
		grammar.Seconds("max_seconds", &b.MaxTime, grammar.MaxSeconds).Means("Running time. Time spent waiting for the caller or a person does not count."),
		limitKey("max_tool_calls", &b.MaxToolCalls, grammar.MaxCount).Means("Calls of tools. A call that is refused counts too."),
		limitKey("max_llm_calls", &b.MaxLLMCalls, grammar.MaxCount).Means("Requests to the model, including retries."),
		limitKey("max_tokens", &b.MaxTokens, maxTokens).Means("Input and output tokens together. When they are spent, the model is not asked again."),
		costKey("max_cost_usd", &b.MaxCost).Means("What its models can cost in USD, by the prices in `llm.models`."),
	}
}

func callsPerToolKey(b *gateway.Budget) grammar.Key {
	return limitKey("max_calls_per_tool", &b.MaxCallsPerTool, grammar.MaxCount).Means("Calls of one tool in a run.")
}

// costKey returns the key of an amount in USD. No limit is shown as null.
func costKey(name string, target *gateway.USD) grammar.Key {
	return grammar.Scaled(name, grammar.Bounds{Max: math.Inf(1), Unit: grammar.InUSD},
		func() any {
			if !target.Named() {
				return nil
			}
			return float64(*target)
		},
		func(v float64) { *target = gateway.USD(v) })
}

// sameCallKey returns the key that limits equal calls in a run. A number in the file applies to every tool. Without one,
// tools that read may have a higher limit.
func sameCallKey(name string, b *gateway.Budget) grammar.Key {
	key := limitKey(name, &b.MaxSameCall, grammar.MaxCount)
	show, read := key.Show, key.Read
	key.Show = func() any {
		if b.MaxSameRead != 0 {
			return nil
		}
		return show()
	}
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		b.MaxSameRead = 0
	}
	return key.Means("How often a run can repeat a call with the same arguments. Not set: in your own supervisors 2 for tools that read and 1 for others; else no limit.")
}

// perToolKey returns the key of the limits of single tools. An entry of the file replaces the limits that it sets and keeps
// the other tools' limits.
func perToolKey(name string, target *map[string]gateway.CallLimit) grammar.Key {
	keys := func(l *gateway.CallLimit) []grammar.Key {
		return []grammar.Key{othersKey("max_calls", &l.MaxCalls), othersKey("max_same_call", &l.MaxSameCall)}
	}
	below := func() []grammar.Key { return keys(&gateway.CallLimit{}) }
	return grammar.Key{
		Name: name, Takes: mappingOfTools(grammar.Braced(below())), Form: func() map[string]any {
			return map[string]any{"type": "object", "propertyNames": grammar.NameForm, "additionalProperties": grammar.OrNull(grammar.SchemaOf(below()))}
		},
		Entries: true, Brief: true, Below: below,
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			all := maps.Clone(*target)
			if all == nil || n.At == (yamldoc.Place{}) { // a snapshot holds all entries
				all = map[string]gateway.CallLimit{}
			}
			r.Each(n, path, grammar.ToolNames, func(m yamldoc.Member, below *yamldoc.Path) {
				limit, there := all[m.Key]
				if !there {
					limit = gateway.CallLimit{MaxCalls: gateway.AsOthers, MaxSameCall: gateway.AsOthers}
				}
				r.Group(m.Value, below, keys(&limit), grammar.UnknownKey)
				all[m.Key] = limit
			})
			*target = all
		},
		Show: func() any {
			shown := make([]grammar.Key, 0, len(*target))
			for _, tool := range slices.Sorted(maps.Keys(*target)) {
				limit := (*target)[tool]
				shown = append(shown, grammar.Group(tool, keys(&limit)...))
			}
			return shown
		},
	}.Means("Limits for single tools. They replace the two limits above.")
}

// othersKey returns the key of a limit for one tool. If the limit is that of every tool, it is shown as null.
func othersKey(name string, target *gateway.Limit) grammar.Key {
	key := limitKey(name, target, grammar.MaxCount)
	key.Show = func() any {
		if *target < 0 {
			return nil
		}
		return float64(*target)
	}
	return key
}
