package web

import (
	"encoding/json"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
)

// planNow is a plan as it stands: as the run that has it has left it so far, else as it is stored.
type planNow struct {
	state   patterns.PlanState
	plan    patterns.StoredPlan
	view    patterns.PlanView
	stored  map[string]*patterns.PlannedSubtask
	rows    map[string]int      // of the view, by id
	parts   map[string][]string // of a subtask that joins what they returned
	trace   map[string][]patterns.AttemptRow
	results map[string]json.RawMessage // encoded, as far as they were asked for
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
	for _, a := range p.plan.Trace { // of all runs, also of the one that has it
		p.trace[a.SubtaskID] = append(p.trace[a.SubtaskID], a)
	}
	return p
}

// look takes the plan and its view from the run that has it, as far as that shows them.
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

// result is what a completed subtask came to, in JSON, and of how many bytes only this beginning was kept (0: it is whole);
// false for one that is not completed.
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

// inputs are the subtasks whose results one is given: its dependencies and parts, in plan order.
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

// statuses are the subtasks' statuses, of pending ones with what more is known of them.
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

// naming replaces the ids of the people who decided attempts by the names that named returns. The stored attempts keep the ids.
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
