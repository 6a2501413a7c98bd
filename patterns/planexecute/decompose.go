package planexecute

import (
	"time"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// decompose makes a plan, or the next round of an iterative plan.
func (p *planLog) decompose() patterns.Result {
	if p.call.PlanID != "" {
		return p.nextRound()
	}
	doc, stop := p.document(patterns.PhasePlan, p.wanted(), func(document.Intent) planning.Rules { return p.firstRules(p.call.Strategy) })
	if stop != nil {
		return p.result(p.refusedPlan(stop))
	}
	p.take(p.newPlan(doc, p.call))
	if p.call.DryRun {
		p.plan.ID, p.plan.Revision = "", 0
		p.made.DryRun = true
	} else if stop = p.create(patterns.PhasePlan, false); stop != nil {
		return p.result(stop)
	}
	p.made.Count = len(p.plan.Subtasks)
	return p.result(nil)
}

// refusedPlan returns the stop of a plan that was not accepted, with the cycle in it, if any.
func (p *planLog) refusedPlan(s *step.Stop) *step.Stop {
	return s.Showing(func(r *patterns.Result) {
		if p.plan != nil {
			p.seen(r)
			r.Planned.Cycle = p.made.Cycle
			return
		}
		no := false
		r.Planned = &patterns.Planned{Cycle: p.made.Cycle, Resumable: &no}
	})
}

// firstRules returns the rules for the document of a new plan.
func (p *planLog) firstRules(strategy planning.Strategy) planning.Rules {
	r := p.rules("invalid_plan", strategy)
	r.Min, r.Max, r.MaxDepth = p.Spec.Budget.MinSubtasks, p.call.MaxSubtasks, p.call.MaxDepth
	r.TakesComplete = strategy == planning.Iterative
	if r.TakesComplete {
		r.Round, r.MayEnd = roundSubtasks, true
	}
	return r
}

// roundSubtasks is how many subtasks a round may add.
const roundSubtasks = 3

// rules returns the rules that every document must follow.
func (p *planLog) rules(family string, strategy planning.Strategy) planning.Rules {
	return planning.Rules{Family: family, Strategy: strategy, Catalog: p.Spec.Catalog, Allowed: p.Spec.Policy, LLM: p.Spec.LLM}
}

// wanted returns the question for a plan.
func (p *planLog) wanted() patterns.Question {
	payload := map[string]any{
		"goal": p.Task.Goal, "strategy": string(p.call.Strategy), "max_subtasks": float64(p.call.MaxSubtasks),
		"max_depth": float64(p.call.MaxDepth), "available_tools": p.Spec.OfferedWithReturns(p.Log.Tools),
	}
	if p.call.Context != "" {
		payload["context"] = p.call.Context
	}
	return patterns.Question{Ask: patterns.AskSubtasks, Prompt: p.Spec.Prompts.Decide, Payload: payload}
}

// newPlan returns the plan that an accepted document describes.
func (p *planLog) newPlan(doc planning.Document, limits patterns.PlanCall) patterns.StoredPlan {
	plan := patterns.StoredPlan{
		ID: patterns.PlanOf(p.Run.ID()), Goal: p.Task.Goal, Input: p.Task.Inputs, Strategy: limits.Strategy, Revision: 1, Subtasks: patterns.SubtasksOf(doc), Removed: []patterns.RemovedSubtask{}, Trace: []patterns.AttemptRow{},
		Metadata: patterns.PlanMetadata{
			CreatedAt: p.Run.Now().UTC().Format(time.RFC3339), Source: p.source(doc),
			MaxSubtasks: limits.MaxSubtasks, MaxDepth: limits.MaxDepth, MaxReplans: int(p.Spec.Budget.MaxReplans),
		},
	}
	if plan.Strategy == planning.Iterative {
		plan.Metadata.Iteration, plan.Metadata.MaxIterations, plan.Metadata.PlanningComplete = 1, p.Spec.Budget.MaxIterations, &doc.Complete
	}
	plan.Revisions = []patterns.PlanRevision{{Revision: 1, Kind: "decompose", Added: idsOf(doc.Subtasks), Removed: []string{}}}
	return plan
}

func idsOf(list []planning.Subtask) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return ids
}

// nextRound adds a round to an iterative plan.
func (p *planLog) nextRound() patterns.Result {
	if stop := p.load(patterns.PhasePlan, true); stop != nil {
		return p.result(stop)
	}
	stop := p.roundFits()
	if stop == nil {
		stop = p.addRound()
	}
	if stop != nil {
		p.giveBack(patterns.PhasePlan)
		return p.result(stop)
	}
	p.made.Count = len(p.plan.Subtasks)
	return p.result(nil)
}

// roundFits returns why no round can be added, or nil.
func (p *planLog) roundFits() *step.Stop {
	if problems := judgeRound(p.Task, *p.plan); len(problems) > 0 {
		return p.unfit(problems)
	}
	switch m := p.plan.Metadata; {
	case !p.plan.Unfinished():
		return step.Stopped(patterns.PhasePlan, "plan_complete").Showing(p.withResults)
	case m.Iteration >= m.MaxIterations:
		return step.Stopped(patterns.PhasePlan, "max_iterations")
	}
	return nil
}

func (p *planLog) addRound() *step.Stop {
	q := p.wanted()
	m := &p.plan.Metadata
	q.Payload["strategy"], q.Payload["max_subtasks"], q.Payload["max_depth"] = string(planning.Iterative), float64(m.MaxSubtasks), float64(m.MaxDepth)
	q.Payload["completed"], q.Payload["used_ids"] = completedRows(*p.plan), patterns.TextValues(p.plan.UsedIDs())
	doc, stop := p.document(patterns.PhasePlan, q, func(document.Intent) planning.Rules {
		r := p.rules("invalid_plan", planning.Iterative)
		r.Max, r.MaxDepth, r.Round, r.TakesComplete, r.MayEnd = m.MaxSubtasks, m.MaxDepth, roundSubtasks, true, true
		r.Earlier, r.Used = p.plan.ForGate(), p.plan.UsedIDs()
		return r
	})
	if stop != nil {
		return p.refusedPlan(stop)
	}
	before := *p.plan
	next := before
	next.Subtasks = append(before.Subtasks[:len(before.Subtasks):len(before.Subtasks)], patterns.SubtasksOf(doc)...)
	next.Revision++
	next.Metadata.Iteration++
	next.Metadata.PlanningComplete = &doc.Complete
	next = unanswered(next)
	next.Revisions = append(before.Revisions[:len(before.Revisions):len(before.Revisions)], patterns.PlanRevision{
		Revision: next.Revision, Kind: "round", Added: idsOf(doc.Subtasks), Removed: []string{},
	})
	p.take(next)
	if p.call.DryRun {
		p.giveBack(patterns.PhasePlan)
		p.plan.ID, p.plan.Revision, p.made.DryRun = "", 0, true
		return nil
	}
	return p.commit(patterns.PhasePlan, false)
}

// completedRows returns the completed subtasks as questions show them.
func completedRows(p patterns.StoredPlan) []any {
	rows := []any{}
	for _, s := range p.Subtasks {
		if s.Status == patterns.SubtaskCompleted {
			rows = append(rows, map[string]any{"id": s.ID, "description": s.Description, "result": patterns.Clipped(s.Result)})
		}
	}
	return rows
}

// withResults adds the plan to a result, with the results of its subtasks and the final text.
func (p *planLog) withResults(r *patterns.Result) {
	p.made.Results = p.plan.Results()
	r.Answer, r.AnswerBytes = p.plan.Answer, p.plan.AnswerBytes
	p.seen(r)
}
