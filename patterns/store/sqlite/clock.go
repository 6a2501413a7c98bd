package sqlite

import (
	"sync/atomic"
	"time"
)

// clock is wall time that never goes back, neither while the process lives nor over a restart. It is safe for concurrent
// use.
type clock struct {
	wall   atomic.Int64 // at the beginning, microseconds since 1970; tests move it
	opened time.Time    // the same, for its monotonic reading
	last   atomic.Int64 // microseconds since 1970
}

// newClock goes on from a remembered time.
func newClock(remembered int64) *clock {
	opened := time.Now()
	c := &clock{opened: opened}
	c.wall.Store(opened.UnixMicro())
	c.last.Store(remembered)
	return c
}

// now is the later of the wall clock, of the wall clock at the beginning plus what the monotonic one says since (the
// wall may have been set back), and of the newest time that it gave or remembers. In whole microseconds.
func (c *clock) Now() time.Time {
	wall := time.Now()
	at := max(wall.UnixMicro(), c.wall.Load()+wall.Sub(c.opened).Microseconds())
	for {
		last := c.last.Load()
		if at <= last {
			return time.UnixMicro(last)
		}
		if c.last.CompareAndSwap(last, at) {
			return time.UnixMicro(at)
		}
	}
}
