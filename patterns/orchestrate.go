package patterns

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/ijson"
)

// TaskRow is how one task of an orchestrator ended: a history row, and a row of failed_critical.
type TaskRow struct {
	TaskID           string `json:"task_id"`
	Worker           string `json:"worker"`
	Critical         bool   `json:"critical"`
	Status           string `json:"status"` // done or failed
	AttemptsUsed     int    `json:"attempts_used"`
	Retried          bool   `json:"retried"`
	ArgsHash         string `json:"args_hash"`
	StopReason       string `json:"stop_reason,omitempty"` // of a failed task
	InDoubt          bool   `json:"in_doubt,omitempty"`    // it timed out and may have acted
	ObservationError string `json:"observation_error,omitempty"`
	Observation      any    `json:"observation,omitempty"` // of a done task
}

// Done reports whether the task came to a result.
func (t TaskRow) Done() bool { return t.Status == "done" }

// TaskTrace is a trace row of an orchestrator; stop_reason is null for a task that is done.
type TaskTrace struct {
	TaskID           string            `json:"task_id"`
	Worker           string            `json:"worker"`
	Status           string            `json:"status"`
	AttemptsUsed     int               `json:"attempts_used"`
	Retried          bool              `json:"retried"`
	ArgsHash         string            `json:"args_hash"`
	StopReason       *string           `json:"stop_reason"`
	Critical         bool              `json:"critical"`
	ObservationError string            `json:"observation_error,omitempty"`
	Problems         []gateway.Problem `json:"problems,omitempty"`
}

// Orchestrate gets a plan of independent tasks, has it judged whole, runs the tasks side by side with time-outs and
// retries, joins what they returned and has a report written (spec/patterns.md section 3).
func Orchestrate(run Run, spec Spec, task Task) Result {
	o := orchestration{log: begin(run, spec, task, gateway.Config{Family: gateway.WorkerFamily})}
	if stop := o.propose(); stop != nil {
		return o.result(stop)
	}
	o.dispatch()
	if o.cut != "" {
		return o.result(stopped(PhaseDispatch, o.cut))
	}
	if o.failed = o.failedCritical(); len(o.failed) > 0 {
		return o.result(stopped(PhaseDispatch, "critical_task_failed"))
	}
	aggregate := spec.Aggregate(task.Inputs, o.ended)
	o.aggregate = &aggregate
	if !task.Finalize {
		return o.result(nil)
	}
	text, stop := o.answer(map[string]any{"goal": task.Goal, "aggregate": aggregate.payload()})
	if stop != nil {
		return o.result(stop)
	}
	return o.result(nil).answered(text)
}

// orchestration is the log of one orchestrator's run.
type orchestration struct {
	*log
	plan       []gateway.Task
	ended      []TaskRow
	failed     []TaskRow
	aggregate  *Aggregate
	dispatches int
	longest    float64 // seconds of the longest attempt
	cut        string  // the run ended while tasks ran: max_seconds or cancelled
}

// propose gets a plan and has it judged whole.
func (o *orchestration) propose() *stop {
	payload := map[string]any{
		"goal": o.task.Goal, "max_tasks": float64(o.spec.Budget.MaxTasks), "available_workers": offered(o.tools),
	}
	for name, v := range o.task.Inputs {
		payload[name] = v
	}
	intent, stop := o.log.propose(PhasePlan, Question{
		Ask: AskTasks, Prompt: o.spec.Prompts.Decide, Payload: payload, Tools: o.tools, Hidden: []string{requestID},
	})
	if stop != nil {
		return stop
	}
	plan, refusal := gateway.ParseTasks(intent, gateway.TaskRules{
		Max: o.spec.Budget.MaxTasks, Allowed: o.spec.Policy, Fill: o.onlyValues,
	})
	if refusal != nil {
		return refused(PhasePlan, "raw_plan", refusal, intent.Raw())
	}
	o.plan, o.filled = plan.Tasks, plan.Filled
	o.say(fmt.Sprintf("plan: %d tasks accepted", len(o.plan)))
	return nil
}

