package patterns

import (
	"fmt"
	"slices"
	"strconv"

	"patterngate/gateway"
	"patterngate/ijson"
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

// unknownDecision is that of a call which depends on what one before it would observe.
const unknownDecision = "unknown"

// worst are the decisions, the strictest first.
var worst = []string{gateway.Block.String(), gateway.Escalate.String(), unknownDecision, gateway.Revise.String(), gateway.Approve.String()}

// DryRun reads a task's intent as the run would, or asks for one, and judges its calls as far as that can be done before any of
// them is made: each as if those before it had been made, with an observation that nobody knows. Of its Run it wants questions to
// a model and the judgment of calls; nothing else is begun.
func DryRun(run Run, spec Spec, task Task) (Rehearsal, error) {
	rehearse, ok := map[gateway.Kind]func(Run, Spec, Task) (Result, []RehearsedRow){
		gateway.TaskDecomposition: rehearseSteps, gateway.Orchestrator: rehearseTasks, gateway.Routing: rehearseRoute,
		gateway.Supervisor: rehearseActions, gateway.Call: rehearseCall,
	}[spec.Kind]
	if !ok {
		return Rehearsal{}, fmt.Errorf("patterns: a %s has no dry run", spec.Kind)
	}
	r, rows := rehearse(run, spec, task)
	r.Ledger = nil // what is in it was only assumed
	if !r.OK() {
		return Rehearsal{Result: r}, nil
	}
	return Rehearsal{r, worstOf(rows), rows}, nil
}

// worstOf is the verdict over all calls.
func worstOf(rows []RehearsedRow) string {
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
	r.Verdict = worstOf(r.Judged)
	return r
}

func rehearseSteps(run Run, spec Spec, task Task) (Result, []RehearsedRow) {
	d := newDecomposition(run, spec, task)
	if stop := d.propose(); stop != nil {
		return d.result(stop), nil
	}
	var rows []RehearsedRow
	for i, step := range d.plan {
		rows = append(rows, d.rehearsed(PhaseExecute, strconv.Itoa(i+1), gateway.Proposal{Tool: step.Tool, Args: step.Args, Attempt: 1}))
	}
	return d.result(nil), rows
}

func rehearseTasks(run Run, spec Spec, task Task) (Result, []RehearsedRow) {
	o := newOrchestration(run, spec, task)
	if stop := o.propose(); stop != nil {
		return o.result(stop), nil
	}
	var rows []RehearsedRow
	for i, t := range o.plan {
		try := o.firstAttempt(i)
		rows = append(rows, o.beginning(rowOf(t.ID, o.proposal(i, 1, ""), try.permit, try.refusal)))
	}
	return o.result(nil), rows
}

func rehearseRoute(run Run, spec Spec, task Task) (Result, []RehearsedRow) {
	r := newRouting(run, spec, task)
	if r.attempt = 1; r.total < 1 {
		return r.result(stopped(PhaseRoute, "max_route_attempts")), nil
	}
	if r.byCaller && len(r.queue) == 0 && !r.task.Handover { // nothing is proposed yet
		return r.result(nil), nil
	}
	route, stop := r.choose()
	if stop != nil {
		return r.result(stop), nil
	}
	row := r.rehearsed(PhaseDelegate, "1", gateway.Proposal{Tool: route.Target, Args: route.Args, Attempt: 1})
	result := r.result(nil)
	result.Route = route.Row()
	return result, []RehearsedRow{row}
}

func rehearseCall(run Run, spec Spec, task Task) (Result, []RehearsedRow) {
	c := newSingle(run, spec, task)
	args := task.Args
	if args == nil {
		args = map[string]any{}
	}
	row := c.rehearsed(PhaseCall, "1", gateway.Proposal{Tool: spec.Tool, Args: args, Attempt: 1})
	return c.result(nil), []RehearsedRow{row}
}

func rehearseActions(run Run, spec Spec, task Task) (Result, []RehearsedRow) {
	s := newSupervision(run, spec, task)
	if stop := s.checkWhole(s.queue); stop != nil {
		return s.result(stop), nil
	}
	var rows []RehearsedRow
	for s.step = 1; len(s.queue) > 0 || s.step == 1 && !s.byCaller; s.step++ {
		if s.step > spec.Budget.MaxSteps {
			return s.result(stopped(PhaseWorker, "max_steps")), rows
		}
		a, stop := s.next()
		if stop != nil {
			return s.result(stop), rows
		}
		rows = append(rows, s.rehearsedAction(a.proposed))
		if a.proposed.Final {
			break
		}
	}
	return s.result(nil), rows
}

// rehearsedAction is how an action would be judged: by the policy first.
func (s *supervision) rehearsedAction(a gateway.Action) RehearsedRow {
	ruling, step := s.gate.Review(s.caseOf(a)), strconv.Itoa(s.step)
	p := gateway.Proposal{Tool: a.Name, Args: a.Args, Attempt: 1}
	if a.Final {
		p = gateway.Proposal{Tool: a.Tool(), Args: map[string]any{"answer": a.Answer}}
	}
	row := ruledRow(step, p, ruling)
	if a.Final || row.Decision == gateway.Block.String() {
		return row
	}
	p.Args = ruling.Args
	if refusal := s.gate.Countable(p); refusal != nil {
		return rowOf(step, p, gateway.Permit{}, refusal)
	}
	s.gate.Assume(p)
	return row
}

// rehearsed is how a call would be judged after those that are assumed. It is assumed too, if it is not blocked.
func (l *log) rehearsed(phase, step string, p gateway.Proposal) RehearsedRow {
	p.Weigh = weigh(l.run, phase)
	permit, refusal := l.gate.Admit(p)
	row := l.beginning(rowOf(step, p, permit, refusal))
	if row.Decision == gateway.Block.String() {
		return row
	}
	if row.RevisedArgs != nil {
		p.Args = row.RevisedArgs
	}
	l.gate.Assume(p)
	return row
}

// beginning is a row that says whether its call would begin a run.
func (l *log) beginning(row RehearsedRow) RehearsedRow {
	if tool, ok := l.spec.Catalog.Tool(row.Tool); ok {
		row.Begins = tool.Pattern
	}
	return row
}

// rowOf is how the gate judged a call.
func rowOf(step string, p gateway.Proposal, permit gateway.Permit, refusal *gateway.Stop) RehearsedRow {
	switch {
	case refusal == nil:
		v := permit.Verdict()
		row := because(step, p, v.Decision.String(), v.Reason, v.Because(), v.Passes)
		if v.Decision == gateway.Revise {
			row.RevisedArgs = permit.Proposed()
		}
		return row
	case refusal.Asks != nil:
		return ruledRow(step, p, *refusal.Asks)
	case refusal.Block != nil:
		return ruledRow(step, p, *refusal.Block)
	}
	return because(step, p, gateway.Block.String(), refusal.Reason, gateway.Because{}, 0)
}

// ruledRow is how the policy ruled.
func ruledRow(step string, p gateway.Proposal, r gateway.Ruling) RehearsedRow {
	j := r.Judgment()
	row := because(step, p, j.Decision.String(), j.Reason, j.Because(), j.Passes)
	switch {
	case r.Unknown:
		row.Decision = unknownDecision
	case r.Decision == gateway.Block:
		row.Need = r.Need
		return row
	}
	if len(r.Revisions) > 0 {
		row.RevisedArgs = r.Args
	}
	return row
}

func because(step string, p gateway.Proposal, decision, reason string, by gateway.Because, passes int) RehearsedRow {
	row := RehearsedRow{
		Step: step, Tool: p.Tool, ArgsHash: ijson.ArgsHash(p.Args), Decision: decision, Rule: by.Rule, Reason: reason, Text: by.Text, Values: by.Values,
		Passes: passes,
	}
	if row.Values == nil {
		row.Values = map[string]any{}
	}
	return row
}
