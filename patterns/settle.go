package patterns

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// A call whose process ended before the outcome was recorded is in doubt: it may have happened. The engine repeats what
// may be repeated; the rest is settled here, as recorded effects, in the same way on every engine (spec/surface.md
// section 1, waiting_for settlement):
//
//	interrupted ──▶ the tool's look-up ──happened──▶ its observation is the call's
//	                  │        └─did not, and can arrive no more──▶ the call again, as the same act
//	                  ▼ nobody can tell
//	                a person ──happened | did not | 7 days of silence──▶ as above, or in_doubt

// settleTime is how long a person has to say whether a call in doubt happened.
const settleTime = 7 * 24 * time.Hour

// maxTries is how often one act is tried; what ends the process each time ends there.
const maxTries = 8

// maxLookUps is how often one try is looked up: now, and when it could arrive no more; once more for a clock that is
// a little late.
const maxLookUps = 3

// interrupted reports whether an effect's process ended before its outcome was known.
func interrupted(out Outcome) bool { return out.State == Unknown && out.Reason == ReasonInterrupted }

// doubt is a call that may have happened, on its way to being settled. All of it takes place in a branch of its own, so
// that the keys of what comes later are those of a run without a crash.
type doubt struct {
	*log
	run    Run
	permit gateway.Permit
	call   Effect  // the call as it was made
	first  Outcome // of the first try, under whose key and place in the order the call stays known
	soFar  func() Result
}

// settle finds out what became of an interrupted call, or makes it again. Its outcome is known under the first try's key.
// One that stays unknown is still in doubt. The time since then does not count, but for that of a further try.
func (l *log) settle(c made, e Effect, since time.Time) Outcome {
	p, out := c.permit, c.out
	if p.Effect() == catalog.Read { // it was tried again and again; nothing is in doubt
		out.State, out.Reason = Failed, ReasonToolError
		return out
	}
	l.note(p, out)
	d := doubt{log: l, permit: p, call: e, first: out, soFar: l.soFar}
	l.run.Go("doubt", 1, 1, func(branch Run, _ int) {
		d.run = branch
		out = d.settle(out, since)
	})
	return out
}

// finding is what was found out about a try. The zero finding is that nobody can tell.
type finding struct {
	known, happened bool
	out             Outcome // what is known of the call then
}

// settle goes on until a try is known to have happened, may not be repeated, or is not to be settled.
func (d *doubt) settle(out Outcome, since time.Time) Outcome {
	try := 1
	if d.permit.Repeatable() { // the engine did that
		try = maxTries
	}
	for ; ; try++ {
		found := d.lookUp(out, since)
		if !found.known {
			found = d.askPerson(out)
		}
		d.rest(since, d.run.Now())
		since = d.run.Now()
		switch {
		case !found.known || found.happened:
			return d.outcome(found.out)
		case try >= maxTries:
			return d.outcome(Outcome{State: Failed, Reason: ReasonToolError, Began: out.Began, At: out.At})
		}
		if out = d.again(); !interrupted(out) {
			return d.outcome(out)
		}
	}
}

// outcome is the call's outcome under the name of its first try.
func (d *doubt) outcome(out Outcome) Outcome {
	out.Key, out.Once, out.Order = d.first.Key, d.first.Once, d.first.Order
	if out.State == Canceled { // this try was not made, and none before it happened
		out.State = Failed
	}
	return out
}

// again makes the call once more: the same act, which has taken its share of every budget.
func (d *doubt) again() Outcome {
	e := d.effect(d.call.Phase, d.call.Doing)
	e.Timeout, e.Once = d.call.Timeout, d.first.Once
	return CallTool(d.run, e, d.permit)
}

// lookUp asks the tool that knows. That the call did not happen is believed only of an observation made when the call
// could arrive no more.
func (d *doubt) lookUp(of Outcome, since time.Time) finding {
	p, ok := d.gate.Reconcile(d.permit, d.first.Once)
	if !ok {
		return finding{}
	}
	final := of.Began.Add(d.permit.Settle() - of.Down) // the world's time goes on when ours does not
	for range maxLookUps {
		e := d.effect(d.call.Phase, "asking "+p.Tool())
		e.Timeout = d.call.Timeout
		e.Deadline = e.Deadline.Add(d.run.Now().Sub(since)) // the time since does not count
		seen := CallTool(d.run, e, p)
		if seen.State != OK {
			return finding{}
		}
		happened, known := d.permit.Happened(seen.Output)
		switch {
		case !known:
			return finding{}
		case happened:
			return finding{true, true, d.result(seen)}
		case !seen.Began.Before(final):
			return finding{known: true}
		}
		e = d.effect(d.call.Phase, "")
		e.Kind, e.Name, e.Input, e.Timeout, e.Deadline = TimerEffect, "sleep", []byte("null"), final.Sub(d.run.Now()), time.Time{}
		final = final.Add(-seen.Down - d.run.Do(e).Down)
	}
	return finding{}
}

// askPerson has a person say whether the call happened.
func (d *doubt) askPerson(of Outcome) finding {
	e := d.effect(d.call.Phase, "waiting for a person")
	e.Deadline = time.Time{} // what may have been done is settled even when the run's time is over
	answer := settlement(d.run, e, d.waiting())
	said, _ := answer.Output.(map[string]any)
	happened, clear := said["happened"].(bool)
	if answer.State != OK || !clear {
		still := of
		if answer.Reason == ReasonCanceled {
			still.Reason = ReasonCanceled
		}
		return finding{out: still}
	}
	if !happened {
		return finding{known: true}
	}
	answer.Began = answer.At // a person's time is not the call's
	result, given := said["result"]
	if !given {
		answer.Output, answer.Bytes = map[string]any{"settled": "happened", "by": said["by"]}, 0
		return finding{true, true, answer}
	}
	answer.Output, answer.Bytes = result, 0
	return finding{true, true, d.result(answer)}
}

// result takes what is said to be the call's result, if it is what the call's schema allows.
func (d *doubt) result(said Outcome) Outcome {
	if said.Bytes > 0 && isCut(said.Output) { // the look-up's own schema judged the whole
		return said
	}
	done := d.permit.Judge(said.Output)
	said.Output, said.Bytes = done.Value, done.Bytes
	if done.State != gateway.DoneOK {
		said.State, said.Reason = Failed, ReasonBadResult
	}
	return said
}

// isCut reports whether an observation is the marked beginning of a longer one.
func isCut(observation any) bool {
	obj, _ := observation.(map[string]any)
	return obj["truncated"] == true
}

// waiting is what the run waits for meanwhile.
func (d *doubt) waiting() Waiting {
	w := Waiting{
		Kind: ForSettlement, Phase: d.call.Phase, Effect: d.first.Key, Tool: d.permit.Tool(), ArgsHash: d.permit.Hash(),
		Cause: "crash", SoFar: d.soFar(),
	}
	w.SoFar.StopReason, w.SoFar.Phase = "", ""
	return w
}

// settlement asks a person about a call in doubt. The outcome's output is {happened, result?, by, channel, comment?};
// [ReasonExpired] says that nobody knew in time.
func settlement(run Run, e Effect, w Waiting) Outcome {
	e.Kind, e.Name, e.Timeout, e.Waiting = HumanEffect, "settle", settleTime, &w
	e.Input = ijson.Canonical(map[string]any{"effect": w.Effect, "tool": w.Tool, "args_hash": w.ArgsHash})
	return run.Do(e)
}