// onlyValues are a worker's arguments that can have one value only: the run's own.
func (o *orchestration) onlyValues(worker string) map[string]any {
	tool, ok := o.spec.Catalog.Tool(worker)
	if !ok {
		return nil
	}
	fill := map[string]any{}
	for name, v := range o.task.Inputs {
		if takes(tool, name) {
			fill[name] = v
		}
	}
	return fill
}

// attempt is one try of a task: a permit for it, or why there is none.
type attempt struct {
	permit  gateway.Permit
	refusal *gateway.Stop
	spent   bool // refused by a budget, before anything runs
}

// ending is how a task's branch ended.
type ending struct {
	row      TaskRow
	problems []gateway.Problem
	calls    []made
	cut      string // why the run's own end ended it
	taken    int    // dispatches it took
}

// made is one call with its outcome, for the ledger.
type made struct {
	permit gateway.Permit
	out    Outcome
}

// dispatch runs the tasks, at most max_parallel at once, and collects how they ended in the plan's order.
func (o *orchestration) dispatch() {
	first := make([]attempt, len(o.plan))
	for i := range o.plan {
		first[i] = o.firstAttempt(i)
	}
	e := o.effect(PhaseDispatch, "")
	e.Timeout = o.spec.Budget.TaskTimeout
	ends := Each(o.run, "task", first, o.spec.Budget.MaxParallel, func(branch Run, i int, try attempt) ending {
		own := e
		if i > 0 {
			own.Said = nil
		}
		return o.work(branch, i, try, own)
	})
	cut, why := 0, ""
	for i, end := range ends {
		// While as many earlier tasks ran as may, this one waited; at the deadline it was never called, so nobody
		// knows what the call would have been refused for.
		if cut >= o.spec.Budget.MaxParallel && first[i].refusal != nil && !first[i].spent {
			end = ending{row: end.row, cut: why, taken: end.taken}.failed(0, why)
		}
		if end.cut != "" {
			why = end.cut
			cut++
		}
		o.collect(end)
	}
}

// firstAttempt admits a task's first attempt. All first attempts take their dispatches before anything runs.
func (o *orchestration) firstAttempt(i int) attempt {
	switch {
	case !o.spec.Budget.MaxDispatches.Allows(i + 1):
		return attempt{refusal: &gateway.Stop{Reason: "max_dispatches"}, spent: true}
	case !o.spec.Budget.MaxToolCalls.Allows(i + 1):
		return attempt{refusal: &gateway.Stop{Reason: "max_tool_calls"}, spent: true}
	}
	return o.admit(i, 1)
}

// admit asks the gate. Workers that take a request id are given the run's, whatever the plan says.
func (o *orchestration) admit(i, n int) attempt {
	t := o.plan[i]
	p := gateway.Proposal{Tool: t.Worker, Args: t.Args, At: o.argsAt(i), Attempt: n}
	if tool, ok := o.spec.Catalog.Tool(t.Worker); ok && takes(tool, requestID) {
		p.Inject = map[string]any{requestID: o.run.ID()}
	}
	permit, refusal := o.gate.Admit(p)
	return attempt{permit: permit, refusal: refusal}
}

// work runs one task in its branch: attempt after attempt while the time-out is the only fault.
func (o *orchestration) work(branch Run, i int, try attempt, e Effect) ending {
	t := o.plan[i]
	end := ending{row: TaskRow{TaskID: t.ID, Worker: t.Worker, Critical: t.Critical, Status: "failed", ArgsHash: ijson.ArgsHash(t.Args)}}
	for n := 1; ; n++ {
		if !try.spent {
			end.taken = n
		}
		if try.refusal != nil {
			end.problems = try.refusal.Problems
			return end.failed(n, try.refusal.Reason)
		}
		e.Doing = t.Worker
		if n > 1 {
			e.Doing = fmt.Sprintf("%s timed out, attempt %d", t.Worker, n)
			e.Quotas = o.retryQuotas()
		}
		out := CallTool(branch, e, try.permit)
		end.calls = append(end.calls, made{try.permit, out})
		if out.Reason != ReasonTimeout {
			return end.with(n, try.permit, out)
		}
		if n > o.spec.Budget.MaxRetriesPerTask || !try.permit.Repeatable() {
			end.row.InDoubt = !try.permit.Repeatable()
			return end.failed(n, "task_timeout")
		}
		e.Once, e.Said = out.Once, nil
		try = o.admit(i, n+1)
	}
}

