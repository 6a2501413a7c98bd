package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
	"patterngate/server/transport"
)

// A dry run predicts how the policy would judge the calls of an intent (spec/surface.md section 1, dry_run). It calls
// and records nothing. It begins no run and joins none. A dry run of planning is different: plan_decompose stores
// nothing, see plan_decompose.go of patterns.

// The decisions of a dry run, except approve. Some of them do not occur in a real run.
const (
	rehearsedBlock    = "block"
	rehearsedEscalate = "escalate"
	rehearsedUnknown  = "unknown" // it depends on the result of an earlier call
	rehearsedRevise   = "revise"
)

// dryMembers are the members that only results of dry runs have.
type dryMembers struct {
	DryRun        bool        `json:"dry_run,omitempty"`
	Verdict       string      `json:"verdict,omitempty"` // the strictest decision of the rows
	Judged        []judgedRow `json:"judged,omitzero"`
	JudgedOmitted int         `json:"judged_omitted,omitempty"` // how many of the last rows are left out
}

// judgedRow says how one call would be judged.
type judgedRow struct {
	Step        string         `json:"step"`
	Tool        string         `json:"tool"`
	ArgsHash    string         `json:"args_hash"`
	Decision    string         `json:"decision"`
	Rule        string         `json:"rule"`
	Reason      string         `json:"reason"`
	Values      map[string]any `json:"values"`
	RevisedArgs map[string]any `json:"revised_args,omitempty"`
	Need        []string       `json:"need,omitempty"`
	Passes      int            `json:"passes"`
	Begins      string         `json:"begins,omitempty"` // the pattern whose run the call would begin
}

// dryAdvice says what the result of a dry run means.
const dryAdvice = "Nothing was done yet: judged says what the same call without dry_run would come to."

// dry reports whether a call asks for a dry run of the pattern.
func (t *tool) dry(c arguments.Call) bool {
	return t.Spec.Kind != gateway.Planning && t.takesDry() && c.Arguments[arguments.DryRunName] == true
}

// takesDry reports whether dry_run is an argument of the call itself, and not an argument of the tool that it calls.
func (t *tool) takesDry() bool {
	for _, a := range t.Takes {
		if a.Name == arguments.DryRunName {
			return true
		}
	}
	return false
}

// rehearse answers a dry run.
func (t *tool) rehearse(ctx context.Context, c arguments.Call) (*mcp.CallToolResult, error) {
	s := t.server
	rehearsal, err := s.config.Engine.Rehearse(ctx, t.asked(ctx, c, peerOf(ctx)))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, transport.ErrCanceled
	case err != nil:
		return t.notBegun(ctx, c, err)
	}
	c.Model = t.modelOf(c, rehearsal.Result)
	result, err := s.show(ctx, rehearsedEnvelope(c, rehearsal))
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	return result, nil
}

// rehearsedEnvelope presents a dry run.
func rehearsedEnvelope(c arguments.Call, r patterns.Rehearsal) Envelope {
	e := endedEnvelope(c, patterns.Ended{Result: r.Result})
	e.Budget, e.Effects, e.EffectsOmitted, e.Human, e.Observation = nil, nil, 0, nil, nil // only runs have them
	if !r.Result.Asked {
		e.Usage = nil
	}
	e.DryRun, e.Verdict = true, r.Verdict
	if e.Status == statusStopped {
		e.Summary = sentence.Joined(e.Summary, "It was a dry run.")
		return e
	}
	e.Judged = make([]judgedRow, len(r.Judged))
	for i, row := range r.Judged {
		e.Judged[i] = judgedRowOf(row)
	}
	e.Summary = e.rehearsed(c)
	e.Next = next{Action: actionAnswer, Say: dryAdvice}
	return e
}

func judgedRowOf(r patterns.RehearsedRow) judgedRow {
	row := judgedRow{r.Step, r.Tool, r.ArgsHash, r.Decision, r.Rule, r.Reason, r.Values, r.RevisedArgs, r.Need, r.Passes, r.Begins}
	if row.Values == nil {
		row.Values = map[string]any{}
	}
	return row
}

