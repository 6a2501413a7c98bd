package step

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

// MayHaveActed reports whether a call changes something and nobody knows whether it did.
func MayHaveActed(p gateway.Permit, out patterns.Outcome) bool {
	return out.State == patterns.Unknown && p.Effect() != catalog.Read
}

// LeavesDoubt reports whether such a call is to be found out about: its process ended, its time was over, or its answer was
// lost.
func LeavesDoubt(p gateway.Permit, out patterns.Outcome) bool {
	if BeginsRun(p) { // what a child run did stands in its own record
		return false
	}
	switch out.Reason {
	case patterns.ReasonInterrupted, patterns.ReasonTimeout, patterns.ReasonBrokenReply:
		return MayHaveActed(p, out)
	}
	return false
}

// PauseBefore is how long the run waits before the attempt after the n-th; false: there is none. least is how often what may
// be repeated is repeated in any case where nobody knows whether it acted: the same act once more is how such a tool is asked
// what became of it.
func PauseBefore(p gateway.Permit, out patterns.Outcome, n, least int) (time.Duration, bool) {
	r := p.Retry()
	most := r.Max
	if p.Repeatable() && LeavesDoubt(p, out) && !Interrupted(out) {
		most = max(most, least)
	}
	transient := out.Again || out.Reason == patterns.ReasonTimeout || p.Repeatable() && LeavesDoubt(p, out)
	switch {
	case n > most, out.State == patterns.OK, out.State == patterns.Canceled, CutReason(out) != "", Interrupted(out), !transient:
		return 0, false
	case !p.Repeatable() && out.Reason != patterns.ReasonUnavailable:
		return 0, false
	}
	return max(delay(r, n), out.After), true
}

// LeastTries is least of [PauseBefore] in patterns that have retries of their own: these decide about what took too long.
func LeastTries(out patterns.Outcome) int {
	if out.Reason == patterns.ReasonTimeout {
		return 0
	}
	return 1
}

// OwnRetries reports whether a pattern's own retries alone decide about a call: it may be repeated, and took too long.
func OwnRetries(p gateway.Permit, out patterns.Outcome) bool {
	return p.Repeatable() && out.Reason == patterns.ReasonTimeout
}

// DoubtOf is why nobody knows whether a call acted, for the attempt after it; empty: it is known.
func DoubtOf(p gateway.Permit, out patterns.Outcome) string {
	if LeavesDoubt(p, out) {
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
func (l *Log) attempts(run patterns.Run, e patterns.Effect, p gateway.Permit) (_ patterns.Outcome, n int) {
	out := patterns.CallTool(run, e, p)
	first := out
	for n = 1; ; n++ {
		pause, more := PauseBefore(p, out, n, 1)
		if !more || !InTime(e, run, pause) || !l.Gate.Again() {
			return out, n
		}
		rested := PauseFor(run, e, p, pause)
		if rested != "" {
			return EndedBy(out, rested), n
		}
		e.Said, e.Judged, e.Once, e.Of, e.Doubt = nil, nil, first.Once, first.Key, DoubtOf(p, out)
		next := callAgain(run, e, p)
		switch { // it was not made: what is known is of the one before, and a doubt of it is settled whoever refused this one
		case next.State == patterns.Canceled && CutReason(next) == "" && LeavesDoubt(p, out):
			return out, n
		case next.State == patterns.Canceled:
			return EndedBy(out, next.Reason), n
		}
		out = next.As(first)
	}
}

// InTime reports whether an attempt after that pause begins before the effect's deadline.
func InTime(e patterns.Effect, run patterns.Run, pause time.Duration) bool {
	return e.Deadline.IsZero() || run.Now().Add(pause).Before(e.Deadline)
}

// PauseFor pauses a call's branch before its next attempt. The reason, an engine's, says what ended the run meanwhile.
func PauseFor(run patterns.Run, e patterns.Effect, p gateway.Permit, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	out := patterns.Pause(run, PauseOf(e, p), d)
	if CutReason(out) == "" {
		return ""
	}
	return out.Reason
}

// PauseOf is the pause before a call is made again.
func PauseOf(e patterns.Effect, p gateway.Permit) patterns.Effect {
	return patterns.Effect{Phase: e.Phase, Doing: p.Tool() + " is called again soon", Deadline: e.Deadline, Untimed: e.Untimed}
}

// EndedBy is the outcome where the attempt after it was not made. What may have happened stays unknown.
func EndedBy(o patterns.Outcome, reason string) patterns.Outcome {
	o.Reason, o.Again = reason, false
	return o
}
