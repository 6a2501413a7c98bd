package planning

import (
	"time"

	"patterngate/gateway"
)

// ApprovedPlan is a plan that a person approved as a whole. The zero ApprovedPlan lets nothing through.
type ApprovedPlan struct {
	Approval string // ap_ and 16 hex digits
	Envelope Envelope
	// Assurance says how sure it is that a person approved it. Expires is the time that they had.
	Assurance gateway.Assurance
	Expires   time.Duration
}

// suffices reports whether the approval of the plan is enough for a ruling that wants a person to approve the call.
func (a ApprovedPlan) suffices(r gateway.Ruling) bool {
	return a.Assurance.AtLeast(r.Least) && (r.Expires == 0 || a.Expires > 0 && a.Expires <= r.Expires)
}

// AdmitShared admits a call that needs a person, if a person approved it as a step of a plan. The arguments must be the ones that they
// were shown, or within the bounds that they were shown, and the policy must not change them. If it returns false, ask the person
// about this call.
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
