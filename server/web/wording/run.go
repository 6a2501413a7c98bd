package wording

import (
	"cmp"
	"fmt"
	"strings"

	"patterngate/patterns"
	"patterngate/patterns/record"
)

// Effect says what a call may do. It returns "" for an unknown effect.
func Effect(effect string) string {
	switch effect {
	case "read":
		return "reads"
	case "write":
		return "writes"
	case "destructive":
		return "destroys"
	}
	return ""
}

// Phase returns the name of a phase with blanks for underscores.
func Phase(phase string) string { return Name(strings.ReplaceAll(phase, "_", " ")) }

// RunStatus returns a run's status and the CSS class of its colour; class "" is the plain colour.
func RunStatus(status string) (text, class string) {
	class = map[string]string{"ok": "good", "stopped": "bad", "running": "busy", "waiting": "wait"}[status]
	return Name(status), class
}

// Waiting says what a run waits for, by the kind of its wait.
func Waiting(kind string) string {
	return cmp.Or(map[string]string{
		"caller": "Waits for its caller", "approval": "Waits for a decision", "settlement": "Waits for a person to say whether a call happened",
		"retry": "Waits for what is missing here",
	}[kind], "Waits")
}

// Decision returns the verb for a decision of the policy or of a person.
func Decision(decision string) string {
	return cmp.Or(record.DecisionWord(decision), Name(decision))
}

// Call says what is known about a call. class is the CSS class of its colour; "" is the plain colour.
func Call(c record.Call) (text, class string) {
	if c.Duplicate {
		return record.DoneBefore, "good"
	}
	if c.Attempts > 1 {
		defer func() { text += fmt.Sprintf(", in %d attempts", c.Attempts) }()
	}
	switch c.Status {
	case "done":
		return "done", "good"
	case "failed":
		text, class = "failed, nothing was done", "bad"
	case "in_doubt":
		text, class = "outcome unknown: it may have been done", "bad"
	case "reserved":
		text, class = "started, no outcome is recorded", "wait"
	default:
		return Name(c.Status), ""
	}
	if c.Reason != "" {
		text += " (" + Name(c.Reason) + ")"
	}
	return text, class
}

// DecidedBy says how and by whom a question was decided, with the assurance of that person's identity.
func DecidedBy(a record.Approved) string {
	return fmt.Sprintf("%s by %s, assurance %s", Decision(a.Decision), cmp.Or(whoWords(a.By, a.KeyID, a.KeyName), "an unknown person"), Name(cmp.Or(a.Assurance, "none"))) + record.ComparedWords(a.Compared)
}

// whoWords names a person by their key, or by the name from the channel if there is no key. It returns "" if no person is known.
func whoWords(by, keyID, keyName string) string {
	switch {
	case keyID == "":
		return Name(by)
	case keyName == "":
		return "key " + Name(keyID)
	}
	return "key " + Name(keyID) + " (" + Name(keyName) + ")"
}

// Client returns the name and version that a client gave for itself; "" if it gave none.
func Client(c patterns.ClientBody) string {
	return Name(strings.TrimSpace(c.Name + " " + c.Version))
}

// RowTitle returns the title of a row of a timeline.
func RowTitle(row record.Row) string {
	what := Name(row.Name)
	switch row.Kind {
	case string(patterns.ModelEffect):
		return strings.TrimSpace("Asked "+row.Who()) + " for the " + Name(record.AskWords(row.Name))
	case string(patterns.ToolEffect):
		return what
	case string(patterns.HumanEffect):
		tool, effect := row.About()
		if effect != "" {
			return "Asked a person whether " + Name(effect) + " happened"
		}
		if row.Name == patterns.ApprovePlan {
			return "Asked a person about a whole plan"
		}
		return "Asked a person about " + cmp.Or(Name(tool), "a call")
	case string(patterns.CallerEffect):
		if row.Waits() {
			return "Waited for the caller"
		}
		return "Took the caller's " + what
	case string(patterns.TimerEffect):
		return "Paused"
	case string(patterns.PlanEffect):
		if words := row.PlanWords(); words != "" {
			return Capitalize(words)
		}
	case record.Judged:
		if row.RefusedAnswer() {
			return "An attempt to decide " + Name(row.Approval) + " was refused"
		}
		return cmp.Or(what, "A proposal") + " was " + Decision(row.Decision)
	case record.Late:
		return what + " answered too late. Its answer is not used"
	case record.Note:
		return noteWords(row)
	case record.Unreadable:
		return "An event that cannot be read"
	}
	return strings.TrimSpace(Name(row.Kind) + " " + what)
}

