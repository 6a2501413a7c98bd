package execution

import (
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// A life keeps its state in four parts. The baton guards them.

// budget is what a run has used up.
type budget struct {
	quotas map[string]int
	order  int // intents so far
	calls  int // of tools, among them
	asked  int // requests to the model
}

// take uses up an effect's quotas, all or none. If one is spent it returns that quota's name.
func (b *budget) take(quotas []patterns.Quota) (spent string) {
	for _, q := range quotas {
		if b.quotas[q.Name] >= q.Limit {
			return q.Name
		}
	}
	for _, q := range quotas {
		b.quotas[q.Name]++
	}
	return ""
}

// giveBack returns the quotas of an effect that did not begin.
func (b *budget) giveBack(quotas []patterns.Quota) {
	for _, q := range quotas {
		b.quotas[q.Name]--
	}
}

// clock is the time of a run, and the parts of it that do not count as the run's own.
type clock struct {
	waited waited        // for its caller and for people
	idle   time.Duration // time in which no process carried the run out
	latest time.Time     // time of the newest recorded outcome of any branch; before that of the start
}

// rested returns how long the run waited, or was carried out by no process.
func (c *clock) rested() time.Duration { return c.waited.sum + c.idle }

// virtual returns a time as pattern code sees it. It leaves out the time in which no process carried out the run, so it
// is that much earlier.
func (c *clock) virtual(at time.Time) time.Time { return at.Add(-c.idle) }

// deadline returns the deadline of an effect that has one, as pattern code sees times. Time in which the run waited for
// its caller or for people can make it later.
func (c *clock) deadline(e patterns.Effect, now time.Time) time.Time {
	if e.Untimed.IsZero() {
		return e.Deadline
	}
	if rested := e.Untimed.Add(c.waited.until(now)); rested.After(e.Deadline) {
		return rested
	}
	return e.Deadline
}

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

// ending is why a life comes to rest, and how.
type ending struct {
	cause      error               // why the run cannot continue; nil: it can
	parked     []*patterns.Waiting // what branches wait for that have ended
	onChildren []store.Standing    // child runs that branches wait for, and their rows when they began to wait
	taken      bool                // the run is canceled: no effect begins any more
	noted      bool                // the record says who canceled it
	left       bool                // a branch ended because the life quit
	over       bool                // the life has come to rest and takes no more requests
}

// firstParked returns the wait that is shown if several branches wait: the one with the first key.
func (e *ending) firstParked() *patterns.Waiting {
	return slices.MinFunc(e.parked, func(a, b *patterns.Waiting) int { return compareKeys(a.Key, b.Key) })
}

// earliest returns the first time limit of what a run waits for. If own is set, it leaves out what the child runs wait for: the
// parent continues when they do. The zero time means that there is no limit.
func (e *ending) earliest(own bool) time.Time {
	var first time.Time
	for _, w := range e.parked {
		if w.Until.IsZero() || own && w.Child != "" {
			continue
		}
		if first.IsZero() || w.Until.Before(first) {
			first = w.Until
		}
	}
	return first
}

// people is what a run has asked people.
type people struct {
	questions map[string]*patterns.Waiting // that the code has asked, by approval
	granted   map[string]string            // approvals that were used, by the idempotency key of their call
}
