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

// findRun looks up the run that a call continues and compares what the call says about it. Another principal's run and
// another tool's are not found.
func (r *request) findRun(t *tool, principal string) {
	id, isText := r.Arguments["run_id"].(string)
	if !isText || ijson.Blank(id) || len(id) > maxInput {
		return // told already
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
	r.compare(dryArgument, false) // a run that was begun is no dry run
	intent := r.intentName()
	if r.Arguments[intent] == nil && r.Arguments["continue_with"] != "model" && s.State == patterns.Parked {
		r.add(classMissing, intent, document.Missing, "your next "+intent)
	}
}

// compare refuses an argument of the run itself that is not what it was at the start, unless it was refused already.
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

// keepOrBegin is what the caller must decide about an argument that is not the run's.
const keepOrBegin = "remove it to go on with the run, or begin another run"

// empty reports a continuation that hands in nothing.
func (c call) empty() bool {
	actions, isList := c.Intents["actions"].([]any)
	return isList && len(actions) == 0 && c.Arguments["continue_with"] != "model"
}

// continuation is what a call without problems sends to the run that it continues.
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

// notTaken is the problem of a continuation that the run does not wait for.
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
	case !c.empty(): // it was taken in the moment in which this call came, and waits again
		p.Want = "a run that waits; another call was quicker, this is what came of it"
	default:
		p.Pointer, p.Got = ijson.Pointer("").Member(s.Ended.Waiting.Argument), document.Got([]any{})
		p.Want = "at least one action"
	}
	return p
}

// whole is the call that would have brought a run that ended to where it is: its own arguments with all that the caller
// handed in over its turns, whoever looks at it. c is the call by which the run came there, or one that only looks.
func (t *tool) whole(c call, result patterns.Result) call {
	if c.Run == nil {
		return c
	}
	w := t.newCall(c.Run.Arguments)
	w.Run, w.Arguments = c.Run, maps.Clone(w.Arguments)
	if c.Spec.Kind == gateway.Planning { // what came later are results, no part of the call
		return w
	}
	name, own := c.intentName(), result.Handed
	switch {
	case own == nil: // all came at the start
	case c.Spec.Kind != gateway.Supervisor:
		if len(own) > 0 {
			w.Arguments[name], w.Intents[name], w.IntentWas[name] = own[0], own[0], false
		}
	default:
		all := slices.Clone(result.Proposed)
		if result.ByCall && result.RawName != "" { // refused, and so not among them
			all = append(all, own...)
		}
		w.Shift = max(0, len(all)-len(own))
		if w.Proposes = len(all) > 0; w.Proposes {
			w.Arguments[name], w.Intents[name], w.IntentWas[name] = all, all, false
		}
	}
	return w
}

// shifted are problems of this call's actions with their places among all of the run's.
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
