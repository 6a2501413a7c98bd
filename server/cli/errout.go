package cli

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what waits to be written to standard error.
const (
	maxErrLines = 1000
	errParting  = 250 * time.Millisecond // for the last lines when the program ends
)

// errOut writes lines to standard error from a goroutine of its own. Many clients start a server and never read its
// standard error: once the pipe is full a write lasts for ever, and no run may wait for that. What finds no place is
// dropped and counted. It is safe for concurrent use.
type errOut struct {
	to    io.Writer
	lines chan []byte
	lost  atomic.Int64
	tell  func(lost int64) // writes to to how many lines were dropped
	over  chan struct{}    // closed by end: nothing comes any more
	idle  chan struct{}    // closed when everything is written
	once  sync.Once
}

func newErrOut(to io.Writer, tell func(lost int64)) *errOut {
	e := &errOut{to: to, tell: tell, lines: make(chan []byte, maxErrLines), over: make(chan struct{}), idle: make(chan struct{})}
	go e.write()
	return e
}

// Write takes one line and never waits. It reports no error: nobody is left who could be told.
func (e *errOut) Write(line []byte) (int, error) {
	select {
	case e.lines <- append([]byte(nil), line...):
	default:
		e.lost.Add(1)
	}
	return len(line), nil
}

func (e *errOut) write() {
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

// put writes a line and then, where others were dropped before it got out, how many.
func (e *errOut) put(line []byte) {
	_, _ = e.to.Write(line)
	if n := e.lost.Swap(0); n > 0 {
		e.tell(n)
	}
}

// end gives the lines that wait a moment to get out and reports whether all did. Lines that come later are lost.
func (e *errOut) end() bool {
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
