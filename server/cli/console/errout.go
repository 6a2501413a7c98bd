package console

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what waits to be written to standard error.
const (
	maxErrLines = 1000
	errParting  = 250 * time.Millisecond // how long End waits for the last lines
)

// ErrOut writes lines to standard error from a goroutine of its own. Many clients start a server and never read its standard error. When
// the pipe is full, a write never returns, and no run may wait for that. ErrOut drops and counts the lines that do not fit. It is safe for
// concurrent use.
type ErrOut struct {
	to    io.Writer
	lines chan []byte
	lost  atomic.Int64
	tell  func(lost int64) // writes how many lines were dropped
	over  chan struct{}    // closed by End: no line is written any more
	idle  chan struct{}    // closed when everything is written
	once  sync.Once
}

// NewErrOut returns an ErrOut for a stream. It calls tell with the number of dropped lines when the stream takes lines again.
func NewErrOut(to io.Writer, tell func(lost int64)) *ErrOut {
	e := &ErrOut{to: to, tell: tell, lines: make(chan []byte, maxErrLines), over: make(chan struct{}), idle: make(chan struct{})}
	go e.write()
	return e
}

// Write takes one line and never waits. It never returns an error.
func (e *ErrOut) Write(line []byte) (int, error) {
	select {
	case e.lines <- append([]byte(nil), line...):
	default:
		e.lost.Add(1)
	}
	return len(line), nil
}

func (e *ErrOut) write() {
	defer close(e.idle)
	for {
		select {
		case line := <-e.lines:
			e.put(line)
		case <-e.over:
			for len(e.lines) > 0 {
				e.put(<-e.lines)
			}
			return
		}
	}
}

// put writes a line. If lines were dropped before it, put then says how many.
func (e *ErrOut) put(line []byte) {
	_, _ = e.to.Write(line)
	if n := e.lost.Swap(0); n > 0 {
		e.tell(n)
	}
}

// End waits up to 250 ms for the queued lines and reports whether all were written. Later lines are lost.
func (e *ErrOut) End() bool {
	e.once.Do(func() { close(e.over) })
	timer := time.NewTimer(errParting)
	defer timer.Stop()
	select {
	case <-e.idle:
		return true
	case <-timer.C:
		return false
	}
}
