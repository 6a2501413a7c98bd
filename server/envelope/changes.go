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
	maxChangeValue = 60 // bytes of a value, before escapes
)

// appendChanges writes a line for each call that a person approved with changes. What the policy changed before the person was asked
// is not theirs.
func (e *Envelope) appendChanges(dst []byte) []byte {
	add := func(tool string, h *patterns.HumanApproval) {
		if h == nil || !h.Approved {
			return
		}
		if changes := changesOf(h.Asked, h.Left); changes != "" {
			dst = append(append(dst, approvedWithChanges(h.Channel == "simulated", sentence.Label(tool), changes)...), '\n')
		}
	}
	for _, row := range e.History {
		switch row := row.(type) {
		case patterns.StepDone:
			add(row.PlanStep.Tool, e.humanOf(row.StepNo, ""))
		case patterns.TaskRow:
			add(row.Worker, e.humanOf(0, row.TaskID))
		case patterns.Delegation:
			target, _ := row.Route["target"].(string)
			add(target, e.humanOf(row.Attempt, ""))
		case patterns.ActionDone:
			name, _ := row.Executed["name"].(string)
			add(name, row.Human)
		}
	}
	if called := e.Called; called != nil {
		add(called.Name, e.Human)
	}
	return dst
}

// changesOf says in which arguments the approved call differs from the one that the person was asked about. It returns "" if it differs
// in none, or approved is nil.
func changesOf(asked, approved map[string]any) string {
	if approved == nil {
		return ""
	}
	all := maps.Clone(asked)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, approved)
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, was := asked[name]
		to, is := approved[name]
		switch label := sentence.Label(name); {
		case was && is && ijson.Equal(from, to):
		case was && is:
			at := differAt(changeText(from), changeText(to))
			changes = append(changes, changedArgument(label, changeValue(from, at), changeValue(to, at)))
		case is:
			changes = append(changes, addedArgument(label, changeValue(to, 0)))
		default:
			changes = append(changes, removedArgument(label, changeValue(from, 0)))
		}
	}
	if more := len(changes) - maxChanges; more > 0 {
		changes = append(changes[:maxChanges], moreChanges(more))
	}
	return strings.Join(changes, "; ")
}

// changeText returns the text that a long value is cut from: that of a string, or the JSON of another value.
func changeText(v any) string {
	if text, isText := v.(string); isText {
		return text
	}
	return string(ijson.Canonical(v))
}

// differAt returns where two long values begin to differ, or a little before it. It returns 0 if their beginnings show it.
func differAt(a, b string) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	if at <= maxChangeValue/2 {
		return 0
	}
	return len(ijson.Cut(a, at-maxChangeValue/3)) // between two characters, of b too
}

// changeValue returns a value as JSON, escaped. Of a value that is too long it returns the part from a place on, in quotes, with a mark
// where it is cut.
func changeValue(v any, from int) string {
	if whole := string(ijson.Canonical(v)); len(whole) <= maxChangeValue {
		return printable.Text(whole)
	}
	text := changeText(v)
	part := ijson.Cut(text[min(from, len(text)):], maxChangeValue)
	_, isText := v.(string)
	return cutValue(isText, from > 0, printable.Text(string(ijson.Canonical(part))), from+len(part) < len(text))
}
