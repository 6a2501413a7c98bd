package web

import (
	"cmp"
	"fmt"
	"strings"

	"patterngate/patterns"
	"patterngate/patterns/record"
)

// effectWord says what a call may do.
func effectWord(effect string) string {
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

// phaseWord is a phase for people.
func phaseWord(phase string) string { return name(strings.ReplaceAll(phase, "_", " ")) }

// statusWords are a run's status and how it is coloured.
func statusWords(status string) (text, class string) {
	class = map[string]string{"ok": "good", "stopped": "bad", "running": "busy", "waiting": "wait"}[status]
	return name(status), class
}

// waitingWords say what a run waits for.
func waitingWords(kind string) string {
	return cmp.Or(map[string]string{
		"caller": "Waits for its caller", "approval": "Waits for a decision", "settlement": "Waits for a person to say whether a call happened",
		"retry": "Waits for what is missing here",
	}[kind], "Waits")
}

// decisionWord is a policy's or person's decision.
func decisionWord(decision string) string {
	return cmp.Or(record.DecisionWord(decision), name(decision))
}

// callWords are what is known about a call, and how it is coloured.
func callWords(c record.Call) (text, class string) {
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
		text, class = "in doubt: it may have been done", "bad"
	case "reserved":
		text, class = "begun, no outcome is recorded", "wait"
	default:
		return name(c.Status), ""
	}
	if c.Reason != "" {
		text += " (" + name(c.Reason) + ")"
	}
	return text, class
}

// personWords say who decided.
func personWords(a record.Approved) string {
	return fmt.Sprintf("%s by %s, assurance %s", decisionWord(a.Decision), cmp.Or(whoWords(a.By, a.KeyID, a.KeyName), "nobody known"), name(cmp.Or(a.Assurance, "none"))) + record.ComparedWords(a.Compared)
}

// whoWords name a person: by their key, else by what the channel knows of them; "": nobody is known.
func whoWords(by, keyID, keyName string) string {
	switch {
	case keyID == "":
		return name(by)
	case keyName == "":
		return "key " + name(keyID)
	}
	return "key " + name(keyID) + " (" + name(keyName) + ")"
}

// clientWords are what a client calls itself; "" for one that does not.
func clientWords(c patterns.ClientBody) string {
	return name(strings.TrimSpace(c.Name + " " + c.Version))
}

// titleOf is what a row of a timeline is about.
func titleOf(row record.Row) string {
	what := name(row.Name)
	switch row.Kind {
	case string(patterns.ModelEffect):
		return strings.TrimSpace("Asked "+row.Who()) + " for the " + name(record.AskWords(row.Name))
	case string(patterns.ToolEffect):
		return what
	case string(patterns.HumanEffect):
		tool, effect := row.About()
		if effect != "" {
			return "Asked a person whether " + name(effect) + " happened"
		}
		if row.Name == patterns.ApprovePlan {
			return "Asked a person about a whole plan"
		}
		return "Asked a person about " + cmp.Or(name(tool), "a call")
	case string(patterns.CallerEffect):
		if row.Waits() {
			return "Waited for the caller"
		}
		return "Took the caller's " + what
	case string(patterns.TimerEffect):
		return "Paused"
	case string(patterns.PlanEffect):
		if words := row.PlanWords(); words != "" {
			return capital(words)
		}
	case record.Judged:
		if row.RefusedAnswer() {
			return "An attempt to decide " + name(row.Approval) + " was refused"
		}
		return cmp.Or(what, "A proposal") + " was " + decisionWord(row.Decision)
	case record.Late:
		return what + " answered too late; that is not used"
	case record.Note:
		return noteWords(row)
	case record.Unreadable:
		return "An event that cannot be read"
	}
	return strings.TrimSpace(name(row.Kind) + " " + what)
}

// noteWords tell what was done to the run from outside.
func noteWords(row record.Row) string {
	text := capital(cmp.Or(record.NoteWord(row.Name), name(row.Name)))
	if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
		text += " by " + who
	}
	if row.Channel != "" {
		text += " through " + name(row.Channel)
	}
	return text
}

