package envelope

import (
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/sentence"
)

// These constants limit what a line about an approver's changes shows.
const (
	maxChanges     = 5  // arguments
	maxChangeValue = 60 // bytes of a value
)

// appendChanges writes a line for each call that a person approved with changes.
func (e *Envelope) appendChanges(dst []byte) []byte {
	add := func(tool string, h *patterns.HumanApproval, proposed map[string]any) {
		if h == nil || !h.Approved {
			return
		}
		if changes := changesOf(proposed, argsOf(h.RevisedAction)); changes != "" {
			dst = append(append(dst, approvedWithChanges(h.Channel == "simulated", sentence.Label(tool), changes)...), '\n')
		}
	}
	for _, row := range e.History {
		switch row := row.(type) {
		case patterns.StepDone:
			add(row.PlanStep.Tool, e.humanOf(row.StepNo, ""), row.PlanStep.Args)
		case patterns.TaskRow:
			add(row.Worker, e.humanOf(0, row.TaskID), e.taskArgs(row.TaskID))
		case patterns.Delegation:
			target, _ := row.Route["target"].(string)
			add(target, e.humanOf(row.Attempt, ""), argsOf(row.Route))
		case patterns.ActionDone:
			name, _ := row.Executed["name"].(string)
			add(name, row.Human, argsOf(row.Action))
		}
	}
	if called := e.Called; called != nil {
		add(called.Name, e.Human, called.Args)
	}
	return dst
}

// changesOf says in which arguments an approved call differs from the proposed one. It returns "" if it differs in none, or
// approved is nil.
func changesOf(proposed, approved map[string]any) string {
	if approved == nil {
		return ""
	}
	all := maps.Clone(proposed)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, approved)
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, was := proposed[name]
		to, is := approved[name]
		switch label := sentence.Label(name); {
		case was && is && ijson.Equal(from, to):
		case was && is:
			changes = append(changes, changedArgument(label, changeValue(from), changeValue(to)))
		case is:
			changes = append(changes, addedArgument(label, changeValue(to)))
		default:
			changes = append(changes, removedArgument(label, changeValue(from)))
		}
	}
	if more := len(changes) - maxChanges; more > 0 {
		changes = append(changes[:maxChanges], moreChanges(more))
	}
	return strings.Join(changes, "; ")
}

// changeValue returns a value as JSON, cut and escaped.
func changeValue(v any) string {
	return printable.Text(ijson.Cut(string(ijson.Canonical(v)), maxChangeValue))
}
