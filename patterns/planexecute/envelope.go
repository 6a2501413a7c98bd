package planexecute

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// Before anything of a plan runs, and again after each replan, the configuration may want a person to approve it whole (design
// section 8). Its steps then spend their shares of that approval; what the policy asks a person about is not asked again where
// they were shown it:
//
//	approved: envelope ──▶ a person ──no, silence──▶ the run stops, nothing ran
//	                          │ yes
//	admit: judged as any call ─┬─ approved ──────────────────────────────▶ the call, which spends its share
//	                           ├─ a person is wanted, and was shown all of it ─▶ the same
//	                           └─ a person is wanted ──▶ asked about this call, as in every pattern

// envelopeRule is the rule by which a person is asked about a plan: the configuration's key.
const envelopeRule = "require_approval"

// envelope is a plan that a person approved as a whole.
type envelope struct {
	planning.ApprovedPlan
	human *patterns.HumanApproval
}

// approved asks a person about the whole plan where the configuration wants that.
func (x *execution) approved() *step.Stop {
	x.shares = nil
	e := x.enveloped()
	if !asksAbout(x.Spec, e) {
		return nil
	}
	args := e.Value()
	if n := len(ijson.Canonical(args)); n > planning.MaxEnvelope {
		return x.tooLong(n)
	}
	question := x.Gate.Question(gateway.Proposal{Tool: x.Spec.Name, Args: args})
	question.Schema = "" // it is about no tool of the catalog
	since := x.Run.Now()
	d, out, reason := step.Consult(x.Run, x.Effect(patterns.PhaseExecute, "waiting for a person"), patterns.Approval{
		Action: gateway.Action{Name: x.Spec.Name, Args: args}, Question: question, Rule: envelopeRule, Approver: x.Spec.Approver,
		Catalog: x.Spec.Catalog, Plan: &e,
	}, x.standing)
	x.ExcludeTime(since, x.Run.Now())
	if reason != "" {
		return step.Stopped(patterns.PhaseExecute, reason)
	}
	if d.Args != nil && ijson.Equal(d.Args, args) {
		d.Args = nil
	}
	human := patterns.NewHumanApproval(d, nil, out.At)
	if !d.Approved || d.Args != nil { // a plan is not edited: it is replanned, and asked about again
		human.Approved = false
		return step.Stopped(patterns.PhaseExecute, step.HumanRejected).Showing(func(r *patterns.Result) { r.Human = human })
	}
	x.shares = &envelope{planning.ApprovedPlan{
		Approval: d.Approval, Envelope: e, Assurance: d.Assurance, Expires: x.Spec.Approver.Expires,
	}, human}
	return nil
}

// asksAbout reports whether a person is to be asked about what is to run of a plan.
func asksAbout(s patterns.Spec, e planning.Envelope) bool {
	switch {
	case len(e.Steps) == 0, s.Envelope == patterns.RequireNone:
		return false
	case s.Envelope == patterns.RequireWrite:
		return len(e.Writing()) > 0
	}
	return true
}

// enveloped is what of the plan is to run.
func (x *execution) enveloped() planning.Envelope {
	e := planning.Envelope{Plan: x.plan.ID, Revision: x.plan.Revision, Goal: x.plan.Goal}
	if newest := x.plan.Revisions[len(x.plan.Revisions)-1]; newest.Revision > 1 {
		e.Change = &planning.EnvelopeChange{Kind: newest.Kind, Added: newest.Added, Removed: newest.Removed}
	}
	rows, gated := x.plan.Rows(x.graph, nil), x.plan.ForGate()
	for _, i := range x.order {
		if rows[i].Status == patterns.SubtaskPending {
			e.Steps = append(e.Steps, planning.NewEnvelopeStep(gated[i], x.Spec.Catalog))
		}
	}
	return e
}

// tooLong is the stop of a plan that nobody could read: nobody is asked, and nothing runs.
func (x *execution) tooLong(bytes int) *step.Stop {
	d := patterns.Approver{}.Decide(gateway.Action{})
	d.Comment = "too_large:plan"
	human := patterns.NewHumanApproval(d, nil, x.Run.Now())
	return step.Stopped(patterns.PhaseExecute, step.HumanRejected).Showing(func(r *patterns.Result) {
		r.Human = human
		r.Problems = []document.Problem{{
			Pointer: "/plan/subtasks", Reason: "too_large:plan", Got: document.Got(float64(bytes)),
			Want: fmt.Sprintf("unfinished subtasks of at most %d bytes in all, so that a person can read what they approve", planning.MaxEnvelope),
		}}
	})
}

// shared has an admitted call spend the share of its subtask, where a person approved the plan.
func (x *execution) shared(i int, p gateway.Permit) (gateway.Permit, *patterns.HumanApproval) {
	if x.shares == nil {
		return p, nil
	}
	if p.Effect() == catalog.Read {
		return x.Gate.Share(p, x.shares.Approval, x.plan.Subtasks[i].ID), nil
	}
	return x.Gate.Share(p, x.shares.Approval, x.plan.Subtasks[i].ID), x.shares.human
}

// asks is why a person is to be asked about a call: the policy wants that, or they approved the plan and the call is not what
// they were shown, because the policy changed it, say. Nil: nobody is.
func (x *execution) asks(i int, p gateway.Permit, refusal *gateway.Stop) *gateway.Ruling {
	switch {
	case refusal != nil:
		return refusal.Asks
	case x.shares == nil, x.shares.Approval == "", x.shares.Envelope.Covers(x.plan.Subtasks[i].ID, p.Question()):
		return nil
	}
	return &gateway.Ruling{Decision: gateway.Escalate, Reason: envelopeRule, Args: p.Proposed()}
}

// covered admits a call about which the policy asks a person who was shown it with the plan; false: they were not.
func (x *execution) covered(i int, call gateway.Proposal, asks *gateway.Ruling) (gateway.Permit, *patterns.HumanApproval, bool) {
	if x.shares == nil || len(asks.Revisions) > 0 {
		return gateway.Permit{}, nil, false
	}
	p, ok := planning.AdmitShared(x.Gate, call, x.shares.ApprovedPlan, x.plan.Subtasks[i].ID)
	return p, x.shares.human, ok
}
