package arguments

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// FindRun looks up the run that a call continues and compares the call's arguments with it. It does not find a run of
// another principal or of another tool.
func (r *Request) FindRun(t Reader, run FindRun) {
	id, isText := r.Arguments["run_id"].(string)
	if !isText || ijson.Blank(id) || len(id) > MaxInput {
		return // reported already
	}
	s, ok := run(id)
	if !ok || s.Pattern != r.Tool {
		r.Add(NotFound, "run_id", id, runOf(r.Tool))
		return
	}
	r.Run = &s
	goal := t.Spec.GoalArgument()
	r.compare(goal, s.Arguments[goal])
	was := inputsOf(t.Spec, s.Arguments)
	for _, p := range OwnInputs(t.Spec) {
		r.compare(p.Name, was[p.Name])
	}
	r.compare("finalize", t.NewCall(s.Arguments).Task(t.Configured).Finalize)
	r.compare(DryRunName, false) // a run cannot become a dry run
	intent := r.IntentName()
	if r.Arguments[intent] == nil && r.Arguments["continue_with"] != "model" && s.State == patterns.Parked {
		r.Add(Missing, intent, document.Missing, yourNext(intent))
	}
}

// compare rejects an argument of the run that differs from its value at the start. It skips an argument that has a
// problem already.
func (r *Request) compare(name string, was any) {
	for _, problems := range r.faults {
		for _, p := range problems {
			if p.Pointer == ijson.Pointer("").Member(name) {
				return
			}
		}
	}
	if v := r.Arguments[name]; v != nil && !ijson.Equal(v, was) {
		r.Add(Mismatch, name, v, sameOrNothing).Choose = keepOrBegin
	}
}

// keepOrBegin is the caller's choice for an argument that differs from the run's.
const keepOrBegin = removeOrRestart

// Empty reports whether a continuation has an empty list of actions and does not ask the model to continue.
func (c Call) Empty() bool {
	actions, isList := c.Intents["actions"].([]any)
	return isList && len(actions) == 0 && c.Arguments["continue_with"] != "model"
}

// Continuation returns what a call without problems sends to the run that it continues.
func (c Call) Continuation(principal string) patterns.Continuation {
	given := map[string]any{}
	if c.Spec.Kind == gateway.Planning {
		given["results"] = c.Results
	} else {
		maps.Copy(given, c.Intents)
	}
	if with, ok := c.Arguments["continue_with"].(string); ok {
		given["continue_with"] = with
	}
	turn, _ := c.Arguments["turn"].(float64)
	return patterns.Continuation{Principal: principal, RunID: c.Run.RunID, Turn: int(min(turn, ijson.MaxInteger)), Given: given, Size: c.Size}
}

// Shifted returns the problems of this call's actions with their positions among all actions of the run.
func (c Call) Shifted(problems []document.Problem) []document.Problem {
	if c.Shift == 0 {
		return problems
	}
	list := slices.Clone(problems)
	for i := range list {
		list[i].Pointer = c.shift(list[i].Pointer)
		if f := list[i].Fix; f != nil {
			moved := *f
			moved.At, moved.From = c.shift(f.At), c.shift(f.From)
			list[i].Fix = &moved
		}
	}
	return list
}

func (c Call) shift(at ijson.Pointer) ijson.Pointer {
	tokens := at.Tokens()
	if len(tokens) < 2 || tokens[0] != "actions" {
		return at
	}
	n, err := strconv.Atoi(tokens[1])
	if err != nil {
		return at
	}
	moved := ijson.Pointer("/actions").Index(n + c.Shift)
	for _, token := range tokens[2:] {
		moved = moved.Member(token)
	}
	return moved
}
