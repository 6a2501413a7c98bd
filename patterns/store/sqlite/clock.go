package sqlite

import (
	"sync/atomic"
	"time"
)

// clock tells wall time that never goes back, neither while the process lives nor after a restart. It is safe for concurrent use.
type clock struct {
	wall   atomic.Int64 // at the start, microseconds since 1970; tests change it
	opened time.Time    // the same time, with its monotonic reading
	last   atomic.Int64 // newest time given, microseconds since 1970
}

// newClock makes a clock that is never before a remembered time, in microseconds since 1970.
func newClock(remembered int64) *clock {
	opened := time.Now()
	c := &clock{opened: opened}
	c.wall.Store(opened.UnixMicro())
	c.last.Store(remembered)
	return c
}

// Now returns the latest of three times, in whole microseconds:
//
//   - the wall clock;
//   - the wall clock at the start plus the time since by the monotonic clock, because the wall clock can be set back;
//   - the newest time that the clock returned or remembers.
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
