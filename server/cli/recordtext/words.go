package recordtext

import (
	"cmp"
	"fmt"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
)

// RowWords describes a row of a timeline. It cuts names and reasons and spells out their control characters. It omits
// arguments, answers and comments.
func RowWords(row record.Row) string {
	name := console.Clip(row.Name, console.MaxName)
	switch row.Kind {
	case string(patterns.ModelEffect):
		return again(row, askedFor(asked(row.Who()), console.Clip(record.AskWords(row.Name), console.MaxName), endOf(row, answered))) + modelsWords(row)
	case string(patterns.ToolEffect):
		return again(row, endedAs(name+effectWord(row), endOf(row, isDone))) + judgedWords(row)
	case string(patterns.HumanEffect):
		return personWords(row)
	case string(patterns.CallerEffect):
		switch {
		case row.Waits() && row.State == record.Open:
			return waitsForCaller
		case row.Waits():
			return endedAs(waitedForCaller, endOf(row, wentOn))
		}
		return tookProposal(name)
	case string(patterns.TimerEffect):
		return endedAs(paused, endOf(row, isOver))
	case string(patterns.PlanEffect):
		return endedAs(cmp.Or(row.PlanWords(), name), endOf(row, isDone))
	case record.Judged:
		if row.RefusedAnswer() {
			return attemptWords(row.Approval, whoSaid(row.By, row.KeyID, row.KeyName), row.Why)
		}
		return strings.TrimSpace(cmp.Or(name, aProposal)+" "+DecisionWord(row.Decision)) + ruleWords(row) + passWords(row.Passes) + earlierWords(row.Earlier)
	case record.Late:
		return lateAnswer(name)
	case record.Note:
		return noteWords(row)
	case record.Unreadable:
		return unreadable(console.Clip(row.Reason, 2*console.MaxName))
	}
	return endedAs(console.Clip(row.Kind, console.MaxName)+" "+name, endOf(row, isDone))
}

// asked returns the word for a question, with the model or the rules that were asked if they are known.
func asked(who string) string {
	if who == "" {
		return askedWord
	}
	return askedWord + " " + who
}

// effectWord describes what a call can change.
func effectWord(row record.Row) string {
	switch row.Effect {
	case "write":
		return writes
	case "destructive":
		return destroys
	}
	return ""
}

// modelsWords names the models of a request in their order, if the first one did not answer.
func modelsWords(row record.Row) string {
	if len(row.Models) < 2 {
		return ""
	}
	names := make([]string, len(row.Models))
	for i, m := range row.Models {
		names[i] = console.Clip(m, console.MaxName)
	}
	return askedModels(strings.Join(names, thenModel))
}

// endOf describes how an effect ended. well is the word for success.
func endOf(row record.Row, well string) string {
	reason := ""
	if row.Reason != "" {
		reason = because(console.Clip(row.Reason, console.MaxName))
	}
	switch patterns.State(row.State) {
	case patterns.OK:
		return well
	case patterns.Failed:
		return hasFailed + reason
	case patterns.Unknown:
		if row.Effect == "read" {
			return noAnswer + reason
		}
		return notKnown + reason
	case patterns.Canceled:
		return notTried + reason
	case record.Duplicate:
		return record.DoneBefore
	case record.Open:
		return noOutcomeYet
	}
	return console.Clip(row.State, console.MaxName) + reason
}

// again adds the number of the attempt, from the second attempt on.
func again(row record.Row, text string) string {
	if row.Attempt > 1 {
		return attemptNumber(row.Attempt, text)
	}
	return text
}

// judgedWords names the decision, the rule and the approval that let a call pass.
func judgedWords(row record.Row) string {
	text := ""
	switch {
	case row.Decision == "approve" && row.Rule == "" && row.Why == "allowlisted":
		text = onAllowList
	case row.Decision != "":
		text = decidedBy(DecisionWord(row.Decision) + ruleWords(row))
	}
	if changes := changesOf(row.Decision, row.Rule, row.Why, row.Changed); len(changes) > 0 {
		text += changedBy(strings.Join(changes, andAlso))
	}
	text += passWords(row.Passes)
	if row.Grant != "" {
		text += spendsApproval(console.Clip(row.Grant, console.MaxName))
		if row.Share != "" {
			text += forStep(console.Clip(row.Share, console.MaxName))
		}
	}
	return text
}

// changesOf lists the changes that a policy made to a call, except the one that its decision names.
func changesOf(decision, rule, why string, changes []string) []string {
	if decision == "revise" && len(changes) > 0 && (changes[0] == rule || changes[0] == why) {
		changes = changes[1:]
	}
	shown := make([]string, len(changes))
	for i, c := range changes {
		shown[i] = console.Clip(c, console.MaxName)
	}
	return shown
}

// DecisionWord returns the word for a decision by a policy or a person.
func DecisionWord(decision string) string {
	return cmp.Or(record.DecisionWord(decision), console.Clip(decision, console.MaxName))
}

