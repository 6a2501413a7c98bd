package kinds

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// What a tool declares about repeating its calls is done here (spec/config.md section 4, retry):
//
//	call ──refused connection────────────────────▶ a pause ──▶ the call again, for every tool
//	  ├──429, 503, 5xx, time-out, lost answer──────▶ a pause ──▶ again, where it may be repeated
//	  └──anything else, or no attempt, time or budget is left: the outcome is the newest attempt's
//
// Each attempt is an effect of its own and a tool call of the budget; the pauses are recorded.

// mayHaveActed reports whether a call changes something and nobody knows whether it did.
func mayHaveActed(p gateway.Permit, out patterns.Outcome) bool {
	return out.State == patterns.Unknown && p.Effect() != catalog.Read
}

// leavesDoubt reports whether such a call is to be found out about: its process ended, its time was over, or its answer was
// lost.
func leavesDoubt(p gateway.Permit, out patterns.Outcome) bool {
	if begins(p) { // what a child run did stands in its own record
		return false
	}
	switch out.Reason {
	case patterns.ReasonInterrupted, patterns.ReasonTimeout, patterns.ReasonBrokenReply:
		return mayHaveActed(p, out)
	}
	return false
}

// pauseBefore is how long the run waits before the attempt after the n-th; false: there is none. least is how often what may
// be repeated is repeated in any case where nobody knows whether it acted: the same act once more is how such a tool is asked
// what became of it.
func pauseBefore(p gateway.Permit, out patterns.Outcome, n, least int) (time.Duration, bool) {
	r := p.Retry()
	most := r.Max
	if p.Repeatable() && leavesDoubt(p, out) && !interrupted(out) {
		most = max(most, least)
	}
	transient := out.Again || out.Reason == patterns.ReasonTimeout || p.Repeatable() && leavesDoubt(p, out)
	switch {
	case n > most, out.State == patterns.OK, out.State == patterns.Canceled, cutReason(out) != "", interrupted(out), !transient:
		return 0, false
	case !p.Repeatable() && out.Reason != patterns.ReasonUnavailable:
		return 0, false
	}
	return max(delay(r, n), out.After), true
}

// leastTries is least of [pauseBefore] in patterns that have retries of their own: these decide about what took too long.
func leastTries(out patterns.Outcome) int {
	if out.Reason == patterns.ReasonTimeout {
		return 0
	}
	return 1
}

// ownRetries reports whether a pattern's own retries alone decide about a call: it may be repeated, and took too long.
func ownRetries(p gateway.Permit, out patterns.Outcome) bool {
	return p.Repeatable() && out.Reason == patterns.ReasonTimeout
}

// doubtOf is why nobody knows whether a call acted, for the attempt after it; empty: it is known.
func doubtOf(p gateway.Permit, out patterns.Outcome) string {
	if leavesDoubt(p, out) {
		return out.Reason
	}
	return ""
}

// delay is the pause after the n-th attempt: twice as long each time.
func delay(r catalog.Retry, n int) time.Duration {
	d := r.Delay
	for range n - 1 {
		if d *= 2; r.MaxDelay > 0 && d >= r.MaxDelay {
			break
		}
	}
	if r.MaxDelay > 0 {
		d = min(d, r.MaxDelay)
	}
	return d
}

// attempts makes a call, and again while its tool declares so. The outcome is the newest attempt's under the first's name;
// n says how many there were.
func (l *log) attempts(run patterns.Run, e patterns.Effect, p gateway.Permit) (_ patterns.Outcome, n int) {
	out := patterns.CallTool(run, e, p)
	first := out
	for n = 1; ; n++ {
		pause, more := pauseBefore(p, out, n, 1)
		if !more || !inTime(e, run, pause) || !l.gate.Again() {
			return out, n
		}
		rested := paused(run, e, p, pause)
		if rested != "" {
			return endedBy(out, rested), n
		}
		e.Said, e.Judged, e.Once, e.Of, e.Doubt = nil, nil, first.Once, first.Key, doubtOf(p, out)
		next := callAgain(run, e, p)
		switch { // it was not made: what is known is of the one before, and a doubt of it is settled whoever refused this one
		case next.State == patterns.Canceled && cutReason(next) == "" && leavesDoubt(p, out):
			return out, n
		case next.State == patterns.Canceled:
			return endedBy(out, next.Reason), n
		}
		out = next.As(first)
	}
}

// inTime reports whether an attempt after that pause begins before the effect's deadline.
func inTime(e patterns.Effect, run patterns.Run, pause time.Duration) bool {
	return e.Deadline.IsZero() || run.Now().Add(pause).Before(e.Deadline)
}

// paused pauses a call's branch before its next attempt. The reason, an engine's, says what ended the run meanwhile.
func paused(run patterns.Run, e patterns.Effect, p gateway.Permit, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	out := patterns.Pause(run, pauseOf(e, p), d)
	if cutReason(out) == "" {
		return ""
	}
	return out.Reason
}

// pauseOf is the pause before a call is made again.
func pauseOf(e patterns.Effect, p gateway.Permit) patterns.Effect {
	return patterns.Effect{Phase: e.Phase, Doing: p.Tool() + " is called again soon", Deadline: e.Deadline, Untimed: e.Untimed}
}

// endedBy is the outcome where the attempt after it was not made. What may have happened stays unknown.
func endedBy(o patterns.Outcome, reason string) patterns.Outcome {
	o.Reason, o.Again = reason, false
	return o
}
