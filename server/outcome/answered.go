package outcome

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// maxWithout is the number of tools without a result that a sentence names.
const maxWithout = 4

// tellResults sets the member answered. It also adds to summary and next which calls of the run returned no result.
func tellResults(e *envelope.Envelope, ledger []gateway.Entry) {
	results := gateway.ResultsOf(ledger)
	if e.Answered = results.Answered(); e.Answered == "" {
		return
	}
	told, words := missingWords(results, ledger), gateway.AnsweredWords(e.Answered)
	short := strings.ToUpper(words[:1]) + words[1:] + "."
	if e.Status == envelope.StatusWaiting { // the wait comes first
		e.Summary, e.Next.Say = followed(e.Summary, told, short), followed(e.Next.Say, told, short)
		return
	}
	e.Summary = led(told, short, e.Summary)
	if e.Next.Say == "" {
		e.Next.Say = missingAdvice[e.Next.Action]
	}
	e.Next.Say = led(told, short, e.Next.Say)
}

// tellCall does the same as [tellResults] for a one-tool call that ended well. Its summary says already what the tool answered.
func (a account) tellCall(e *envelope.Envelope) {
	if e.Answered = gateway.ResultsOf(a.Ledger).Answered(); e.Answered == "" {
		return
	}
	tool := printable.Name(a.Spec.Tool)
	answered := answeredWarning(tool)
	if _, reported := gateway.Reported(a.Observation); reported {
		answered = answeredError(tool)
	}
	e.Next.Say = sentence.Paragraph(answered, a.written(), tellTheUser)
}

// missingAdvice maps the advised action to a sentence about calls without a result.
var missingAdvice = map[string]string{
	envelope.ActionAnswer: tellWhatIsMissing,
	envelope.ActionFix:    callCorrected,
	envelope.ActionCall:   callThis,
}

// missingWords returns what is known about the calls without a result.
func missingWords(r gateway.Results, ledger []gateway.Entry) string {
	if r.Answered() == gateway.AnsweredNo {
		if r.Calls == 1 {
			return oneWithout(ledger)
		}
		return noneOf(r.Calls)
	}
	named := sentence.Names(r.Without[:min(len(r.Without), maxWithout)])
	if more := len(r.Without) - maxWithout; more > 0 {
		named = andMore(named, sentence.Count(more, "tool"))
	}
	return someResults(r.Missing, sentence.Count(r.Calls, "call"), named)
}

// oneWithout returns what the only call of a run answered instead of a result. If it did not answer, the stop reason says
// more, and only the first sentence is left.
func oneWithout(ledger []gateway.Entry) string {
	for _, e := range slices.Backward(ledger) {
		_, reported := gateway.Reported(e.Observation)
		switch tool := printable.Name(e.Tool); {
		case e.Assumed || e.Status != gateway.Finished || e.Unfit:
		case reported:
			return sentence.Joined(noneReturned, answeredError(tool))
		case !e.HasResult():
			return sentence.Joined(noneReturned, answeredWarning(tool))
		}
	}
	return noneReturned
}

// led puts a sentence about missing results before the others. It uses the long form if that fits, else the short form.
func led(told, short, others string) string {
	if whole := sentence.Joined(told, others); sentence.AtMost(whole, sentence.MaxLength) == whole {
		return whole
	}
	return sentence.Paragraph(short, others)
}

// followed puts a sentence about missing results after the others: the long form, or the short form, or none, whichever
// fits.
func followed(others, told, short string) string {
	for _, last := range []string{told, short} {
		if whole := sentence.Joined(others, last); sentence.AtMost(whole, sentence.MaxLength) == whole {
			return whole
		}
	}
	return others
}

// closed returns the calls of a waiting run that have a known outcome. It drops calls that are under way or in doubt.
func closed(ledger []gateway.Entry) []gateway.Entry {
	return slices.DeleteFunc(slices.Clone(ledger), func(e gateway.Entry) bool { return e.Status == gateway.Reserved || e.Status == gateway.InDoubt })
}
