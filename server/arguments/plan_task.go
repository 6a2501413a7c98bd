package arguments

import (
	"maps"
	"math"
	"reflect"
	"time"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// PlanTask returns the task that a call of a planning tool asks for. The call must have no problems.
func (c Call) PlanTask() patterns.Task {
	verb := VerbOf(c.Spec)
	p := &patterns.PlanCall{Verb: verb, PlanID: c.Said("plan_id"), Expected: c.expected()}
	t := patterns.Task{Plan: p}
	if c.Own != nil {
		t.Caller = []document.Intent{*c.Own}
	}
	switch verb {
	case patterns.DecomposeVerb:
		t.Goal, _ = c.Arguments[c.Spec.GoalArgument()].(string)
		t.Inputs = inputsOf(c.Spec, c.Arguments)
		if c.Said("parent_plan_id") != "" { // the plan has the missing values, so no defaults apply
			maps.DeleteFunc(t.Inputs, func(name string, _ any) bool { return c.Arguments[name] == nil })
		}
		p.PlanID, p.Context = c.Said("parent_plan_id"), c.Said("context")
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
		p.Reason, p.Failed, p.Hints = c.Said("reason"), c.Said("failed_subtask"), c.Said("hints")
	}
	return t
}

// expected returns the revision that the plan must have, or nil for any.
func (c Call) expected() *int {
	n, given := c.Arguments["expected_revision"].(float64)
	if !given {
		return nil
	}
	revision := int(n)
	return &revision
}

// strategy returns the strategy that the call asks for. A call with parent_plan_id is iterative, as its plan is. The
// default is flat.
func (c Call) strategy() planning.Strategy {
	switch word, _ := c.Arguments["strategy"].(string); {
	case word != "":
		return planning.Strategy(word)
	case c.Said("parent_plan_id") != "":
		return planning.Iterative
	}
	return planning.Flat
}

// whole returns a whole number as given, or its default. The default is never above the ceiling.
func (c Call) whole(name string) int {
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

func (c Call) word(name string) string {
	if word, _ := c.Arguments[name].(string); word != "" {
		return word
	}
	return failureStrategies[0]
}

// pause returns the pause before a second attempt in seconds, at most maxPause.
func (c Call) pause() float64 {
	if n, given := c.Arguments["retry_delay_seconds"].(float64); given {
		return min(n, maxPause)
	}
	return defaultPause
}

// ofRun returns the arguments of plan_execute that belong to the run, with defaults for those that are absent.
func (c Call) ofRun() map[string]any {
	p := c.PlanTask()
	own := map[string]any{
		"parallel": p.Plan.Concurrent, "on_subtask_failure": p.Plan.OnFailure, "max_retries": p.Plan.MaxRetries,
		"retry_delay_seconds": p.Plan.RetryDelay, "max_steps": p.Plan.MaxSteps, "finalize": p.Finalize,
	}
	own["parallel"] = c.Arguments["parallel"] == true
	own["max_concurrent"] = c.whole("max_concurrent")
	if p.Plan.MaxSteps == 0 { // no bound; a number cannot express that
		own["max_steps"] = nil
	}
	return own
}

// CompareRun refuses arguments that are given and differ from those that the run began with.
func (r *Request) CompareRun(began Call) {
	now, then := r.ofRun(), began.ofRun()
	for _, a := range planArguments(r.Spec) {
		was, own := then[a.Name]
		if own && r.Arguments[a.Name] != nil && !reflect.DeepEqual(now[a.Name], was) {
			r.Add(Mismatch, a.Name, r.Arguments[a.Name], sameAsBefore(string(document.Got(shownValue(was))))).Choose = keepOrBegin
		}
	}
}

// shownValue returns a value of a task as a caller would write it.
func shownValue(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case patterns.FailureStrategy:
		return string(v)
	case interface{ Seconds() float64 }:
		return v.Seconds()
	}
	return v
}

// NamedPlan returns the id of the plan that a call names.
func (c Call) NamedPlan() string {
	if id := c.Said("plan_id"); id != "" {
		return id
	}
	return c.Said("parent_plan_id")
}

// PlanOfRun returns the id of the plan that a run works on, or "" if it is not known. It is the plan that the call
// named, or the plan that a plan_execute run stored first.
func (c Call) PlanOfRun(s patterns.Snapshot) string {
	begun := Call{Arguments: s.Arguments}
	if s.Arguments == nil {
		begun = c
	}
	phase := s.Current.Phase
	if id := begun.NamedPlan(); id != "" || VerbOf(c.Spec) != patterns.ExecuteVerb || phase == "" || phase == patterns.PhasePlan {
		return id
	}
	return patterns.PlanOf(s.RunID)
}
