package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
)

// A process that leaves its runs lets a call that changes something come to its end: it is made once, and nobody is asked
// whether it happened. Nothing more is begun.
func TestLeaveInTheMiddleOfAWrite(t *testing.T) {
	path, source, g := newState(t), &begun{}, newGate(t, catalog.Write)
	job := g.job(t, 3)
	first := openPort(t, path, source)
	id := first.beginning(t, job)
	<-g.entered
	if n := first.Going(); n != 1 {
		t.Errorf("Going() = %d, want 1", n)
	}
	left := make(chan struct{})
	go func() { defer close(left); first.Leave(t.Context()) }()
	select {
	case <-left:
		t.Fatal("Leave returned in the middle of the call")
	case <-time.After(20 * time.Millisecond): // it waits for the gate
	}
	close(g.open)
	<-left
	if n := first.Going(); n != 0 {
		t.Errorf("afterwards Going() = %d, want 0", n)
	}
	next := openPort(t, path, source) // the first one need not have ended
	if s := next.until(t, id, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("the run ended %s", s.Ended.Result.StopReason)
	}
	if calls := 1 + len(g.entered); calls != 3 {
		t.Errorf("%d calls were made, want 3", calls)
	}
}

// What changes nothing is cut at once, and a call that waits keeps its run.
func TestLeaveCutsReads(t *testing.T) {
	path, source, g := newState(t), &begun{}, newGate(t, catalog.Read)
	job := g.job(t, 2)
	e := openPort(t, path, source)
	id := e.beginning(t, job)
	<-g.entered
	ended := make(chan patterns.Ended, 1)
	go func() {
		r, _ := e.Start(context.Background(), job)
		ended <- r
	}()
	<-g.entered
	e.Leave(t.Context())
	if s, ok := e.Run(mine, id); !ok || s.State != patterns.Running {
		t.Errorf("the run that was left is %+v, %v", s, ok)
	}
	close(g.open)
	if r := <-ended; !r.Result.OK() {
		t.Errorf("the call was told %s", r.Result.StopReason)
	}
	e.Close()
	next := openPort(t, path, source)
	if s := next.until(t, id, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("the run that was left ended %s", s.Ended.Result.StopReason)
	}
}

// A call that takes longer than the leave is cut as ever.
func TestLeaveHasAnEnd(t *testing.T) {
	path, source, g := newState(t), &begun{}, newGate(t, catalog.Write)
	job := g.job(t, 1)
	e := openPort(t, path, source)
	id := e.beginning(t, job)
	<-g.entered
	over, cancel := context.WithCancel(t.Context())
	cancel()
	e.Leave(over)
	e.Close()
	next := openPort(t, path, source)
	<-g.entered // it may be repeated
	close(g.open)
	if s := next.until(t, id, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("the run ended %s", s.Ended.Result.StopReason)
	}
}
