package gateway

// ApprovedPlan is a plan that a person approved whole. The zero ApprovedPlan lets nothing through.
type ApprovedPlan struct {
	Approval string // ap_ and 16 hex digits
	Envelope Envelope
}

// Share has an admitted call spend its step's share of an approved plan. Whether the call is that step, and the share is not
// spent, is judged where it is spent, see [Envelope.Covers].
func (g *Gate) Share(p Permit, plan ApprovedPlan, step string) Permit {
	if p.judged == nil || plan.Approval == "" {
		return p
	}
	call := *p.judged
	call.approval, call.share = plan.Approval, step
	return Permit{&call}
}

// AdmitShared admits a call that the policy puts to a person, who approved it as a step of a plan: its arguments are those
// that they were shown, or within bounds that they were shown, and the policy changes nothing in them. Else it is false, and
// the person is to be asked about this call.
func (g *Gate) AdmitShared(p Proposal, plan ApprovedPlan, step string) (Permit, bool) {
	shown, _ := plan.Envelope.Step(step)
	if plan.Approval == "" || !shown.Bounded() || !plan.Envelope.Covers(step, g.Question(p)) {
		return Permit{}, false
	}
	ruling := g.ReviewApproved(Case{Tool: p.Tool, Args: p.Args, Of: p.Of, Weigh: p.Weigh}, plan.Approval)
	if ruling.Decision != Approve || len(ruling.Revisions) > 0 {
		return Permit{}, false
	}
	permit, stop := g.Approved(p, ruling)
	if stop != nil {
		return Permit{}, false
	}
	return g.Share(permit, plan, step), true
}
