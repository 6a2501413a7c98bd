package transport

import (
	"fmt"
	"sync/atomic"
)

// slots bound how many calls are under way at once, over all connections of a [server.Server]. They are safe for concurrent
// use.
type slots struct {
	most  atomic.Int64
	taken atomic.Int64
}

// take reports whether one more call may begin; it then has to be given back.
func (s *slots) take() bool {
	if s.taken.Add(1) > s.most.Load() {
		s.taken.Add(-1)
		return false
	}
	return true
}

func (s *slots) give() { s.taken.Add(-1) }

// running is how many calls are under way.
func (s *slots) running() int { return int(s.taken.Load()) }

// busy is the answer to a call for which there is no slot.
func (s *slots) busy(id string) *frameFault {
	return &frameFault{codeBusy, id, fmt.Sprintf("busy: %d calls are under way, which is the limit; try again; nothing ran", s.most.Load())}
}
