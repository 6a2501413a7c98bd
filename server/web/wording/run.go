package wording

import (
	"cmp"
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
		"caller": waitsForCaller, "approval": waitsForDecision, "settlement": waitsForSettlement, "retry": waitsForMissing,
	}[kind], waits)
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
		defer func() { text += inAttempts(c.Attempts) }()
	}
	switch c.Status {
	case "done":
		return callDone, "good"
	case "failed":
		text, class = callFailed, "bad"
	case "in_doubt":
		text, class = callInDoubt, "bad"
	case "reserved":
		text, class = callReserved, "wait"
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
	return decidedBy(Decision(a.Decision), cmp.Or(whoWords(a.By, a.KeyID, a.KeyName), unknownPerson), Name(cmp.Or(a.Assurance, "none"))) + record.ComparedWords(a.Compared)
}

// whoWords names a person by their key, or by the name from the channel if there is no key. It returns "" if no person is known.
func whoWords(by, keyID, keyName string) string {
	if keyID == "" {
		return Name(by)
	}
	return keyWords(Name(keyID), Name(keyName))
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
		return askedFor(row.Who(), Name(record.AskWords(row.Name)))
	case string(patterns.ToolEffect):
		return what
	case string(patterns.HumanEffect):
		tool, effect := row.About()
		if effect != "" {
			return askedWhether(Name(effect))
		}
		if row.Name == patterns.ApprovePlan {
			return askedAboutPlan
		}
		return askedAbout(cmp.Or(Name(tool), aCall))
	case string(patterns.CallerEffect):
		if row.Waits() {
			return waitedForCaller
		}
		return tookCallers(what)
	case string(patterns.TimerEffect):
		return rowPaused
	case string(patterns.PlanEffect):
		if words := row.PlanWords(); words != "" {
			return Capitalize(words)
		}
	case record.Judged:
		if row.RefusedAnswer() {
			return refusedAttempt(Name(row.Approval))
		}
		return proposalWas(cmp.Or(what, aProposal), Decision(row.Decision))
	case record.Late:
		return answeredLate(what)
	case record.Note:
		return noteWords(row)
	case record.Unreadable:
		return rowUnreadable
	}
	return strings.TrimSpace(Name(row.Kind) + " " + what)
}

// noteWords says what a person or a channel did to the run from outside.
func noteWords(row record.Row) string {
	text := Capitalize(cmp.Or(record.NoteWord(row.Name), Name(row.Name)))
	if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
		text += " by " + who
	}
	if row.Channel != "" && !row.ByItself() {
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
		return reasonTimeout
	case "broken_reply":
		return reasonBrokenReply
	case "unavailable":
		return reasonUnavailable
	}
	return Name(reason)
}

// RowFacts returns one line for each further fact about a row: the rule that decided, who answered, how many tokens it used.
func RowFacts(row record.Row) []string {
	var list []string
	switch {
	case row.RefusedAnswer():
		if who := whoWords(row.By, row.KeyID, row.KeyName); who != "" {
			list = append(list, inTheNameOf(who))
		}
		list = append(list, refusedAs(Name(cmp.Or(row.Why, noAnswer))))
	case row.Kind == record.Judged:
		list = append(list, byRule("", row))
	case row.Kind == string(patterns.HumanEffect):
		list = append(list, byRule(sentToPerson, row))
		if row.Decision != "" {
			list = append(list, answerWas(DecidedBy(record.Approved{Decision: row.Decision, By: row.By, Assurance: row.Sure, KeyID: row.KeyID, KeyName: row.KeyName, Compared: row.Compared})))
		}
	case row.Decision == "approve" && row.Rule == "" && row.Why == "allowlisted":
		list = append(list, onAllowList)
	case row.Decision != "":
		list = append(list, byRule(Decision(row.Decision), row))
	}
	for _, changed := range row.Changed {
		list = append(list, changedByRule(Name(changed)))
	}
	if row.Grant != "" {
		list = append(list, spendsApproval(Name(row.Grant), Name(row.Share)))
	}
	if row.Tokens > 0 {
		list = append(list, Count(row.Tokens, "token"))
	}
	if n := len(row.Models); n > 1 {
		names := make([]string, n)
		for i, m := range row.Models {
			names[i] = Name(m)
		}
		list = append(list, askedModels(strings.Join(names, ", then ")))
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
	why := Clip(row.Why, 200)
	if row.Why == row.Rule { // the rule says it
		why = ""
	}
	if row.Rule == "" && why == "" {
		return text
	}
	return strings.TrimSpace(decidedByRule(text, Name(row.Rule), why))
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
	return judgedTimes(passes)
}
