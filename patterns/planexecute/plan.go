package planexecute

import (
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// Plan makes plans of subtasks, executes them and changes them (spec/planning-reference.md section 15). The verb in task.Plan,
// which must not be nil, says which of these the run does. The engine keeps a plan between runs:
//
//	decompose ──▶ document ──judged as a whole──▶ create | commit (next round)
//	execute   ──▶ load and claim ─▶ subtasks, as they become ready ─▶ commit
//	replan    ──▶ load and claim ─▶ document for what remains ──judged──▶ commit
func Plan(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	p := planLog{
		Log: step.Begin(run, spec, task, gateway.Config{Family: gateway.ExecutorFamily, SplitLoops: true}), call: *task.Plan,
	}
	p.Limits, p.Planned = p.bounds, p.calls
	switch p.call.Verb {
	case patterns.DecomposeVerb:
		return p.decompose()
	case patterns.ReplanVerb:
		return p.replan()
	}
	return (&execution{planLog: &p}).carryOut()
}

// planLog is the state of one run of a planning tool.
type planLog struct {
	*step.Log
	call    patterns.PlanCall
	plan    *patterns.StoredPlan // nil if there is none, or if it must not be shown
	graph   *planning.Graph
	places  map[string]int // of its subtasks, by id
	version int            // the version of the stored plan that changes are based on
	held    bool           // the run has claimed it
	recalls bool           // an earlier run may have made a write, which is kept for rules, see [patterns.Loaded]
	tools   int            // calls that were made
	made    patterns.Planned
}

// step returns the effect of an operation on a stored plan.
func (p *planLog) step(phase string) patterns.Effect {
	e := p.Effect(phase, "")
	e.Deadline = time.Time{} // a plan is released even when the run's time is over
	return e
}

// load reads the plan that the call names, and claims it for this run. With over set it also claims a plan from a run that
// waits.
func (p *planLog) load(phase string, over bool) *step.Stop {
	out := patterns.StepPlan(p.Run, p.step(phase), patterns.PlanStep{
		Op: patterns.LoadOp, Plan: p.call.PlanID, Pattern: p.Spec.Plans, Expected: p.call.Expected, Claim: true, Over: over,
	})
	said, _ := out.Output.(map[string]any)
	version, _ := said["version"].(float64)
	p.version, p.held = int(version), out.State == patterns.OK
	p.recalls = said["recalls"] == true
	if out.State != patterns.OK && out.Reason != patterns.PlanConflict && out.Reason != patterns.PlanBusy {
		return p.without(step.Stopped(phase, loadReason(out)))
	}
	plan, err := patterns.ReadPlan(said["plan"])
	if err != nil {
		p.giveBack(phase)
		return p.without(step.Stopped(phase, patterns.PlanCorrupt))
	}
	p.take(plan)
	switch out.Reason {
	case patterns.PlanConflict:
		return step.Stopped(phase, patterns.PlanConflict).Showing(func(r *patterns.Result) { p.seen(r); r.Planned.ShowPlan = false })
	case patterns.PlanBusy:
		s := step.Stopped(phase, patterns.PlanBusy)
		return s.Showing(func(r *patterns.Result) {
			r.Planned = &patterns.Planned{PlanID: plan.ID, Revision: plan.Revision, Resumable: p.resumable(false)}
		})
	}
	return nil
}

// loadReason returns the stop reason of a plan that was not loaded.
func loadReason(out patterns.Outcome) string {
	switch out.Reason {
	case patterns.PlanNotFound, patterns.PlanCorrupt:
		return out.Reason
	}
	if cut := step.CutReason(out); cut != "" {
		return cut
	}
	return patterns.PlanCorrupt
}

// without returns a stop that shows no plan.
func (p *planLog) without(s *step.Stop) *step.Stop {
	return s.Showing(func(r *patterns.Result) { no := false; r.Planned = &patterns.Planned{Resumable: &no} })
}

// take makes a plan the plan of this run.
func (p *planLog) take(plan patterns.StoredPlan) {
	p.plan = &plan
	p.Instruct(plan.Input)
	p.graph = planning.NewGraph(plan.ForGate())
	p.places = make(map[string]int, len(plan.Subtasks))
	for i, s := range plan.Subtasks {
		p.places[s.ID] = i
	}
}

// giveBack releases the plan without a change.
func (p *planLog) giveBack(phase string) {
	if p.held {
		patterns.StepPlan(p.Run, p.step(phase), patterns.PlanStep{Op: patterns.ReleaseOp, Plan: p.call.PlanID, Pattern: p.Spec.Plans})
		p.held = false
	}
}

// create stores a new plan. With keep set the run keeps its claim on it.
func (p *planLog) create(phase string, keep bool) *step.Stop {
	out := patterns.StepPlan(p.Run, p.step(phase), patterns.PlanStep{
		Op: patterns.CreateOp, Plan: p.plan.ID, Pattern: p.Spec.Plans, Content: p.plan.Encode(), Revision: p.plan.Revision, Keep: keep,
	})
	if out.State != patterns.OK {
		p.plan = nil
		return p.without(step.Stopped(phase, loadReason(out)))
	}
	p.call.PlanID, p.version, p.held = p.plan.ID, 1, keep
	return nil
}

// commit stores the plan as the run leaves it, unless another run has changed it. With keep set the run keeps its claim on it.
func (p *planLog) commit(phase string, keep bool) *step.Stop {
	out := patterns.StepPlan(p.Run, p.step(phase), patterns.PlanStep{
		Op: patterns.CommitOp, Plan: p.plan.ID, Pattern: p.Spec.Plans, Content: p.plan.Encode(), Revision: p.plan.Revision,
		Version: p.version, Keep: keep,
	})
	p.version, p.held = p.version+1, keep && out.State == patterns.OK
	if out.State == patterns.OK {
		return nil
	}
	id := p.plan.ID
	p.plan, p.held = nil, true
	p.giveBack(phase)
	return step.Stopped(phase, patterns.PlanConflict).Showing(func(r *patterns.Result) {
		yes := true
		r.Planned = &patterns.Planned{PlanID: id, Resumable: &yes}
	})
}

// seen adds the plan's present state to a result. If the run changed nothing, a waiting execution still waits.
func (p *planLog) seen(r *patterns.Result) {
	v := p.plan.ViewOf(p.graph, nil, p.plan.Waits != "")
	made := p.made
	made.PlanID, made.Revision, made.View, made.ShowPlan = p.plan.ID, p.plan.Revision, &v, true
	if !r.OK() && made.Resumable == nil {
		made.Resumable = p.resumable(false)
	}
	r.Planned = &made
}

// resumable reports whether a call of plan_execute would find work. onlyText says that only the final text is missing.
func (p *planLog) resumable(onlyText bool) *bool {
	yes := onlyText || pendingOrFailed(*p.plan, p.graph)
	return &yes
}

// pendingOrFailed reports whether a subtask failed, or is pending and not blocked.
func pendingOrFailed(p patterns.StoredPlan, g *planning.Graph) bool {
	for _, row := range p.Rows(g, nil) {
		if row.Status == patterns.SubtaskPending || row.Status == patterns.SubtaskFailed {
			return true
		}
	}
	return false
}

// result returns the result of the run.
func (p *planLog) result(s *step.Stop) patterns.Result {
	r := p.End(s)
	if p.plan != nil && r.Planned == nil {
		p.seen(&r)
	}
	if r.Planned == nil {
		no := false
		r.Planned = &patterns.Planned{Resumable: &no}
	}
	if r.Planned.Resumable != nil && (r.OK() || s == nil || s.Phase == patterns.PhaseRequest) {
		r.Planned.Resumable = nil
	}
	r.Planned.LLM, r.Planned.Goal = p.Spec.LLM, p.Task.Goal
	if p.plan != nil {
		r.Planned.Goal = p.plan.Goal
	}
	return r
}

// unfit returns the stop of a call that does not fit the plan it names.
func (p *planLog) unfit(problems []document.Problem) *step.Stop {
	s := step.Stopped(patterns.PhaseRequest, "invalid_request:"+problems[0].Reason)
	return s.Showing(func(r *patterns.Result) { r.Problems = problems; r.Planned = &patterns.Planned{} })
}

// document gets a plan of subtasks from the caller or a model, and has it judged as a whole.
func (p *planLog) document(phase string, q patterns.Question, rules func(document.Intent) planning.Rules) (planning.Document, *step.Stop) {
	q.Tools = p.Log.Tools
	var doc planning.Document
	refused := p.ReadIntent(q, p.Proposing(phase), func(intent document.Intent) *step.Stop {
		var refusal *document.Refusal
		if doc, refusal = planning.ParseSubtasks(intent, rules(intent)); refusal != nil {
			s := p.Refused(phase, "raw_plan", refusal, intent.Raw())
			return s.Showing(func(*patterns.Result) { p.made.Cycle = refusal.Cycle })
		}
		return nil
	})
	if refused != nil {
		return doc, refused
	}
	p.Filled = doc.Filled
	p.Say(fmt.Sprintf("%s: %d subtasks accepted", phase, len(doc.Subtasks)))
	return doc, nil
}

// source returns the author of a document: checklist, caller, model or rules.
func (p *planLog) source(doc planning.Document) string {
	switch {
	case doc.Checklist:
		return "checklist"
	case p.ByCaller:
		return "caller"
	case p.Spec.LLM:
		return "model"
	}
	return "rules"
}

// bounds adds the limits of this kind.
func (p *planLog) bounds(spent map[string]patterns.Spent) {
	step.AddLimit(spent, "max_tool_calls", p.Spec.Budget.MaxToolCalls, p.tools)
	if p.plan == nil {
		return
	}
	if of := p.plan.Metadata; of.MaxReplans >= 0 {
		spent["max_replans"] = patterns.Spent{Limit: float64(of.MaxReplans), Used: float64(of.ReplanCount)}
	}
	spent["max_subtasks"] = patterns.Spent{Limit: float64(p.plan.Metadata.MaxSubtasks), Used: float64(len(p.plan.Subtasks))}
}

// calls returns the plan's calls, for rules.
func (p *planLog) calls() []gateway.PlannedCall {
	if p.plan == nil {
		return nil
	}
	list := make([]gateway.PlannedCall, len(p.plan.Subtasks))
	for i, s := range p.plan.Subtasks {
		list[i] = gateway.PlannedCall{ID: s.ID, Tool: s.Tool, Status: string(s.Status), Args: argsOf(s)}
	}
	return list
}
