package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"patterngate/patterns"
)

// What is in force where an Engine says 0.
const (
	defaultCallerWait = 30 * time.Minute
	defaultMaxParked  = 1000
)

// Engine carries out runs in this process, in memory. The zero Engine is ready. It is safe for concurrent use; its
// fields are set before.
type Engine struct {
	// Recorded is given each run's record when the run has ended; nil: nobody.
	Recorded func(runID string, r *Record)
	// Fault is told, for the log, the cause of tool and model faults, and of a fault of ours that no call is told; nil: nobody.
	Fault func(runID, key string, cause error)
	// CallerWait is how long a run waits for its caller; 0: 30 minutes, below: not at all.
	CallerWait time.Duration
	// MaxParked is how many runs of one principal wait at once; the oldest expires for one more. 0: 1000, below: none.
	MaxParked int

	hands hands
	told  func(s patterns.Snapshot, attended bool)

	mu      sync.Mutex
	shelves map[string]*shelf // by principal
}

var _ patterns.Engine = (*Engine)(nil)

// Close lets the engine's goroutines go when they have nothing to do. The engine may still be used.
func (e *Engine) Close() { e.hands.release() }

// Start implements [patterns.Engine].
func (e *Engine) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	if _, ok := patterns.PatternOf(job.Spec.Kind); !ok {
		return patterns.Ended{}, &patterns.Fault{Cause: fmt.Errorf("no pattern of kind %q", job.Spec.Kind)}
	}
	r := &run{engine: e, id: newID(), job: job, record: &Record{}, quotas: map[string]int{}, size: job.Size, state: patterns.Running, attended: true}
	r.began = r.record.append(StartEvent, "", time.Now(), StartBody{
		RunID: r.id, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client,
	}).At
	r.newest, r.idle.Since = r.began, r.began
	e.shelve(r)
	return e.carry(newLife(ctx, r, job.Progress))
}

// Continue implements [patterns.Engine].
func (e *Engine) Continue(ctx context.Context, c patterns.Continuation) (patterns.Ended, error) {
	r, err := e.take(c.Principal, c.RunID, c.Turn)
	if err != nil {
		return patterns.Ended{}, err
	}
	r.size += c.Size
	if c.Taken != nil {
		c.Taken()
	}
	return e.goOn(newLife(ctx, r, c.Progress), OutcomeBody{State: patterns.OK, Output: c.Given})
}

// goOn gives a run that was taken what it waited for and has its code run again over its record.
func (e *Engine) goOn(l *life, out OutcomeBody) (patterns.Ended, error) {
	event := l.record.append(OutcomeEvent, l.waitsAt, time.Now(), out)
	l.newest = event.At
	l.waited += event.At.Sub(l.rest.Waiting.Since)
	l.past, _ = remembered(l.record)
	return e.carry(l)
}

// carry lets a run live until it ends or waits, and puts it where it then belongs.
func (e *Engine) carry(l *life) (patterns.Ended, error) {
	defer l.cancel()
	result, err := l.live()
	rest := patterns.Ended{
		RunID: l.id, Result: result, Waiting: l.parked, Phase: l.phase, Calls: l.calls, Requests: l.asked,
		Began: l.began, Ended: time.Now(), Waited: l.waited,
	}
	switch {
	case l.parked != nil:
		rest.Result, rest.Ended = patterns.Result{}, l.parked.Since
		e.park(l.run, rest)
		return rest, nil
	case err != nil:
		e.forget(l.run)
		return rest, err
	}
	status := "stopped"
	if result.OK() {
		status = "ok"
	}
	rest.Ended = l.record.append(EndEvent, "", time.Now(), EndBody{status, result.StopReason, result.Phase}).At
	if e.Recorded != nil {
		e.Recorded(l.id, l.record)
	}
	e.finish(l.run, rest)
	return rest, nil
}

// newID makes a run's id: unguessable.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "run_" + hex.EncodeToString(b[:])
}

// contain turns a panic of pattern code into the run's end instead of the process's.
func (l *life) contain() {
	if r := recover(); r != nil {
		l.stop(&patterns.Fault{RunID: l.id, Cause: fmt.Errorf("pattern code panicked: %v\n%s", r, debug.Stack())})
	}
}
