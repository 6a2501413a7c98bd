package patterns

import (
	"cmp"
	"slices"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
)

// replan makes another plan for what remains of one: the caller's, or a model's.
func (p *planLog) replan() Result {
	if stop := p.load(PhaseReplan, true); stop != nil {
		return p.result(stop)
	}
	stop := p.replanFits()
	if stop == nil {
		stop = p.rework(p.call.Failed, p.call.Reason)
	}
	if stop == nil {
		stop = p.commit(PhaseReplan, false)
	}
	if stop != nil {
		p.giveBack(PhaseReplan)
	}
	return p.result(stop)
}

// replanFits says why there can be no other plan.
func (p *planLog) replanFits() *stop {
	if problems := judgeReplan(p.task, *p.plan); len(problems) > 0 {
		return p.unfit(problems)
	}
	if p.plan.completed() {
		return stopped(PhaseReplan, "plan_complete").showing(p.withResults)
	}
	return p.mayReplan()
}

func (p *planLog) mayReplan() *stop {
	if m := p.plan.Metadata; m.MaxReplans >= 0 && m.ReplanCount >= m.MaxReplans {
		return stopped(PhaseReplan, "max_replans")
	}
	return nil
}

// rework puts other subtasks in the place of all that are not completed. failed is the subtask to start from; "" the
// first that failed, else the first that was skipped.
func (p *planLog) rework(failed, reason string) *stop {
	removed := p.plan.remaining()
	if failed == "" {
		failed = cmp.Or(p.plan.firstOf(p.graph, SubtaskFailed), p.plan.firstOf(p.graph, SubtaskSkipped))
	}
	if i, there := p.plan.at(failed); there && reason == "" {
		reason = p.plan.Subtasks[i].StopReason
	}
	doc, stop := p.document(PhaseReplan, p.rewording(failed, reason), func(document.Intent) planning.Rules {
		return p.replanRules(removed)
	})
	if stop != nil {
		return p.refusedPlan(stop)
	}
	p.made.Preserved, p.made.Added, p.made.Removed = p.plan.ids(SubtaskCompleted), idsOf(doc.Subtasks), removed
	p.made.Rationale = doc.Rationale
	next := p.plan.reworked(p.graph, doc, reason)
	next.Writes = p.recalled()
	p.take(next)
	return nil
}

// remaining are the ids of all that are not completed.
func (p StoredPlan) remaining() []string {
	return p.openIDs()
}

// rewording is the question for another plan.
func (p *planLog) rewording(failed, reason string) Question {
	remaining := []any{}
	for _, row := range p.plan.rows(p.graph, nil) {
		if row.Status != SubtaskCompleted {
			remaining = append(remaining, map[string]any{"id": row.ID, "description": row.Description, "status": string(row.Status)})
		}
	}
	payload := map[string]any{
		"goal": p.plan.Goal, "completed": p.plan.completedRows(), "remaining": remaining, "failed_subtask": failed, "reason": reason,
		"used_ids": values(p.plan.used()), "available_tools": p.spec.offeredWithReturns(p.log.tools),
	}
	if p.call.Hints != "" {
		payload["hints"] = p.call.Hints
	}
	return Question{Ask: AskReplan, Prompt: p.spec.Prompts.Replan, Payload: payload}
}

// replanRules judge the document.
func (p *planLog) replanRules(removed []string) planning.Rules {
	r := p.rules("invalid_replan", p.plan.Strategy)
	r.Max, r.MaxDepth = p.plan.Metadata.MaxSubtasks, p.plan.Metadata.MaxDepth
	r.TakesComplete, r.TakesRationale, r.Reused = true, true, true
	r.MayEnd = !p.plan.outstanding(p.graph)
	r.Used = p.plan.used()
	for i, s := range p.plan.gated() {
		if p.plan.Subtasks[i].Status == SubtaskCompleted {
			r.Earlier = append(r.Earlier, s)
		} else {
			r.Removed = append(r.Removed, s)
		}
	}
	return r
}

// reworked is the plan with another document in the place of what is not completed.
func (p StoredPlan) reworked(g *planning.Graph, doc planning.Document, reason string) StoredPlan {
	next := p
	next.Revision++
	next.Metadata.ReplanCount++
	next.Subtasks, next.Removed = nil, slices.Clone(p.Removed)
	removed := []string{}
	for i, row := range p.rows(g, nil) {
		if row.Status == SubtaskCompleted {
			next.Subtasks = append(next.Subtasks, p.Subtasks[i])
			continue
		}
		removed = append(removed, row.ID)
		next.Removed = append(next.Removed, RemovedSubtask{
			ID: row.ID, Description: row.Description, Status: row.Status, StopReason: row.StopReason, Revision: next.Revision,
		})
	}
	next.Subtasks = append(next.Subtasks, planned(doc)...)
	next.Revisions = append(slices.Clone(p.Revisions), PlanRevision{
		Revision: next.Revision, Kind: "replan", Added: idsOf(doc.Subtasks), Removed: removed, Reason: reason, Rationale: doc.Rationale,
	})
	if p.Strategy == planning.Iterative && doc.Complete {
		next.Metadata.PlanningComplete = &doc.Complete
	}
	if p.Waits != "" {
		next.Last, next.Waits = &PlanRun{RunID: p.Waits, Status: "stopped", StopReason: PlanConflict}, ""
	}
	next = next.unanswered()
	return next
}

// unanswered is a changed plan: its final text was written about another.
func (p StoredPlan) unanswered() StoredPlan {
	p.Answered, p.Answer, p.AnswerBytes = false, "", 0
	return p
}

// replanFailed gets another plan for what remains, once nothing runs any more, and goes on with it.
func (x *execution) replanFailed(i int) *stop {
	s := x.plan.Subtasks[i]
	if stop := x.mayReplan(); stop != nil {
		return stop
	}
	if stop := x.rework(s.ID, s.StopReason); stop != nil {
		return stop
	}
	x.schedule, x.made, x.spent = newSchedule(x.plan, x.graph), Planned{}, "" // what the budgets forbid now shows at what is new
	x.traced()
	if stop := x.commit(PhaseReplan, true); stop != nil {
		return stop
	}
	if stop := x.callable(); stop != nil {
		return stop
	}
	return x.approved()
}
