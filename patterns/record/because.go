package record

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
)

// These are the limits for the values that made a rule true. The record holds all of them.
const (
	maxValues     = 16
	maxExpression = 120 // bytes
)

// Because is the policy's reason for a decision about a proposal: words of the rule that decided, and the values that made it true.
// The zero Because means that no rule decided.
type Because struct {
	Said   string          `json:"rule_text,omitempty"` // words of the rule, for people
	Values json.RawMessage `json:"values,omitempty"`    // that made the rule true, by their expressions
	Passes int             `json:"passes,omitempty"`    // passes of the policy until nothing changed
	// Earlier says that the judgment read earlier runs. The call or refusal that followed has a row of its own.
	Earlier bool `json:"earlier_runs,omitempty"`
}

// Value is one value that a rule read.
type Value struct {
	Expression string
	Text       string // its JSON, cut if it is long, or "redacted"; it may contain hidden characters
}

// Read returns the values that made the rule true, by their expressions, and how many more there are. It returns none if Values is not
// an object.
func (b Because) Read() (list []Value, left int) {
	var values map[string]json.RawMessage
	if ijson.DecodeKnown(b.Values, &values) != nil {
		return nil, 0
	}
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names[:min(len(names), maxValues)] {
		v := Value{Expression: name, Text: string(values[name])}
		if len(name) > maxExpression {
			v.Expression = ijson.Cut(name, maxExpression) + "..."
		}
		switch {
		case isRedacted(values[name]):
			v.Text = isRedactedText
		case len(v.Text) > maxArgument:
			v.Text = cutText(ijson.Cut(v.Text, maxArgument), len(v.Text))
		}
		list = append(list, v)
	}
	return list, len(names) - len(list)
}

// ValuesOf returns decoded values in the form of [Because.Read].
func ValuesOf(values map[string]any) (list []Value, left int) {
	if len(values) == 0 {
		return nil, 0
	}
	return Because{Values: ijson.Canonical(values)}.Read()
}

// because returns the Because of a judgment. Negative passes count as 0.
func because(said string, values json.RawMessage, passes int) Because {
	if passes < 0 {
		passes = 0
	}
	return Because{Said: said, Values: values, Passes: passes}
}

// judged fills the row from a judged event: what the policy said of a proposal that got no intent.
func (r *Row) judged(b patterns.JudgedBody) {
	r.Kind, r.Phase, r.Decision, r.Rule, r.Why, r.input = Judged, b.Phase, b.Decision, b.Rule, b.Reason, b.Proposal
	r.Name, r.Changed = proposed(b.Proposal), b.Revisions
	r.Because = because(b.Text, b.Values, b.Passes)
	r.Earlier = b.Windows != nil
	r.attempted(b.Proposal)
}
