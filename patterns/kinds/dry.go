package kinds

import (
	"fmt"
	"strconv"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// DryRun judges the calls of a task's intent without making them. It reads the intent as the run would, or asks a model for one.
// Each call is judged as if those before it had been made, with unknown results.
//
// DryRun uses run only to ask a model, to take the caller's proposals and to judge calls. It calls no tool and asks no person.
// Its error says that the pattern's kind has no dry run.
func DryRun(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Rehearsal, error) {
	rehearse, ok := map[gateway.Kind]func(patterns.Run, patterns.Spec, patterns.Task) (patterns.Result, []patterns.RehearsedRow){
		gateway.TaskDecomposition: rehearseSteps, gateway.Orchestrator: rehearseTasks, gateway.Routing: rehearseRoute,
		gateway.Supervisor: rehearseActions, gateway.Call: rehearseCall,
	}[spec.Kind]
	if !ok {
		return patterns.Rehearsal{}, fmt.Errorf("patterns: a %s has no dry run", spec.Kind)
	}
	r, rows := rehearse(run, spec, task)
	r.Ledger = nil // its entries were only assumed
	if !r.OK() {
		return patterns.Rehearsal{Result: r}, nil
	}
	return patterns.Rehearsal{Result: r, Verdict: patterns.WorstOf(rows), Judged: rows}, nil
}

func rehearseSteps(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Result, []patterns.RehearsedRow) {
	d := newDecomposition(run, spec, task)
	if stop := d.propose(); stop != nil {
		return d.result(stop), nil
	}
	var rows []patterns.RehearsedRow
	for i, planned := range d.plan {
		rows = append(rows, rehearsed(d.Log, patterns.PhaseExecute, strconv.Itoa(i+1), gateway.Proposal{Tool: planned.Tool, Args: planned.Args, Attempt: 1}))
	}
	return d.result(nil), rows
}

func rehearseTasks(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Result, []patterns.RehearsedRow) {
	o := newOrchestration(run, spec, task)
	if stop := o.propose(); stop != nil {
		return o.result(stop), nil
	}
	var rows []patterns.RehearsedRow
	for i, t := range o.plan {
		try := o.firstAttempt(i)
		rows = append(rows, beginning(o.Log, rowOf(t.ID, o.proposal(i, 1, ""), try.call.Permit, try.refusal)))
	}
	return o.result(nil), rows
}

func rehearseRoute(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Result, []patterns.RehearsedRow) {
	r := newRouting(run, spec, task)
	if r.attempt = 1; r.total < 1 {
		return r.result(step.Stopped(patterns.PhaseRoute, "max_route_attempts")), nil
	}
	if r.ByCaller && len(r.Queue) == 0 && !r.Task.Handover { // there is no proposal yet
		return r.result(nil), nil
	}
	route, stop := r.choose()
	if stop != nil {
		return r.result(stop), nil
	}
	row := rehearsed(r.Log, patterns.PhaseDelegate, "1", gateway.Proposal{Tool: route.Target, Args: route.Args, Attempt: 1})
	result := r.result(nil)
	result.Route = route.Row()
	return result, []patterns.RehearsedRow{row}
}

func rehearseCall(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Result, []patterns.RehearsedRow) {
	c := newSingle(run, spec, task)
	args := task.Args
	if args == nil {
		args = map[string]any{}
	}
	row := rehearsed(c.Log, patterns.PhaseCall, "1", gateway.Proposal{Tool: spec.Tool, Args: args, Attempt: 1})
	return c.result(nil), []patterns.RehearsedRow{row}
}

func rehearseActions(run patterns.Run, spec patterns.Spec, task patterns.Task) (patterns.Result, []patterns.RehearsedRow) {
	s := newSupervision(run, spec, task)
	if stop := s.checkWhole(s.Queue); stop != nil {
		return s.result(stop), nil
	}
	var rows []patterns.RehearsedRow
	for s.step = 1; len(s.Queue) > 0 || s.step == 1 && !s.ByCaller; s.step++ {
		if s.step > spec.Budget.MaxSteps {
			return s.result(step.Stopped(patterns.PhaseWorker, "max_steps")), rows
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

// rehearsedAction returns how an action would be judged, by the policy first.
func (s *supervision) rehearsedAction(a gateway.Action) patterns.RehearsedRow {
	ruling, place := s.Gate.Review(s.caseOf(a)), strconv.Itoa(s.step)
	p := gateway.Proposal{Tool: a.Name, Args: a.Args, Attempt: 1}
	if a.Final {
		p = gateway.Proposal{Tool: a.Tool(), Args: map[string]any{"answer": a.Answer}}
	}
	row := ruledRow(place, p, ruling)
	if a.Final || row.Decision == gateway.Block.String() {
		return row
	}
	p.Args = ruling.Args
	if refusal := s.Gate.Countable(p); refusal != nil {
		return rowOf(place, p, gateway.Permit{}, refusal)
	}
	s.Gate.Assume(p)
	return row
}

// rehearsed returns how a call would be judged after the assumed ones. Unless it would be blocked, it is assumed too.
func rehearsed(l *step.Log, phase, place string, p gateway.Proposal) patterns.RehearsedRow {
	p.Weigh = step.Weigh(l.Run, phase)
	permit, refusal := l.Gate.Admit(p)
	row := beginning(l, rowOf(place, p, permit, refusal))
	if row.Decision == gateway.Block.String() {
		return row
	}
	if row.RevisedArgs != nil {
		p.Args = row.RevisedArgs
	}
	l.Gate.Assume(p)
	return row
}

// beginning returns a row that says whether its call would begin a run.
func beginning(l *step.Log, row patterns.RehearsedRow) patterns.RehearsedRow {
	if tool, ok := l.Spec.Catalog.Tool(row.Tool); ok {
		row.Begins = tool.Pattern
	}
	return row
}

// rowOf returns a row with the gate's judgment of a call.
func rowOf(place string, p gateway.Proposal, permit gateway.Permit, refusal *gateway.Stop) patterns.RehearsedRow {
	switch {
	case refusal == nil:
		v := permit.Verdict()
		row := because(place, p, v.Decision.String(), v.Reason, v.Because(), v.Passes)
		if v.Decision == gateway.Revise {
			row.RevisedArgs = permit.Proposed()
		}
		return row
	case refusal.Asks != nil:
		return ruledRow(place, p, *refusal.Asks)
	case refusal.Block != nil:
		return ruledRow(place, p, *refusal.Block)
	}
	return because(place, p, gateway.Block.String(), refusal.Reason, gateway.Because{}, 0)
}

// ruledRow returns a row with the policy's ruling.
func ruledRow(place string, p gateway.Proposal, r gateway.Ruling) patterns.RehearsedRow {
	j := r.Judgment()
	row := because(place, p, j.Decision.String(), j.Reason, j.Because(), j.Passes)
	switch {
	case r.Unknown:
		row.Decision = patterns.UnknownDecision
	case r.Decision == gateway.Block:
		row.Need = r.Need
		return row
	}
	if len(r.Revisions) > 0 {
		row.RevisedArgs = r.Args
	}
	return row
}

func because(place string, p gateway.Proposal, decision, reason string, by gateway.Because, passes int) patterns.RehearsedRow {
	row := patterns.RehearsedRow{
		Step: place, Tool: p.Tool, ArgsHash: ijson.ArgsHash(p.Args), Decision: decision, Rule: by.Rule, Reason: reason, Text: by.Text, Values: by.Values,
		Passes: passes,
	}
	if row.Values == nil {
		row.Values = map[string]any{}
	}
	return row
}
