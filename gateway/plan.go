package gateway

import (
	"fmt"

	"patterngate/ijson"
)

// Plan is an accepted list of steps, to be taken in order.
type Plan struct {
	Steps  []Step
	Filled []Filled
}

// Step is one call of a plan. ID, Title and Tool are stripped; Args are as proposed.
type Step struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
}

// PlanRules bound a plan.
type PlanRules struct {
	Min, Max int      // steps
	Allowed  []string // the policy allowlist
}

// ParsePlan judges a task decomposition's plan (spec/patterns.md section 2, in its order).
func ParsePlan(in Intent, rules PlanRules) (Plan, *Refusal) {
	f := newFaults("invalid_plan")
	doc, filled, ok := openDocument(f, in, documentReasons, "plan")
	if !ok {
		return Plan{}, f.refusal()
	}
	doc.extra("extra_keys", ofPlan("steps"), "kind", "steps")
	list := readSteps(doc, rules)
	plan := Plan{Steps: make([]Step, len(list)), Filled: filled}
	ids := newIDs(list)
	for i, v := range list {
		plan.Steps[i] = parseStep(f, i, v, doc.at.Member("steps"), ids, rules.Allowed)
	}
	if r := f.refusal(); r != nil {
		return Plan{}, r
	}
	return plan, nil
}

// readSteps reads the list of steps; it is empty if their number is wrong.
func readSteps(o object, rules PlanRules) []any {
	list, _ := o.members["steps"].([]any)
	reason := ""
	switch n := len(list); {
	case n == 0:
		o.wrong("missing_steps", "steps", fmt.Sprintf("a list of %d to %d steps", rules.Min, rules.Max))
	case n < rules.Min:
		reason = "min_steps"
	case n > rules.Max:
		reason = "max_steps"
	}
	if reason == "" {
		return list
	}
	o.wrong(reason, "steps", fmt.Sprintf("%d to %d steps, not %d", rules.Min, rules.Max, len(list)))
	return nil
}

// parseStep judges the step at index i of the list at that place.
func parseStep(f *faults, i int, v any, list ijson.Pointer, ids *idSet, allowed []string) Step {
	o := object{faults: f, at: list.Index(i), step: i + 1}
	var ok bool
	if o.members, ok = v.(map[string]any); !ok {
		o.add(o.numbered("_not_object"), o.at, v, "an object {id, title, tool, args}")
		return Step{}
	}
	o.extra("_extra_keys", ofStep(allowed), "id", "title", "tool", "args")
	var s Step
	s.ID = o.id(ids, "_missing_id", "duplicate_step_id")
	s.Title = o.text("title", "_missing_title", "a text")
	s.Tool, _ = o.name("tool", nameReasons{missing: "_missing_tool", notAllowed: "tool_not_allowed"}, allowed)
	s.Args, _ = o.args("_bad_args", "an object of arguments")
	return s
}

// ofStep are other names of the members of a step.
func ofStep(allowed []string) []rename {
	return []rename{
		{right: "id", words: []string{"stepid"}, as: textual}, {right: "tool", words: wordsOfTool, as: namedIn(allowed)},
		{right: "title", words: []string{"description", "name", "label", "task"}, as: textual}, argsRename(),
	}
}
