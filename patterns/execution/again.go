package execution

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"patterngate/patterns"
)

// again continues an effect that was begun in an earlier life and has no outcome. An effect that changes nothing, or
// that may be repeated, is performed again under the same key. For any other effect the outcome is unknown.
func (b *branch) again(m *memory, key string, e patterns.Effect) patterns.Outcome {
	a := act{key: key, once: m.outcome.Once, effect: e, order: m.outcome.Order, began: m.began, idle: m.idle}
	call, isCall := callOf(e)
	b.see(e, 0)
	now := b.Backing.Now()
	began := m.began // a pause keeps its start; another effect gets its full time again, as it did not cause the interruption
	if !does[patterns.PauseAct](e) {
		began = now
	}
	wait, waits := b.patience(e)
	due, reason := b.limit(e, began)
	held, known := b.Host.Unrecorded(key)
	first, isDone := b.duplicated(key, e)
	switch {
	case isDone:
		return b.finish(a, first)
	case does[patterns.PlanAct](e): // what was not recorded was not stored, and a second load changes nothing
	case beginsRun(e) && !known:
		return b.finish(a, b.callPattern(a, b.childTime(m, key), true))
	case known: // this process knows the outcome and could not record it
		return b.finish(a, held)
	case b.ending.taken:
		return b.finish(a, cutOutcome(e, patterns.ReasonCanceled))
	case b.unsent(key, e):
		return b.finish(a, patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonOnceReused})
	case waits && now.Before(waitsUntil(e, m.began, wait)):
		b.park(key, e, m.began, wait)
	case waits:
		return b.finish(a, patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired})
	case isCall && b.ungranted(key, a.once, call.Permit, true) != "": // the approval does not permit this call
		return b.finish(a, patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonInterrupted})
	case !repeatable(e) || m.tries >= MaxTries && !does[patterns.PauseAct](e): // a pause cannot end a process
		return b.finish(a, patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonInterrupted})
	case !due.IsZero() && !now.Before(due):
		return b.finish(a, cutOutcome(e, reason))
	case b.isStopped(e):
		return b.finish(a, stoppedOutcome(e))
	}
	if isCall { // it may have been sent
		call.Attempt.Doubt = cmp.Or(call.Attempt.Doubt, patterns.ReasonBrokenReply)
		a.effect.Act = call
	}
	return b.made(a, began)
}

// MaxTries is how often an effect is performed again if the process ends each time. It also limits how often the engine
// repeats other work after a conflict.
const MaxTries = 8

// repeatable reports whether an effect may be performed again if it is unknown whether it was performed.
func repeatable(e patterns.Effect) bool {
	call, isCall := callOf(e)
	return !isCall || call.Permit.Repeatable()
}

// cutOutcome returns the outcome of an effect that did not end in time. For a call it is unknown, because the call may
// have happened.
func cutOutcome(e patterns.Effect, reason string) patterns.Outcome {
	switch {
	case does[patterns.PauseAct](e) && reason != patterns.ReasonCanceled:
		return patterns.Outcome{State: patterns.OK}
	case does[patterns.PauseAct](e), e.Waiting() != nil:
		return patterns.Outcome{State: patterns.Canceled, Reason: reason}
	case does[patterns.CallAct](e):
		return patterns.Outcome{State: patterns.Unknown, Reason: reason}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: reason, Cost: patterns.Cost{Usage: patterns.Usage{Requests: 1}}}
}

// stoppedOutcome returns the outcome of an effect that an earlier life began and that a kill switch keeps from being
// performed again.
func stoppedOutcome(e patterns.Effect) patterns.Outcome {
	out := cutOutcome(e, patterns.ReasonKillSwitch)
	if does[patterns.AskAct](e) {
		out.Usage = patterns.Usage{}
	}
	return out
}

// onceOf returns the idempotency key of a call under a key: its own, or the engine's.
func onceOf(run, key string, call patterns.CallAct) string {
	if call.Once != "" {
		return call.Once
	}
	return onceKey(run, key)
}

// onceKey returns the idempotency key of a call: pg_ and a hash of the run's id and the effect's key.
func onceKey(run, key string) string {
	sum := sha256.Sum256([]byte(run + "/" + key))
	return "pg_" + hex.EncodeToString(sum[:16])
}
