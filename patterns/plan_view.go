package patterns

import (
	"math"
	"slices"

	"patterngate/gateway/planning"
)

// View returns the current view of the plan. running holds the subtasks that a run works on.
func (p StoredPlan) View(running map[string]bool) PlanView {
	return p.ViewOf(planning.NewGraph(p.ForGate()), running, false)
}

// ViewOf returns the current view of the plan. If waiting is true, the caller's ready subtasks are in Waiting; otherwise they are in
// Ready like any other.
func (p StoredPlan) ViewOf(g *planning.Graph, running map[string]bool, waiting bool) PlanView {
	rows := p.Rows(g, running)
	v := PlanView{
		PlanID: p.ID, Revision: p.Revision, ReplanCount: p.Metadata.ReplanCount, Levels: p.levels(g),
		Ready: []string{}, Running: []string{}, Waiting: []string{}, Failed: []string{}, Skipped: []string{}, Blocked: []string{}, InDoubt: []string{},
		Counts: PlanCounts{Total: len(rows), Removed: len(p.Removed)},
		Plan:   ShownPlan{ID: p.ID, Goal: p.Goal, Strategy: p.Strategy, Subtasks: rows, Removed: p.Removed, Metadata: p.Metadata},
	}
	if v.Plan.Removed == nil {
		v.Plan.Removed = []RemovedSubtask{}
	}
	for i, row := range rows {
		count, list := v.of(row.Status)
		*count++
		switch {
		case list != nil:
			*list = append(*list, row.ID)
		case row.Status != SubtaskPending || !p.AllDone(g.Before(i)):
		case waiting && row.Tool == planning.CallerExecutor:
			v.Waiting = append(v.Waiting, row.ID)
		default:
			v.Ready = append(v.Ready, row.ID)
		}
	}
	v.Progress = 1
	if len(rows) > 0 {
		v.Progress = math.Round(float64(v.Counts.Completed)/float64(len(rows))*1e4) / 1e4
	}
	return v
}

// of returns the counter and the list of a status. For pending and completed subtasks the list is nil.
func (v *PlanView) of(s SubtaskStatus) (*int, *[]string) {
	switch s {
	case SubtaskRunning:
		return &v.Counts.InProgress, &v.Running
	case SubtaskFailed:
		return &v.Counts.Failed, &v.Failed
	case SubtaskSkipped:
		return &v.Counts.Skipped, &v.Skipped
	case SubtaskBlocked:
		return &v.Counts.Blocked, &v.Blocked
	case SubtaskInDoubt:
		return &v.Counts.InDoubt, &v.InDoubt
	case SubtaskCompleted:
		return &v.Counts.Completed, nil
	}
	return &v.Counts.Pending, nil
}

func (p StoredPlan) AllDone(before []int) bool {
	return !slices.ContainsFunc(before, func(i int) bool { return p.Subtasks[i].Status != SubtaskCompleted })
}

// levels returns the ids by level.
func (p StoredPlan) levels(g *planning.Graph) [][]string {
	levels := [][]string{}
	for i, s := range p.Subtasks {
		for g.Level(i) >= len(levels) {
			levels = append(levels, []string{})
		}
		levels[g.Level(i)] = append(levels[g.Level(i)], s.ID)
	}
	return levels
}

// Rows returns the subtasks. Their statuses include those that follow from the other subtasks and from the run.
func (p StoredPlan) Rows(g *planning.Graph, running map[string]bool) []SubtaskRow {
	rows := make([]SubtaskRow, len(p.Subtasks))
	behind := make([][]int, len(p.Subtasks)) // the failed and skipped subtasks that block it
	for _, i := range g.Order() {
		s := p.Subtasks[i]
		row := SubtaskRow{
			ID: s.ID, Description: s.Description, Dependencies: s.Dependencies, Tool: s.Tool, Args: s.Args, Critical: s.Critical,
			Status: s.Status, Parent: s.Parent, Expect: s.Expect, Attempts: s.Attempts, Source: s.Source, StopReason: s.StopReason,
		}
		if p.Strategy == planning.Hierarchical {
			row.Depth = g.Depth(i)
		}
		switch {
		case s.Status != SubtaskPending:
		case running[s.ID]:
			row.Status = SubtaskRunning
		default:
			if behind[i] = p.blockers(g.Before(i), behind); len(behind[i]) > 0 {
				row.Status, row.Attempts = SubtaskBlocked, 0
				row.BlockedBy, row.Reason = p.named(behind[i])
			}
		}
		rows[i] = row
	}
	return rows
}

// blockers returns the failed and skipped subtasks among before or behind them, in plan order.
func (p StoredPlan) blockers(before []int, behind [][]int) []int {
	var list []int
	for _, d := range before {
		switch p.Subtasks[d].Status {
		case SubtaskFailed, SubtaskSkipped:
			list = append(list, d)
		default:
			list = append(list, behind[d]...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// named returns the ids of the blockers and the reason. If one is skipped, the reason is dependency_skipped.
func (p StoredPlan) named(blockers []int) (ids []string, reason string) {
	reason = "dependency_failed"
	for _, d := range blockers {
		ids = append(ids, p.Subtasks[d].ID)
		if p.Subtasks[d].Status == SubtaskSkipped {
			reason = "dependency_skipped"
		}
	}
	return ids, reason
}

// Details returns the rows with the results of completed subtasks.
func (p StoredPlan) Details(v PlanView) []SubtaskRow {
	rows := slices.Clone(v.Plan.Subtasks)
	for i := range rows {
		if rows[i].Status == SubtaskCompleted {
			result := Shown(p.Subtasks[i].Result, p.Subtasks[i].Bytes)
			rows[i].Result = &result
		}
	}
	return rows
}