// dryHeadline returns the first words of a dry run's first line: what the same call without dry_run would lead to. It
// returns "" if the result is not of a dry run, or if the intent was rejected.
func (e *Envelope) dryHeadline() string {
	if !e.DryRun || e.Status != statusOK || e.Judged == nil {
		return ""
	}
	switch e.Verdict {
	case rehearsedBlock:
		return "WOULD BE BLOCKED"
	case rehearsedEscalate:
		return "WOULD WAIT for a person"
	case rehearsedUnknown:
		return "WOULD DEPEND on earlier results"
	case rehearsedRevise:
		return "WOULD BE CHANGED"
	case "approve":
		return "WOULD BE APPROVED"
	}
	return "DRY RUN"
}

// rehearsed describes what a dry run found, the strictest decision first. Of what a caller or model wrote, it shows
// only names.
func (e Envelope) rehearsed(c arguments.Call) string {
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
	for _, decision := range []string{rehearsedBlock, rehearsedEscalate, rehearsedUnknown, rehearsedRevise} {
		for _, row := range e.Judged {
			if row.Decision != decision {
				continue
			}
			if told++; told <= sentence.MaxListed {
				said = append(said, row.words(what))
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
		if row.Begins != "" && row.Decision != rehearsedBlock {
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

// words says how one call would be judged: "Step 2 issue_refund would be put to a person (rule big_refund)."
func (r judgedRow) words(what string) string {
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
	case rehearsedBlock:
		if len(r.Need) > 0 {
			by += "; it needs " + sentence.Names(r.Need)
		}
		return name + " would be blocked" + by + "."
	case rehearsedEscalate:
		return name + " would be put to a person" + by + "."
	case rehearsedUnknown:
		return name + " depends on what an earlier call returns" + by + "."
	}
	return name + " would be changed" + by + "."
}

// capitalized returns a word with its first letter in upper case. The word must begin with a letter from a to z.
func capitalized(word string) string { return string(word[0]-'a'+'A') + word[1:] }

// appendJudged appends how each call would be judged.
func (e *Envelope) appendJudged(dst []byte) []byte {
	if len(e.Judged) == 0 {
		return dst
	}
	dst = append(dst, "JUDGED\n"...)
	for _, row := range e.Judged {
		dst = append(append(dst, sentence.Label(row.Step)...), ' ')
		dst = append(append(append(dst, sentence.Label(row.Tool)...), ' '), row.Decision...)
		if row.Rule != "" {
			dst = printable.Append(append(dst, ' '), row.Rule)
		}
		if row.Reason != "" && row.Reason != row.Rule {
			dst = printable.Append(append(dst, " ("...), row.Reason)
			dst = append(dst, ')')
		}
		for _, part := range []struct {
			word   string
			object map[string]any
		}{{" values ", row.Values}, {" revised ", row.RevisedArgs}} {
			if len(part.object) > 0 {
				dst = append(dst, part.word...)
				at := len(dst)
				dst = revealed(ijson.Append(dst, part.object), at)
			}
		}
		if len(row.Need) > 0 {
			dst = append(append(dst, " need "...), sentence.Names(row.Need)...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// squeezedJudged returns the first rows, with short texts and values.
func squeezedJudged(rows []judgedRow, bytes, most int) []judgedRow {
	var list []judgedRow
	for _, r := range rows[:min(len(rows), most)] {
		r.Step, r.Tool, r.Rule, r.Reason = sentence.Short(r.Step, bytes), sentence.Short(r.Tool, bytes), sentence.Short(r.Rule, bytes), sentence.Short(r.Reason, bytes)
		r.Values, r.RevisedArgs = squeezedArgs(r.Values, bytes), squeezedArgs(r.RevisedArgs, bytes)
		r.Need = r.Need[:min(len(r.Need), most)]
		list = append(list, r)
	}
	return list
}
