package outcome

import (
	"cmp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// retryPause is the wait in seconds before a caller asks again for a run that lacks something.
const retryPause = 30

// unsettled presents a run with a call whose outcome is unknown.
func (a account) unsettled(e *envelope.Envelope, w *patterns.Waiting) {
	settle := "patterngate runs settle " + sentence.ShellWord(cmp.Or(w.Child, e.RunID)) + " " + sentence.ShellWord(w.Effect)
	where := []string{settle + " --happened", settle + " --did-not-happen"}
	e.WaitingFor = &envelope.SettlementWait{
		WaitHead: headOf(w), Effect: w.Effect, Tool: w.Tool, ArgsHash: w.ArgsHash, Cause: w.Cause, Where: where,
	}
	call, cause, by := a.doubted(w), doubtCauses(w.Cause), ""
	if !w.Until.IsZero() {
		by = settleBy(sentence.Time(w.Until))
	}
	e.Summary = sentence.Paragraph(waitingForPerson, outcomeUnknown(call, cause), a.otherwise(w), mustSettle, by, cannotSettle, doNotStartAgain)
	happened, didNot := printable.Text(where[0]), printable.Text(where[1])
	how := settleThere(happened, didNot)
	if a.IsLocal() {
		how = settleHere(happened, didNot)
	}
	e.Next = envelope.Next{
		Action: envelope.ActionTell, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID},
		Say: sentence.Paragraph(findOut(call, cause), how, doNotRepeat, by),
	}
}

// otherwise says what the run wrote besides the call whose outcome is unknown.
func (a account) otherwise(w *patterns.Waiting) string {
	rest := a
	rest.Ledger = nil
	for _, entry := range a.Ledger {
		if entry.Key != w.Effect {
			rest.Ledger = append(rest.Ledger, entry)
		}
	}
	if said := rest.writtenSoFar(); said != "" {
		return said
	}
	return nothingElse
}

// doubted describes the call in doubt.
func (a account) doubted(w *patterns.Waiting) string {
	for _, entry := range a.Ledger {
		if entry.Key == w.Effect {
			return a.phrase(entry.Tool, entry.Args)
		}
	}
	return printable.Name(w.Tool)
}

// doubtCauses says why the outcome is unknown.
func doubtCauses(cause string) string {
	switch cause {
	case "crash":
		return causeCrash
	case "timeout":
		return causeTimeout
	case "broken_reply":
		return causeBrokenReply
	}
	return printable.Name(cause)
}

// lacking presents a run that cannot continue here for now.
func (a account) lacking(e *envelope.Envelope, w *patterns.Waiting) {
	e.WaitingFor = &envelope.RetryWait{WaitHead: headOf(w), Cause: w.Cause, Needs: w.Needs}
	did := ""
	if len(a.Ledger) > 0 {
		did = a.written()
	}
	lack := lackCauses(w.Cause, w.Needs, e.RunID)
	e.Summary = sentence.Paragraph(waitingFor(lack), did, continuesOnceFixed, doNotStartAgain)
	e.Next = envelope.Next{
		Action: envelope.ActionCall, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID}, Wait: retryPause,
		Say: sentence.Paragraph(tellOperator(lack)),
	}
}

// lackCauses says what a run lacks.
func lackCauses(cause string, needs []string, run string) string {
	of := ""
	if len(needs) > 0 {
		of = which(sentence.Names(needs[:min(len(needs), sentence.MaxListed)]))
	}
	switch cause {
	case "config_missing":
		return lacksConfiguration(of, printable.Name(run))
	case "tool_missing":
		return lacksTool(of)
	case "secret_missing":
		return lacksSecret(of)
	case "journal":
		return lacksJournal(of)
	}
	return lacksOther(printable.Name(cause), of)
}
