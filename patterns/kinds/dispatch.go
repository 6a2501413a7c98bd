package kinds

import (
	"strconv"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// attempt is one try of a task: a permit for it, or the reason why there is none.
type attempt struct {
	n       int              // counted from 1
	call    patterns.CallAct // with the permit
	refusal *gateway.Stop
	spent   bool             // refused by a budget, before anything runs
	effect  patterns.Effect  // the effect that makes the call
	judged  *patterns.Judged // the judgment of a refusal

	pause time.Duration     // before this attempt, as its tool declares
	last  *patterns.Outcome // the outcome of the attempt before, if the tool's own retry made this one follow; else nil
}

// ending is how a task's branch ended, or how far it came.
type ending struct {
	row      patterns.TaskRow
	returned any // the whole result of a task that is done
	problems []document.Problem
	calls    []step.MadeCall
	judged   []patterns.Judged // retries that the gate refused
	cut      string            // the stop reason, if the run's end ended the task
	taken    int               // the dispatches that it took
	try      attempt           // the newest attempt
	open     bool              // the newest call is in doubt: it is settled when all branches have ended
	over     bool              // no attempt follows, whatever is found out

	stale    int                     // how often the newest attempt was not made because its ruling no longer held
	human    *patterns.HumanApproval // what a person decided; nil if no person was asked
	took     []step.Span             // the time that people took
	rested   time.Duration           // the deadline also moves by this
	late     bool                    // no time is left for the attempt that the tool declares
	paused   bool                    // the pause before that attempt was made
	agreed   map[string]any          // the arguments that a person approved; nil if no person was asked
	approval string                  // the id of that approval
}

// dispatch runs the tasks, at most max_parallel at once, and collects their endings in the order of the plan.
func (o *orchestration) dispatch() {
	first := o.firstAttempts()
	o.SoFar = func() patterns.Result { return o.result(nil) }
	ends := patterns.Each(o.Run, "task", first, o.Spec.Budget.MaxParallel, o.work)
	o.restAll()
	o.settleAll(ends)
	cut, why := 0, ""
	for i, end := range ends {
		// If as many earlier tasks were cut as may run at once, this task was still waiting then. Its call was never made, so
		// the task ends by the same cut and not by its refusal.
		if cut >= o.Spec.Budget.MaxParallel && first[i].refusal != nil && !first[i].spent {
			end = ending{row: end.row, cut: why, taken: end.taken}.failed(0, why)
		}
		if end.cut != "" {
			why = end.cut
			cut++
		}
		o.collect(end)
	}
}

// firstAttempts admits the first attempts of all tasks, so that they take their dispatches before anything runs. Progress
// messages and judgments of this time go with the first call, or stay for later effects.
func (o *orchestration) firstAttempts() []attempt {
	first := make([]attempt, len(o.plan))
	for i := range o.plan {
		first[i] = o.firstAttempt(i)
		if j := first[i].judged; j != nil {
			o.NewJudged = append(o.NewJudged, *j)
		}
	}
	for i := range first {
		if first[i].refusal == nil || first[i].refusal.Asks != nil {
			first[i].effect = o.Effect(patterns.PhaseDispatch, o.plan[i].Worker)
			first[i].effect.Timeout, first[i].effect.Untimed = o.Spec.Budget.TaskTimeout, o.untimed()
			call := &first[i].call
			call.Attempt.Retried, call.Share, call.SoFar = true, o.share(i), func() patterns.Result { return o.SoFar() }
		}
	}
	return first
}

// firstAttempt admits a task's first attempt.
func (o *orchestration) firstAttempt(i int) attempt {
	spent := ""
	switch {
	case !o.Spec.Budget.MaxDispatches.Allows(i + 1):
		spent = "max_dispatches"
	case !o.Spec.Budget.MaxToolCalls.Allows(i + 1):
		spent = "max_tool_calls"
	default:
		p := o.proposal(i, 1, "")
		p.Weigh = step.Weigh(o.Run, patterns.PhaseDispatch)
		try := o.admit(p)
		o.reserve(i, try)
		return try
	}
	return attempt{n: 1, spent: true}.refused(o.proposal(i, 1, ""), &gateway.Stop{Reason: spent})
}

func (a attempt) refused(p gateway.Proposal, refusal *gateway.Stop) attempt {
	if a.refusal = refusal; refusal.Asks == nil { // otherwise the person's decision is recorded
		j := step.Barred(patterns.PhaseDispatch, p, refusal)
		a.judged = &j
	}
	return a
}

// admit asks the gate to admit a call.
func (o *orchestration) admit(p gateway.Proposal) attempt {
	permit, refusal := o.Gate.Admit(p)
	if refusal != nil {
		return attempt{n: p.Attempt}.refused(p, refusal)
	}
	return attempt{n: p.Attempt, call: patterns.CallAct{Permit: permit}}
}

// reserve makes the gate judge the calls of the other tasks by this one too, before anything runs. That includes a call that a
// person is still asked about.
func (o *orchestration) reserve(i int, try attempt) {
	switch p := o.proposal(i, try.n, ""); {
	case try.refusal == nil:
		o.Gate.ReserveIn(p.Slot, try.call.Permit)
	case try.refusal.Asks != nil:
		p.Args = try.refusal.Asks.Args
		o.Gate.ReserveAsked(p.Slot, p)
	}
}

// judging adds the judgment of a refused attempt to the task's judgments.
func (e ending) judging() ending {
	if e.try.judged != nil {
		e.judged = append(e.judged, *e.try.judged)
	}
	return e
}

// proposal returns a task's call. Workers that take a request id get the run's id, whatever the plan says.
func (o *orchestration) proposal(i, n int, of string) gateway.Proposal {
	t := o.plan[i]
	p := gateway.Proposal{Tool: t.Worker, Args: t.Args, At: o.argsAt(i), Attempt: n, Again: n > 1, Of: of, Slot: "task#" + strconv.Itoa(i+1)}
	if tool, ok := o.Spec.Catalog.Tool(t.Worker); ok && o.Spec.Supplies(tool, patterns.RequestIDArgument) {
		p.Inject = map[string]any{patterns.RequestIDArgument: o.Run.ID()}
	}
	return p
}

// work runs one task in its branch.
func (o *orchestration) work(branch patterns.Run, i int, first attempt) ending {
	t := o.plan[i]
	rested := time.Duration(0)
	if o.Task.Earlier {
		rested = step.UnionUntil(o.people, branch.Now()) // while this task waited for its turn
	}
	first.effect.Deadline = first.effect.Deadline.Add(rested)
	hash := first.call.Permit.Hash()
	if hash == "" { // a refused call has only its proposed arguments
		hash = ijson.ArgsHash(t.Args)
	}
	return o.attempts(branch, i, ending{try: first, rested: rested, row: patterns.TaskRow{
		TaskID: t.ID, Worker: t.Worker, Critical: t.Critical, Status: "failed", ArgsHash: hash,
	}})
}

// attempts makes attempts at a task until it is done or refused, its call is in doubt, or no further attempt follows.
func (o *orchestration) attempts(branch patterns.Run, i int, end ending) ending {
	for {
		try := end.try
		if !try.spent {
			end.taken = try.n
		}
		if try.refusal != nil && try.refusal.Asks != nil {
			if reason := o.asked(branch, i, &end); reason != "" {
				if step.EndsRun(reason) {
					end.cut = reason
				}
				return end.failed(try.n, reason).unmade()
			}
			try = end.try
		}
		if try.refusal != nil {
			end.problems = try.refusal.Problems
			return end.failed(try.n, try.refusal.Reason).unmade()
		}
		if end.isOther(try.call.Permit) {
			return o.unrepeated(i, end)
		}
		if reason := step.Pause(branch, try.effect, try.call.Permit, try.pause); reason != "" {
			end.cut = step.CutReason(patterns.Outcome{State: patterns.Canceled, Reason: reason})
			return end.failed(try.n-1, end.cut).unmade()
		}
		out := patterns.CallTool(branch, try.effect, try.call)
		if step.IsStale(out) {
			end = o.rejudged(branch, i, end)
			continue
		}
		out = end.sameAct(out)
		end.calls = append(end.calls, step.MadeCall{Permit: try.call.Permit, Out: out})
		if end = o.timed(branch, end, out); end.cut != "" {
			return end.failed(try.n, end.cut).unmade()
		}
		if o.isOpen(end, out) {
			end.open = true
			return end
		}
		next, more := o.after(branch, i, end, out)
		switch {
		case !more && out.State == patterns.Canceled:
			return next.unmade()
		case !more:
			return next
		}
		end = next
	}
}

// asked asks a person to decide about a task's newest attempt. It returns why the attempt is not made, or "". A person is not
// asked again about a retry of what they approved, because it is the same act.
func (o *orchestration) asked(branch patterns.Run, i int, end *ending) (reason string) {
	try, call := &end.try, o.beside(branch, i, end.try.n, end.act())
	ruling := *try.refusal.Asks
	if end.agreed != nil {
		call.Args = end.agreed
		ruling = o.Gate.ReviewApproved(call.Case(), end.approval)
		if !patterns.Suffices(ruling, end.human.GivenWith(), 0) {
			ruling.Decision = gateway.Escalate
		}
	}
	seen := *o.Log // the log is the parent's: what a branch reports must not depend on which branch is faster
	seen.Said, seen.NewJudged, seen.Deadline = try.effect.Said, try.effect.Judged, o.Deadline.Add(end.rested)
	c := step.Consent{Log: &seen, Run: branch, Phase: patterns.PhaseDispatch, Call: call, Took: end.took, Untimed: o.untimed()}
	permit, refusal, reason := c.Obtain(ruling)
	o.people = append(o.people, c.Took[len(end.took):]...)
	if end.took = c.Took; c.Human != nil {
		end.human = c.Human
	}
	if try.effect.Said, try.effect.Judged = seen.Said, seen.NewJudged; reason != "" { // there is no call for them to go with
		end.judged, try.effect.Judged = append(end.judged, seen.NewJudged...), nil
	}
	try.effect.Deadline = o.deadlineOf(*end)
	if refusal != nil {
		end.problems, end.judged = refusal.Problems, append(end.judged, step.Barred(patterns.PhaseDispatch, c.Call, refusal))
	}
	try.call.Permit, try.refusal = permit, nil
	if reason != "" {
		if end.newest() == nil { // the call does not happen
			o.Gate.ReleaseIn(call.Slot)
		}
		return reason
	}
	o.Gate.ReserveIn(call.Slot, permit)
	end.agreed, end.approval, end.row.ArgsHash = c.Call.Args, permit.Approval(), permit.Hash()
	return ""
}

func (e ending) failed(attempts int, reason string) ending {
	e.row.StopReason, e.row.AttemptsUsed, e.row.Retried = reason, attempts, attempts > 1
	return e
}

// mayHaveActed reports whether the newest attempt that was made may have changed something, with an unknown outcome.
func (e ending) mayHaveActed() bool {
	c := e.newest()
	return c != nil && step.MayHaveActed(c.Permit, c.Out)
}

// with ends a task by the outcome of its n-th attempt.
func (e ending) with(n int, p gateway.Permit, out patterns.Outcome) ending {
	switch {
	case out.State == patterns.OK:
		if text, reported := gateway.Reported(out.Output); reported {
			e.row.ObservationError = text
			return e.failed(n, "worker_reported_error:"+p.As())
		}
		e.row.Status, e.row.Observation, e.returned = "done", patterns.Shown(out.Output, out.Bytes), out.Output
		return e.failed(n, "")
	case step.CutReason(out) != "":
		e.cut, e.row.InDoubt = step.CutReason(out), e.mayHaveActed()
		if out.State == patterns.Canceled {
			n--
		}
		return e.failed(n, e.cut)
	case out.Reason == patterns.ReasonOnceReused:
		e.taken = n - 1
		return e.failed(n, step.CallReason(gateway.WorkerFamily, p, out))
	case out.State == patterns.Canceled && e.try.last != nil: // no budget is left for the attempt that the tool declares
		e.taken, out = n-1, *e.try.last
		e.row.InDoubt = step.MayHaveActed(p, out)
		return e.failed(n-1, step.CallReason(gateway.WorkerFamily, p, out))
	case out.State == patterns.Canceled: // a quota refused the attempt: it counts, but took no dispatch
		e.taken = n - 1
		return e.failed(n, out.Reason)
	}
	e.row.ObservationError = step.ChildStopReason(out)
	e.row.InDoubt = step.Interrupted(out) || out.Reason == patterns.ReasonBrokenReply && step.MayHaveActed(p, out)
	return e.failed(n, step.CallReason(gateway.WorkerFamily, p, out))
}
