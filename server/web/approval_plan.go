package web

import (
	"maps"
	"slices"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// askedPlan is a whole plan that a person must decide about.
type askedPlan struct {
	ID       string
	Revision int
	Known    bool     // the plan has a page
	Kind     string   // of the plan's newest change; "" if there was none
	Removed  []string // subtasks that the change removed
	Steps    []askedStep
	Counts   []string
}

// askedStep is a step that would run.
type askedStep struct {
	ID, Tool  string
	Effect    string
	Who       string   // who works on a step that calls no tool
	After     []string // the steps whose results it takes
	Says      string   // the beginning of its description, written by the author of the plan
	Arguments []argument
	Bounds    []argument // known bounds of values that come from other steps, by their places
}

// planOf returns the plan that a question is about, or nil if it is about one call.
func planOf(a patterns.Asked) *askedPlan {
	e, whole := a.Plan()
	if !whole {
		return nil
	}
	page := &askedPlan{ID: wording.Name(e.Plan), Revision: e.Revision, Known: planID.MatchString(e.Plan), Counts: record.StepCounts(e)}
	if e.Change != nil {
		page.Kind = wording.Name(e.Change.Kind)
		for _, id := range e.Change.Removed {
			page.Removed = append(page.Removed, wording.Name(id))
		}
	}
	for _, s := range e.Steps {
		step := askedStep{ID: wording.Name(s.ID), Tool: wording.Name(s.Tool), Effect: wording.Effect(string(s.Effect)), Who: workerWords(s), Arguments: argumentsOf(s.Args, nil), Says: wording.Clip(s.Claim, maxPhrase), After: takesFrom(s.Args)}
		for _, at := range slices.Sorted(maps.Keys(s.Bounds)) {
			fits := wording.UnknownValue
			if bounds, _ := s.Bounds[at].(map[string]any); len(bounds) > 0 {
				fits = wording.BoundedValue(wording.PrettyValue(bounds))
			}
			step.Bounds = append(step.Bounds, argument{Name: wording.Visible(at), Value: fits})
		}
		page.Steps = append(page.Steps, step)
	}
	return page
}

// takesFrom returns the ids of the steps whose results the arguments of a step name, each once.
func takesFrom(args map[string]any) (ids []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			rest, is := strings.CutPrefix(v, "$results.")
			if id, _, _ := strings.Cut(rest, "."); is && !slices.Contains(ids, wording.Name(id)) {
				ids = append(ids, wording.Name(id))
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	walk(args)
	return ids
}

// workerWords describes the worker of a step that calls no tool. It returns "" for a step that calls one.
func workerWords(s planning.EnvelopeStep) string {
	switch {
	case s.Effect != "":
		return ""
	case s.Tool == planning.ModelExecutor:
		return wording.StepByModel
	case s.Tool == planning.CallerExecutor:
		return wording.StepByCaller
	}
	return wording.StepUnknown
}

// planClaim returns what the author of a plan says about it. It returns false if the question is not about a plan.
func planClaim(a patterns.Asked) (wording.Block, bool) {
	e, whole := a.Plan()
	if !whole {
		return wording.Block{}, false
	}
	steps := map[string]any{}
	for _, s := range e.Steps {
		steps[s.ID] = s.Claim
	}
	return wording.JSONBlock(wording.LabelPlanClaim, ijson.Canonical(map[string]any{"goal": e.Goal, "steps": steps}), maxClaim), true
}
