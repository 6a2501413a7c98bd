package patterns

import (
	"slices"

	"patterngate/gateway/planning"
)

// ForGate are the subtasks as the gateway judges and orders them.
func (p StoredPlan) ForGate() []planning.Subtask {
	list := make([]planning.Subtask, len(p.Subtasks))
	for i, s := range p.Subtasks {
		list[i] = planning.Subtask{
			ID: s.ID, Description: s.Description, Dependencies: s.Dependencies, Tool: s.Tool, Args: s.Args, Critical: s.Critical,
			Parent: s.Parent, Expect: s.Expect,
		}
	}
	return list
}

// SubtasksOf are accepted subtasks as a plan keeps them; those that a checklist has ticked off are completed.
func SubtasksOf(doc planning.Document) []PlannedSubtask {
	done := make(map[string]bool, len(doc.Done))
	for _, id := range doc.Done {
		done[id] = true
	}
	rows := make([]PlannedSubtask, len(doc.Subtasks))
	for i, s := range doc.Subtasks {
		rows[i] = PlannedSubtask{
			ID: s.ID, Description: s.Description, Dependencies: s.Dependencies, Tool: s.Tool, Args: s.Args, Critical: s.Critical,
			Status: SubtaskPending, Parent: s.Parent, Expect: s.Expect,
		}
		if done[s.ID] {
			rows[i].Status, rows[i].Source = SubtaskCompleted, planning.CallerExecutor
		}
	}
	return rows
}

// At is the place of a subtask; false where the plan has none of this id.
func (p StoredPlan) At(id string) (int, bool) {
	for i := range p.Subtasks {
		if p.Subtasks[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// IDs are those of the subtasks that have one of these statuses, in plan order.
func (p StoredPlan) IDs(statuses ...SubtaskStatus) []string {
	list := []string{}
	for _, s := range p.Subtasks {
		for _, status := range statuses {
			if s.Status == status {
				list = append(list, s.ID)
			}
		}
	}
	return list
}

// Has reports whether a subtask has one of these statuses.
func (p StoredPlan) Has(statuses ...SubtaskStatus) bool { return len(p.IDs(statuses...)) > 0 }

// Completed reports whether all subtasks are; of an empty plan they are.
func (p StoredPlan) Completed() bool {
	return len(p.IDs(SubtaskCompleted)) == len(p.Subtasks)
}

// Outstanding reports whether a subtask is pending, failed or in doubt; a blocked one is none of these.
func (p StoredPlan) Outstanding(g *planning.Graph) bool {
	return slices.ContainsFunc(p.Rows(g, nil), func(r SubtaskRow) bool {
		return r.Status == SubtaskPending || r.Status == SubtaskFailed || r.Status == SubtaskInDoubt
	})
}

// FirstOf is the first subtask in the order of execution that has a status; "" none.
func (p StoredPlan) FirstOf(g *planning.Graph, status SubtaskStatus) string {
	for _, i := range g.Order() {
		if p.Subtasks[i].Status == status {
			return p.Subtasks[i].ID
		}
	}
	return ""
}

// UsedIDs are all ids that the plan ever had.
func (p StoredPlan) UsedIDs() []string {
	var list []string
	for _, s := range p.Subtasks {
		list = append(list, s.ID)
	}
	for _, r := range p.Removed {
		list = append(list, r.ID)
	}
	return list
}

// Unfinished reports whether rounds are still to come.
func (p StoredPlan) Unfinished() bool {
	complete := p.Metadata.PlanningComplete
	return p.Strategy == planning.Iterative && (complete == nil || !*complete)
}

// Results are those of all completed subtasks, as results show them.
func (p StoredPlan) Results() map[string]any {
	v := map[string]any{}
	for _, s := range p.Subtasks {
		if s.Status == SubtaskCompleted {
			v[s.ID] = Shown(s.Result, s.Bytes)
		}
	}
	return v
}
