package kinds

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

func payloadOfStep(d patterns.StepDone) map[string]any {
	step := map[string]any{"id": d.PlanStep.ID, "title": d.PlanStep.Title, "tool": d.PlanStep.Tool, "args": d.PlanStep.Args}
	return map[string]any{"step_no": float64(d.StepNo), "plan_step": step, "observation": d.Observation}
}

// Decompose gets a plan, has it judged as a whole and carries out its steps in order. Then it asks for an answer made from their
// results, if the task wants one (spec/patterns.md section 2).
func Decompose(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	d := newDecomposition(run, spec, task)
	if stop := d.propose(); stop != nil {
		return d.result(stop)
	}
	for i, planned := range d.plan {
		if stop := d.take(i+1, planned); stop != nil {
			return d.result(stop)
		}
	}
	if !task.Finalize {
		return d.result(nil)
	}
	answer, stop := d.Answer(map[string]any{"goal": task.Goal, "history": d.rows})
	if stop != nil {
		return d.result(stop)
	}
	return step.WithAnswer(d.result(nil), answer)
}

func newDecomposition(run patterns.Run, spec patterns.Spec, task patterns.Task) *decomposition {
	d := &decomposition{Log: step.Begin(run, spec, task, gateway.Config{Family: gateway.ToolFamily, Calls: []gateway.CallBudget{
		{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"},
	}})}
	d.SoFar = func() patterns.Result { return d.result(nil) }
	d.Limits, d.Planned = d.bounds, d.calls
	return d
}

// decomposition is the state of a run of [Decompose].
type decomposition struct {
	*step.Log
	plan []gateway.Step
	rows []any // the history, for payloads
}

// propose gets a plan and has it judged as a whole.
func (d *decomposition) propose() *step.Stop {
	budget := d.Spec.Budget
	d.rows = []any{}
	return d.ReadIntent(patterns.Question{
		Ask: patterns.AskPlan, Prompt: d.Spec.Prompts.Decide, Tools: d.Tools, Least: max(1, budget.MinPlanSteps), Payload: map[string]any{
			"goal": d.Task.Goal, "max_plan_steps": float64(budget.MaxPlanSteps), "available_tools": d.Spec.Offered(d.Tools),
		},
	}, d.Proposing(patterns.PhasePlan), d.read)
}

// read judges a plan as a whole.
func (d *decomposition) read(intent document.Intent) *step.Stop {
	budget := d.Spec.Budget
	plan, refusal := gateway.ParsePlan(intent, gateway.PlanRules{Min: budget.MinPlanSteps, Max: budget.MaxPlanSteps, Allowed: d.Spec.Policy})
	if refusal != nil {
		return d.Refused(patterns.PhasePlan, "raw_plan", refusal, intent.Raw())
	}
	d.plan, d.Filled, d.Total = plan.Steps, plan.Filled, len(plan.Steps)
	if !budget.MaxExecuteSteps.Allows(len(d.plan)) {
		d.NewJudged = append(d.NewJudged, step.NewJudged(patterns.PhaseExecute, "plan", intent.Raw(), step.RefusedDecision, "max_execute_steps"))
		return step.Stopped(patterns.PhaseExecute, "max_execute_steps")
	}
	d.Say(fmt.Sprintf("plan: %d steps accepted", len(d.plan)))
	return nil
}

// take admits a step, makes its call and keeps what it returned. It adds one trace row, unless the run was over before the call
// began.
func (d *decomposition) take(n int, planned gateway.Step) *step.Stop {
	row := patterns.StepRow{StepNo: n, StepID: planned.ID, Tool: planned.Tool, ArgsHash: ijson.ArgsHash(planned.Args)}
	failed := func(s *step.Stop) *step.Stop {
		row.StopReason = s.Reason
		d.Trace = append(d.Trace, row)
		return s
	}
	proposal := gateway.Proposal{Tool: planned.Tool, Args: planned.Args, At: d.argsAt(n), Attempt: 1}
	c, refused := d.Call(patterns.PhaseExecute, fmt.Sprintf("step %d of %d, %s", n, len(d.plan), planned.Tool), proposal)
	if row.HumanApproval = c.Human; refused != nil {
		return failed(refused)
	}
	permit, out := c.Permit, c.Out
	if row.ArgsHash = permit.Hash(); c.Human != nil { // the person may have changed them
		planned.Args = permit.Proposed()
	}
	row.Attempts = step.ShownAttempts(c.Attempts)
	if cut := step.CutReason(out); cut != "" && out.State == patterns.Canceled { // the run was over before the step began
		return step.Stopped(patterns.PhaseExecute, cut)
	}
	if out.State != patterns.OK {
		return failed(step.Stopped(patterns.PhaseExecute, step.CallReason(gateway.ToolFamily, permit, out)))
	}
	row.OK = true
	row.ObservationError, _ = gateway.Reported(out.Output)
	d.Trace = append(d.Trace, row)
	done := patterns.StepDone{StepNo: n, PlanStep: planned, Observation: patterns.Shown(out.Output, out.Bytes)}
	d.History = append(d.History, done)
	d.rows = append(d.rows, payloadOfStep(done))
	return nil
}

// argsAt returns the place of step n's arguments in the intent.
func (d *decomposition) argsAt(n int) ijson.Pointer {
	return d.IntentAt().Member("steps").Index(n - 1).Member("args")
}

func (d *decomposition) result(s *step.Stop) patterns.Result {
	result := d.End(s)
	if d.plan != nil {
		result.Plan = d.plan
	}
	return result
}

// bounds adds the limits of this kind.
func (d *decomposition) bounds(spent map[string]patterns.Spent) {
	spent["max_plan_steps"] = patterns.Spent{Limit: float64(d.Spec.Budget.MaxPlanSteps), Used: float64(len(d.plan))}
	step.AddLimit(spent, "max_execute_steps", d.Spec.Budget.MaxExecuteSteps, len(d.History))
}

// calls returns the plan's calls, for rules.
func (d *decomposition) calls() []gateway.PlannedCall {
	list := make([]gateway.PlannedCall, len(d.plan))
	for i, s := range d.plan {
		status := patterns.SubtaskPending
		if i < len(d.History) {
			status = patterns.SubtaskCompleted
		}
		list[i] = gateway.PlannedCall{ID: s.ID, Tool: s.Tool, Status: string(status), Args: s.Args}
	}
	return list
}
