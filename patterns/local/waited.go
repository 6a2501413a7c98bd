package local

import (
	"time"

	"patterngate/patterns"
)

// waited adds up for how long a run has waited for its caller and for people. What several wait for at the same time counts
// once. The zero waited is none.
type waited struct {
	open  int
	since time.Time // where some are open
	sum   time.Duration
}

// isWait says that the time of an effect is somebody's and not the run's.
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

// until is the time up to now, with that of waits that go on.
func (w *waited) until(now time.Time) time.Duration {
	if w.open == 0 {
		return w.sum
	}
	return w.sum + max(0, now.Sub(w.since))
}

// skip leaves out a time that is counted elsewhere.
func (w *waited) skip(d time.Duration) { w.since = w.since.Add(d) }
