package kinds

import (
	"fmt"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// beside returns a task's call for judgment while other tasks run. The code does not fix which task is faster, so the
// judgment is recorded.
func (o *orchestration) beside(branch patterns.Run, i, n int, of string) gateway.Proposal {
	p := o.proposal(i, n, of)
	p.Weigh, p.Unordered = step.Weigh(branch, patterns.PhaseDispatch), true
	return p
}

// rejudged has a task's newest attempt judged again, which was not made because its ruling no longer holds.
func (o *orchestration) rejudged(branch patterns.Run, i int, end ending) ending {
	try, call := &end.try, o.beside(branch, i, end.try.n, end.act())
	try.effect.Said, try.effect.Judged = nil, nil
	if end.stale++; end.stale == step.MaxStale {
		*try = try.refused(call, step.Stuck())
		return end.judging()
	}
	permit, refusal := o.Gate.Rejudge(call, try.call.Permit, end.human.GivenWith())
	if try.call.Permit = permit; refusal != nil {
		*try = try.refused(call, refusal)
		return end.judging()
	}
	o.Gate.ReserveIn(call.Slot, permit)
	return end
}

// after ends a task by the outcome of its newest attempt, or prepares another attempt. It reports whether one follows.
func (o *orchestration) after(branch patterns.Run, i int, end ending, out patterns.Outcome) (_ ending, more bool) {
	n, permit := end.try.n, end.try.call.Permit
	pause, byTool := step.PauseBefore(permit, out, n, step.LeastTries(out))
	switch more := o.retries(permit, out, n); {
	case !more && !byTool && out.Reason == patterns.ReasonTimeout:
		end.row.InDoubt = step.MayHaveActed(permit, out) && !permit.Repeatable()
		return end.failed(n, "task_timeout"), false
	case !more && !byTool, end.late:
		return end.with(n, permit, out), false
	case more && n > permit.Retry().Max: // the task's own retry
		pause, byTool = 0, false
	case end.paused:
		pause = 0
	}
	next := o.admit(o.beside(branch, i, n+1, end.act()))
	if next.refusal == nil {
		o.Gate.ReserveIn(o.proposal(i, n+1, "").Slot, next.call.Permit)
	}
	if next.pause = pause; byTool {
		next.last = &out
	}
	if next.judged != nil {
		end.judged = append(end.judged, *next.judged)
	}
	next.effect = end.try.effect
	next.effect.Said, next.effect.Judged = nil, nil
	next.effect.Doing = fmt.Sprintf("%s %s, attempt %d", permit.Tool(), whyAgain(out), n+1)
	next.effect.Quotas, next.effect.Deadline = o.retryQuotas(), o.deadlineOf(end)
	call := end.try.call
	call.Permit, call.Once, call.Attempt.Of, call.Attempt.Doubt = next.call.Permit, out.Once, end.act(), step.DoubtOf(permit, out)
	if call.Share != nil {
		left := call.Share.Less(out)
		call.Share = &left
	}
	next.call = call
	end.try = next
	return end, true
}

// timed finds out whether time is left for the attempt that a task's tool declares after an outcome. If the task's own time may
// be too short, timed makes the pause here. The engine refuses the pause if no time is left, and records that. Only the engine
// knows how long the run has waited for people so far, because other branches may still wait.
func (o *orchestration) timed(branch patterns.Run, end ending, out patterns.Outcome) ending {
	try := end.try
	end.late, end.paused = false, false
	pause, byTool := step.PauseBefore(try.call.Permit, out, try.n, step.LeastTries(out))
	switch {
	case !byTool, o.retries(try.call.Permit, out, try.n):
		return end
	case o.Task.Earlier:
		end.late = !step.InTime(try.effect, branch, pause)
		return end
	}
	e := step.PauseEffect(try.effect, try.call.Permit)
	if e.Deadline = o.deadlineOf(end); step.InTime(e, branch, pause) {
		return end
	}
	switch rested := patterns.Pause(branch, e, patterns.PauseAct{InTime: true}, pause); {
	case rested.State == patterns.OK:
		end.paused = true
	case step.CutReason(rested) != "":
		end.cut = step.CutReason(rested)
	default:
		end.late = true
	}
	return end
}

// deadlineOf returns the deadline of a task's next effect. It adds the time that people took for this task, see
// [patterns.Effect.Untimed].
func (o *orchestration) deadlineOf(end ending) time.Time {
	return o.Deadline.Add(end.rested + step.TotalOf(end.took))
}

// untimed returns the run's deadline without any time added for people. It is zero for runs that an earlier build began.
func (o *orchestration) untimed() time.Time {
	if o.Task.Earlier {
		return time.Time{}
	}
	return o.Start.Add(o.Spec.Budget.MaxTime)
}

// restAll adds the time that people took for tasks so far to the run's deadline. It adds it in order of time, so that none is
// lost.
func (o *orchestration) restAll() {
	if o.Task.Earlier {
		return
	}
	for _, s := range slices.SortedFunc(slices.Values(o.people), func(a, b step.Span) int { return a.Since.Compare(b.Since) }) {
		o.ExcludeTime(s.Since, s.Until)
	}
}

// whyAgain says in words why a call is made again.
func whyAgain(out patterns.Outcome) string {
	switch out.Reason {
	case patterns.ReasonTimeout:
		return "timed out"
	case patterns.ReasonUnavailable:
		return "cannot be reached"
	}
	return "failed"
}

// retries reports whether another attempt follows by the task's own retries.
func (o *orchestration) retries(p gateway.Permit, out patterns.Outcome, n int) bool {
	return out.Reason == patterns.ReasonTimeout && p.Repeatable() && n <= o.Spec.Budget.MaxRetriesPerTask
}

// isOpen reports whether a call must be settled: it may have acted, and is not made again.
func (o *orchestration) isOpen(end ending, out patterns.Outcome) bool {
	try := end.try
	if step.Interrupted(out) || step.NeedsLookUp(try.call.Permit, out) {
		return true
	}
	_, byTool := step.PauseBefore(try.call.Permit, out, try.n, step.LeastTries(out))
	again := o.retries(try.call.Permit, out, try.n) || byTool && !end.late
	return step.LeavesDoubt(try.call.Permit, out) && !again && !step.PatternRetries(try.call.Permit, out)
}

// sameAct gives a further attempt the key of the first one, because both are one act. Calls that only read keep their own keys.
func (e ending) sameAct(out patterns.Outcome) patterns.Outcome {
	if len(e.calls) == 0 || e.try.call.Permit.Effect() == catalog.Read || out.State == patterns.Canceled {
		return out
	}
	return out.As(e.calls[0].Out)
}

// retryQuotas returns what a retry takes: one of the dispatches and calls that the first attempts left.
func (o *orchestration) retryQuotas() []patterns.Quota {
	var quotas []patterns.Quota
	for _, q := range []struct {
		name  string
		limit gateway.Limit
	}{{"max_dispatches", o.Spec.Budget.MaxDispatches}, {"max_tool_calls", o.Spec.Budget.MaxToolCalls}} {
		if q.limit.Named() {
			quotas = append(quotas, patterns.Quota{Name: q.name, Limit: max(0, int(q.limit)-len(o.plan))})
		}
	}
	if n, each := o.shares(); n > 0 && each.Calls.Named() { // the rest is for child runs
		last := &quotas[len(quotas)-1]
		last.Limit = max(0, last.Limit-n*int(each.Calls))
	}
	return quotas
}

// act returns the key of the task's first call, or "" if there was none.
func (e ending) act() string {
	if len(e.calls) == 0 {
		return ""
	}
	return e.calls[0].Out.Key
}

// isOther reports whether an attempt has other arguments than the one before. Then it is another act, and the first may have
// happened.
func (e ending) isOther(p gateway.Permit) bool {
	n := len(e.calls)
	return n > 0 && !ijson.Equal(p.Args(), e.calls[n-1].Permit.Args())
}

// unrepeated ends a task by its newest call, because the next attempt would be another act. The newest call may have happened.
func (o *orchestration) unrepeated(i int, end ending) ending {
	n, c := end.try.n, end.calls[len(end.calls)-1]
	o.Gate.ReserveIn(o.proposal(i, n, "").Slot, c.Permit)
	end.row.ArgsHash, end.taken = c.Permit.Hash(), n-1
	if c.Out.Reason == patterns.ReasonTimeout {
		return end.failed(n-1, "task_timeout").unmade()
	}
	return end.with(n-1, c.Permit, c.Out).unmade()
}
