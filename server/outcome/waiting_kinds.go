package outcome

import (
	"cmp"
	"fmt"
	"strings"

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
	did, doubt := a.inDoubt(w), "It is not known whether "+a.doubted(w)+" happened: "+doubtCauses(w.Cause)+"."
	lapse := ""
	if !w.Until.IsZero() {
		lapse = " Without an answer the run stops " + sentence.Time(w.Until) + " and the call stays in doubt."
	}
	e.Summary = sentence.Paragraph("WAITING for a person.", did, doubt, "Somebody has to look it up and say so."+lapse,
		"You cannot settle it and no tool here can. Do not start it again.")
	there := ""
	if !a.IsLocal() {
		there = " on the machine of the server"
	}
	e.Next = envelope.Next{
		Action: envelope.ActionTell, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID},
		Say: sentence.Paragraph(doubt, fmt.Sprintf("Look it up, then run `%s` or `%s`"+there+".%s Until then do not repeat it.",
			printable.Text(where[0]), printable.Text(where[1]), lapse)),
	}
}

// inDoubt says what was done besides the call in doubt.
func (a account) inDoubt(w *patterns.Waiting) string {
	rest := a
	rest.Ledger = nil
	for _, entry := range a.Ledger {
		if entry.Key != w.Effect {
			rest.Ledger = append(rest.Ledger, entry)
		}
	}
	if len(rest.Ledger) == 0 {
		return ""
	}
	return rest.written()
}

// doubted describes the call in doubt.
func (a account) doubted(w *patterns.Waiting) string {
	for _, entry := range a.Ledger {
		if entry.Key == w.Effect {
			return a.phrase(entry.Tool, entry.Args)
		}
	}
	return "the call of " + printable.Name(w.Tool)
}

// doubtCauses says why the outcome is unknown.
func doubtCauses(cause string) string {
	switch cause {
	case "crash":
		return "the server went down in the middle of the call"
	case "timeout":
		return "the call was sent and no answer came in time"
	case "broken_reply":
		return "the call was sent and its answer could not be read"
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
	e.Summary = sentence.Paragraph("WAITING: "+lackCauses(w.Cause, w.Needs)+".", did,
		"It goes on by itself once that is there; nothing is lost. Do not start it again.")
	e.Next = envelope.Next{
		Action: envelope.ActionCall, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": e.RunID}, Wait: retryPause,
		Say: sentence.Paragraph(strings.ToUpper(lackCauses(w.Cause, w.Needs)[:1]) + lackCauses(w.Cause, w.Needs)[1:] + "."),
	}
}

// lackCauses says what a run lacks.
func lackCauses(cause string, needs []string) string {
	of := ""
	if len(needs) > 0 {
		of = " (" + sentence.Names(needs[:min(len(needs), sentence.MaxListed)]) + ")"
	}
	switch cause {
	case "config_missing":
		return "the run was begun under another configuration" + of + ", and goes on only in a server that can load it"
	case "tool_missing":
		return "a tool that the run needs is not there" + of
	case "secret_missing":
		return "a secret that the run needs is not set" + of
	case "journal":
		return "the record cannot be written" + of + ", and nothing is done without it"
	}
	return "the run lacks something here: " + printable.Name(cause) + of
}
