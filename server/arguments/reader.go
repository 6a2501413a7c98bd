package arguments

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Reader reads the calls of one pattern's tool. It does not change.
type Reader struct {
	Spec       patterns.Spec
	Takes      []Row // in the order in which faults are reported
	Configured bool  // the user set up the model that answers questions
}

// FindRun returns a run of the caller by its id. It returns false if the caller has no such run.
type FindRun func(id string) (patterns.Snapshot, bool)

// NewReader returns the reader of a pattern's tool. about are the arguments about the call itself, not about its task.
func NewReader(spec patterns.Spec, about ...Row) Reader {
	return Reader{Spec: spec, Takes: slices.Concat(formOf(spec.Kind).rows(spec), handlesOf(spec, about))}
}

// Take reads the arguments of a call as they came. With problems nothing may run. The first problem names the stop
// reason. run finds a run of the caller by its id.
func (t Reader) Take(raw json.RawMessage, run FindRun) (Call, []document.Problem) {
	r := Request{Call: t.NewCall(nil)}
	arguments, problem := Decode(raw)
	if problem != nil {
		return r.Call, []document.Problem{*problem}
	}
	r.Arguments, r.Size = arguments, ijson.Weight(arguments)
	if t.Spec.Kind == gateway.Call { // the gate judges the other arguments
		r.openTexts()
	} else {
		r.Unknown(t.Takes)
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
		r.FindRun(t, run)
	default:
		r.needRun(t)
	}
	return r.Call, document.CapProblems(r.Problems())
}

// NewCall returns a call with arguments that were judged before, or with none yet.
func (t Reader) NewCall(arguments map[string]any) Call {
	r := Request{Call: Call{
		Tool: t.Spec.Name, Spec: t.Spec, Arguments: arguments, Intents: map[string]any{}, IntentWas: map[string]bool{},
	}}
	if arguments != nil {
		for _, a := range t.Takes {
			r.read(a)
		}
	}
	r.Proposes = r.Proposes || t.Spec.Kind == gateway.Call
	return r.Call
}

// Whole returns one call that equals all calls of an ended run: its first arguments and all that the caller sent over
// its turns. The result is the same for every reader. c is the call that ended the run, or one that only reads it.
func (t Reader) Whole(c Call, result patterns.Result) Call {
	if c.Run == nil {
		return c
	}
	w := t.NewCall(c.Run.Arguments)
	w.Run, w.Arguments = c.Run, maps.Clone(w.Arguments)
	if c.Spec.Kind == gateway.Planning { // later turns brought results, which are not part of the call
		return w
	}
	name, own := c.IntentName(), result.Handed
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

// ReadTable reads the arguments of a tool that begins no run, as they came. With problems nothing is done. The first
// problem names the stop reason. A blank optional text counts as absent, because many clients fill in everything that a
// schema names.
func ReadTable(tool string, takes []Row, raw json.RawMessage) (*Request, []document.Problem) {
	r := NewRequest(tool)
	arguments, problem := Decode(raw)
	if problem != nil {
		return r, []document.Problem{*problem}
	}
	r.Limit = ordinaryPage
	r.Arguments = maps.Clone(arguments)
	for _, a := range takes {
		if text, isText := arguments[a.Name].(string); isText && !a.Required && ijson.Blank(text) {
			delete(r.Arguments, a.Name)
		}
	}
	r.ReadAll(takes)
	return r, document.CapProblems(r.Problems())
}