// noteWords says what a person or a channel did to the run from outside.
func noteWords(row record.Row) string {
	text := Capitalize(cmp.Or(record.NoteWord(row.Name), Name(row.Name)))
	if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
		text += " by " + who
	}
	if row.Channel != "" {
		text += " through " + Name(row.Channel)
	}
	return text
}

// RowKind returns the word for a row's kind.
func RowKind(kind string) string {
	word := map[string]string{
		"model": "model", "tool": "call", "human": "person", "caller": "caller", "timer": "pause", "plan": "plan",
		record.Judged: "judged", record.Late: "late", record.Note: "note", record.Unreadable: "unreadable",
	}[kind]
	return cmp.Or(word, Name(kind))
}

// RowState says how a row's effect ended. class is the CSS class of its colour; "" is the plain colour.
func RowState(row record.Row) (text, class string) {
	switch patterns.State(row.State) {
	case patterns.OK:
		return "done", "good"
	case record.Duplicate:
		return record.DoneBefore, "good"
	case patterns.Failed:
		text, class = "failed", "bad"
	case patterns.Unknown:
		text, class = "outcome unknown", "bad"
		if row.Effect == "read" {
			text = "no answer"
		}
	case patterns.Canceled:
		text, class = "not tried", "idle"
	case record.Open:
		if row.Waits() {
			return "waiting", "wait"
		}
		return "no outcome yet", "wait"
	default:
		return Name(row.State), ""
	}
	if row.Reason != "" {
		text += " (" + reasonWords(row.Reason) + ")"
	}
	return text, class
}

// reasonWords says why a call did not succeed. It replaces the words of the record that say too little.
func reasonWords(reason string) string {
	switch reason {
	case "timeout":
		return "no answer came in time"
	case "broken_reply":
		return "the answer was lost or could not be read"
	case "unavailable":
		return "nothing was sent"
	}
	return Name(reason)
}

// RowFacts returns one line for each further fact about a row: the rule that decided, who answered, how many tokens it used.
func RowFacts(row record.Row) []string {
	var list []string
	switch {
	case row.RefusedAnswer():
		if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
			list = append(list, "In the name of "+who)
		}
		list = append(list, "Refused as "+Name(cmp.Or(row.Why, "no answer")))
	case row.Kind == record.Judged:
		list = append(list, byRule("", row))
	case row.Kind == string(patterns.HumanEffect):
		list = append(list, byRule("Sent to a person", row))
		if row.Decision != "" {
			list = append(list, "Answer: "+DecidedBy(record.Approved{Decision: row.Decision, By: row.By, Assurance: row.Sure, KeyID: row.KeyID, KeyName: row.KeyName, Compared: row.Compared}))
		}
	case row.Decision == "approve" && row.Rule == "" && row.Why == "allowlisted":
		list = append(list, "On the list of what may be called; no rule judged it")
	case row.Decision != "":
		list = append(list, byRule(Decision(row.Decision), row))
	}
	for _, changed := range row.Changed {
		list = append(list, "Changed by rule "+Name(changed))
	}
	if row.Grant != "" {
		spends := "Spends approval " + Name(row.Grant)
		if row.Share != "" {
			spends += " for its step " + Name(row.Share)
		}
		list = append(list, spends)
	}
	if row.Tokens > 0 {
		list = append(list, Count(row.Tokens, "token"))
	}
	if n := len(row.Models); n > 1 {
		names := make([]string, n)
		for i, m := range row.Models {
			names[i] = Name(m)
		}
		list = append(list, "Asked "+strings.Join(names, ", then "))
	}
	if row.Kind == record.Unreadable {
		list = append(list, Clip(row.Reason, 200))
	}
	kept := list[:0]
	for _, line := range list {
		if line != "" {
			kept = append(kept, Capitalize(line))
		}
	}
	return kept
}

// byRule appends the rule and the reason of a decision to text. It returns text unchanged if there is neither.
func byRule(text string, row record.Row) string {
	switch {
	case row.Rule != "" && row.Why != "" && row.Why != row.Rule:
		return strings.TrimSpace(text + " by rule " + Name(row.Rule) + ": " + Clip(row.Why, 200))
	case row.Rule != "":
		return strings.TrimSpace(text + " by rule " + Name(row.Rule))
	case row.Why != "":
		return strings.TrimSpace(text + ": " + Clip(row.Why, 200))
	}
	return text
}

// Capitalize makes the first letter of a text upper case. The first letter must be ASCII.
func Capitalize(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Passes says how often the policy judged a call. It returns "" for one pass or none.
func Passes(passes int) string {
	if passes < 2 {
		return ""
	}
	return "judged " + Grouped(passes) + " times until nothing changed"
}
