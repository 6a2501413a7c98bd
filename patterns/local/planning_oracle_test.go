package local_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// This file says a second time what planning means (spec/planning-reference.md section 15): a small simulator that shares
// no line with the pattern's code, and is written to be read beside the section. It knows one run at a time, no record, no
// claim and no parallel code: time is a number, and the next thing that happens is looked up. What subtasks come to is told
// by a fate; TestPlanningOracle has the engine meet the same fates.

// oracleSub is a subtask.
type oracleSub struct {
	ID, Desc, Tool, Parent string
	Deps                   []string
	Args                   map[string]any
	Critical               bool
	Expect                 any

	Status, Source, Stop string
	Attempts             int
	Result               any
}

type oracleTomb struct {
	ID, Desc, Status, Stop string
	Revision               int
}

// oraclePlan is a stored plan.
type oraclePlan struct {
	Goal, Strategy                    string
	Revision, Replans, MaxReplans     int
	MaxSubtasks, Iteration, MaxRounds int
	Complete, Answered                bool
	Answer                            string
	Subs                              []*oracleSub
	Removed                           []oracleTomb
}

func (p *oraclePlan) sub(id string) *oracleSub {
	for _, s := range p.Subs {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// below reports whether a subtask lies in the tree under another.
func (p *oraclePlan) below(s *oracleSub, root string) bool {
	for s.Parent != "" {
		if s.Parent == root {
			return true
		}
		if s = p.sub(s.Parent); s == nil {
			return false
		}
	}
	return false
}

// inputs are the subtasks whose results one works with: its dependencies and its children.
func (p *oraclePlan) inputs(s *oracleSub) []*oracleSub {
	var list []*oracleSub
	for _, o := range p.Subs {
		if slices.Contains(s.Deps, o.ID) || o.Parent == s.ID {
			list = append(list, o)
		}
	}
	return list
}

// waits are the subtasks that must be completed before one runs: its inputs, and what its ancestors depend on, their own
// descendants excepted.
func (p *oraclePlan) waits(s *oracleSub) []*oracleSub {
	list := p.inputs(s)
	for a := p.sub(s.Parent); a != nil; a = p.sub(a.Parent) {
		for _, id := range a.Deps {
			if d := p.sub(id); d != nil && !p.below(d, a.ID) && !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// level is 1 and the highest level of what a subtask waits for.
func (p *oraclePlan) level(s *oracleSub) int {
	n := 0
	for _, d := range p.waits(s) {
		n = max(n, p.level(d))
	}
	return n + 1
}

// order is the execution order: level, then position.
func (p *oraclePlan) order() []*oracleSub {
	list := slices.Clone(p.Subs)
	slices.SortStableFunc(list, func(a, b *oracleSub) int { return cmp.Compare(p.level(a), p.level(b)) })
	return list
}

// culprits are the failed and skipped ones behind a pending subtask; none: it is not blocked.
func (p *oraclePlan) culprits(s *oracleSub) map[string]bool {
	all := map[string]bool{}
	for _, d := range p.waits(s) {
		switch d.Status {
		case "failed", "skipped":
			all[d.ID] = true
		case "pending":
			maps.Copy(all, p.culprits(d))
		}
	}
	return all
}

func (p *oraclePlan) status(s *oracleSub) string {
	if s.Status == "pending" && len(p.culprits(s)) > 0 {
		return "blocked"
	}
	return s.Status
}

func (p *oraclePlan) ready(s *oracleSub) bool {
	return s.Status == "pending" && !slices.ContainsFunc(p.waits(s), func(d *oracleSub) bool { return d.Status != "completed" })
}

// ids are those with a status, in plan order.
func (p *oraclePlan) ids(with func(*oracleSub) bool) []string {
	list := []string{}
	for _, s := range p.Subs {
		if with(s) {
			list = append(list, s.ID)
		}
	}
	return list
}

func (p *oraclePlan) are(status ...string) func(*oracleSub) bool {
	return func(s *oracleSub) bool { return slices.Contains(status, p.status(s)) }
}

// view is what every result shows of a plan; parked says that its run waits for the caller.
func (p *oraclePlan) view(parked bool) object {
	counts := object{"total": len(p.Subs), "removed": len(p.Removed), "in_progress": 0, "in_doubt": 0}
	for _, status := range []string{"pending", "completed", "failed", "skipped", "blocked"} {
		counts[status] = len(p.ids(p.are(status)))
	}
	progress := 1.0
	if len(p.Subs) > 0 {
		progress = math.Round(float64(counts["completed"].(int))/float64(len(p.Subs))*1e4) / 1e4
	}
	rows := []any{}
	for _, s := range p.Subs {
		rows = append(rows, p.row(s))
	}
	gone := []any{}
	for _, r := range p.Removed {
		gone = append(gone, object{"id": r.ID, "description": r.Desc, "status": r.Status, "stop_reason": r.Stop, "revision": r.Revision})
	}
	levels := [][]string{}
	for _, s := range p.order() {
		if n := p.level(s); n > len(levels) {
			levels = append(levels, nil)
		}
		levels[len(levels)-1] = append(levels[len(levels)-1], s.ID)
	}
	return object{
		"revision": p.Revision, "plan_status": counts, "progress": progress, "replan_count": p.Replans, "rows": rows, "removed": gone, "levels": levels,
		"ready":   p.ids(func(s *oracleSub) bool { return p.ready(s) && !(parked && s.Tool == "caller") }),
		"waiting": p.ids(func(s *oracleSub) bool { return parked && s.Tool == "caller" && p.ready(s) }),
		"failed":  p.ids(p.are("failed")), "skipped": p.ids(p.are("skipped")), "blocked": p.ids(p.are("blocked")),
		"iteration": p.Iteration, "planning_complete": p.Complete,
	}
}

func (p *oraclePlan) row(s *oracleSub) object {
	row := object{
		"id": s.ID, "description": s.Desc, "dependencies": append([]string{}, s.Deps...), "tool": s.Tool, "args": s.Args, "critical": s.Critical,
		"status": p.status(s), "parent": s.Parent, "expect": s.Expect, "attempts": s.Attempts, "source": "", "stop_reason": "", "reason": "", "depth": 0,
	}
	switch row["status"] {
	case "completed":
		row["source"] = s.Source
	case "failed", "skipped":
		row["stop_reason"] = s.Stop
	case "blocked":
		behind := p.culprits(s)
		row["blocked_by"] = p.ids(func(s *oracleSub) bool { return behind[s.ID] })
		row["reason"] = "dependency_failed"
		for id := range behind {
			if p.sub(id).Status == "skipped" {
				row["reason"] = "dependency_skipped"
			}
		}
	}
	if p.Strategy == "hierarchical" {
		depth := 1
		for up := p.sub(s.Parent); up != nil; up = p.sub(up.Parent) {
			depth++
		}
		row["depth"] = depth
	}
	return row
}
