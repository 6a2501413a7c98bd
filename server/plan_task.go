package server

import (
	"maps"
	"math"
	"time"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// planTask returns the task that a call of a planning tool asks for. The call must have no problems.
func (c call) planTask() patterns.Task {
	verb := verbOf(c.Spec)
	p := &patterns.PlanCall{Verb: verb, PlanID: c.said("plan_id"), Expected: c.expected()}
	t := patterns.Task{Plan: p}
	if c.Own != nil {
		t.Caller = []document.Intent{*c.Own}
	}
	switch verb {
	case patterns.DecomposeVerb:
		t.Goal, _ = c.Arguments[c.Spec.GoalArgument()].(string)
		t.Inputs = inputsOf(c.Spec, c.Arguments)
		if c.said("parent_plan_id") != "" { // the plan has the missing values, so no defaults apply
			maps.DeleteFunc(t.Inputs, func(name string, _ any) bool { return c.Arguments[name] == nil })
		}
		p.PlanID, p.Context = c.said("parent_plan_id"), c.said("context")
		p.Strategy = c.strategy()
		p.MaxDepth, p.MaxSubtasks = c.whole("max_depth"), c.whole("max_subtasks")
		p.DryRun, _ = c.Arguments["dry_run"].(bool)
	case patterns.ExecuteVerb:
		if c.Own != nil {
			t.Inputs = inputsOf(c.Spec, c.Arguments)
		}
		t.Finalize, _ = c.Arguments["finalize"].(bool)
		if p.Concurrent = 1; c.Arguments["parallel"] == true {
			p.Concurrent = c.whole("max_concurrent")
		}
		p.OnFailure = patterns.FailureStrategy(c.word("on_subtask_failure"))
		p.MaxRetries, p.MaxSteps = c.whole("max_retries"), c.whole("max_steps")
		p.RetryDelay = time.Duration(math.Round(c.pause() * float64(time.Second)))
		p.Results = c.Results
	case patterns.ReplanVerb:
		p.Reason, p.Failed, p.Hints = c.said("reason"), c.said("failed_subtask"), c.said("hints")
	}
	return t
}

// expected returns the revision that the plan must have, or nil for any.
func (c call) expected() *int {
	n, given := c.Arguments["expected_revision"].(float64)
	if !given {
		return nil
	}
	revision := int(n)
	return &revision
}

// strategy returns the strategy that the call asks for. A call with parent_plan_id is iterative, as its plan is. The
// default is flat.
func (c call) strategy() planning.Strategy {
	switch word, _ := c.Arguments["strategy"].(string); {
	case word != "":
		return planning.Strategy(word)
	case c.said("parent_plan_id") != "":
		return planning.Iterative
	}
	return planning.Flat
}

// whole returns a whole number as given, or its default. The default is never above the ceiling.
func (c call) whole(name string) int {
	if n, given := c.Arguments[name].(float64); given {
		return int(n)
	}
	b := c.Spec.Budget
	switch name {
	case "max_depth":
		return min(defaultDepth, b.MaxDepth)
	case "max_subtasks":
		return min(defaultCount, b.MaxSubtasks)
	case "max_concurrent":
		return min(defaultAtOnce, b.MaxConcurrent)
	case "max_retries":
		return min(defaultRetries, b.MaxRetries)
	}
	return 0
}

func (c call) word(name string) string {
	if word, _ := c.Arguments[name].(string); word != "" {
		return word
	}
	return failureStrategies[0]
}

// pause returns the pause before a second attempt in seconds, at most maxPause.
func (c call) pause() float64 {
	if n, given := c.Arguments["retry_delay_seconds"].(float64); given {
		return min(n, maxPause)
	}
	return defaultPause
}
