package local

import (
	"time"

	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// delivered is a result that was given to its caller.
type delivered struct {
	principal string
	stored    time.Time // when the store learned of it; zero: not yet
}

// deliveredFor is how long a delivery is remembered after the store learned of it. A call that was refused because of the run may be told
// so only after that: then it must not be given the result once more.
const deliveredFor = 5 * time.Second

// Delivered implements [patterns.Runs]. The store learns of it with the next look of the scheduler, of many runs at once. If this process
// is killed before, an equal call is given the result once more.
func (f *file) Delivered(principal, id string) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered[n] = delivered{principal: principal}
}

// isDelivered reports whether a result was given to its caller, as far as this process knows besides the store.
func (f *file) isDelivered(n int64, principal string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.delivered[n]
	return ok && d.principal == principal
}

// deliver tells the store what was delivered.
func (f *file) deliver() {
	var steps []store.Step
	var list []int64
	f.mu.Lock()
	for n, d := range f.delivered {
		switch {
		case d.stored.IsZero():
			steps, list = append(steps, store.Deliver{N: n, Principal: d.principal}), append(list, n)
		case time.Since(d.stored) > deliveredFor:
			delete(f.delivered, n)
		}
	}
	f.mu.Unlock()
	if len(steps) == 0 {
		return
	}
	if err := f.journal.Do(&store.Change{Steps: steps}); err != nil {
		return // with the next look
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range list {
		if d := f.delivered[n]; d.stored.IsZero() {
			d.stored = time.Now()
			f.delivered[n] = d
		}
	}
}
