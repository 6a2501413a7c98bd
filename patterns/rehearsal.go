package patterns

import (
	"slices"

	"patterngate/gateway"
)

// Rehearsal is what a run would come to as far as that can be said before anything is called: nothing of it is performed or
// recorded, and no run begins (spec/surface.md section 1, dry_run).
type Rehearsal struct {
	// Result is that of the intent: [Success] where it is accepted; else it is stopped as the run would be, with its problems.
	Result Result
	// Verdict is the worst of the rows: block, escalate, unknown, revise, approve; approve where there is none. It is empty where
	// the intent is refused.
	Verdict string
	// Judged are the calls of the intent, in their order.
	Judged []RehearsedRow
}

// RehearsedRow is how one call would be judged.
type RehearsedRow struct {
	Step        string         `json:"step"` // step number, task id, attempt
	Tool        string         `json:"tool"` // final for the closing answer
	ArgsHash    string         `json:"args_hash"`
	Decision    string         `json:"decision"` // block, escalate, unknown, revise, approve
	Rule        string         `json:"rule"`
	Reason      string         `json:"reason"`
	Text        string         `json:"-"` // of the rule, for people
	Values      map[string]any `json:"values"`
	RevisedArgs map[string]any `json:"revised_args,omitempty"`
	Need        []string       `json:"need,omitempty"`
	Passes      int            `json:"passes"`
	// Begins is the pattern of which the call would begin a run; what that would do is not rehearsed.
	Begins string `json:"begins,omitempty"`
}

// UnknownDecision is that of a call which depends on what one before it would observe.
const UnknownDecision = "unknown"

// worst are the decisions, the strictest first.
var worst = []string{gateway.Block.String(), gateway.Escalate.String(), UnknownDecision, gateway.Revise.String(), gateway.Approve.String()}

// WorstOf is the verdict over all calls.
func WorstOf(rows []RehearsedRow) string {
	verdict := len(worst) - 1
	for _, row := range rows {
		verdict = min(verdict, slices.Index(worst, row.Decision))
	}
	return worst[verdict]
}

// SwitchedOff is the rehearsal where kill switches are on: what the policy does not block, they do. off says of which calls.
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
