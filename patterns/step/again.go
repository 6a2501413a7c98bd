package step

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// This file repeats calls as their tools declare (spec/config.md section 4, retry):
//
//	call ──refused connection────────────────────▶ a pause ──▶ the call again, for every tool
//	  ├──429, 503, 5xx, time-out, lost answer──────▶ a pause ──▶ again, where it may be repeated
//	  └──anything else, or no attempt, time or budget is left: the outcome is the newest attempt's
//
// Each attempt is an effect of its own and counts as a tool call in the budget. The pauses are recorded.

// MayHaveActed reports whether a call may have changed something: its outcome is unknown, and its tool does more than read.
func MayHaveActed(p gateway.Permit, out patterns.Outcome) bool {
	return out.State == patterns.Unknown && p.Effect() != catalog.Read
}

// LeavesDoubt reports whether a call is in doubt. Its process ended, it timed out or its answer was lost, and its tool does more
// than read. It is false for a call that begins a child run.
func LeavesDoubt(p gateway.Permit, out patterns.Outcome) bool {
	if BeginsRun(p) { // the child's own record says what it did
		return false
	}
	switch out.Reason {
	case patterns.ReasonInterrupted, patterns.ReasonTimeout, patterns.ReasonBrokenReply:
		return MayHaveActed(p, out)
	}
	return false
}

// PauseBefore returns how long to wait before the attempt after the n-th, counted from 1. It returns false if no attempt
// follows. least is the lowest number of repeats of a repeatable call in doubt that was not interrupted: repeating it shows what
// it did.
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

// LeastTries returns the argument least of [PauseBefore] for patterns with retries of their own. It is 0 after a timeout, which
// those retries handle, and 1 otherwise.
func LeastTries(out patterns.Outcome) int {
	if out.Reason == patterns.ReasonTimeout {
		return 0
	}
	return 1
}

// PatternRetries reports whether the pattern's own retries alone decide about a call: it is repeatable and timed out.
func PatternRetries(p gateway.Permit, out patterns.Outcome) bool {
	return p.Repeatable() && out.Reason == patterns.ReasonTimeout
}

// DoubtOf returns why a call is in doubt, for the [patterns.Attempt] after it. It returns "" if the call is not in
// doubt.
func DoubtOf(p gateway.Permit, out patterns.Outcome) string {
	if LeavesDoubt(p, out) {
		return out.Reason
	}
	return ""
}

// delay returns the pause after the n-th attempt. It doubles with each attempt, up to r.MaxDelay if that is set.
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

// attempts makes a call and repeats it as its tool declares. It returns the outcome of the newest attempt under the first one's
// key, and the number of attempts made.
func (l *Log) attempts(run patterns.Run, e patterns.Effect, c patterns.CallAct) (_ patterns.Outcome, n int) {
	p, out := c.Permit, patterns.CallTool(run, e, c)
	first := out
	for n = 1; ; n++ {
		pause, more := PauseBefore(p, out, n, 1)
		if !more || !InTime(e, run, pause) || !l.Gate.Again() {
			return out, n
		}
		rested := Pause(run, e, p, pause)
		if rested != "" {
			return WithReason(out, rested), n
		}
		e.Said, e.Judged = nil, nil
		c.Once, c.Attempt.Of, c.Attempt.Doubt = first.Once, first.Key, DoubtOf(p, out)
		next := callAgain(run, e, c)
		switch { // the attempt was not made: the outcome before it counts, and its doubt is settled whatever refused this attempt
		case next.State == patterns.Canceled && CutReason(next) == "" && LeavesDoubt(p, out):
			return out, n
		case next.State == patterns.Canceled:
			return WithReason(out, next.Reason), n
		}
		out = next.As(first)
	}
}

// InTime reports whether an attempt after this pause would begin before the effect's deadline. It is true if there is no
// deadline.
func InTime(e patterns.Effect, run patterns.Run, pause time.Duration) bool {
	return e.Deadline.IsZero() || run.Now().Add(pause).Before(e.Deadline)
}

// Pause pauses the branch before a call's next attempt. It returns "" when the pause is over, or the engine's reason if the run
// ended during the pause.
func Pause(run patterns.Run, e patterns.Effect, p gateway.Permit, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	out := patterns.Pause(run, PauseEffect(e, p), patterns.PauseAct{}, d)
	if CutReason(out) == "" {
		return ""
	}
	return out.Reason
}

// PauseEffect returns the effect of the pause before a call is made again.
func PauseEffect(e patterns.Effect, p gateway.Permit) patterns.Effect {
	return patterns.Effect{Phase: e.Phase, Doing: p.Tool() + " is called again soon", Deadline: e.Deadline, Untimed: e.Untimed}
}

// WithReason returns an outcome with this reason and without a further attempt. Its state stays: a call that may have happened
// stays unknown.
func WithReason(o patterns.Outcome, reason string) patterns.Outcome {
	o.Reason, o.Again = reason, false
	return o
}
