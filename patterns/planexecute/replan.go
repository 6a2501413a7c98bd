package planexecute

import (
	"cmp"
	"slices"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// replan makes another plan for the remaining subtasks. It comes from the caller or from a model.
func (p *planLog) replan() patterns.Result {
	if stop := p.load(patterns.PhaseReplan, true); stop != nil {
		return p.result(stop)
	}
	stop := p.replanFits()
	if stop == nil {
		stop = p.rework(p.call.Failed, p.call.Reason)
	}
	if stop == nil {
		stop = p.commit(patterns.PhaseReplan, false)
	}
	if stop != nil {
		p.giveBack(patterns.PhaseReplan)
	}
	return p.result(stop)
}

// replanFits returns why there can be no other plan, or nil.
func (p *planLog) replanFits() *step.Stop {
	if problems := judgeReplan(p.Task, *p.plan); len(problems) > 0 {
		return p.unfit(problems)
	}
	if p.plan.Completed() {
		return step.Stopped(patterns.PhaseReplan, "plan_complete").Showing(p.withResults)
	}
	return p.mayReplan()
}

func (p *planLog) mayReplan() *step.Stop {
	if m := p.plan.Metadata; m.MaxReplans >= 0 && m.ReplanCount >= m.MaxReplans {
		return step.Stopped(patterns.PhaseReplan, "max_replans")
	}
	return nil
}

// rework replaces all subtasks that are not completed. failed is the subtask to start from. If it is "", rework starts from the
// first failed subtask, or else from the first skipped one.
func (p *planLog) rework(failed, reason string) *step.Stop {
	removed := remainingOf(*p.plan)
	if failed == "" {
		failed = cmp.Or(p.plan.FirstOf(p.graph, patterns.SubtaskFailed), p.plan.FirstOf(p.graph, patterns.SubtaskSkipped))
	}
	if i, there := p.plan.At(failed); there && reason == "" {
		reason = p.plan.Subtasks[i].StopReason
	}
	doc, stop := p.document(patterns.PhaseReplan, p.rewording(failed, reason), func(document.Intent) planning.Rules {
		return p.replanRules(removed)
	})
	if stop != nil {
		return p.refusedPlan(stop)
	}
	p.made.Preserved, p.made.Added, p.made.Removed = p.plan.IDs(patterns.SubtaskCompleted), idsOf(doc.Subtasks), removed
	p.made.Rationale = doc.Rationale
	next := reworked(*p.plan, p.graph, doc, reason)
	next.Writes = p.recalled()
	p.take(next)
	return nil
}

// remainingOf returns the ids of all subtasks that are not completed.
func remainingOf(p patterns.StoredPlan) []string {
	return openIDs(p)
}

// rewording returns the question for another plan.
func (p *planLog) rewording(failed, reason string) patterns.Question {
	remaining := []any{}
	for _, row := range p.plan.Rows(p.graph, nil) {
		if row.Status != patterns.SubtaskCompleted {
			remaining = append(remaining, map[string]any{"id": row.ID, "description": row.Description, "status": string(row.Status)})
		}
	}
	payload := map[string]any{
		"goal": p.plan.Goal, "completed": completedRows(*p.plan), "remaining": remaining, "failed_subtask": failed, "reason": reason,
		"used_ids": patterns.TextValues(p.plan.UsedIDs()), "available_tools": p.Spec.OfferedWithReturns(p.Log.Tools),
	}
	if p.call.Hints != "" {
		payload["hints"] = p.call.Hints
	}
	return patterns.Question{Ask: patterns.AskReplan, Prompt: p.Spec.Prompts.Replan, Payload: payload}
}

// replanRules returns the rules for the document of a replan.
func (p *planLog) replanRules(removed []string) planning.Rules {
	r := p.rules("invalid_replan", p.plan.Strategy)
	r.Max, r.MaxDepth = p.plan.Metadata.MaxSubtasks, p.plan.Metadata.MaxDepth
	r.TakesComplete, r.TakesRationale, r.Reused = true, true, true
	r.MayEnd = !p.plan.Outstanding(p.graph)
	r.Used = p.plan.UsedIDs()
	for i, s := range p.plan.ForGate() {
		if p.plan.Subtasks[i].Status == patterns.SubtaskCompleted {
			r.Earlier = append(r.Earlier, s)
		} else {
			r.Removed = append(r.Removed, s)
		}
	}
	return r
}

// reworked returns the plan with a document's subtasks in place of those that are not completed.
func reworked(p patterns.StoredPlan, g *planning.Graph, doc planning.Document, reason string) patterns.StoredPlan {
	next := p
	next.Revision++
	next.Metadata.ReplanCount++
	next.Subtasks, next.Removed = nil, slices.Clone(p.Removed)
	removed := []string{}
	for i, row := range p.Rows(g, nil) {
		if row.Status == patterns.SubtaskCompleted {
			next.Subtasks = append(next.Subtasks, p.Subtasks[i])
			continue
		}
		removed = append(removed, row.ID)
		next.Removed = append(next.Removed, patterns.RemovedSubtask{
			ID: row.ID, Description: row.Description, Status: row.Status, StopReason: row.StopReason, Revision: next.Revision,
		})
	}
	next.Subtasks = append(next.Subtasks, patterns.SubtasksOf(doc)...)
	next.Revisions = append(slices.Clone(p.Revisions), patterns.PlanRevision{
		Revision: next.Revision, Kind: "replan", Added: idsOf(doc.Subtasks), Removed: removed, Reason: reason, Rationale: doc.Rationale,
	})
	if p.Strategy == planning.Iterative && doc.Complete {
		next.Metadata.PlanningComplete = &doc.Complete
	}
	if p.Waits != "" {
		next.Last, next.Waits = &patterns.PlanRun{RunID: p.Waits, Status: "stopped", StopReason: patterns.PlanConflict}, ""
	}
	next = unanswered(next)
	return next
}

// unanswered returns a changed plan without its final text, which was written about the plan before the change.
func unanswered(p patterns.StoredPlan) patterns.StoredPlan {
	p.Answered, p.Answer, p.AnswerBytes = false, "", 0
	return p
}

// replanFailed gets another plan for the remaining subtasks when nothing runs any more. The run then continues with it.
func (x *execution) replanFailed(i int) *step.Stop {
	s := x.plan.Subtasks[i]
	if stop := x.mayReplan(); stop != nil {
		return stop
	}
	if stop := x.rework(s.ID, s.StopReason); stop != nil {
		return stop
	}
	x.schedule, x.made, x.spent = newSchedule(x.plan, x.graph), patterns.Planned{}, "" // budgets that forbid new work show when it begins
	x.traced()
	if stop := x.commit(patterns.PhaseReplan, true); stop != nil {
		return stop
	}
	if stop := x.callable(); stop != nil {
		return stop
	}
	return x.approved()
}
