package kinds

import (
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// Orchestrate gets a plan of independent tasks and has it judged as a whole. It runs the tasks at the same time, with timeouts
// and retries, and joins their results. Then it asks for a report, if the task wants one (spec/patterns.md section 3).
func Orchestrate(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	o := newOrchestration(run, spec, task)
	if stop := o.propose(); stop != nil {
		return o.result(stop)
	}
	o.dispatch()
	if o.cut != "" {
		return o.result(step.Stopped(patterns.PhaseDispatch, o.cut))
	}
	if o.failed = o.failedCritical(); len(o.failed) > 0 {
		return o.result(step.Stopped(patterns.PhaseDispatch, "critical_task_failed"))
	}
	join := spec.Aggregate
	if join == nil {
		join = patterns.Joined
	}
	aggregate := join(task.Inputs, o.whole())
	o.aggregate = &aggregate
	if !task.Finalize {
		return o.result(nil)
	}
	answer, stop := o.Answer(o.answerPayload(aggregate))
	if stop != nil {
		return o.result(stop)
	}
	return step.WithAnswer(o.result(nil), answer)
}

func newOrchestration(run patterns.Run, spec patterns.Spec, task patterns.Task) *orchestration {
	o := &orchestration{Log: step.Begin(run, spec, task, gateway.Config{Family: gateway.WorkerFamily, SplitLoops: true})}
	o.Limits, o.Planned = o.bounds, o.calls
	return o
}

// orchestration is the state of a run of [Orchestrate].
type orchestration struct {
	*step.Log
	plan       []gateway.Task
	ended      []patterns.TaskRow
	returned   []any // the whole results of the tasks in ended
	failed     []patterns.TaskRow
	aggregate  *patterns.Aggregate
	dispatches int
	longest    float64     // seconds of the longest attempt
	cut        string      // the run ended while tasks ran: max_seconds or cancelled
	people     []step.Span // the time that people took for tasks, in the order of their decisions
	below      int         // the calls that child runs made
}

// propose gets a plan and has it judged as a whole.
func (o *orchestration) propose() *step.Stop {
	payload := map[string]any{
		"goal": o.Task.Goal, "max_tasks": float64(o.Spec.Budget.MaxTasks), "available_workers": o.Spec.Offered(o.Tools),
	}
	if o.Spec.InputsOnTop {
		for name, v := range o.Task.Inputs {
			payload[name] = v
		}
	}
	return o.ReadIntent(patterns.Question{
		Ask: patterns.AskTasks, Prompt: o.Spec.Prompts.Decide, Payload: payload, Tools: o.Tools, Hidden: o.HiddenArgs(),
	}, o.Proposing(patterns.PhasePlan), o.read)
}

// read judges a plan as a whole.
func (o *orchestration) read(intent document.Intent) *step.Stop {
	plan, refusal := gateway.ParseTasks(intent, gateway.TaskRules{
		Max: o.Spec.Budget.MaxTasks, Allowed: o.Spec.Policy, Fill: o.InputArgs, Goal: o.GoalArgs, Critical: o.Spec.Critical,
	})
	if refusal != nil {
		return o.Refused(patterns.PhasePlan, "raw_plan", refusal, intent.Raw())
	}
	o.plan, o.Filled, o.Total = plan.Tasks, plan.Filled, len(plan.Tasks)
	if stop := o.lacksCritical(intent); stop != nil {
		return stop
	}
	o.Say(fmt.Sprintf("plan: %d tasks accepted", len(o.plan)))
	return nil
}

// lacksCritical refuses a plan without a task for a worker that is always critical. Its result would be missing, however the
// other tasks end. Nothing of the plan runs.
func (o *orchestration) lacksCritical(intent document.Intent) *step.Stop {
	const reason = "critical_task_failed"
	at := intent.At.Member("tasks")
	tasks, _ := at.In(intent.Value())
	if intent.At != "" {
		tasks, _ = ijson.Pointer("/tasks").In(intent.Value())
	}
	var problems []document.Problem
	for _, worker := range o.Spec.Critical {
		if slices.ContainsFunc(o.plan, func(t gateway.Task) bool { return t.Worker == worker }) {
			continue
		}
		problems = append(problems, document.Problem{
			Pointer: at, Reason: reason, Got: document.Got(tasks), Want: "a task for the worker " + worker + ": this pattern is nothing without it",
		})
	}
	if len(problems) == 0 {
		return nil
	}
	o.NewJudged = append(o.NewJudged, step.NewJudged(patterns.PhaseDispatch, "plan", intent.Raw(), step.RefusedDecision, reason))
	return step.Stopped(patterns.PhaseDispatch, reason).Showing(func(r *patterns.Result) { r.Problems = document.CapProblems(problems) })
}

// answerPayload returns what the final text is made from. An aggregate that is no report may hold no results, so the payload
// then shows the tasks.
func (o *orchestration) answerPayload(a patterns.Aggregate) map[string]any {
	payload := map[string]any{"goal": o.Task.Goal, "aggregate": a.Payload()}
	if a.Report != nil {
		return payload
	}
	rows := make([]any, len(o.ended))
	for i, t := range o.ended {
		row := map[string]any{"task_id": t.TaskID, "worker": t.Worker, "status": t.Status}
		if t.Done() {
			row["observation"] = patterns.Clipped(t.Observation)
		} else {
			row["stop_reason"] = t.StopReason
		}
		rows[i] = row
	}
	payload["tasks"] = rows
	return payload
}

// whole returns the rows of the ended tasks with their whole results. The rows themselves show only the beginning.
func (o *orchestration) whole() []patterns.TaskRow {
	rows := slices.Clone(o.ended)
	for i := range rows {
		if rows[i].Done() {
			rows[i].Observation = o.returned[i]
		}
	}
	return rows
}

// collect adds a task's ending to the run's state.
func (o *orchestration) collect(e ending) {
	if o.cut == "" {
		o.cut = e.cut
	}
	o.ended, o.returned = append(o.ended, e.row), append(o.returned, e.returned)
	o.History = append(o.History, e.row)
	t := patterns.TaskTrace{
		TaskID: e.row.TaskID, Worker: e.row.Worker, Status: e.row.Status, AttemptsUsed: e.row.AttemptsUsed, Retried: e.row.Retried,
		ArgsHash: e.row.ArgsHash, Critical: e.row.Critical, ObservationError: e.row.ObservationError, Problems: e.problems,
		HumanApproval: e.human, ChildRunID: e.child(),
	}
	if e.row.StopReason != "" {
		t.StopReason = &e.row.StopReason
	}
	o.Trace = append(o.Trace, t)
	o.NewJudged = append(o.NewJudged, e.judged...)
	for _, s := range e.took {
		o.ExcludeTime(s.Since, s.Until)
	}
	o.dispatches += e.taken
	for _, c := range e.calls {
		o.Note(c.Permit, c.Out)
		if step.BeginsRun(c.Permit) {
			o.Usage, o.below = o.Usage.Plus(c.Out.Usage), o.below+c.Out.Calls
			o.Models = patterns.PlusModels(o.Models, c.Out.Models)
		}
		if c.Out.State != patterns.Canceled { // a call that was not tried took no time
			o.longest = max(o.longest, patterns.Seconds(c.Out.At.Sub(c.Out.Began)))
		}
	}
}

func (o *orchestration) failedCritical() []patterns.TaskRow {
	var failed []patterns.TaskRow
	for _, row := range o.ended {
		if row.Critical && !row.Done() {
			failed = append(failed, row)
		}
	}
	return failed
}

// argsAt returns the place of task i's arguments in the intent.
func (o *orchestration) argsAt(i int) ijson.Pointer {
	return o.IntentAt().Member("tasks").Index(i).Member("args")
}

func (o *orchestration) result(s *step.Stop) patterns.Result {
	r := o.End(s)
	if o.plan != nil {
		r.Plan = o.plan
	}
	r.Aggregate, r.FailedCritical = o.aggregate, o.failed
	return r
}

// bounds adds the limits of this kind.
func (o *orchestration) bounds(spent map[string]patterns.Spent) {
	b := o.Spec.Budget
	spent["max_tasks"] = patterns.Spent{Limit: float64(b.MaxTasks), Used: float64(len(o.plan))}
	spent["max_parallel"] = patterns.Spent{Limit: float64(b.MaxParallel), Used: float64(min(b.MaxParallel, len(o.ended)))}
	spent["max_retries_per_task"] = patterns.Spent{Limit: float64(b.MaxRetriesPerTask), Used: float64(o.mostRetries())}
	spent["task_timeout_seconds"] = patterns.Spent{Limit: patterns.Seconds(b.TaskTimeout), Used: o.longest}
	step.AddLimit(spent, "max_dispatches", b.MaxDispatches, o.dispatches)
	step.AddLimit(spent, "max_tool_calls", b.MaxToolCalls, o.dispatches+o.below)
}

// calls returns the plan's calls, for rules. All of them are pending: it must not matter which task is faster.
func (o *orchestration) calls() []gateway.PlannedCall {
	list := make([]gateway.PlannedCall, len(o.plan))
	for i, t := range o.plan {
		list[i] = gateway.PlannedCall{ID: t.ID, Tool: t.Worker, Status: string(patterns.SubtaskPending), Args: t.Args}
	}
	return list
}

func (o *orchestration) mostRetries() int {
	most := 0
	for _, row := range o.ended {
		most = max(most, row.AttemptsUsed-1)
	}
	return most
}
