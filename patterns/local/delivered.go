package local

import (
	"maps"

	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Delivered implements [patterns.Runs]. The file learns of it with the next tick, of many runs at once: when this process
// is killed before, an equal call is given the result once more.
func (f *file) Delivered(principal, id string) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered[n] = principal
}

// isDelivered says whether a result was given to its caller, as far as this process knows besides the file.
func (f *file) isDelivered(n int64, principal string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	whose, ok := f.delivered[n]
	return ok && whose == principal
}

// deliver has the file learn what was delivered.
func (f *file) deliver() {
	f.mu.Lock()
	if len(f.delivered) == 0 {
		f.mu.Unlock()
		return
	}
	list := maps.Clone(f.delivered)
	f.mu.Unlock()
	var steps []store.Step
	for n, principal := range list {
		steps = append(steps, store.Deliver{N: n, Principal: principal})
	}
	err := f.journal.Do(&store.Change{Steps: steps})
	if err != nil {
		return // with the next tick
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range list {
		delete(f.delivered, n)
	}
}
