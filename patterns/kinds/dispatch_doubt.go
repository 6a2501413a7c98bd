package kinds

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// newest returns the newest attempt that was made, or nil if none was.
func (e ending) newest() *step.MadeCall {
	for i := range slices.Backward(e.calls) {
		if e.calls[i].Out.State != patterns.Canceled {
			return &e.calls[i]
		}
	}
	return nil
}

// unmade returns a task's ending after its next attempt was not made. If the attempt before it may have acted, it is still found
// out what that one did. No further attempt follows.
func (e ending) unmade() ending {
	c := e.newest()
	if c == nil || !step.MayHaveActed(c.Permit, c.Out) {
		return e
	}
	e.row.InDoubt = true
	switch e.cut {
	case "":
		e.open = step.LeavesDoubt(c.Permit, c.Out) && !step.PatternRetries(c.Permit, c.Out)
	case "max_seconds":
		c.Out = step.WithReason(c.Out, patterns.ReasonDeadline)
	case patterns.ReasonKillSwitch:
		c.Out = step.WithReason(c.Out, patterns.ReasonKillSwitch)
	}
	e.open = e.open || step.NeedsLookUp(c.Permit, c.Out)
	e.over = e.open
	return e
}

// foundOut returns a task's ending after it was found out what its newest attempt did, and no attempt followed. The task keeps
// the reason why none followed, unless the act was done or the reason was the doubt itself.
func (e ending) foundOut(p gateway.Permit, out patterns.Outcome) ending {
	e.row.InDoubt = e.mayHaveActed()
	n := 0
	for _, c := range e.calls {
		if c.Out.State != patterns.Canceled {
			n++
		}
	}
	doubted := e.try.last != nil && e.row.StopReason == step.CallReason(gateway.WorkerFamily, p, *e.try.last)
	switch {
	case e.cut != "":
		return e
	case out.State == patterns.OK:
		e.problems = nil
		return e.with(n, p, out)
	case doubted, step.CutReason(out) != "":
		return e.with(n, p, out)
	}
	return e
}

// settleAll settles the calls in doubt one by one, in the order of the plan, and continues their tasks. All other tasks have
// ended before, so none of them waits for a person.
func (o *orchestration) settleAll(ends []ending) {
	if !slices.ContainsFunc(ends, func(e ending) bool { return e.open }) {
		return
	}
	o.SoFar = func() patterns.Result { return o.resultOf(ends) }
	for i := range ends {
		for _, c := range ends[i].calls { // a doubt of one task counts while another one is settled
			o.Note(c.Permit, c.Out)
		}
	}
	for i := range ends {
		for end := &ends[i]; end.open; {
			newest := end.newest()
			known, out := o.FindOut(*newest, end.try.effect, o.Run.Now())
			newest.Out, end.open = known, false
			if end.over {
				*end = end.foundOut(newest.Permit, out)
				continue
			}
			if !o.Task.Earlier { // the run's deadline has moved by all of that time
				o.restAll()
				end.rested = -step.TotalOf(end.took)
			}
			if *end = o.timed(o.Run, *end, out); end.cut != "" {
				*end = end.failed(end.try.n, end.cut).unmade()
				continue
			}
			next, more := o.after(o.Run, i, *end, out)
			if more {
				next = o.attempts(o.Run, i, next)
			}
			*end = next
		}
	}
}

// resultOf returns the run's result so far, while some tasks have not ended.
func (o *orchestration) resultOf(ends []ending) patterns.Result {
	own, seen := *o.Log, *o
	seen.Log = &own
	for _, end := range ends {
		if !end.open {
			seen.collect(end)
			continue
		}
		seen.dispatches += end.taken
	}
	own.NewJudged = nil // they go with the question to the person
	own.Limits = seen.bounds
	return seen.result(nil)
}
