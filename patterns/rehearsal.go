package patterns

import (
	"slices"

	"patterngate/gateway"
)

// Rehearsal is the predicted result of a run, without any call. Nothing is performed or recorded, and no run begins (spec/surface.md
// section 1, dry_run).
type Rehearsal struct {
	// Result is [Success] if the intent is accepted. Otherwise it has the stop reason and the problems that the run would have.
	Result Result
	// Verdict is the strictest decision of the rows: block, escalate, unknown, revise or approve. Without rows it is approve. If the
	// intent is refused, it is empty.
	Verdict string
	// Judged holds one row for each call of the intent, in their order.
	Judged []RehearsedRow
}

// RehearsedRow says how one call would be judged.
type RehearsedRow struct {
	Step        string         `json:"step"` // step number, task id, attempt
	Tool        string         `json:"tool"` // final for the closing answer
	ArgsHash    string         `json:"args_hash"`
	Decision    string         `json:"decision"` // block, escalate, unknown, revise, approve
	Rule        string         `json:"rule"`
	Reason      string         `json:"reason"`
	Text        string         `json:"-"` // words of the rule, for people
	Values      map[string]any `json:"values"`
	RevisedArgs map[string]any `json:"revised_args,omitempty"`
	Need        []string       `json:"need,omitempty"`
	Passes      int            `json:"passes"`
	// Begins is the pattern whose run the call would begin; that run is not rehearsed.
	Begins string `json:"begins,omitempty"`
}

// UnknownDecision is the decision about a call that depends on an earlier call's observation.
const UnknownDecision = "unknown"

// worst lists the decisions, the strictest first.
var worst = []string{gateway.Block.String(), gateway.Escalate.String(), UnknownDecision, gateway.Revise.String(), gateway.Approve.String()}

// WorstOf returns the verdict over all calls.
func WorstOf(rows []RehearsedRow) string {
	verdict := len(worst) - 1
	for _, row := range rows {
		verdict = min(verdict, slices.Index(worst, row.Decision))
	}
	return worst[verdict]
}

// SwitchedOff returns the rehearsal with kill switches applied: they block the calls that off names, unless the policy already blocks
// them.
func (r Rehearsal) SwitchedOff(off func(RehearsedRow) bool) Rehearsal {
	if r.Verdict == "" {
		return r
	}
	closing := gateway.Action{Final: true}.Tool() // it calls nothing
	r.Judged = slices.Clone(r.Judged)
	for i, row := range r.Judged {
		if row.Tool != closing && row.Decision != gateway.Block.String() && off(row) {
			r.Judged[i] = RehearsedRow{
				Step: row.Step, Tool: row.Tool, ArgsHash: row.ArgsHash, Decision: gateway.Block.String(), Reason: ReasonKillSwitch,
				Values: map[string]any{}, Passes: row.Passes, Begins: row.Begins,
			}
		}
	}
	r.Verdict = WorstOf(r.Judged)
	return r
}
