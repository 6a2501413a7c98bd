package kinds

import (
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// row returns the action's trace row.
func (s *supervision) row(a *act) patterns.ActionRow {
	row := patterns.ActionRow{Step: s.step, Tool: a.executed.Tool(), Decision: a.reviewed().Decision, ExecutedFrom: a.from}
	if a.human != nil {
		row.HumanApproved = &a.human.Approved
	}
	return row
}

// blocked ends the run at an action that the policy does not allow. The result shows the action as proposed.
func (s *supervision) blocked(a *act) *step.Stop {
	s.NewJudged = append(s.NewJudged, step.NewJudged(patterns.PhaseReview, a.proposed.Tool(), a.proposed.Row(), gateway.Block.String(), a.final.Reason).
		Ruled(a.final.Because()).Passed(a.final.Passes()).Lacking(a.final.Need, nil))
	reason := "supervisor_block:" + a.final.Reason
	row := s.row(a)
	row.Decision, row.ExecutedFrom, row.StopReason = gateway.Block.String(), "original", reason
	row.Reason, row.Need = a.final.Reason, a.final.Need
	blocked := patterns.BlockOf(a.proposed.Tool(), a.proposed.Args, a.final)
	if s.ByCaller && !a.proposed.Final && a.human == nil {
		blocked.Nearest, blocked.Argument = s.Gate.Nearest(gateway.Proposal{Tool: a.proposed.Name, Args: a.proposed.Args, Attempt: 1}, a.final)
	}
	return s.shownAsProposed(a, row, &step.Stop{Phase: patterns.PhaseReview, Reason: reason, With: func(r *patterns.Result) { r.Need, r.Blocked = a.final.Need, blocked }})
}

// reused ends the run at a call whose business key was used by another call. Nothing of it was sent.
func (s *supervision) reused(a *act) *step.Stop {
	a.final = gateway.Ruling{Reason: patterns.ReasonOnceReused}
	return s.blocked(a)
}

// refusedBy ends the run at an action that a person rejected, or did not decide about in a way that counts. The result shows the
// action as proposed.
func (s *supervision) refusedBy(a *act, reason string) *step.Stop {
	row := s.row(a)
	row.Decision, row.ExecutedFrom, row.StopReason = gateway.Escalate.String(), "original", reason
	row.HumanApproved, row.HumanApproval = new(bool), a.human
	if a.human != nil {
		row.HumanApproved = &a.human.Approved
	}
	return s.shownAsProposed(a, row, step.Stopped(patterns.PhaseHuman, reason))
}

func (s *supervision) shownAsProposed(a *act, row patterns.ActionRow, stop *step.Stop) *step.Stop {
	if !a.proposed.Final {
		row.ArgsHash = ijson.ArgsHash(a.proposed.Args)
	}
	s.Trace = append(s.Trace, row)
	return stop.Showing(func(r *patterns.Result) { r.Action, r.Human = a.proposed.Row(), a.human })
}

// reviewed returns the supervisor's decision as rows show it, by the first review. Its revised_action is the action before any
// edit by a person.
func (a *act) reviewed() patterns.Reviewed {
	decision, reason := a.ruling.Recorded()
	r := patterns.Reviewed{Decision: decision.String(), Reason: reason, Revisions: a.ruling.Revisions}
	if len(a.ruling.Revisions) > 0 {
		r.RevisedAction = a.proposed.With(a.ruling.Args).Row()
	}
	return r
}
