package planning

import (
	"time"

	"patterngate/gateway"
)

// ApprovedPlan is a plan that a person approved whole. The zero ApprovedPlan lets nothing through.
type ApprovedPlan struct {
	Approval string // ap_ and 16 hex digits
	Envelope Envelope
	// Assurance says how sure it is that a person did, Expires how long they had.
	Assurance gateway.Assurance
	Expires   time.Duration
}

// suffices reports whether a rule by which a person is to be asked takes the approval of the whole plan for an answer.
func (a ApprovedPlan) suffices(r gateway.Ruling) bool {
	return a.Assurance.AtLeast(r.Least) && (r.Expires == 0 || a.Expires > 0 && a.Expires <= r.Expires)
}

// AdmitShared admits a call that the policy puts to a person, who approved it as a step of a plan: its arguments are those
// that they were shown, or within bounds that they were shown, and the policy changes nothing in them. Else it is false, and
// the person is to be asked about this call.
func AdmitShared(g *gateway.Gate, p gateway.Proposal, plan ApprovedPlan, step string) (gateway.Permit, bool) {
	shown, _ := plan.Envelope.Step(step)
	if plan.Approval == "" || !shown.Bounded() || !plan.Envelope.Covers(step, g.Question(p)) {
		return gateway.Permit{}, false
	}
	ruling := g.ReviewApproved(p.Case(), plan.Approval)
	if ruling.Decision != gateway.Approve || len(ruling.Revisions) > 0 || !plan.suffices(ruling) {
		return gateway.Permit{}, false
	}
	permit, stop := g.Approved(p, ruling)
	if stop != nil {
		return gateway.Permit{}, false
	}
	return g.Share(permit, plan.Approval, step), true
}
