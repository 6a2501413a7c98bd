package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
)

// Step is one effect, or the effects of one task, with all that was recorded about them.
type Step struct {
	Rows   []Row            `json:"rows"`
	Events []patterns.Event `json:"-"`
}

// Step finds the step with a name: the key of an effect, the path of a branch, or the id of a step, task or subtask of the plan. The
// name can also be the number of a call, from 1 in the order of their start. False: there is no such step.
func (s Story) Step(name string) (Step, bool) {
	match := func(r Row) bool { return r.Key == name }
	if !slices.ContainsFunc(s.Rows, match) {
		switch key, isBranch := s.planned(name); {
		case slices.ContainsFunc(s.Rows, inBranch(name)):
			match = inBranch(name)
		case s.isPlanning() && slices.ContainsFunc(s.Rows, ofSubtask(name)):
			match = ofSubtask(name)
		case key != "" && isBranch:
			match = inBranch(key)
		case key != "":
			match = func(r Row) bool { return r.Key == key }
		default:
			return Step{}, false
		}
	}
	var found Step
	keys := map[string]bool{}
	for _, r := range s.Rows {
		if r.Key != "" && match(r) {
			found.Rows = append(found.Rows, r)
			keys[r.Key] = true
		}
	}
	for _, e := range s.events {
		if keys[e.Key] {
			found.Events = append(found.Events, e)
		}
	}
	return found, len(found.Rows) > 0
}

func inBranch(path string) func(Row) bool {
	return func(r Row) bool { return path != "" && strings.HasPrefix(r.Key, path+"/") }
}

// planned returns the key of the call, or the branch of the task, for a number or an id of the plan.
func (s Story) planned(name string) (key string, isBranch bool) {
	if n, err := strconv.Atoi(name); err == nil {
		calls := s.calls()
		if n < 1 || n > len(calls) {
			return "", false
		}
		return calls[n-1].Key, false
	}
	for i, id := range s.planIDs() {
		if id != name {
			continue
		}
		if branch := fmt.Sprintf("task#%d", i+1); slices.ContainsFunc(s.Rows, inBranch(branch)) {
			return branch, true
		}
		if calls := s.calls(); i < len(calls) {
			return calls[i].Key, false
		}
	}
	return "", false
}

// planIDs returns the ids of the plan's steps or tasks, in its order; nil if the record does not hold the whole plan.
func (s Story) planIDs() []string {
	texts := []json.RawMessage{s.envelope.Plan}
	for _, r := range s.Rows {
		if r.Name != "plan" && r.Name != string(patterns.AskTasks) {
			continue
		}
		var reply string
		_ = ijson.DecodeKnown(r.output, &reply) // a caller's plan is not a text
		texts = append(texts, r.input, json.RawMessage(reply))
	}
	type item struct {
		ID string `json:"id"`
	}
	for _, text := range texts {
		var items []item
		if ijson.DecodeKnown(text, &items) != nil {
			var plan struct {
				Steps []item `json:"steps"`
				Tasks []item `json:"tasks"`
			}
			_ = ijson.DecodeKnown(text, &plan) // not a plan
			items = slices.Concat(plan.Steps, plan.Tasks)
		}
		if len(items) > 0 {
			ids := make([]string, len(items))
			for i, it := range items {
				ids[i] = it.ID
			}
			return ids
		}
	}
	return nil
}

// calls returns the rows of tool calls.
func (s Story) calls() []Row {
	var calls []Row
	for _, r := range s.Rows {
		if r.Kind == string(patterns.ToolEffect) {
			calls = append(calls, r)
		}
	}
	return calls
}
