package planexecute

import (
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/step"
)

// close stores how far the plan came and returns the result.
func (x *execution) close(s *step.Stop, text string) patterns.Result {
	last := &patterns.PlanRun{RunID: x.Run.ID(), Status: "ok", StopReason: patterns.Success}
	if s != nil {
		last.StopReason = s.Reason
		if s.Phase != "" {
			last.Status = "stopped"
		}
	}
	if text != "" {
		answered := step.WithAnswer(patterns.Result{}, step.Reply{Text: text})
		x.plan.Answer, x.plan.AnswerBytes, x.plan.Answered = answered.Answer, answered.AnswerBytes, true
	}
	x.plan.Last, x.plan.Waits = last, ""
	x.traced()
	if conflict := x.commit(patterns.PhaseExecute, false); conflict != nil {
		return x.result(conflict)
	}
	r := x.account(s)
	if text != "" {
		r = step.WithAnswer(r, step.Reply{Text: text})
	}
	return r
}

// traced adds this run's rows to the plan's trace.
func (x *execution) traced() {
	x.plan.Trace = append(x.before[:len(x.before):len(x.before)], x.sortedRows()...)
}

// account returns the result of a run that executed a plan.
func (x *execution) account(s *step.Stop) patterns.Result {
	x.made.Results = x.plan.Results()
	x.Trace, x.History = []any{}, x.completedHere()
	for _, row := range x.sortedRows() {
		x.Trace = append(x.Trace, row)
	}
	if s != nil && s.Phase != "" && x.plan.Has(patterns.SubtaskFailed, patterns.SubtaskSkipped) {
		x.made.Open = openIDs(*x.plan)
	}
	return x.result(s)
}

// openIDs returns the ids of the subtasks that a replan would remove.
func openIDs(p patterns.StoredPlan) []string {
	return p.IDs(patterns.SubtaskPending, patterns.SubtaskFailed, patterns.SubtaskSkipped, patterns.SubtaskInDoubt)
}

// completedHere returns the history rows: the subtasks that this run completed, in plan order.
func (x *execution) completedHere() []any {
	rows := []any{}
	for _, s := range x.plan.Subtasks {
		if x.done[s.ID] {
			rows = append(rows, patterns.SubtaskDone{SubtaskID: s.ID, Tool: s.Tool, Attempts: max(s.Attempts, 1), Result: patterns.Shown(s.Result, s.Bytes), Source: s.Source})
		}
	}
	return rows
}

// sortedRows returns the trace rows, sorted by revision, order of execution and attempt.
func (x *execution) sortedRows() []patterns.AttemptRow {
	rows := slices.Clone(x.rows)
	slices.SortStableFunc(rows, func(a, b rankedRow) int {
		if a.Revision != b.Revision {
			return a.Revision - b.Revision
		}
		return a.rank - b.rank // its attempts are in order already
	})
	list := make([]patterns.AttemptRow, len(rows))
	for i, r := range rows {
		list[i] = r.AttemptRow
	}
	return list
}

// standing returns the run's result so far, to show while the run works or waits. A run that has lost its plan has nothing to
// show.
func (x *execution) standing() patterns.Result {
	if x.plan == nil {
		return patterns.Result{}
	}
	seen, made := *x, *x.planLog
	log, plan := *x.Log, *x.plan
	plan.Subtasks = slices.Clone(plan.Subtasks)
	plan.Trace = append(x.before[:len(x.before):len(x.before)], x.sortedRows()...)
	for i := range plan.Subtasks {
		if _, open := x.doubts[i]; open { // not settled yet
			plan.Subtasks[i].Status = patterns.SubtaskInDoubt
		}
	}
	made.Log, made.plan = &log, &plan
	log.NewJudged = nil
	seen.planLog = &made
	r := seen.account(nil)
	v := plan.ViewOf(x.graph, x.busy(), x.parked)
	r.StopReason, r.Planned.View, r.Planned.Stored = "", &v, &plan
	return r
}
