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

// Page is the page on which people decide, as results name it. The zero Page is none.
type Page struct {
	URL  string // its address, such as http://127.0.0.1:8766
	Idle bool   // no process serves it now: "patterngate inbox" does
}

// whereToDecide returns the page, if the caller can open it, and the command by which a person decides. how is the same
// as a sentence.
func whereToDecide(c arguments.Call, approval string, inbox Page) (where []string, how string) {
	command := "patterngate approvals show " + sentence.ShellWord(approval)
	switch page := strings.TrimRight(inbox.URL, "/") + "/a/" + approval; {
	case inbox.URL == "" && c.IsLocal():
		return []string{command}, runCommand(printable.Text(command))
	case inbox.URL == "":
		return []string{command}, runOnServer(printable.Text(command))
	case c.IsLocal() && inbox.Idle:
		return []string{page, command}, serveAndOpen(printable.Text(page), printable.Text(command))
	case c.IsLocal():
		return []string{page, command}, openOrRun(printable.Text(page), printable.Text(command))
	}
	return []string{command}, runWherePageIs(printable.Text(command))
}

// undecided presents a run that waits for a person's decision.
func (a account) undecided(e *envelope.Envelope, w *patterns.Waiting, inbox Page) {
	where, how := whereToDecide(a.Call, w.Approval, inbox)
	e.WaitingFor = &envelope.ApprovalWait{
		WaitHead: headOf(w), ApprovalID: w.Approval, Tool: w.Tool, Effect: string(w.CallEffect), ArgsHash: w.ArgsHash,
		Rule: w.Rule, Reason: w.Reason, MinAssurance: string(w.Least), Digest: w.Question.Digest(), Where: where,
	}
	signed := ""
	if w.Least.AtLeast(gateway.SignedAssurance) {
		signed = onlySigned
	}
	asked, rule := a.askedAbout(w), printable.Name(w.Rule)
	needs, by := needsApproval(asked, rule), ""
	if !w.Until.IsZero() {
		needs, by = needsApprovalBy(asked, sentence.Time(w.Until), rule), decideBy(sentence.Time(w.Until))
	}
	for _, did := range []string{a.writtenBefore(w), seeEffects} {
		if e.Summary = sentence.Joined(waitingForPerson, did, needs, cannotApprove, doNotStartAgain); utf8.RuneCountInString(e.Summary) <= sentence.MaxLength {
			break
		}
	}
	e.Summary = sentence.AtMost(e.Summary, sentence.MaxLength)
	e.Next = envelope.Next{
		Action: envelope.ActionTell, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID},
		Say: sentence.Paragraph(needsYourDecision(asked, rule), how, signed, by),
	}
	if w.Text == "" { // the words of the rule are in the configuration
		return
	}
	if say := sentence.Joined(needsYourDecision(asked, rule), ruleSays(printable.Text(w.Text)), how, signed, by); utf8.RuneCountInString(say) <= sentence.MaxLength {
		e.Next.Say = say
	}
}

// askedAbout describes the call that a person must decide about, for the beginning of a sentence.
func (a account) askedAbout(w *patterns.Waiting) string {
	phrase := printable.Text(w.Phrase)
	switch {
	case w.Tool == "final": // no tool has this name
		if w.Child == "" {
			return theFinalAnswer
		}
		return finalAnswerOf(printable.Name(w.Pattern))
	case w.Child != "" && phrase != "":
		return forPattern(printable.Name(w.Pattern), phrase)
	case phrase == "":
		return theCallOf(printable.Name(w.Tool))
	case strings.HasPrefix(phrase, w.Tool): // a name is written as it is
		return phrase
	}
	first, size := utf8.DecodeRuneInString(phrase)
	return string(unicode.ToUpper(first)) + phrase[size:]
}

// writtenBefore says what the run wrote before it began to wait. If it wrote nothing, the sentence uses the verb of the
// waiting call's tool.
func (a account) writtenBefore(w *patterns.Waiting) string {
	if said := a.writtenSoFar(); said != "" {
		return said
	}
	deed := writtenVerb
	if t, ok := a.Spec.Catalog.Tool(w.Tool); ok && t.Effect != catalog.Read && t.Deed != "" {
		deed = t.Deed
	}
	return nothingDone(printable.Text(deed))
}
