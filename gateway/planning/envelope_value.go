package planning

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// Value returns the envelope as the arguments of a question, in decoded values.
func (e Envelope) Value() map[string]any {
	v := map[string]any{
		"type": envelopeType, "plan_id": e.Plan, "revision": float64(e.Revision), "steps": stepValues(e.Steps), "counts": e.counts(),
		"reserved": e.reserved(),
	}
	if e.Goal != "" {
		v["goal"] = ijson.Cut(e.Goal, maxClaim)
	}
	if c := e.Change; c != nil {
		v["changed"] = map[string]any{"kind": c.Kind, "added": textValues(c.Added), "removed": textValues(c.Removed)}
	}
	return v
}

func stepValues(steps []EnvelopeStep) []any {
	list := make([]any, len(steps))
	for i, s := range steps {
		v := map[string]any{"id": s.ID, "tool": s.Tool}
		for name, text := range map[string]string{"effect": string(s.Effect), "schema": s.Schema, "description": s.Claim} {
			if text != "" {
				v[name] = text
			}
		}
		for name, of := range map[string]map[string]any{"args": s.Args, "bounds": s.Bounds} {
			if len(of) > 0 {
				v[name] = of
			}
		}
		list[i] = v
	}
	return list
}

// counts returns the number of steps of each effect, and of those for the model and the caller.
func (e Envelope) counts() map[string]any {
	n := map[string]any{}
	for _, kind := range []string{string(catalog.Read), string(catalog.Write), string(catalog.Destructive), ModelExecutor, CallerExecutor} {
		n[kind] = 0.0
	}
	for _, s := range e.Steps {
		kind := string(s.Effect)
		if kind == "" {
			kind = s.Tool
		}
		so, _ := n[kind].(float64)
		n[kind] = so + 1
	}
	return n
}

// reserved returns the steps that write or destroy. A step whose arguments are all known has their args_hash.
func (e Envelope) reserved() []any {
	list := []any{}
	for _, s := range e.Writing() {
		v := map[string]any{"id": s.ID, "tool": s.Tool, "effect": string(s.Effect)}
		if len(s.Bounds) == 0 {
			v["args_hash"] = ijson.ArgsHash(s.Sent())
		}
		list = append(list, v)
	}
	return list
}

// Sent returns the arguments as they would be sent, with references unchanged.
func (s EnvelopeStep) Sent() map[string]any {
	sent, _ := rewrite(orEmpty(s.Args), "", func(_ ijson.Pointer, text string) any { return text }).(map[string]any)
	return sent
}

func textValues(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// ReadEnvelope returns the envelope that a question is about. It is false if the question is about a call, or if [Envelope.Value] did
// not make its arguments.
func ReadEnvelope(q gateway.Question) (Envelope, bool) {
	if q.Args["type"] != envelopeType || q.Schema != "" && q.Schema != gateway.HashOfNone {
		return Envelope{}, false
	}
	var v struct {
		Type     string         `json:"type"`
		Plan     string         `json:"plan_id"`
		Revision int            `json:"revision"`
		Goal     string         `json:"goal"`
		Steps    []stepJSON     `json:"steps"`
		Counts   map[string]any `json:"counts"`
		Reserved []any          `json:"reserved"`
		Changed  *changeJSON    `json:"changed"`
	}
	text := ijson.Canonical(q.Args)
	if ijson.DecodeInto(text, &v) != nil {
		return Envelope{}, false
	}
	e := Envelope{Plan: v.Plan, Revision: v.Revision, Goal: v.Goal}
	if v.Changed != nil {
		e.Change = (*EnvelopeChange)(v.Changed)
	}
	known := map[string]bool{}
	for _, s := range v.Steps {
		if s.ID == "" || known[s.ID] {
			return Envelope{}, false
		}
		known[s.ID] = true
		e.Steps = append(e.Steps, EnvelopeStep(s))
	}
	return e, slices.Equal(ijson.Canonical(e.Value()), text)
}

type stepJSON struct {
	ID     string         `json:"id"`
	Tool   string         `json:"tool"`
	Effect catalog.Effect `json:"effect"`
	Schema string         `json:"schema"`
	Args   map[string]any `json:"args"`
	Bounds map[string]any `json:"bounds"`
	Claim  string         `json:"description"`
}

type changeJSON struct {
	Kind    string   `json:"kind"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}
