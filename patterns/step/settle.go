package step

import (
	"cmp"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// A call is in doubt if its process ended before the outcome was recorded, if it timed out, or if its answer was lost. Then it
// may have happened. Repeatable calls are repeated. All others are settled here by recorded effects, in the same way on every
// engine (spec/surface.md section 1, waiting_for settlement; spec/config.md section 6):
//
//	in doubt ──▶ the tool's look-up ──happened──▶ what it says is the call's outcome
//	               │    ▲   └─did not happen, and can no longer arrive──▶ the call again, as the same act
//	               │    └── not yet, or unclear: after 1, 2, 4, ... 30 s, unclear five times at most
//	               ▼ the look-up cannot say
//	             a person ──happened | did not | 7 days of silence──▶ as above, or in_doubt

// settleTime is how long a person has to say whether a call in doubt happened.
const settleTime = 7 * 24 * time.Hour

// maxTries is how often one act is tried. It ends a call that stops the process each time.
const maxTries = 8

// These limits bound look-ups.
const (
	maxUnclear     = 5                // look-ups without a clear answer
	maxLookUpPause = 30 * time.Second // the longest between two look-ups
	lookUpTime     = time.Minute      // for one look-up, if nothing else limits it
	maxLookUpDelay = time.Minute      // the longest that a tool may ask for
)

// Interrupted reports whether the process ended before the outcome of an effect was known.
func Interrupted(out patterns.Outcome) bool {
	return out.State == patterns.Unknown && out.Reason == patterns.ReasonInterrupted
}

// doubt is a call in doubt while it is settled. All of this takes place in a branch of its own, so that later effects have the
// same keys as in a run without a doubt.
type doubt struct {
	*Log
	run    patterns.Run
	permit gateway.Permit
	call   patterns.Effect  // the call as it was made
	first  patterns.Outcome // of the first try; the call keeps its key and its place in the order
	newest string           // the key of the newest try
	soFar  func() patterns.Result
}

// FindOut settles a call in doubt, and looks up a call that the run's end cut. The result known is what is known of the call.
// The result out is the outcome by which the run continues or ends. The two differ only if the run's end cut the call. A call
// that needs neither keeps its outcome.
//
// The time from since on does not count if the call was interrupted.
func (l *Log) FindOut(c MadeCall, e patterns.Effect, since time.Time) (known, out patterns.Outcome) {
	p, out := c.Permit, c.Out
	switch {
	case Interrupted(out) && p.Effect() == catalog.Read: // it was tried again and again; a read leaves no doubt
		out.State, out.Reason = patterns.Failed, patterns.ReasonToolError
		return out, out
	case LeavesDoubt(p, out):
		if !Interrupted(out) { // the call's own time counts
			since = l.Run.Now()
		}
		out = l.settle(c, e, since)
		return out, out
	case NeedsLookUp(p, out):
		return l.LookUp(c, e), out
	}
	return out, out
}

// NeedsLookUp reports whether the deadline or a kill switch cut a call that may have acted, and whose tool offers a look-up.
func NeedsLookUp(p gateway.Permit, out patterns.Outcome) bool {
	return MayHaveActed(p, out) && (out.Reason == patterns.ReasonDeadline || out.Reason == patterns.ReasonKillSwitch) && p.Reconciles()
}

// settle finds out what a call in doubt did, or makes it again. The outcome has the first try's key. If its state is still
// unknown, the call stays in doubt. The time from since on does not count, except that of further tries.
func (l *Log) settle(c MadeCall, e patterns.Effect, since time.Time) (out patterns.Outcome) {
	l.Note(c.Permit, c.Out)
	l.inDoubt(c, e, func(d doubt) { out = d.settle(c.Out, since) })
	l.settled(c.Permit, out)
	return out
}

// LookUp asks the tool what happened to a call that the run's end cut. If the tool cannot say, it returns the call's own
// outcome.
func (l *Log) LookUp(c MadeCall, e patterns.Effect) (out patterns.Outcome) {
	since := l.Run.Now()
	l.Note(c.Permit, c.Out)
	l.inDoubt(c, e, func(d doubt) {
		switch found := d.lookUp(c.Out); {
		case !found.known:
			out = c.Out
		case found.happened:
			out = d.outcome(found.out)
		default:
			out = d.outcome(patterns.Outcome{State: patterns.Failed, Reason: c.Out.Reason, Recorded: c.Out.Times()})
		}
		d.ExcludeTime(since, d.run.Now())
	})
	l.settled(c.Permit, out)
	return out
}

// inDoubt settles a call in a branch of its own.
func (l *Log) inDoubt(c MadeCall, e patterns.Effect, settle func(doubt)) {
	d := doubt{Log: l, permit: c.Permit, call: e, first: c.Out, newest: c.Out.Newest(), soFar: l.SoFar}
	l.Run.Go("doubt", 1, 1, func(branch patterns.Run, _ int) {
		d.run = branch
		settle(d)
	})
}

// settled tells the engine what a call did, for calls with the same business key and for the rules of other runs.
func (l *Log) settled(p gateway.Permit, out patterns.Outcome) {
	if p.Effect() != catalog.Read && out.State != patterns.Unknown || p.Once() != "" && out.State != patterns.Unknown {
		l.Run.Settled(patterns.Effect{Act: patterns.CallAct{Permit: p, Once: p.Once()}, Name: p.Tool()}, out)
	}
}

// finding is what was found out about a try. The zero finding means that it cannot be said.
type finding struct {
	known, happened bool
	out             patterns.Outcome // the outcome of the call, if known
}

// settle looks the call up and asks a person until its outcome is clear, no further try is allowed, or it cannot be settled. A
// call that did not happen is tried again.
func (d *doubt) settle(out patterns.Outcome, since time.Time) patterns.Outcome {
	try := 1
	if d.permit.Repeatable() { // it was repeated before
		try = maxTries
	}
	for ; ; try++ {
		found := d.lookUp(out)
		if !found.known {
			found = d.askPerson(out)
		}
		d.ExcludeTime(since, d.run.Now())
		since = d.run.Now()
		switch {
		case !found.known || found.happened:
			return d.outcome(found.out)
		case try >= maxTries:
			return d.outcome(didNothing(out))
		}
		if out = d.again(); !LeavesDoubt(d.permit, out) {
			return d.outcome(out)
		}
		if !Interrupted(out) {
			since = d.run.Now()
		}
	}
}

// didNothing returns the outcome of a call that certainly did nothing and is not made again.
func didNothing(out patterns.Outcome) patterns.Outcome {
	reason := patterns.ReasonToolError
	if out.Reason == patterns.ReasonTimeout {
		reason = patterns.ReasonTimeout
	}
	return patterns.Outcome{State: patterns.Failed, Reason: reason, Recorded: out.Times()}
}

// outcome returns an outcome under the key of the call's first try.
func (d *doubt) outcome(out patterns.Outcome) patterns.Outcome {
	out.Key, out.Once, out.Order, out.Try = d.first.Key, d.first.Once, d.first.Order, d.newest
	if out.State == patterns.Canceled { // this try was not made, and no try before it happened
		out.State = patterns.Failed
	}
	return out
}

// again makes the call once more, as the same act. It takes no further share of any budget.
func (d *doubt) again() patterns.Outcome {
	e := d.Effect(d.call.Phase, d.call.Doing)
	e.Timeout = d.call.Timeout
	out := callAgain(d.run, e, patterns.CallAct{Permit: d.permit, Once: d.first.Once, Attempt: patterns.Attempt{Of: d.first.Key}})
	if out.Order > 0 { // it was made
		d.newest = out.Key
	}
	return out
}

// lookUp asks the tool repeatedly until the answer is final. An answer that the call did not happen counts only if the call
// could no longer arrive when the tool observed it.
func (d *doubt) lookUp(of patterns.Outcome) finding {
	about := catalog.Doubt{Key: d.first.Once, RunID: d.run.ID(), Tool: d.permit.Tool(), Args: d.permit.Args(), At: of.Began}
	p, ok := d.Gate.Reconcile(d.permit, about)
	if !ok {
		return finding{}
	}
	final := of.Began.Add(d.permit.Settle() - of.Down) // real time also passes while no process has the run
	pause := time.Second
	for unclear := 0; ; pause = min(2*pause, maxLookUpPause) {
		seen := d.ask(p)
		if seen.State == patterns.Canceled {
			return finding{}
		}
		wait := pause
		switch found := d.judge(about, seen); {
		case found.happened, found.known && !seen.Began.Before(final):
			return found
		case found.known:
			wait = min(pause, final.Sub(d.run.Now()))
		default:
			if unclear++; unclear == maxUnclear {
				return finding{}
			}
			wait = max(pause, min(seen.After, maxLookUpDelay))
		}
		e := d.Effect(d.call.Phase, "")
		e.Deadline = time.Time{}
		slept := patterns.Pause(d.run, e, patterns.PauseAct{}, wait)
		if slept.State != patterns.OK {
			return finding{}
		}
		final = final.Add(-seen.Down - slept.Down)
	}
}

// ask makes one look-up. The run's end does not cut it: what a call did is found out even then.
func (d *doubt) ask(p gateway.Permit) patterns.Outcome {
	e := d.Effect(d.call.Phase, "asking "+p.Tool())
	e.Timeout, e.Deadline = cmp.Or(d.call.Timeout, lookUpTime), time.Time{}
	return patterns.CallTool(d.run, e, patterns.CallAct{Permit: p})
}

// judge reads the observation of a look-up. It finds nothing in an observation that was cut, because the missing part may hold
// the answer.
func (d *doubt) judge(about catalog.Doubt, seen patterns.Outcome) finding {
	if seen.State != patterns.OK || isCut(seen) {
		return finding{}
	}
	happened, known := d.permit.Happened(about, seen.Output)
	if !known || !happened {
		return finding{known: known}
	}
	said, ok := d.permit.Output(about, seen.Output)
	if !ok {
		return finding{}
	}
	if d.permit.OwnOutput() {
		seen.Output, seen.Bytes = said, 0
	}
	return finding{true, true, d.result(seen)}
}

// askPerson asks a person whether the call happened.
func (d *doubt) askPerson(of patterns.Outcome) finding {
	e := d.Effect(d.call.Phase, "waiting for a person")
	e.Deadline = time.Time{} // a doubt is settled even when the run's time is over
	answer := settlement(d.run, e, d.waiting(of))
	said, _ := answer.Output.(map[string]any)
	happened, clear := said["happened"].(bool)
	if answer.State != patterns.OK || !clear {
		still := of
		switch answer.Reason {
		case patterns.ReasonCanceled:
			still.Reason = patterns.ReasonCanceled
		case patterns.ReasonRefused: // no person can be asked here
		default:
			still.Reason = patterns.ReasonInterrupted
		}
		return finding{out: still}
	}
	if !happened {
		return finding{known: true}
	}
	answer.Began, answer.Idle, answer.Down = answer.At, answer.Idle+answer.Down, 0 // a person's time does not count as the call's
	result, given := said["result"]
	if !given {
		answer.Output, answer.Bytes = map[string]any{"settled": "happened", "by": said["by"]}, 0
		return finding{true, true, answer}
	}
	answer.Output, answer.Bytes = result, 0
	return finding{true, true, d.result(answer)}
}

// result takes a reported result as the call's own. The outcome fails if the result does not fit the tool's output schema.
func (d *doubt) result(said patterns.Outcome) patterns.Outcome {
	done := d.permit.Judge(said.Output)
	said.Output, said.Bytes = done.Value, done.Bytes
	if done.State != gateway.DoneOK {
		said.State, said.Reason = patterns.Failed, patterns.ReasonBadResult
	}
	return said
}

// isCut reports whether an observation is marked as the beginning of a longer one, by any party.
func isCut(seen patterns.Outcome) bool {
	_, _, marked := patterns.Beginning(seen.Output)
	return marked
}

// waiting describes what the run waits for while a person settles the call.
func (d *doubt) waiting(of patterns.Outcome) patterns.Waiting {
	w := patterns.Waiting{
		Kind: patterns.ForSettlement, Phase: d.call.Phase, Effect: d.first.Key, Tool: d.permit.Tool(), ArgsHash: d.permit.Hash(),
		Cause: causeOf(of), SoFar: d.soFar(),
	}
	w.SoFar.StopReason, w.SoFar.Phase = "", ""
	return w
}

// causeOf returns why the outcome of a call is unknown: crash, timeout or broken_reply.
func causeOf(out patterns.Outcome) string {
	if out.Reason == patterns.ReasonInterrupted {
		return "crash"
	}
	return out.Reason
}

// settlement asks a person about a call in doubt. The outcome's output is {happened, result?, by, channel, comment?}. Its reason
// is [patterns.ReasonExpired] if no person answered in time.
func settlement(run patterns.Run, e patterns.Effect, w patterns.Waiting) patterns.Outcome {
	e.Act, e.Name, e.Timeout = patterns.SettlementAct{Waiting: &w}, "settle", settleTime
	e.Input = ijson.Canonical(map[string]any{"effect": w.Effect, "tool": w.Tool, "args_hash": w.ArgsHash})
	return run.Do(e)
}
