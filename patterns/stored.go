package patterns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// RemovedWrite is a write of a removed subtask that may have happened. In later runs of the plan, rules see it as in_doubt.
type RemovedWrite struct {
	ID   string         `json:"id"` // of the removed subtask
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"` // that were sent
}

// MaxPlanTrace is how many trace rows a stored plan keeps, the newest.
const MaxPlanTrace = 10000

var subtaskID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// ReadPlan reads a stored plan, its decoded JSON value, strictly: an unknown member, a status that is none, a reference to
// nothing or a cycle is [ErrPlanCorrupt].
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

// fault is what makes a plan that was read none; "" nothing.
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

// MaxPlanBytes is how long an encoded plan may be: what a load puts into a run's record has to be read back.
const MaxPlanBytes = 32 << 20

// Encode is the plan in canonical form. One that would be longer than [MaxPlanBytes] is stored with the beginnings of its
// long results, and without the details of its trace: that something was done must be known, or it would be done again.
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

// lean is the plan as it is stored where it would be too long.
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

// Clipped are results as a question shows them: the beginning of those over 2 KiB.
func Clipped(v any) any {
	const limit, head = 2 << 10, 1 << 10
	return gateway.Bounded(v, ijson.Canonical(v), limit, head)
}
