package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"time"

	"patterngate/patterns"
)

// Engine carries out runs in this process, in memory. The zero Engine is ready. It is safe for concurrent use.
type Engine struct {
	// Recorded is given each run's record when the run has ended; nil: nobody.
	Recorded func(runID string, r *Record)
	// Fault is told the cause of tool and model faults, for the log; nil: nobody.
	Fault func(runID, key string, cause error)

	hands hands
}

var _ patterns.Engine = (*Engine)(nil)

// Close lets the engine's goroutines go when they have nothing to do. The engine may still be used.
func (e *Engine) Close() { e.hands.release() }

// Start carries out one run to its end.
func (e *Engine) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	pattern, ok := patterns.PatternOf(job.Spec.Kind)
	if !ok {
		return patterns.Ended{}, &patterns.Fault{Cause: fmt.Errorf("no pattern of kind %q", job.Spec.Kind)}
	}
	l := newLife(ctx, e, job)
	defer l.cancel()
	began := l.record.append(StartEvent, "", time.Now(), StartBody{
		RunID: l.id, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client,
	}).At
	l.newest = began
	result, err := l.live(pattern, began)
	ended := patterns.Ended{
		RunID: l.id, Result: result, Phase: l.phase, Calls: l.calls, Requests: l.asked, Began: began, Ended: time.Now(),
	}
	if err != nil {
		return ended, err
	}
	status := "stopped"
	if result.OK() {
		status = "ok"
	}
	ended.Ended = l.record.append(EndEvent, "", time.Now(), EndBody{status, result.StopReason, result.Phase}).At
	if e.Recorded != nil {
		e.Recorded(l.id, l.record)
	}
	return ended, nil
}

// live runs the pattern's code in a goroutine of its own, since a branch that cannot go on unwinds.
func (l *life) live(pattern patterns.Pattern, began time.Time) (result patterns.Result, err error) {
	root := &branch{life: l, keys: newKeys(""), at: began}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.baton.Lock()
		defer l.baton.Unlock()
		defer l.contain()
		result = pattern(root, l.job.Spec, l.job.Task)
	}()
	<-done
	return result, l.cause
}

// contain turns a panic of pattern code into the run's end instead of the process's.
func (l *life) contain() {
	if r := recover(); r != nil {
		l.stop(&patterns.Fault{RunID: l.id, Cause: fmt.Errorf("pattern code panicked: %v\n%s", r, debug.Stack())})
	}
}

// newID makes a run's id: unguessable.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "run_" + hex.EncodeToString(b[:])
}
