package step

import (
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxProposal is how many bytes are recorded of a proposal that led to no intent (spec/patterns.md section 0, raw_plan).
const maxProposal = 16 << 10

// RefusedDecision is the decision in the judgment of a proposal that was refused before any policy judged it.
const RefusedDecision = "refused"

// NewJudged returns the judgment of a proposal, for the record. A pattern passes it on with the next effect, or with the result
// if no effect follows. It is never replayed.
func NewJudged(phase, name string, proposal any, decision, reason string) patterns.Judged {
	text := ijson.Canonical(proposal)
	return patterns.Judged{Name: name, Body: map[string]any{
		"phase": phase, "proposal": gateway.Bounded(proposal, text, maxProposal, maxProposal-1024), "decision": decision, "reason": reason,
	}}
}

// unread returns the judgment of an intent that was not accepted.
func unread(phase, name string, r *document.Refusal, raw any) patterns.Judged {
	return NewJudged(phase, name, raw, RefusedDecision, r.Reason).Lacking(nil, r.Problems)
}

// Barred returns the judgment of a call that the gate refused. Its decision is escalate, block or [RefusedDecision].
func Barred(phase string, p gateway.Proposal, s *gateway.Stop) patterns.Judged {
	decision := RefusedDecision
	switch {
	case s.Asks != nil:
		decision = gateway.Escalate.String()
	case s.Ruled.Reason != "":
		decision = gateway.Block.String()
	}
	proposal := map[string]any{"tool": p.Tool, "args": p.Args}
	return NewJudged(phase, p.Tool, proposal, decision, s.Reason).Ruled(s.Ruled.Because()).Passed(s.Ruled.Passes).Lacking(s.Need, s.Problems)
}

// intentOf returns the name of an intent by its name in results: plan for raw_plan.
func intentOf(rawName string) string { return strings.TrimPrefix(rawName, "raw_") }