// retryQuotas are what a retry takes: one of the dispatches, and calls, that the first attempts left.
func (o *orchestration) retryQuotas() []Quota {
	var quotas []Quota
	for _, q := range []struct {
		name  string
		limit gateway.Limit
	}{{"max_dispatches", o.spec.Budget.MaxDispatches}, {"max_tool_calls", o.spec.Budget.MaxToolCalls}} {
		if q.limit.Named() {
			quotas = append(quotas, Quota{q.name, max(0, int(q.limit)-len(o.plan))})
		}
	}
	return quotas
}

func (e ending) failed(attempts int, reason string) ending {
	e.row.StopReason, e.row.AttemptsUsed, e.row.Retried = reason, attempts, attempts > 1
	return e
}

// with ends a task by an outcome that is no time-out.
func (e ending) with(n int, p gateway.Permit, out Outcome) ending {
	switch {
	case out.State == OK:
		if text, reported := gateway.Reported(out.Output); reported {
			e.row.ObservationError = text
			return e.failed(n, "worker_reported_error:"+p.Tool())
		}
		e.row.Status, e.row.Observation = "done", shown(out.Output, out.Bytes)
		return e.failed(n, "")
	case cutReason(out) != "":
		e.cut = cutReason(out)
		if out.State == Canceled {
			n--
		}
		return e.failed(n, e.cut)
	case out.State == Canceled: // a quota: the attempt was refused, and counts, though it took no dispatch
		e.taken = n - 1
		return e.failed(n, out.Reason)
	}
	return e.failed(n, callReason(gateway.WorkerFamily, p, out))
}

// collect enters how a task ended into the log.
func (o *orchestration) collect(e ending) {
	if o.cut == "" {
		o.cut = e.cut
	}
	o.ended = append(o.ended, e.row)
	o.history = append(o.history, e.row)
	t := TaskTrace{
		TaskID: e.row.TaskID, Worker: e.row.Worker, Status: e.row.Status, AttemptsUsed: e.row.AttemptsUsed, Retried: e.row.Retried,
		ArgsHash: e.row.ArgsHash, Critical: e.row.Critical, ObservationError: e.row.ObservationError, Problems: e.problems,
	}
	if e.row.StopReason != "" {
		t.StopReason = &e.row.StopReason
	}
	o.trace = append(o.trace, t)
	o.dispatches += e.taken
	for _, c := range e.calls {
		o.note(c.permit, c.out)
		if c.out.State != Canceled { // what was not tried took no time
			o.longest = max(o.longest, seconds(c.out.At.Sub(c.out.Began)))
		}
	}
}

func (o *orchestration) failedCritical() []TaskRow {
	var failed []TaskRow
	for _, row := range o.ended {
		if row.Critical && !row.Done() {
			failed = append(failed, row)
		}
	}
	return failed
}

// argsAt is where task i has its arguments in the intent.
func (o *orchestration) argsAt(i int) ijson.Pointer {
	return o.intentAt().Member("tasks").Index(i).Member("args")
}

func (o *orchestration) result(s *stop) Result {
	r := o.end(s)
	if o.plan != nil {
		r.Plan = o.plan
	}
	r.Aggregate, r.FailedCritical = o.aggregate, o.failed
	b := o.spec.Budget
	r.Budget["max_tasks"] = Spent{float64(b.MaxTasks), float64(len(o.plan))}
	r.Budget["max_parallel"] = Spent{float64(b.MaxParallel), float64(min(b.MaxParallel, len(o.ended)))}
	r.Budget["max_retries_per_task"] = Spent{float64(b.MaxRetriesPerTask), float64(o.mostRetries())}
	r.Budget["task_timeout_seconds"] = Spent{seconds(b.TaskTimeout), o.longest}
	limited(r.Budget, "max_dispatches", b.MaxDispatches, o.dispatches)
	limited(r.Budget, "max_tool_calls", b.MaxToolCalls, o.dispatches)
	return r
}

func (o *orchestration) mostRetries() int {
	most := 0
	for _, row := range o.ended {
		most = max(most, row.AttemptsUsed-1)
	}
	return most
}
