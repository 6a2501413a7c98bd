package planexecute

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// repeats reports whether another attempt follows a call that did not succeed, and after how many seconds.
func (x *execution) repeats(i int, p gateway.Permit, out patterns.Outcome) (pause float64, ok bool) {
	n := x.attempts[i]
	switch {
	case out.State == patterns.OK, out.State == patterns.Canceled, step.CutReason(out) != "", step.Interrupted(out):
		return 0, false
	case out.Reason == patterns.ReasonTimeout && p.Repeatable() && x.call.OnFailure == patterns.RetryOnFailure && n <= x.call.MaxRetries:
		return x.pauseBefore(x.plan.Subtasks[i].ID, n), true
	}
	d, more := step.PauseBefore(p, out, n, step.LeastTries(out))
	return d.Seconds(), more && x.Spec.Budget.MaxToolCalls.Allows(x.tools+x.undecided+1)
}

// restBefore records a failed attempt after which another attempt follows.
func (x *execution) restBefore(i int, row patterns.AttemptRow, reason string, pause float64) {
	x.tried(i, row, reason)
	x.pause[i] = pause
	x.rests[i] = true
	x.resting = append(x.resting, i)
}

// lost ends a subtask that has no further attempt.
func (x *execution) lost(i int, row patterns.AttemptRow, reason string) {
	s := x.tried(i, row, reason)
	if s.StopReason = reason; x.call.OnFailure == patterns.SkipOnFailure {
		s.Status = patterns.SubtaskSkipped
		return
	}
	s.Status = patterns.SubtaskFailed
	x.fault(i)
}

// tried records a failed attempt.
func (x *execution) tried(i int, row patterns.AttemptRow, reason string) *patterns.PlannedSubtask {
	row.StopReason = reason
	x.add(i, row)
	s := &x.plan.Subtasks[i]
	s.Attempts = max(x.attempts[i], 1)
	return s
}

// transient reports whether the same attempt may succeed later.
func transient(reason string) bool {
	switch reason {
	case "subtask_timeout", "llm_timeout", "llm_unreachable", "llm_error:rate_limit", "llm_error:server":
		return true
	}
	return strings.HasPrefix(reason, string(gateway.ExecutorFamily)+"_unavailable:")
}

// pauseBefore returns the pause before the n-th retry, in seconds. It doubles with each retry. Up to a tenth is added, which
// depends only on the run, the subtask and n.
func (x *execution) pauseBefore(id string, n int) float64 {
	seed := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", x.Run.ID(), id, n))
	more := float64(binary.BigEndian.Uint32(seed[:4])) / (1 << 32) / 10
	pause := math.Min(maxPause, x.call.RetryDelay.Seconds()*math.Pow(2, float64(n-1)))
	return math.Floor(pause*(1+more)*1000) / 1000
}
