package gateway

import (
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Plan is an accepted list of steps. They run in order.
type Plan struct {
	Steps  []Step
	Filled []document.Filled
}

// Step is one call of a plan. ID, Title and Tool are stripped; Args are as proposed.
type Step struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
}

// PlanRules are the rules that a plan must fit.
type PlanRules struct {
	Min, Max int      // steps
	Allowed  []string // the policy allowlist
}

// ParsePlan parses and checks a plan of task decomposition (spec/patterns.md section 2, in its order).
func ParsePlan(in document.Intent, rules PlanRules) (Plan, *document.Refusal) {
	f := document.NewFaults("invalid_plan")
	doc, filled, ok := document.Open(f, in, document.DefaultReasons, "plan")
	if !ok {
		return Plan{}, f.Refusal()
	}
	doc.Extra("extra_keys", document.PlanSynonyms("steps"), "kind", "steps")
	list := readSteps(doc, rules)
	plan := Plan{Steps: make([]Step, len(list)), Filled: filled}
	ids := document.NewIDs(list)
	for i, v := range list {
		plan.Steps[i] = parseStep(f, i, v, doc.At.Member("steps"), ids, rules.Allowed)
	}
	if r := f.Refusal(); r != nil {
		return Plan{}, r
	}
	return plan, nil
}

// readSteps reads the list of steps. It is empty if there are too few or too many.
func readSteps(o document.Object, rules PlanRules) []any {
	list, _ := o.Members["steps"].([]any)
	reason := ""
	switch n := len(list); {
	case n == 0:
		o.Wrong("missing_steps", "steps", stepList(rules.Min, rules.Max))
	case n < rules.Min:
		reason = "min_steps"
	case n > rules.Max:
		reason = "max_steps"
	}
	if reason == "" {
		return list
	}
	o.Wrong(reason, "steps", stepCount(rules.Min, rules.Max, len(list)))
	return nil
}

// parseStep parses and checks the step at index i of the list.
func parseStep(f *document.Faults, i int, v any, list ijson.Pointer, ids *document.IDs, allowed []string) Step {
	o := document.Object{Faults: f, At: list.Index(i), Step: i + 1}
	var ok bool
	if o.Members, ok = v.(map[string]any); !ok {
		o.Add(o.Numbered("_not_object"), o.At, v, stepObject)
		return Step{}
	}
	o.Extra("_extra_keys", ofStep(allowed), "id", "title", "tool", "args")
	var s Step
	s.ID = o.ID(ids, "_missing_id", "duplicate_step_id")
	s.Title = o.Text("title", "_missing_title", aText)
	s.Tool, _ = o.Name("tool", document.NameReasons{Missing: "_missing_tool", NotAllowed: "tool_not_allowed"}, allowed)
	s.Args, _ = o.Args("_bad_args", argumentsObject)
	return s
}

// ofStep returns other names of the members of a step.
func ofStep(allowed []string) []document.Synonym {
	return []document.Synonym{
		{Name: "id", Words: []string{"stepid"}, As: document.Textual}, {Name: "tool", Words: document.WordsOfTool, As: document.NamedIn(allowed)},
		{Name: "title", Words: []string{"description", "name", "label", "task"}, As: document.Textual}, document.ArgsSynonym(),
	}
}