// kindWord is the kind of a row for people.
func kindWord(kind string) string {
	word := map[string]string{
		"model": "model", "tool": "call", "human": "person", "caller": "caller", "timer": "pause", "plan": "plan",
		record.Judged: "judged", record.Late: "late", record.Note: "note", record.Unreadable: "unreadable",
	}[kind]
	return cmp.Or(word, name(kind))
}

// stateWords say how a row's effect ended, and how it is coloured.
func stateWords(row record.Row) (text, class string) {
	switch patterns.State(row.State) {
	case patterns.OK:
		return "done", "good"
	case record.Duplicate:
		return record.DoneBefore, "good"
	case patterns.Failed:
		text, class = "failed", "bad"
	case patterns.Unknown:
		text, class = "nobody knows whether it happened", "bad"
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
		return name(row.State), ""
	}
	if row.Reason != "" {
		text += " (" + reasonWords(row.Reason) + ")"
	}
	return text, class
}

// reasonWords say why a call had no good end, where the record's own word says little.
func reasonWords(reason string) string {
	switch reason {
	case "timeout":
		return "no answer came in time"
	case "broken_reply":
		return "the answer was lost or could not be read"
	case "unavailable":
		return "nothing was sent"
	}
	return name(reason)
}

// facts are what else is known of a row: who let it through, who answered, what it cost.
func facts(row record.Row) []string {
	var list []string
	switch {
	case row.RefusedAnswer():
		if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
			list = append(list, "In the name of "+who)
		}
		list = append(list, "Refused as "+name(cmp.Or(row.Why, "no answer")))
	case row.Kind == record.Judged:
		list = append(list, byRule("", row))
	case row.Kind == string(patterns.HumanEffect):
		list = append(list, byRule("Put to a person", row))
		if row.Decision != "" {
			list = append(list, "Answer: "+personWords(record.Approved{Decision: row.Decision, By: row.By, Assurance: row.Sure, KeyID: row.KeyID, KeyName: row.KeyName, Compared: row.Compared}))
		}
	case row.Decision == "approve" && row.Rule == "" && row.Why == "allowlisted":
		list = append(list, "On the list of what may be called; no rule judged it")
	case row.Decision != "":
		list = append(list, byRule(decisionWord(row.Decision), row))
	}
	for _, changed := range row.Changed {
		list = append(list, "Changed by rule "+name(changed))
	}
	if row.Grant != "" {
		spends := "Spends approval " + name(row.Grant)
		if row.Share != "" {
			spends += " for its step " + name(row.Share)
		}
		list = append(list, spends)
	}
	if row.Tokens > 0 {
		list = append(list, count(row.Tokens, "token"))
	}
	if n := len(row.Models); n > 1 {
		names := make([]string, n)
		for i, m := range row.Models {
			names[i] = name(m)
		}
		list = append(list, "Asked "+strings.Join(names, ", then "))
	}
	if row.Kind == record.Unreadable {
		list = append(list, clip(row.Reason, 200))
	}
	kept := list[:0]
	for _, line := range list {
		if line != "" {
			kept = append(kept, capital(line))
		}
	}
	return kept
}

// byRule names the rule that a decision is by; "" where there is none.
func byRule(text string, row record.Row) string {
	switch {
	case row.Rule != "" && row.Why != "" && row.Why != row.Rule:
		return strings.TrimSpace(text + " by rule " + name(row.Rule) + ": " + clip(row.Why, 200))
	case row.Rule != "":
		return strings.TrimSpace(text + " by rule " + name(row.Rule))
	case row.Why != "":
		return strings.TrimSpace(text + ": " + clip(row.Why, 200))
	}
	return text
}

// capital is a text as it begins a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// passWords say how often the policy judged; "" where that was once.
func passWords(passes int) string {
	if passes < 2 {
		return ""
	}
	return "judged " + grouped(passes) + " times until nothing changed"
}