// ruleWords names a rule. It adds the reason if the reason differs from the rule.
func ruleWords(row record.Row) string {
	rule := cmp.Or(row.Rule, row.Why)
	if rule == "" {
		return ""
	}
	text := byWhom(console.Clip(rule, console.MaxName))
	if row.Rule == "" {
		text = because(console.Clip(row.Why, console.MaxName))
	} else if row.Why != "" && row.Why != row.Rule {
		text += because(console.Clip(row.Why, console.MaxName))
	}
	return text
}

// personWords describes a question to a person and its answer.
func personWords(row record.Row) string {
	tool, effect := row.About()
	text, spent := askedPerson(cmp.Or(console.Clip(tool, console.MaxName), aCall)), spentBy
	switch {
	case effect != "":
		text = askedWhether(console.Clip(effect, console.MaxName))
	case row.Name == patterns.ApprovePlan:
		text, spent = askedPerson(aWholePlan), spentFirst
	}
	if row.Rule != "" {
		rule := console.Clip(row.Rule, console.MaxName)
		if row.Why != "" && row.Why != row.Rule {
			rule += ", " + console.Clip(row.Why, console.MaxName)
		}
		text += because(rule)
	}
	if row.Decision == "" {
		switch {
		case row.State == record.Open && row.ExpiresAt != "":
			return text + noAnswerBy(console.Clip(row.ExpiresAt, console.MaxName))
		case row.State == record.Open:
			return text + noAnswerYet
		case row.Reason == patterns.ReasonExpired:
			return text + expired
		}
		return endedAs(text, endOf(row, answered))
	}
	text += ": " + DecisionWord(row.Decision)
	if who := whoSaid(row.By, row.KeyID, row.KeyName); who != "" {
		text += byWhom(who)
	}
	if row.Sure != "" {
		text += withAssurance(console.Clip(row.Sure, console.MaxName)) + record.ComparedWords(row.Compared)
	}
	if row.Approval != "" {
		text += ", " + console.Clip(row.Approval, console.MaxName)
	}
	switch {
	case row.SpentBy != "":
		text += spent + console.Clip(row.SpentBy, console.MaxName)
	case row.Approval != "" && row.Decision != "reject":
		text += notSpent
	}
	if changes := editWords(row.Edits); changes != "" {
		text += changedArguments(changes)
	}
	return text
}

// whoSaid names the decider: by the approver key, otherwise as the channel knows the person. It returns "" if neither
// is known.
func whoSaid(by, keyID, keyName string) string {
	if keyID == "" {
		return console.Clip(by, console.MaxName)
	}
	text := byKey(console.Clip(keyID, console.MaxName))
	if keyName != "" {
		text += because(console.Clip(keyName, console.MaxName))
	}
	return text
}

// editWords lists the arguments that a person changed, with the old and the new values.
func editWords(edits []record.Edit) string {
	parts := make([]string, 0, len(edits))
	for i, e := range edits {
		if i == maxEdits {
			parts = append(parts, andThings(fmt.Sprintf("%d more", len(edits)-i)))
			break
		}
		from, to := nothing, nothing
		if e.From != nil {
			from = console.OneLine(e.From, console.MaxName)
		}
		if e.To != nil {
			to = console.OneLine(e.To, console.MaxName)
		}
		parts = append(parts, edited(console.Clip(e.Name, console.MaxName), from, to))
	}
	return strings.Join(parts, ", ")
}

// maxEdits is how many changed arguments a line shows.
const maxEdits = 8

// attemptWords describes a refused attempt to answer a question.
func attemptWords(approval, by, reason string) string {
	if by != "" {
		by = byWhom(by)
	}
	if reason != "" {
		reason = because(console.Clip(reason, console.MaxName))
	}
	return attemptRefused(cmp.Or(console.Clip(approval, console.MaxName), itself), by, reason)
}

// noteWords describes a change of the run from outside.
func noteWords(row record.Row) string {
	text := cmp.Or(record.NoteWord(row.Name), console.Clip(row.Name, console.MaxName))
	if who := whoSaid(row.By, row.KeyID, row.KeyName); who != "" {
		text += byWhom(who)
	}
	if row.Channel != "" && !row.ByItself() {
		text += throughChannel(console.Clip(row.Channel, console.MaxName))
	}
	return text
}

// MaxPhrase is how many characters of a phrase or reason a page shows.
const MaxPhrase = 300

// EffectWords describes a tool's effect, for the place after the tool's name.
func EffectWords(effect string) string {
	return map[string]string{"read": onlyReads, "write": writes, "destructive": destroys}[effect]
}

// ArgumentName returns a name that can begin a line. It returns a long or unusual name as a JSON string.
func ArgumentName(name string) string {
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name != "" && len(name) <= console.MaxName && strings.TrimLeftFunc(name, plain) == "" {
		return name
	}
	return string(ijson.Canonical(name))
}
