package outcome

import (
	"cmp"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// Rehearsed presents a dry run.
func Rehearsed(c arguments.Call, r patterns.Rehearsal) envelope.Envelope {
	e := Ended(c, patterns.Ended{Result: r.Result})
	e.Budget, e.Effects, e.EffectsOmitted, e.Human, e.Observation = nil, nil, 0, nil, nil // only runs have them
	if !r.Result.Asked {
		e.Usage = nil
	}
	e.DryRun, e.Verdict = true, r.Verdict
	if e.Status == envelope.StatusStopped {
		e.Summary = sentence.Joined(e.Summary, wasDryRun)
		return e
	}
	e.Judged = make([]envelope.JudgedRow, len(r.Judged))
	for i, row := range r.Judged {
		e.Judged[i] = judgedRowOf(row)
	}
	e.Summary = rehearsedWords(e, c)
	e.Next = envelope.Next{Action: envelope.ActionAnswer, Say: dryRunAdvice}
	return e
}

func judgedRowOf(r patterns.RehearsedRow) envelope.JudgedRow {
	row := envelope.JudgedRow{
		Step: r.Step, Tool: r.Tool, ArgsHash: r.ArgsHash, Decision: r.Decision, Rule: r.Rule, Reason: r.Reason, Values: r.Values,
		RevisedArgs: r.RevisedArgs, Need: r.Need, Passes: r.Passes, Begins: r.Begins,
	}
	if row.Values == nil {
		row.Values = map[string]any{}
	}
	return row
}

// rehearsedWords describes what a dry run found in the order of the calls. If they are too many, it describes those with the
// strictest decisions. Of what a caller or model wrote, it shows only names.
func rehearsedWords(e envelope.Envelope, c arguments.Call) string {
	what := dryStep
	switch c.Spec.Kind {
	case gateway.Orchestrator:
		what = dryTask
	case gateway.Routing:
		what = dryAttempt
	case gateway.Call:
		what = ""
	}
	var shown []int // indexes of the calls
	told := 0
	for _, decision := range []string{envelope.DecisionBlock, envelope.DecisionEscalate, envelope.DecisionUnknown, envelope.DecisionRevise} {
		for i, row := range e.Judged {
			if row.Decision != decision {
				continue
			}
			if told++; told <= sentence.MaxListed {
				shown = append(shown, i)
			}
		}
	}
	slices.Sort(shown)
	var said []string
	for _, i := range shown {
		said = append(said, judgedWords(e.Judged[i], what))
	}
	if more := told - sentence.MaxListed; more > 0 {
		said = append(said, moreJudged(sentence.Count(more, "call")))
	}
	if approved := len(e.Judged) - told; approved > 0 {
		said = append(said, approvedWords(approved, told))
	}
	said = append(said, isDryRun)
	for _, row := range e.Judged {
		if row.Begins != "" && row.Decision != envelope.DecisionBlock {
			said = append(said, childNotRehearsed(printable.Name(row.Begins)))
			break
		}
	}
	return sentence.Paragraph(said...)
}

// approvedWords says how many calls would be approved unchanged. others is the number of the other calls.
func approvedWords(n, others int) string {
	switch {
	case others == 0 && n == 1:
		return oneUnchanged
	case others == 0:
		return allUnchanged(n)
	}
	return someUnchanged(sentence.Count(n, "call"))
}

// judgedWords says how one call would be judged: "Step 2 issue_refund would need a person's approval (rule big_refund)."
func judgedWords(r envelope.JudgedRow, what string) string {
	name := printable.Name(r.Tool)
	if what != "" && r.Step != "" {
		name = placedCall(what, sentence.Label(r.Step), name)
	}
	by := cmp.Or(r.Rule, r.Reason)
	switch {
	case by == "":
	case r.Rule == "":
		by = becauseOf(sentence.Reason(r.Reason))
	case r.Reason == "" || r.Reason == r.Rule:
		by = becauseOf(byRule(printable.Name(r.Rule)))
	default:
		by = becauseOf(byRuleAnd(printable.Name(r.Rule), sentence.Reason(r.Reason)))
	}
	switch r.Decision {
	case envelope.DecisionBlock:
		if len(r.Need) > 0 {
			by += itNeeds(sentence.Names(r.Need))
		}
		return judgedCall(name, dryBlocked, by)
	case envelope.DecisionEscalate:
		return judgedCall(name, dryPerson, by)
	case envelope.DecisionUnknown:
		return judgedCall(name, dryDepends, by)
	}
	return judgedCall(name, dryChanged, by)
}
