package local

import (
	"crypto/sha256"
	"encoding/hex"

	"patterngate/patterns"
)

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
