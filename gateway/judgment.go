package gateway

import (
	"maps"
	"slices"

	"patterngate/ijson"
)

// Allowlisted is the reason if no policy reviews a pattern: the allowlists alone decided.
const Allowlisted = "allowlisted"

// maxProposedText is how many bytes are recorded of the proposed arguments of a changed call.
const maxProposedText = 16 << 10

// Judgment is what the record holds about a judged call: what let it through and why (spec/surface.md section 7,
// verdict). Its zero value blocks.
type Judgment struct {
	// Decision is approve, revise or escalate. Revise means that the policy changed the call. Escalate means that the
	// policy asked for a person, and the person approved exactly this call.
	Decision Decision
	// Rule is the policy's rule that decided; "" if none did.
	Rule   string
	Reason string
	Text   string         // of the rule, for people
	Values map[string]any // that made the rule true, by their expressions: decoded values
	// Revisions are the reasons of all changes, in order.
	Revisions []string
	// Proposed are the arguments before the changes, for a call that was changed and then made at once. It is nil if
	// nothing was changed, or if another event of the record holds them.
	Proposed map[string]any
	// Passes is how often the policy reviewed the call until nothing changed; 0: there was no policy.
	Passes int
	Policy string // the policy's hash, see [Hashed]; "" if it has none
}

// Value returns the judgment for the record: a decoded value, without the members that do not apply.
func (j Judgment) Value() map[string]any {
	v := map[string]any{"decision": j.Decision.String()}
	for name, text := range map[string]string{"rule": j.Rule, "reason": j.Reason, "text": j.Text, "policy": j.Policy} {
		if text != "" {
			v[name] = text
		}
	}
	if len(j.Values) > 0 {
		v["values"] = j.Values
	}
	if len(j.Revisions) > 0 {
		revisions := make([]any, len(j.Revisions))
		for i, r := range j.Revisions {
			revisions[i] = r
		}
		v["revisions"] = revisions
	}
	if j.Proposed != nil {
		args := map[string]any{"args": j.Proposed}
		v["proposed"] = Bounded(args, ijson.Canonical(args), maxProposedText, 0) // without a beginning: redaction cannot find places in cut text
	}
	if j.Passes > 0 {
		v["passes"] = float64(j.Passes)
	}
	return v
}

// Because returns the rule that decided.
func (j Judgment) Because() Because { return Because{j.Rule, j.Text, j.Values} }

// Hashed is a [Reviewer] with a hash of its content. Two reviewers with the same hash decide alike.
type Hashed interface {
	Reviewer
	// Hash returns sha256: and 64 hex digits, over the policy's canonical form.
	Hash() string
}

// PolicyHash returns the hash of a policy; "" if it has none, or there is no policy.
func PolicyHash(policy Reviewer) string {
	if h, ok := policy.(Hashed); ok {
		return h.Hash()
	}
	return ""
}

// Judgment returns the ruling for the record.
func (r Ruling) Judgment() Judgment {
	decision, reason := r.Recorded()
	if r.byPerson && decision == Approve {
		decision = Escalate
	}
	j := Judgment{
		Decision: decision, Rule: r.Rule, Reason: reason, Text: r.Text, Values: r.Values, Revisions: r.Revisions, Passes: r.passes, Policy: r.policy,
	}
	if decision == Revise { // the rule that approved the changed call has its own
		j.Rule, j.Text, j.Values = r.RevisedBy[0].Rule, r.RevisedBy[0].Text, r.RevisedBy[0].Values
	}
	return j
}

// owned returns a deep copy of arguments, so that later changes do not reach what was judged.
func owned(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, v := range args {
		out[name] = copied(v)
	}
	return out
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return owned(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	}
	return v
}

// sortedKeys returns the names of the members, sorted.
func sortedKeys(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }
