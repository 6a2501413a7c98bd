package patterns

import (
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// maxProposal is how much of a proposal is recorded where it got no intent (spec/patterns.md section 0, raw_plan).
const maxProposal = 16 << 10

// refusedDecision is said of what never came before a policy.
const refusedDecision = "refused"

// judged makes a judgment of a proposal. Pattern code hands it on with the next effect, or with the result where none
// follows; it is never replayed.
func judged(phase, name string, proposal any, decision, reason string) Judged {
	text := ijson.Canonical(proposal)
	return Judged{name, map[string]any{
		"phase": phase, "proposal": gateway.Bounded(proposal, text, maxProposal, maxProposal-1024), "decision": decision, "reason": reason,
	}}
}

// ruled adds the rule that decided, its text, and the values that made it true.
func (j Judged) ruled(by gateway.Because) Judged {
	for name, text := range map[string]string{"rule": by.Rule, "text": by.Text} {
		if text != "" {
			j.Body[name] = text
		}
	}
	if len(by.Values) > 0 {
		j.Body["values"] = by.Values
	}
	return j
}

// passed adds how often the policy judged.
func (j Judged) passed(passes int) Judged {
	if passes > 0 {
		j.Body["passes"] = float64(passes)
	}
	return j
}

// lacking adds what would have been right.
func (j Judged) lacking(need []string, problems []document.Problem) Judged {
	if len(need) > 0 {
		j.Body["need"] = values(need)
	}
	if len(problems) == 0 {
		return j
	}
	list := make([]any, len(problems))
	for i, p := range problems {
		list[i] = p.Value()
	}
	j.Body["problems"] = list
	return j
}

// unread is the judgment of an intent that was not accepted.
func unread(phase, name string, r *document.Refusal, raw any) Judged {
	return judged(phase, name, raw, refusedDecision, r.Reason).lacking(nil, r.Problems)
}

// barred is the judgment of a call that the gate refused.
func barred(phase string, p gateway.Proposal, s *gateway.Stop) Judged {
	decision := refusedDecision
	switch {
	case s.Asks != nil:
		decision = gateway.Escalate.String()
	case s.Ruled.Reason != "":
		decision = gateway.Block.String()
	}
	proposal := map[string]any{"tool": p.Tool, "args": p.Args}
	return judged(phase, p.Tool, proposal, decision, s.Reason).ruled(s.Ruled.Because()).passed(s.Ruled.Passes).lacking(s.Need, s.Problems)
}

// intentOf is the name of what a result calls raw_plan, raw_route, raw_action.
func intentOf(rawName string) string { return strings.TrimPrefix(rawName, "raw_") }
