package transport

import (
	"sync/atomic"
)

// slots limit how many calls are under way at once, over all connections of a [Server]. The zero slots allow none. They
// are safe for concurrent use.
type slots struct {
	most  atomic.Int64
	taken atomic.Int64
}

// take takes a slot for one more call. It reports whether there was one; the caller then must give it back.
func (s *slots) take() bool {
	if s.taken.Add(1) > s.most.Load() {
		s.taken.Add(-1)
		return false
	}
	return true
}

func (s *slots) give() { s.taken.Add(-1) }

// running returns how many calls are under way.
func (s *slots) running() int { return int(s.taken.Load()) }

// busy returns the answer to the call with that id, for which there is no slot.
func (s *slots) busy(id string) *frameFault {
	return &frameFault{codeBusy, id, busyCalls(s.most.Load())}
}
