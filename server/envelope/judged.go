package envelope

import (
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/sentence"
)

// The decisions of a dry run, except approve. Some of them do not occur in a real run.
const (
	DecisionBlock    = "block"
	DecisionEscalate = "escalate"
	DecisionUnknown  = "unknown" // it depends on the result of an earlier call
	DecisionRevise   = "revise"
)

// dryMembers are the members that only results of dry runs have.
type dryMembers struct {
	DryRun        bool        `json:"dry_run,omitempty"`
	Verdict       string      `json:"verdict,omitempty"` // the strictest decision of the rows
	Judged        []JudgedRow `json:"judged,omitzero"`
	JudgedOmitted int         `json:"judged_omitted,omitempty"` // how many of the last rows are left out
}

// JudgedRow says how one call would be judged.
type JudgedRow struct {
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

// dryHeadline returns the first words of a dry run's first line: what the same call without dry_run would lead to. It
// returns "" if the result is not of a dry run, or if the intent was rejected.
func (e *Envelope) dryHeadline() string {
	if !e.DryRun || e.Status != StatusOK || e.Judged == nil {
		return ""
	}
	switch e.Verdict {
	case DecisionBlock:
		return wouldBeBlocked
	case DecisionEscalate:
		return wouldWait
	case DecisionUnknown:
		return wouldDepend
	case DecisionRevise:
		return wouldBeChanged
	case "approve":
		return wouldBeApproved
	}
	return isDryRun
}

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
func squeezedJudged(rows []JudgedRow, bytes, most int) []JudgedRow {
	var list []JudgedRow
	for _, r := range rows[:min(len(rows), most)] {
		r.Step, r.Tool = sentence.Short(r.Step, bytes), sentence.Short(r.Tool, bytes)
		r.Rule, r.Reason = sentence.Short(r.Rule, bytes), sentence.Short(r.Reason, bytes)
		r.Values, r.RevisedArgs = squeezedArgs(r.Values, bytes), squeezedArgs(r.RevisedArgs, bytes)
		r.Need = r.Need[:min(len(r.Need), most)]
		list = append(list, r)
	}
	return list
}
