package server

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// reader reads the calls of one pattern's tool. It does not change.
type reader struct {
	Spec       patterns.Spec
	Takes      []argument // in the order in which faults are reported
	Demo       bool       // a tool that the pattern may call is a demo tool
	Configured bool       // the user set up the model that answers questions
}

// findRun returns a run of the caller by its id. It returns false if the caller has no such run.
type findRun func(id string) (patterns.Snapshot, bool)

// newReader returns the reader of a pattern's tool. about are the arguments about the call itself, not about its task.
func newReader(spec patterns.Spec, about ...argument) reader {
	return reader{Spec: spec, Takes: slices.Concat(argumentsOf(spec), handlesOf(spec, about)), Demo: reachesDemo(spec)}
}

// reachesDemo reports whether a pattern may call a demo tool.
func reachesDemo(spec patterns.Spec) bool {
	return slices.ContainsFunc(spec.Execution, func(name string) bool {
		t, ok := spec.Catalog.Tool(name)
		return ok && t.Demo
	})
}

// take reads the arguments of a call as they came. With problems nothing may run. The first problem names the stop
// reason. run finds a run of the caller by its id.
func (t reader) take(raw json.RawMessage, run findRun) (call, []document.Problem) {
	r := request{call: t.newCall(nil)}
	arguments, problem := decodeArguments(raw)
	if problem != nil {
		return r.call, []document.Problem{*problem}
	}
	r.Arguments, r.Size = arguments, ijson.Weight(arguments)
	if t.Spec.Kind == gateway.Call { // the gate judges the other arguments
		r.openTexts()
	} else {
		r.unknown(t.Takes)
	}
	for _, a := range t.Takes {
		r.read(a)
	}
	switch {
	case t.Spec.Kind == gateway.Call:
		r.Proposes = true
	case t.Spec.Kind == gateway.Planning:
		r.readPlanning()
	case arguments["run_id"] != nil:
		r.findRun(t, run)
	default:
		r.needRun(t)
	}
	return r.call, document.CapProblems(r.problems())
}

// newCall returns a call with arguments that were judged before, or with none yet.
func (t reader) newCall(arguments map[string]any) call {
	r := request{call: call{
		Tool: t.Spec.Name, Spec: t.Spec, Demo: t.Demo, Arguments: arguments, Intents: map[string]any{}, IntentWas: map[string]bool{},
	}}
	if arguments != nil {
		for _, a := range t.Takes {
			r.read(a)
		}
	}
	r.Proposes = r.Proposes || t.Spec.Kind == gateway.Call
	return r.call
}

// whole returns one call that equals all calls of an ended run: its first arguments and all that the caller sent over
// its turns. The result is the same for every reader. c is the call that ended the run, or one that only reads it.
func (t reader) whole(c call, result patterns.Result) call {
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

// readTable reads the arguments of a tool that begins no run, as they came. With problems nothing is done. The first
// problem names the stop reason. A blank optional text counts as absent, because many clients fill in everything that a
// schema names.
func readTable(tool string, takes []argument, raw json.RawMessage) (*request, []document.Problem) {
	r := newRequest(tool)
	arguments, problem := decodeArguments(raw)
	if problem != nil {
		return r, []document.Problem{*problem}
	}
	r.Limit = ordinaryPage
	r.Arguments = maps.Clone(arguments)
	for _, a := range takes {
		if text, isText := arguments[a.name].(string); isText && !a.required && ijson.Blank(text) {
			delete(r.Arguments, a.name)
		}
	}
	r.readAll(takes)
	return r, document.CapProblems(r.problems())
}
