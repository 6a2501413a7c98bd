package local

import (
	"cmp"

	"patterngate/patterns"
)

// again continues an effect that was begun in an earlier life and has no outcome. An effect that changes nothing, or
// that may be repeated, is performed again under the same key. For any other effect the outcome is unknown.
func (b *branch) again(m *memory, key string, e patterns.Effect) patterns.Outcome {
	a := act{key: key, once: m.outcome.Once, effect: e, order: m.outcome.Order, began: m.began, idle: m.idle}
	call, isCall := callOf(e)
	b.see(e, 0)
	now := b.engine.now()
	began := m.began // a pause keeps its start; another effect gets its full time again, as it did not cause the interruption
	if !does[patterns.PauseAct](e) {
		began = now
	}
	wait, waits := b.patience(e)
	due, reason := b.limit(e, began)
	held, known := b.engine.held(b.id, key)
	first, isDone := b.duplicated(key, e)
	switch {
	case isDone:
		return b.finish(a, first)
	case does[patterns.PlanAct](e): // what was not recorded was not stored, and a second load changes nothing
	case beginsRun(e) && !known:
		return b.finish(a, b.callPattern(a, b.childTime(m, key), true))
	case known: // this process knows the outcome and could not record it
		return b.finish(a, held)
	case b.taken:
		return b.finish(a, cutOutcome(e, patterns.ReasonCanceled))
	case b.unsent(key, e):
		return b.finish(a, patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonOnceReused})
	case waits && now.Before(lapses(e, m.began, wait)):
		b.park(key, e, m.began, wait)
	case waits:
		return b.finish(a, patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired})
	case isCall && b.ungranted(key, a.once, call.Permit, true) != "": // the approval does not permit this call
		return b.finish(a, patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonInterrupted})
	case !repeatable(e) || m.tries >= maxTries && !does[patterns.PauseAct](e): // a pause cannot end a process
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

// maxTries is how often an effect is performed again if the process ends each time. It also limits how often the engine
// repeats other work after a conflict.
const maxTries = 8

// repeatable reports whether an effect may be performed again if it is unknown whether it was performed.
func repeatable(e patterns.Effect) bool {
	call, isCall := callOf(e)
	return !isCall || call.Permit.Repeatable()
}
