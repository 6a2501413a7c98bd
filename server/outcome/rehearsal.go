package outcome

import (
	"cmp"
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// dryAdvice says what the result of a dry run means.
const dryAdvice = "Nothing was done yet: judged says what the same call without dry_run would come to."

// Rehearsed presents a dry run.
func Rehearsed(c arguments.Call, r patterns.Rehearsal) envelope.Envelope {
	e := Ended(c, patterns.Ended{Result: r.Result})
	e.Budget, e.Effects, e.EffectsOmitted, e.Human, e.Observation = nil, nil, 0, nil, nil // only runs have them
	if !r.Result.Asked {
		e.Usage = nil
	}
	e.DryRun, e.Verdict = true, r.Verdict
	if e.Status == envelope.StatusStopped {
		e.Summary = sentence.Joined(e.Summary, "It was a dry run.")
		return e
	}
	e.Judged = make([]envelope.JudgedRow, len(r.Judged))
	for i, row := range r.Judged {
		e.Judged[i] = judgedRowOf(row)
	}
	e.Summary = rehearsedWords(e, c)
	e.Next = envelope.Next{Action: envelope.ActionAnswer, Say: dryAdvice}
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

// rehearsedWords describes what a dry run found, the strictest decision first. Of what a caller or model wrote, it shows
// only names.
func rehearsedWords(e envelope.Envelope, c arguments.Call) string {
	what := "step"
	switch c.Spec.Kind {
	case gateway.Orchestrator:
		what = "task"
	case gateway.Routing:
		what = "attempt"
	case gateway.Call:
		what = ""
	}
	var said []string
	told := 0
	for _, decision := range []string{envelope.DecisionBlock, envelope.DecisionEscalate, envelope.DecisionUnknown, envelope.DecisionRevise} {
		for _, row := range e.Judged {
			if row.Decision != decision {
				continue
			}
			if told++; told <= sentence.MaxListed {
				said = append(said, judgedWords(row, what))
			}
		}
	}
	if more := told - sentence.MaxListed; more > 0 {
		said = append(said, fmt.Sprintf("%d more are not simply approved either.", more))
	}
	if approved := len(e.Judged) - told; approved > 0 {
		said = append(said, approvedWords(approved, told))
	}
	said = slices.Insert(said, min(1, len(said)), "A dry run: nothing was called or recorded.")
	for _, row := range e.Judged {
		if row.Begins != "" && row.Decision != envelope.DecisionBlock {
			said = append(said, "What runs of "+printable.Name(row.Begins)+" would do is not rehearsed.")
			break
		}
	}
	return sentence.Paragraph(said...)
}

// approvedWords says how many calls would be approved unchanged. others is the number of the other calls.
func approvedWords(n, others int) string {
	switch {
	case others == 0 && n == 1:
		return "The one call would be approved as it is."
	case others == 0:
		return fmt.Sprintf("All %d calls would be approved as they are.", n)
	}
	return fmt.Sprintf("%s would be approved as proposed.", sentence.Count(n, "call"))
}

// judgedWords says how one call would be judged: "Step 2 issue_refund would be put to a person (rule big_refund)."
func judgedWords(r envelope.JudgedRow, what string) string {
	name := printable.Name(r.Tool)
	if what != "" && r.Step != "" {
		name = capitalized(what) + " " + sentence.Label(r.Step) + " " + name
	}
	by := cmp.Or(r.Rule, r.Reason)
	switch {
	case by == "":
	case r.Rule == "":
		by = " (" + sentence.Reason(r.Reason) + ")"
	case r.Reason == "" || r.Reason == r.Rule:
		by = " (rule " + printable.Name(r.Rule) + ")"
	default:
		by = " (rule " + printable.Name(r.Rule) + ", " + sentence.Reason(r.Reason) + ")"
	}
	switch r.Decision {
	case envelope.DecisionBlock:
		if len(r.Need) > 0 {
			by += "; it needs " + sentence.Names(r.Need)
		}
		return name + " would be blocked" + by + "."
	case envelope.DecisionEscalate:
		return name + " would be put to a person" + by + "."
	case envelope.DecisionUnknown:
		return name + " depends on what an earlier call returns" + by + "."
	}
	return name + " would be changed" + by + "."
}

// capitalized returns a word with its first letter in upper case. The word must begin with a letter from a to z.
func capitalized(word string) string { return string(word[0]-'a'+'A') + word[1:] }
