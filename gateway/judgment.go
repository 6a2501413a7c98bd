package gateway

import "patterngate/ijson"

// Allowlisted is the reason where no policy judges a pattern: the allowlists alone decided.
const Allowlisted = "allowlisted"

// maxProposedText is how much of a changed call's arguments as they were proposed is recorded.
const maxProposedText = 16 << 10

// Judgment is what stands in the record about a call that may be made: who let it through and how
// (spec/surface.md section 7, verdict). Its zero value blocks.
type Judgment struct {
	// Decision is approve; revise where the policy changed the call; escalate where it asked for a person, who approved
	// exactly this call.
	Decision Decision
	// Rule is the policy's rule that decided; "" where none did.
	Rule   string
	Reason string
	Text   string         // of the rule, for people
	Values map[string]any // that made it true, by their expressions: decoded values
	// Revisions are the reasons of all changes, in order.
	Revisions []string
	// Proposed are the arguments before the changes, of a call that was changed and then made at once; nil: nothing else changed it,
	// or another event of the record holds them.
	Proposed map[string]any
	// Passes is how often the policy judged until nothing changed; 0: no policy did.
	Passes int
	Policy string // the policy's hash, see [Hashed]; "" where it has none
}

// Value is the judgment as it is recorded: a decoded value, without the members that do not apply.
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
		v["proposed"] = Bounded(args, ijson.Canonical(args), maxProposedText, 0) // no beginning: it has no places to hide
	}
	if j.Passes > 0 {
		v["passes"] = float64(j.Passes)
	}
	return v
}

// Because is the rule that decided.
func (j Judgment) Because() Because { return Because{j.Rule, j.Text, j.Values} }

// Hashed is a [Reviewer] that can be named by what it is made of: two with one hash judge alike.
type Hashed interface {
	Reviewer
	// Hash is sha256: and 64 hex digits, over the policy's canonical form.
	Hash() string
}

// PolicyHash names a policy; "" where it has no hash, or there is none.
func PolicyHash(policy Reviewer) string {
	if h, ok := policy.(Hashed); ok {
		return h.Hash()
	}
	return ""
}

// Judgment is the ruling as it is recorded.
func (r Ruling) Judgment() Judgment {
	decision, reason := r.Recorded()
	if r.byPerson && decision == Approve {
		decision = Escalate
	}
	j := Judgment{
		Decision: decision, Rule: r.Rule, Reason: reason, Text: r.Text, Values: r.Values, Revisions: r.Revisions, Passes: r.passes, Policy: r.policy,
	}
	if decision == Revise { // the one that allowed it has its own
		j.Rule, j.Text, j.Values = r.RevisedBy[0].Rule, r.RevisedBy[0].Text, r.RevisedBy[0].Values
	}
	return j
}
