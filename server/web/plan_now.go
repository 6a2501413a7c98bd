package web

import (
	"encoding/json"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
)

// planNow is the current state of a plan: the state that its run has reached so far, or else the stored one.
type planNow struct {
	state   patterns.PlanState
	plan    patterns.StoredPlan
	view    patterns.PlanView
	stored  map[string]*patterns.PlannedSubtask
	rows    map[string]int      // of the view, by id
	parts   map[string][]string // the parts of a subtask that joins their results
	trace   map[string][]patterns.AttemptRow
	results map[string]json.RawMessage // encoded results, as far as they were requested
}

func planAsItIs(state patterns.PlanState) *planNow {
	p := &planNow{
		state: state, plan: state.Plan, stored: map[string]*patterns.PlannedSubtask{}, rows: map[string]int{}, parts: map[string][]string{},
		trace: map[string][]patterns.AttemptRow{}, results: map[string]json.RawMessage{},
	}
	p.look()
	for i := range p.plan.Subtasks {
		p.stored[p.plan.Subtasks[i].ID] = &p.plan.Subtasks[i]
	}
	for i, row := range p.view.Plan.Subtasks {
		p.rows[row.ID] = i
		if row.Parent != "" {
			p.parts[row.Parent] = append(p.parts[row.Parent], row.ID)
		}
	}
	for _, a := range p.plan.Trace { // of all runs, including the one that holds the plan
		p.trace[a.SubtaskID] = append(p.trace[a.SubtaskID], a)
	}
	return p
}

// look takes the plan and its view from the run that holds it, as far as that run shows them.
func (p *planNow) look() {
	if p.state.Result != nil && p.state.Result.Planned != nil {
		planned := p.state.Result.Planned
		if planned.Stored != nil {
			p.plan = *planned.Stored
		}
		if planned.View != nil {
			p.view = *planned.View
			return
		}
	}
	p.view = p.plan.View(nil)
}

// result returns the result of a completed subtask as JSON. If only its beginning was kept, of is its full size in
// bytes. Otherwise of is 0. ok is false if the subtask is not completed.
func (p *planNow) result(id string) (text json.RawMessage, of int, ok bool) {
	s := p.stored[id]
	if s == nil || s.Status != patterns.SubtaskCompleted {
		return nil, 0, false
	}
	if text, ok = p.results[id]; !ok {
		text = ijson.Canonical(s.Result)
		p.results[id] = text
	}
	switch v := s.Result.(type) {
	case string:
		if s.Bytes > len(v) {
			of = s.Bytes
		}
	case map[string]any:
		if v["truncated"] == true {
			of = s.Bytes
		}
	}
	return text, of, true
}

// inputs returns the subtasks whose results a subtask gets: its dependencies and parts, in plan order.
func (p *planNow) inputs(row patterns.SubtaskRow) []string {
	var ids []string
	for _, id := range slices.Concat(row.Dependencies, p.parts[row.ID]) {
		if _, known := p.rows[id]; known {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return p.rows[a] - p.rows[b] })
	return slices.Compact(ids)
}

// statuses returns the statuses of the subtasks. For pending ones it says whether they are ready or wait for the
// caller.
func (p *planNow) statuses() map[string]patterns.SubtaskStatus {
	known := make(map[string]patterns.SubtaskStatus, len(p.view.Plan.Subtasks))
	for _, row := range p.view.Plan.Subtasks {
		known[row.ID] = row.Status
	}
	for status, ids := range map[patterns.SubtaskStatus][]string{isReady: p.view.Ready, waitsForCaller: p.view.Waiting} {
		for _, id := range ids {
			if known[id] == patterns.SubtaskPending {
				known[id] = status
			}
		}
	}
	return known
}

// naming replaces the ids of the people who decided attempts with the names from named. The stored attempts keep the
// ids.
func (p *planNow) naming(named func(id string) string) {
	for _, attempts := range p.trace {
		for i, a := range attempts {
			if a.HumanApproval == nil {
				continue
			}
			decided := *a.HumanApproval
			decided.By = named(decided.By)
			attempts[i].HumanApproval = &decided
		}
	}
}
