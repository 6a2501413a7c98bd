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

// The configuration may require that a person approves a plan as a whole before anything of it runs, and again after each replan
// (design section 8). Its steps then spend their shares of that approval. If the policy requires a person for a call that the
// approved plan showed, the person is not asked again:
//
//	approved: envelope ──▶ a person ──no, silence──▶ the run stops, nothing ran
//	                          │ yes
//	admit: judged as any call ─┬─ approved ──────────────────────────────▶ the call, which spends its share
//	                           ├─ a person is required, and was shown all of it ─▶ the same
//	                           └─ a person is required ──▶ asked about this call, as in every pattern

// envelopeRule is the rule by which a person is asked about a plan. It is the name of the configuration key.
const envelopeRule = "require_approval"

// envelope is a plan that a person approved as a whole.
type envelope struct {
	planning.ApprovedPlan
	human *patterns.HumanApproval
}

// approved asks a person about the whole plan if the configuration requires that. It returns nil if the plan may run.
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
	question.Schema = "" // the question is not about a tool of the catalog
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
	if !d.Approved || d.Args != nil { // a plan is not edited: it is replanned, and the person is asked again
		human.Approved = false
		return step.Stopped(patterns.PhaseExecute, step.HumanRejected).Showing(func(r *patterns.Result) { r.Human = human })
	}
	x.shares = &envelope{planning.ApprovedPlan{
		Approval: d.Approval, Envelope: e, Assurance: d.Assurance, Expires: x.Spec.Approver.Expires,
	}, human}
	return nil
}

// asksAbout reports whether a person must be asked about the part of a plan that will run.
func asksAbout(s patterns.Spec, e planning.Envelope) bool {
	switch {
	case len(e.Steps) == 0, s.Envelope == patterns.RequireNone:
		return false
	case s.Envelope == patterns.RequireWrite:
		return len(e.Writing()) > 0
	}
	return true
}

// enveloped returns the part of the plan that will run.
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

// tooLong returns the stop of a plan that is too long for a person to read. No person is asked, and nothing runs.
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

// shared has an admitted call spend the share of its subtask, if a person approved the plan.
func (x *execution) shared(i int, p gateway.Permit) (gateway.Permit, *patterns.HumanApproval) {
	if x.shares == nil {
		return p, nil
	}
	if p.Effect() == catalog.Read {
		return x.Gate.Share(p, x.shares.Approval, x.plan.Subtasks[i].ID), nil
	}
	return x.Gate.Share(p, x.shares.Approval, x.plan.Subtasks[i].ID), x.shares.human
}

// asks returns why a person must be asked about a call, or nil. Either the policy requires a person, or a person approved the
// plan and the call differs from what it showed. That happens if the policy changed the call, for example.
func (x *execution) asks(i int, p gateway.Permit, refusal *gateway.Stop) *gateway.Ruling {
	switch {
	case refusal != nil:
		return refusal.Asks
	case x.shares == nil, x.shares.Approval == "", x.shares.Envelope.Covers(x.plan.Subtasks[i].ID, p.Question()):
		return nil
	}
	return &gateway.Ruling{Decision: gateway.Escalate, Reason: envelopeRule, Args: p.Proposed()}
}

// covered admits a call for which the policy requires a person, if the person saw it with the plan. It returns false otherwise.
func (x *execution) covered(i int, call gateway.Proposal, asks *gateway.Ruling) (gateway.Permit, *patterns.HumanApproval, bool) {
	if x.shares == nil || len(asks.Revisions) > 0 {
		return gateway.Permit{}, nil, false
	}
	p, ok := planning.AdmitShared(x.Gate, call, x.shares.ApprovedPlan, x.plan.Subtasks[i].ID)
	return p, x.shares.human, ok
}
