package local

import (
	"maps"

	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Delivered implements [patterns.Runs]. The state file stores the delivery with the next tick, together with those of
// other runs. If this process is killed before that, an equal call receives the result once more.
func (f *file) Delivered(principal, id string) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered[n] = principal
}

// isDelivered reports whether this process has noted a result as delivered that the file may not have noted yet.
func (f *file) isDelivered(n int64, principal string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	whose, ok := f.delivered[n]
	return ok && whose == principal
}

// deliver writes the noted deliveries to the file.
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
		return // the next tick tries again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range list {
		delete(f.delivered, n)
	}
}
