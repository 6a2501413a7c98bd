package step

import (
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxProposal is how much of a proposal is recorded where it got no intent (spec/patterns.md section 0, raw_plan).
const maxProposal = 16 << 10

// RefusedDecision is said of what never came before a policy.
const RefusedDecision = "refused"

// NewJudged makes a judgment of a proposal. Pattern code hands it on with the next effect, or with the result where none
// follows; it is never replayed.
func NewJudged(phase, name string, proposal any, decision, reason string) patterns.Judged {
	text := ijson.Canonical(proposal)
	return patterns.Judged{Name: name, Body: map[string]any{
		"phase": phase, "proposal": gateway.Bounded(proposal, text, maxProposal, maxProposal-1024), "decision": decision, "reason": reason,
	}}
}

// unread is the judgment of an intent that was not accepted.
func unread(phase, name string, r *document.Refusal, raw any) patterns.Judged {
	return NewJudged(phase, name, raw, RefusedDecision, r.Reason).Lacking(nil, r.Problems)
}

// Barred is the judgment of a call that the gate refused.
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

// intentOf is the name of what a result calls raw_plan, raw_route, raw_action.
func intentOf(rawName string) string { return strings.TrimPrefix(rawName, "raw_") }
