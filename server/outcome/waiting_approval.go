package outcome

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// A run that waits for a person has two messages. Both are made only of typed values that were judged (spec/surface.md
// section 1):
//
//	Waiting ─┬─▶ summary   to the model: nothing was done, you cannot approve it, do not start it again
//	         ├─▶ next.say  to the person: what needs your decision, where, until when
//	         └─▶ waiting_for

// whereToDecide returns the page, if the caller can open it, and the command by which a person decides. how is the same
// as a sentence.
func whereToDecide(c arguments.Call, approval, inbox string) (where []string, how string) {
	command := "patterngate approvals show " + sentence.ShellWord(approval)
	switch page := strings.TrimRight(inbox, "/") + "/a/" + approval; {
	case inbox == "" && c.IsLocal():
		return []string{command}, "Run `" + printable.Text(command) + "`."
	case inbox == "":
		return []string{command}, "On the machine of the server, run `" + printable.Text(command) + "`."
	case c.IsLocal():
		return []string{page, command}, "Open " + printable.Text(page) + " or run `" + printable.Text(command) + "`."
	}
	return []string{command}, "The page for decisions opens only on the machine of the server. There, run `" + printable.Text(command) + "`."
}

// undecided presents a run that waits for a person's decision. inbox is the page's address, "" for none.
func (a account) undecided(e *envelope.Envelope, w *patterns.Waiting, inbox string) {
	where, how := whereToDecide(a.Call, w.Approval, inbox)
	e.WaitingFor = &envelope.ApprovalWait{
		WaitHead: headOf(w), ApprovalID: w.Approval, Tool: w.Tool, Effect: string(w.CallEffect), ArgsHash: w.ArgsHash,
		Rule: w.Rule, Reason: w.Reason, MinAssurance: string(w.Least), Digest: w.Question.Digest(), Where: where,
	}
	until, lapse := "", ""
	if !w.Until.IsZero() {
		until, lapse = "; none until "+sentence.Time(w.Until)+" means no", "It lapses "+sentence.Time(w.Until)+", which means no."
	}
	signed := ""
	if w.Least.AtLeast(gateway.SignedAssurance) {
		signed = "Only one that an approver key signs counts."
	}
	asked := a.askedAbout(w)
	told := asked + " needs a decision (rule " + printable.Name(w.Rule) + ")" + until + "."
	never := "You cannot approve it and no tool here can. Do not start it again."
	e.Summary = told
	for _, did := range []string{a.writtenBefore(w), "What was done before stands in effects."} {
		if e.Summary = sentence.Joined("WAITING for a person.", did, told, never); utf8.RuneCountInString(e.Summary) <= sentence.MaxLength {
			break
		}
	}
	e.Summary = sentence.AtMost(e.Summary, sentence.MaxLength)
	e.Next = envelope.Next{
		Action: envelope.ActionTell, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID},
		Say: sentence.Paragraph(asked+" needs your decision (rule "+printable.Name(w.Rule)+").", how, signed, lapse),
	}
}

// askedAbout describes the call that a person must decide about, for the beginning of a sentence.
func (a account) askedAbout(w *patterns.Waiting) string {
	phrase := printable.Text(w.Phrase)
	switch {
	case w.Tool == "final": // no tool has this name
		return "The final answer" + a.askedBy(w)
	case w.Child != "" && phrase != "":
		return "For " + printable.Name(w.Pattern) + ", " + phrase
	case phrase == "":
		return "The call of " + printable.Name(w.Tool)
	case strings.HasPrefix(phrase, w.Tool): // a name is written as it is
		return phrase
	}
	first, size := utf8.DecodeRuneInString(phrase)
	return string(unicode.ToUpper(first)) + phrase[size:]
}

// askedBy names the pattern that asks, if it is not the run's own.
func (a account) askedBy(w *patterns.Waiting) string {
	if w.Child == "" {
		return ""
	}
	return " of " + printable.Name(w.Pattern)
}

// writtenBefore says what the run wrote before it began to wait. If it wrote nothing, the sentence uses the verb of the
// waiting call's tool.
func (a account) writtenBefore(w *patterns.Waiting) string {
	if said := a.writtenSoFar(); said != "" {
		return said
	}
	deed := "written"
	if t, ok := a.Spec.Catalog.Tool(w.Tool); ok && t.Effect != catalog.Read && t.Deed != "" {
		deed = t.Deed
	}
	return "Nothing was " + printable.Text(deed) + "."
}
