package local

import (
	"time"

	"patterngate/patterns"
)

// waited sums how long a run has waited for its caller and for people. Waits at the same time count once. The zero waited is no
// time.
type waited struct {
	open  int
	since time.Time // if some are open
	sum   time.Duration
}

// isWait reports whether an effect waits for a person or the caller, so that its time does not count as the run's own.
func isWait(kind patterns.EffectKind, name string) bool {
	return kind == patterns.HumanEffect || name == "turn"
}

func (w *waited) begin(at time.Time) {
	if w.open++; w.open == 1 {
		w.since = at
	}
}

func (w *waited) end(at time.Time) {
	if w.open--; w.open == 0 {
		w.sum += max(0, at.Sub(w.since))
	}
}

// until returns the sum up to now, with the open waits.
func (w *waited) until(now time.Time) time.Duration {
	if w.open == 0 {
		return w.sum
	}
	return w.sum + max(0, now.Sub(w.since))
}

// skip leaves out a time that is counted as idle time.
func (w *waited) skip(d time.Duration) { w.since = w.since.Add(d) }
