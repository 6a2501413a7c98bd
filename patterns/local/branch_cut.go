package local

import (
	"crypto/sha256"
	"encoding/hex"

	"patterngate/patterns"
)

// cutOutcome is the outcome of an effect that did not end in time. A call may have happened.
func cutOutcome(e patterns.Effect, reason string) patterns.Outcome {
	switch {
	case e.Kind == patterns.TimerEffect && reason != patterns.ReasonCanceled:
		return patterns.Outcome{State: patterns.OK}
	case e.Kind == patterns.TimerEffect, e.Waiting != nil:
		return patterns.Outcome{State: patterns.Canceled, Reason: reason}
	case e.Kind == patterns.ToolEffect:
		return patterns.Outcome{State: patterns.Unknown, Reason: reason}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: reason, Usage: patterns.Usage{Requests: 1}}
}

// stoppedOutcome is that of an effect that was begun in an earlier life, and is not done again because of a kill switch.
func stoppedOutcome(e patterns.Effect) patterns.Outcome {
	out := cutOutcome(e, patterns.ReasonKillSwitch)
	if e.Kind == patterns.ModelEffect {
		out.Usage = patterns.Usage{}
	}
	return out
}

// onceKey is the identity of an act in the world: of the run and the effect's place in it.
func onceKey(run, key string) string {
	sum := sha256.Sum256([]byte(run + "/" + key))
	return "pg_" + hex.EncodeToString(sum[:16])
}
