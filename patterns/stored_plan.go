package patterns

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// ForGate returns the subtasks in the form that the gateway judges and orders.
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

// SubtasksOf returns accepted subtasks in the form that a plan stores. Those that a checklist marks as done are completed.
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

// At returns the index of a subtask; false if the plan has no subtask with this id.
func (p StoredPlan) At(id string) (int, bool) {
	for i := range p.Subtasks {
		if p.Subtasks[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// IDs returns the ids of the subtasks that have one of these statuses, in plan order.
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

// Completed reports whether all subtasks are completed; true for an empty plan.
func (p StoredPlan) Completed() bool {
	return len(p.IDs(SubtaskCompleted)) == len(p.Subtasks)
}

// Outstanding reports whether a subtask is pending, failed or in doubt. A blocked subtask does not count.
func (p StoredPlan) Outstanding(g *planning.Graph) bool {
	return slices.ContainsFunc(p.Rows(g, nil), func(r SubtaskRow) bool {
		return r.Status == SubtaskPending || r.Status == SubtaskFailed || r.Status == SubtaskInDoubt
	})
}

// FirstOf returns the first subtask with this status, in the order of execution; "" for none.
func (p StoredPlan) FirstOf(g *planning.Graph, status SubtaskStatus) string {
	for _, i := range g.Order() {
		if p.Subtasks[i].Status == status {
			return p.Subtasks[i].ID
		}
	}
	return ""
}

// UsedIDs returns all ids that the plan has or had.
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

// Unfinished reports whether the plan is iterative and its planning is not complete.
func (p StoredPlan) Unfinished() bool {
	complete := p.Metadata.PlanningComplete
	return p.Strategy == planning.Iterative && (complete == nil || !*complete)
}

// Results returns the results of all completed subtasks, in the form that results show.
func (p StoredPlan) Results() map[string]any {
	v := map[string]any{}
	for _, s := range p.Subtasks {
		if s.Status == SubtaskCompleted {
			v[s.ID] = Shown(s.Result, s.Bytes)
		}
	}
	return v
}

// RemovedWrite is a write of a removed subtask that may have happened. In later runs of the plan, rules see it as in_doubt.
type RemovedWrite struct {
	ID   string         `json:"id"` // of the removed subtask
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"` // as they were sent
}

// MaxPlanTrace is how many trace rows a stored plan keeps. The newest rows stay.
const MaxPlanTrace = 10000

var subtaskID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// ReadPlan reads a stored plan from its decoded JSON value. It is strict: an unknown member, an invalid status, a reference to a
// missing id or a cycle is [ErrPlanCorrupt].
func ReadPlan(v any) (StoredPlan, error) {
	var p StoredPlan
	d := json.NewDecoder(bytes.NewReader(ijson.Canonical(v)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return StoredPlan{}, fmt.Errorf("%w: %w", ErrPlanCorrupt, err)
	}
	if why := p.fault(); why != "" {
		return StoredPlan{}, fmt.Errorf("%w: %s", ErrPlanCorrupt, why)
	}
	return p, nil
}

// fault returns what is wrong with a plan that was read; "" if nothing is.
func (p StoredPlan) fault() string {
	known := make(map[string]bool, len(p.Subtasks)+len(p.Removed))
	for _, r := range p.Removed {
		known[r.ID] = true
	}
	for _, s := range p.Subtasks {
		if known[s.ID] || !subtaskID.MatchString(s.ID) || s.Tool == "" {
			return fmt.Sprintf("subtask %.70q", s.ID)
		}
		known[s.ID] = true
	}
	for _, s := range p.Subtasks {
		switch s.Status {
		case SubtaskPending, SubtaskCompleted, SubtaskFailed, SubtaskSkipped, SubtaskInDoubt:
		default:
			return fmt.Sprintf("status of %s", s.ID)
		}
		for _, d := range s.Dependencies {
			if !known[d] || d == s.ID {
				return fmt.Sprintf("dependencies of %s", s.ID)
			}
		}
		if s.Parent != "" && !known[s.Parent] {
			return fmt.Sprintf("parent of %s", s.ID)
		}
	}
	for _, w := range p.Writes {
		if !known[w.ID] || w.Tool == "" {
			return fmt.Sprintf("write of %.70q", w.ID)
		}
	}
	switch {
	case p.ID == "", p.Revision < 1, len(p.Revisions) == 0:
		return "no id or revision"
	case planning.HasCycle(p.ForGate()):
		return "a cycle"
	}
	return ""
}

// MaxPlanBytes is the maximum length of an encoded plan. A load puts the plan into a run's record, and the record must be readable.
const MaxPlanBytes = 32 << 20

// Encode returns the plan in canonical form. If it would be longer than [MaxPlanBytes], it has only the beginnings of long results and
// no details in its trace. The plan still shows what was done, so that it is not done again.
func (p StoredPlan) Encode() json.RawMessage {
	if n := len(p.Trace) - MaxPlanTrace; n > 0 {
		p.Trace = p.Trace[n:]
	}
	text := p.text()
	if len(text) > MaxPlanBytes {
		text = p.lean().text()
	}
	return text
}

// lean returns the shorter form of a plan that would be too long.
func (p StoredPlan) lean() StoredPlan {
	p.Subtasks, p.Trace = slices.Clone(p.Subtasks), slices.Clone(p.Trace)
	for i := range p.Subtasks {
		p.Subtasks[i].Result = Clipped(p.Subtasks[i].Result)
	}
	for i := range p.Trace {
		p.Trace[i].Error, p.Trace[i].Problems, p.Trace[i].HumanApproval = "", nil, nil
	}
	return p
}

func (p StoredPlan) text() json.RawMessage {
	text, err := json.Marshal(p)
	if err == nil {
		text, err = ijson.Canonicalize(text)
	}
	if err != nil { // its values were decoded from JSON
		panic(err)
	}
	return text
}

// Clipped returns a result in the form that a question shows: only the beginning if it is over 2 KiB.
func Clipped(v any) any {
	const limit, head = 2 << 10, 1 << 10
	return gateway.Bounded(v, ijson.Canonical(v), limit, head)
}

// PlanOf returns the id of the one plan that a run may make. It cannot be guessed, like the run's id.
func PlanOf(run string) string {
	sum := sha256.Sum256([]byte(run + "/plan"))
	return "plan_" + hex.EncodeToString(sum[:8])
}

// Loaded returns the output of a load that found a plan: {plan, version}, and `recalls` if a write of the plan may have happened. A run
// with `recalls` keeps such writes for rules. Records of earlier builds lack `recalls` and replay unchanged.
func Loaded(plan any, version int) map[string]any {
	out := map[string]any{"plan": plan, "version": float64(version)}
	members, _ := plan.(map[string]any)
	subtasks, _ := members["subtasks"].([]any)
	for _, v := range subtasks { // a plan can be large: only the run decodes it, once
		s, _ := v.(map[string]any)
		status, _ := s["status"].(string)
		once, _ := s["once"].(string)
		if (PlannedSubtask{Status: SubtaskStatus(status), Once: once}).MayHaveWritten() {
			out["recalls"] = true
		}
	}
	return out
}

// MayHaveWritten reports whether a subtask has a call that may have changed something, judged by the stored plan alone.
func (s PlannedSubtask) MayHaveWritten() bool {
	return s.Status == SubtaskInDoubt || s.Once != "" && s.Status != SubtaskCompleted
}
