package step

import (
	"cmp"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// A call whose process ended before the outcome was recorded, whose time was over, or whose answer was lost is in doubt: it
// may have happened. What may be repeated is repeated; the rest is settled here, as recorded effects, in the same way on
// every engine (spec/surface.md section 1, waiting_for settlement; spec/config.md section 6):
//
//	in doubt ──▶ the tool's look-up ──happened──▶ what it says is the call's
//	               │    ▲   └─did not, and can arrive no more──▶ the call again, as the same act
//	               │    └── not yet, or unclear: after 1, 2, 4, ... 30 s, unclear five times at most
//	               ▼ nobody can tell
//	             a person ──happened | did not | 7 days of silence──▶ as above, or in_doubt

// settleTime is how long a person has to say whether a call in doubt happened.
const settleTime = 7 * 24 * time.Hour

// maxTries is how often one act is tried; what ends the process each time ends there.
const maxTries = 8

// Of look-ups: how often one may tell nothing, the longest pause before the next, and the time that one has where nothing
// else bounds it.
const (
	maxUnclear     = 5
	maxLookUpPause = 30 * time.Second
	lookUpTime     = time.Minute
	maxLookUpDelay = time.Minute // that the one who is asked may ask for
)

// Interrupted reports whether an effect's process ended before its outcome was known.
func Interrupted(out patterns.Outcome) bool {
	return out.State == patterns.Unknown && out.Reason == patterns.ReasonInterrupted
}

// doubt is a call that may have happened, on its way to being settled. All of it takes place in a branch of its own, so
// that the keys of what comes later are those of a run without a doubt.
type doubt struct {
	*Log
	run    patterns.Run
	permit gateway.Permit
	call   patterns.Effect  // the call as it was made
	first  patterns.Outcome // of the first try, under whose key and place in the order the call stays known
	newest string           // the key of the newest try
	soFar  func() patterns.Result
}

// FindOut finds out what became of a call. known is what there is to know of it; out is its outcome, by which the run goes on
// or ends. They differ where the run's own end cut the call: then it is only looked up.
func (l *Log) FindOut(c Made, e patterns.Effect, since time.Time) (known, out patterns.Outcome) {
	p, out := c.Permit, c.Out
	switch {
	case Interrupted(out) && p.Effect() == catalog.Read: // it was tried again and again; nothing is in doubt
		out.State, out.Reason = patterns.Failed, patterns.ReasonToolError
		return out, out
	case LeavesDoubt(p, out):
		if !Interrupted(out) { // the call's own time counts
			since = l.Run.Now()
		}
		out = l.settle(c, e, since)
		return out, out
	case IsLate(p, out):
		return l.LookUp(c, e), out
	}
	return out, out
}

// IsLate reports whether the run's time was over, or a kill switch set, while a call may have acted that can be looked up.
func IsLate(p gateway.Permit, out patterns.Outcome) bool {
	return MayHaveActed(p, out) && (out.Reason == patterns.ReasonDeadline || out.Reason == patterns.ReasonKillSwitch) && p.Reconciles()
}

// settle finds out what became of a call in doubt, or makes it again. Its outcome is known under the first try's key.
// One that stays unknown is still in doubt. The time since then does not count, but for that of a further try.
func (l *Log) settle(c Made, e patterns.Effect, since time.Time) (out patterns.Outcome) {
	l.Note(c.Permit, c.Out)
	l.inDoubt(c, e, func(d doubt) { out = d.settle(c.Out, since) })
	l.settled(c.Permit, out)
	return out
}

// LookUp is what the tool's look-up says of a call that the run's end cut.
func (l *Log) LookUp(c Made, e patterns.Effect) (out patterns.Outcome) {
	since := l.Run.Now()
	l.Note(c.Permit, c.Out)
	l.inDoubt(c, e, func(d doubt) {
		switch found := d.lookUp(c.Out); {
		case !found.known:
			out = c.Out
		case found.happened:
			out = d.outcome(found.out)
		default:
			out = d.outcome(patterns.Outcome{State: patterns.Failed, Reason: c.Out.Reason, Began: c.Out.Began, At: c.Out.At, Down: c.Out.Down, Idle: c.Out.Idle})
		}
		d.Rest(since, d.run.Now())
	})
	l.settled(c.Permit, out)
	return out
}

// inDoubt settles in a branch of its own.
func (l *Log) inDoubt(c Made, e patterns.Effect, settle func(doubt)) {
	d := doubt{Log: l, permit: c.Permit, call: e, first: c.Out, newest: c.Out.Newest(), soFar: l.SoFar}
	l.Run.Go("doubt", 1, 1, func(branch patterns.Run, _ int) {
		d.run = branch
		settle(d)
	})
}

// settled tells who asks for the call what became of it: by its business key, or because rules of other runs look at it.
func (l *Log) settled(p gateway.Permit, out patterns.Outcome) {
	if p.Effect() != catalog.Read && out.State != patterns.Unknown || p.Once() != "" && out.State != patterns.Unknown {
		l.Run.Settled(patterns.Effect{Kind: patterns.ToolEffect, Name: p.Tool(), Permit: p, Once: p.Once()}, out)
	}
}

// finding is what was found out about a try. The zero finding is that nobody can tell.
type finding struct {
	known, happened bool
	out             patterns.Outcome // what is known of the call then
}

// settle goes on until a try is known to have happened, may not be repeated, or is not to be settled.
func (d *doubt) settle(out patterns.Outcome, since time.Time) patterns.Outcome {
	try := 1
	if d.permit.Repeatable() { // that was done
		try = maxTries
	}
	for ; ; try++ {
		found := d.lookUp(out)
		if !found.known {
			found = d.askPerson(out)
		}
		d.Rest(since, d.run.Now())
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

// didNothing is the outcome of a call that certainly did nothing, and is not made again.
func didNothing(out patterns.Outcome) patterns.Outcome {
	reason := patterns.ReasonToolError
	if out.Reason == patterns.ReasonTimeout {
		reason = patterns.ReasonTimeout
	}
	return patterns.Outcome{State: patterns.Failed, Reason: reason, Began: out.Began, At: out.At, Down: out.Down, Idle: out.Idle}
}

// outcome is the call's outcome under the name of its first try.
func (d *doubt) outcome(out patterns.Outcome) patterns.Outcome {
	out.Key, out.Once, out.Order, out.Try = d.first.Key, d.first.Once, d.first.Order, d.newest
	if out.State == patterns.Canceled { // this try was not made, and none before it happened
		out.State = patterns.Failed
	}
	return out
}

// again makes the call once more: the same act, which has taken its share of every budget.
func (d *doubt) again() patterns.Outcome {
	e := d.Effect(d.call.Phase, d.call.Doing)
	e.Timeout, e.Once, e.Of = d.call.Timeout, d.first.Once, d.first.Key
	out := callAgain(d.run, e, d.permit)
	if out.Order > 0 { // it was made
		d.newest = out.Key
	}
	return out
}

// lookUp asks the tool that knows, again and again while what it says is not final: that the call did not happen is believed
// only of an observation made when the call could arrive no more.
func (d *doubt) lookUp(of patterns.Outcome) finding {
	about := catalog.Doubt{Key: d.first.Once, RunID: d.run.ID(), Tool: d.permit.Tool(), Args: d.permit.Args(), At: of.Began}
	p, ok := d.Gate.Reconcile(d.permit, about)
	if !ok {
		return finding{}
	}
	final := of.Began.Add(d.permit.Settle() - of.Down) // the world's time goes on when ours does not
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
		e.Kind, e.Name, e.Input, e.Timeout, e.Deadline = patterns.TimerEffect, "sleep", []byte("null"), wait, time.Time{}
		slept := d.run.Do(e)
		if slept.State != patterns.OK {
			return finding{}
		}
		final = final.Add(-seen.Down - slept.Down)
	}
}

// ask makes one look-up. The run's end does not cut it: what may have been done is found out even then.
func (d *doubt) ask(p gateway.Permit) patterns.Outcome {
	e := d.Effect(d.call.Phase, "asking "+p.Tool())
	e.Timeout, e.Deadline = cmp.Or(d.call.Timeout, lookUpTime), time.Time{}
	return patterns.CallTool(d.run, e, p)
}

// judge reads what a look-up observed. Of an observation of which only the beginning is there nothing is told: what is looked
// for may stand in the rest.
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

// askPerson has a person say whether the call happened.
func (d *doubt) askPerson(of patterns.Outcome) finding {
	e := d.Effect(d.call.Phase, "waiting for a person")
	e.Deadline = time.Time{} // what may have been done is settled even when the run's time is over
	answer := settlement(d.run, e, d.waiting(of))
	said, _ := answer.Output.(map[string]any)
	happened, clear := said["happened"].(bool)
	if answer.State != patterns.OK || !clear {
		still := of
		switch answer.Reason {
		case patterns.ReasonCanceled:
			still.Reason = patterns.ReasonCanceled
		case patterns.ReasonRefused: // nobody can be asked here
		default:
			still.Reason = patterns.ReasonInterrupted
		}
		return finding{out: still}
	}
	if !happened {
		return finding{known: true}
	}
	answer.Began, answer.Idle, answer.Down = answer.At, answer.Idle+answer.Down, 0 // a person's time is not the call's
	result, given := said["result"]
	if !given {
		answer.Output, answer.Bytes = map[string]any{"settled": "happened", "by": said["by"]}, 0
		return finding{true, true, answer}
	}
	answer.Output, answer.Bytes = result, 0
	return finding{true, true, d.result(answer)}
}

// result takes what is said to be the call's result, if it is what the call's schema allows.
func (d *doubt) result(said patterns.Outcome) patterns.Outcome {
	done := d.permit.Judge(said.Output)
	said.Output, said.Bytes = done.Value, done.Bytes
	if done.State != gateway.DoneOK {
		said.State, said.Reason = patterns.Failed, patterns.ReasonBadResult
	}
	return said
}

// isCut reports whether an observation is the marked beginning of a longer one, whoever marked it.
func isCut(seen patterns.Outcome) bool {
	_, _, marked := patterns.Beginning(seen.Output)
	return marked
}

// waiting is what the run waits for meanwhile.
func (d *doubt) waiting(of patterns.Outcome) patterns.Waiting {
	w := patterns.Waiting{
		Kind: patterns.ForSettlement, Phase: d.call.Phase, Effect: d.first.Key, Tool: d.permit.Tool(), ArgsHash: d.permit.Hash(),
		Cause: causeOf(of), SoFar: d.soFar(),
	}
	w.SoFar.StopReason, w.SoFar.Phase = "", ""
	return w
}

// causeOf says why nobody knows what became of a call: crash, timeout or broken_reply.
func causeOf(out patterns.Outcome) string {
	if out.Reason == patterns.ReasonInterrupted {
		return "crash"
	}
	return out.Reason
}

// settlement asks a person about a call in doubt. The outcome's output is {happened, result?, by, channel, comment?};
// [patterns.ReasonExpired] says that nobody knew in time.
func settlement(run patterns.Run, e patterns.Effect, w patterns.Waiting) patterns.Outcome {
	e.Kind, e.Name, e.Timeout, e.Waiting = patterns.HumanEffect, "settle", settleTime, &w
	e.Input = ijson.Canonical(map[string]any{"effect": w.Effect, "tool": w.Tool, "args_hash": w.ArgsHash})
	return run.Do(e)
}
