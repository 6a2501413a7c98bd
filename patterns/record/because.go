package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"patterngate/ijson"
	"patterngate/patterns"
)

// How much of what made a rule true is shown. The whole is in the record.
const (
	maxValues     = 16
	maxExpression = 120 // bytes
)

// Because is what the policy said of a proposal: the rule that decided, what it says to people, and what made it true. The zero
// Because is of a decision that no rule made.
type Because struct {
	Said   string          `json:"rule_text,omitempty"` // by the rule, for people
	Values json.RawMessage `json:"values,omitempty"`    // that made it true, by their expressions
	Passes int             `json:"passes,omitempty"`    // of the policy, until nothing changed
	// Earlier says that earlier runs were looked at: what came of it, a call or a refusal, has a row of its own.
	Earlier bool `json:"earlier_runs,omitempty"`
}

// Value is one value that a rule read.
type Value struct {
	Expression string
	Text       string // its JSON, or that it is redacted; a longer one is cut. Hidden characters are still in it.
}

// Read are the values that made the rule true, by their expressions, and how many more there are. What is no object has none.
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
			v.Text = "redacted"
		case len(v.Text) > maxArgument:
			v.Text = ijson.Cut(v.Text, maxArgument) + "... (" + strconv.Itoa(len(v.Text)) + " bytes in all)"
		}
		list = append(list, v)
	}
	return list, len(names) - len(list)
}

// ValuesOf are decoded values as [Because.Read] has them.
func ValuesOf(values map[string]any) (list []Value, left int) {
	if len(values) == 0 {
		return nil, 0
	}
	return Because{Values: ijson.Canonical(values)}.Read()
}

// because is what a judgment says of the rule that made it.
func because(said string, values json.RawMessage, passes int) Because {
	if passes < 0 {
		passes = 0
	}
	return Because{Said: said, Values: values, Passes: passes}
}

// judged enters what the policy said of a proposal that got no intent.
func (r *Row) judged(b patterns.JudgedBody) {
	r.Kind, r.Phase, r.Decision, r.Rule, r.Why, r.input = Judged, b.Phase, b.Decision, b.Rule, b.Reason, b.Proposal
	r.Name, r.Changed = proposed(b.Proposal), b.Revisions
	r.Because = because(b.Text, b.Values, b.Passes)
	r.Earlier = b.Windows != nil
	r.attempted(b.Proposal)
}
