package server

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// findRun looks up the run that a call continues and compares the call's arguments with it. It does not find a run of
// another principal or of another tool.
func (r *request) findRun(t *tool, principal string) {
	id, isText := r.Arguments["run_id"].(string)
	if !isText || ijson.Blank(id) || len(id) > maxInput {
		return // reported already
	}
	s, ok := t.server.config.Engine.Run(principal, id)
	if !ok || s.Pattern != r.Tool {
		r.add(classNotFound, "run_id", id, "a run of "+r.Tool+" that you began and that is still known")
		return
	}
	r.Run = &s
	goal := t.spec.GoalArgument()
	r.compare(goal, s.Arguments[goal])
	was := inputsOf(t.spec, s.Arguments)
	for _, p := range ownInputs(t.spec) {
		r.compare(p.Name, was[p.Name])
	}
	r.compare("finalize", t.newCall(s.Arguments).task(t.configured).Finalize)
	r.compare(dryArgument, false) // a run cannot become a dry run
	intent := r.intentName()
	if r.Arguments[intent] == nil && r.Arguments["continue_with"] != "model" && s.State == patterns.Parked {
		r.add(classMissing, intent, document.Missing, "your next "+intent)
	}
}

// compare rejects an argument of the run that differs from its value at the start. It skips an argument that has a
// problem already.
func (r *request) compare(name string, was any) {
	for _, problems := range r.faults {
		for _, p := range problems {
			if p.Pointer == ijson.Pointer("").Member(name) {
				return
			}
		}
	}
	if v := r.Arguments[name]; v != nil && !ijson.Equal(v, was) {
		r.add(classMismatch, name, v, "what the run began with, or nothing").Choose = keepOrBegin
	}
}

// keepOrBegin is the caller's choice for an argument that differs from the run's.
const keepOrBegin = "remove it to go on with the run, or begin another run"

// empty reports whether a continuation has an empty list of actions and does not ask the model to continue.
func (c call) empty() bool {
	actions, isList := c.Intents["actions"].([]any)
	return isList && len(actions) == 0 && c.Arguments["continue_with"] != "model"
}

// continuation returns what a call without problems sends to the run that it continues.
func (c call) continuation(principal string) patterns.Continuation {
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

// notTaken returns the problem of a continuation that does not match what the run waits for.
func (c call) notTaken() document.Problem {
	p := document.Problem{Pointer: "/run_id", Reason: reasonNotTaken, Got: document.Got(c.Run.RunID)}
	switch s := c.Run; {
	case s.State == patterns.Running:
		p.Want = "a run that waits; this one goes on in another call"
	case s.State == patterns.Over:
		p.Want = "a run that waits; this one has ended"
	case kindOf(s.Ended.Waiting) != string(patterns.ForCaller):
		p.Want = "a run that waits for its caller; this one is " + waitWords(kindOf(s.Ended.Waiting)) + ", and nothing that is sent here counts"
	case c.Arguments["turn"] != nil && c.Arguments["turn"] != float64(s.Ended.Waiting.Turn):
		p.Pointer, p.Got = "/turn", document.Got(c.Arguments["turn"])
		p.Want = "the present turn: " + string(document.Got(float64(s.Ended.Waiting.Turn)))
	case !c.empty(): // another call continued it at the same time, and it waits again
		p.Want = "a run that waits; another call was quicker, this is what came of it"
	default:
		p.Pointer, p.Got = ijson.Pointer("").Member(s.Ended.Waiting.Argument), document.Got([]any{})
		p.Want = "at least one action"
	}
	return p
}

// whole returns one call that equals all calls of an ended run: its first arguments and all that the caller sent over
// its turns. The result is the same for every reader. c is the call that ended the run, or one that only reads it.
func (t *tool) whole(c call, result patterns.Result) call {
	if c.Run == nil {
		return c
	}
	w := t.newCall(c.Run.Arguments)
	w.Run, w.Arguments = c.Run, maps.Clone(w.Arguments)
	if c.Spec.Kind == gateway.Planning { // later turns brought results, which are not part of the call
		return w
	}
	name, own := c.intentName(), result.Handed
	switch {
	case own == nil: // everything came at the start
	case c.Spec.Kind != gateway.Supervisor:
		if len(own) > 0 {
			w.Arguments[name], w.Intents[name], w.IntentWas[name] = own[0], own[0], false
		}
	default:
		all := slices.Clone(result.Proposed)
		if result.ByCall && result.RawName != "" { // rejected, so not in Proposed
			all = append(all, own...)
		}
		w.Shift = max(0, len(all)-len(own))
		if w.Proposes = len(all) > 0; w.Proposes {
			w.Arguments[name], w.Intents[name], w.IntentWas[name] = all, all, false
		}
	}
	return w
}

// shifted returns the problems of this call's actions with their positions among all actions of the run.
func (c call) shifted(problems []document.Problem) []document.Problem {
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

func (c call) shift(at ijson.Pointer) ijson.Pointer {
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
