package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/kinds"
	"patterngate/patterns/store"
)

// Values that count if a field of [Waits] is 0.
const (
	defaultCallerWait = 30 * time.Minute
	defaultMaxParked  = 1000
	defaultJoin       = 10 * time.Minute
)

// Reports are what an engine calls while it executes runs. A nil function is not called. The functions must be safe for
// concurrent use.
type Reports struct {
	// Recorded receives the record of each run that ended in memory.
	Recorded func(runID string, r *execution.Record)
	// Fault receives the causes of tool and model faults, for the log. It also receives internal errors that no call
	// reports.
	Fault func(runID, key string, cause error)
	// Asks receives each question that a run in this process asks a person, when the question is recorded. Asks must not
	// block.
	Asks func(patterns.Asked)
	// Reload loads the configuration again when a command asks for it. Without it, such a command gets no answer. The
	// engine makes one call at a time.
	Reload func(ReloadRequest) ReloadAnswer
}

// Waits say how long runs wait, and how many.
type Waits struct {
	// CallerWait is how long a run waits for its caller. 0: 30 minutes; below 0: it does not wait.
	CallerWait time.Duration
	// MaxParked is how many runs of one principal can wait at once in memory. One more makes the oldest expire. 0:
	// 1000; below 0: none can wait.
	MaxParked int
	// Join is how long after its end an equal call still joins a run whose result was never delivered. 0: 10 minutes;
	// below 0: it does not join.
	Join time.Duration
}

// Engine carries out runs in this process. The zero Engine is ready to use and keeps runs in memory. [Open] returns an
// Engine that keeps them in a state file. An Engine is safe for concurrent use. Set its fields before you use it or call
// [Engine.Go], and do not change them afterwards: [Engine.Change] changes settings at any time.
type Engine struct {
	Reports
	Waits
	// Version is the version of the program, for the record.
	Version string
	// Catalog supplies the words for the calls that people are asked about, whichever configuration began their runs.
	// nil: a call is shown by its tool's name and arguments alone.
	Catalog *catalog.Catalog
	// Source makes the jobs of child runs in memory. With a state file, the Source of its [Options] does. nil: no child
	// run is begun.
	Source patterns.Source

	hands   hands
	options Options                 // of an engine over a store
	changed atomic.Pointer[inForce] // the settings of the last reload; nil: the fields count
	told    func(s patterns.Snapshot, attended bool)
	file    *file            // the keeper of an engine over a store
	code    patterns.Pattern // of all kinds, in tests; nil: [kinds.Of]

	mu      sync.Mutex
	waiters waiters

	making sync.Once
	keeps  keeper // see [Engine.keeper]
}

var _ patterns.Engine = (*Engine)(nil)

// keeper returns what keeps the engine's runs. A zero Engine keeps them in memory.
func (e *Engine) keeper() keeper {
	e.making.Do(func() { e.keeps = newInMemory(e) })
	return e.keeps
}

// state returns the store of the engine's runs, or in memory of their rows, plans, switches and business keys.
func (e *Engine) state() store.Store { return e.keeper().backing().Store() }

// Close ends the engine's goroutines when they have nothing to do. An engine in memory can still be used after it. With
// a state file, Close hands over the runs in progress: their records stay as they are, and another process can take
// them.
func (e *Engine) Close() {
	e.keeper().close()
	e.hands.release()
}

// Start implements [patterns.Engine].
func (e *Engine) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	if e.codeOf(job.Spec.Kind) == nil {
		return patterns.Ended{}, &patterns.Fault{Cause: fmt.Errorf(noPatternOfKind, job.Spec.Kind)}
	}
	for try := 1; ; try++ {
		ended, err := e.start(ctx, job)
		if !errors.Is(err, execution.ErrUnspent) || try == execution.MaxTries {
			return ended, err
		}
	}
}

// start begins a run. [execution.ErrUnspent] says that nothing was begun: before the first call was recorded, a kill switch was
// set or another run took the call's business key. If the run is begun again, it sees the change.
func (e *Engine) start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	r := e.newRun(newID(), job)
	r.attended = true
	joined, err := e.keeper().begin(r)
	switch {
	case err != nil:
		return patterns.Ended{}, err
	case joined != "":
		return e.join(ctx, joined, job)
	}
	l := r.live(nil, job.Progress)
	l.CancelWith(ctx)
	go l.Carry()
	ended, err := e.attend(ctx, r, l, job.Wait)
	if refused := e.keeper().entered(r); refused != nil {
		<-l.Done()
		if joined, err = e.keeper().notBegun(refused, job); err != nil {
			return patterns.Ended{}, err
		}
		return e.join(ctx, joined, job)
	}
	return ended, err
}

// Continue implements [patterns.Engine].
func (e *Engine) Continue(ctx context.Context, c patterns.Continuation) (patterns.Ended, error) {
	r, h, err := e.keeper().take(c)
	if lacking, ok := errors.AsType[*patterns.Lacking](err); ok {
		return patterns.Ended{RunID: c.RunID, Waiting: retry(lacking, e.now())}, nil
	}
	if err != nil {
		return patterns.Ended{}, err
	}
	if c.Taken != nil {
		c.Taken()
	}
	l := r.live(h, c.Progress)
	go l.Carry()
	return e.attend(ctx, r, l, c.Wait)
}

// retry returns what a run waits for if it cannot be carried out here.
func retry(l *patterns.Lacking, now time.Time) *patterns.Waiting {
	return &patterns.Waiting{Kind: patterns.ForRetry, Cause: l.Cause, Needs: l.Needs, Since: now}
}

// newID returns a new run id that cannot be guessed.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "run_" + hex.EncodeToString(b[:])
}

// now returns the current time, by the clock that the record uses.
func (e *Engine) now() time.Time { return e.keeper().backing().Now() }

// callerWait returns how long a run waits for its caller; false: it does not wait.
func (e *Engine) callerWait() (time.Duration, bool) {
	wait := e.Settings().CallerWait
	if wait == 0 {
		wait = defaultCallerWait
	}
	return wait, wait > 0 && e.keeper().parks()
}

func (e *Engine) maxParked() int {
	return cmp.Or(e.Settings().MaxParked, defaultMaxParked)
}

// joinable returns the earliest end of a run that a call without a key can still join.
func (e *Engine) joinable(now time.Time) time.Time {
	join := e.Settings().Join
	if join == 0 {
		join = defaultJoin
	}
	return now.Add(-max(join, 0))
}

// Run implements [patterns.Runs].
func (e *Engine) Run(principal, id string) (patterns.Snapshot, bool) {
	return e.keeper().Run(principal, id)
}

// RunIDs implements [patterns.Runs].
func (e *Engine) RunIDs(principal string) []string { return e.keeper().RunIDs(principal) }

// Wait implements [patterns.Runs].
func (e *Engine) Wait(ctx context.Context, principal, id string, mark patterns.Mark) (patterns.Snapshot, bool) {
	return e.keeper().Wait(ctx, principal, id, mark)
}

// List implements [patterns.Runs].
func (e *Engine) List(f patterns.Filter) (patterns.Page, error) { return e.keeper().List(f) }

// Newest implements [patterns.Runs].
func (e *Engine) Newest(principal string) (string, bool) { return e.keeper().Newest(principal) }

// Cancel implements [patterns.Runs].
func (e *Engine) Cancel(ctx context.Context, principal, id string, by patterns.Note) (patterns.Snapshot, error) {
	return e.keeper().Cancel(ctx, principal, id, by)
}

// Delivered implements [patterns.Runs].
func (e *Engine) Delivered(principal, id string) { e.keeper().Delivered(principal, id) }

// Events implements [patterns.Runs].
func (e *Engine) Events(principal, id string) ([]patterns.Event, error) {
	return e.keeper().Events(principal, id)
}

// Watch implements [patterns.Runs].
func (e *Engine) Watch(told func(s patterns.Snapshot, attended bool)) { e.told = told }

func (e *Engine) tell(s patterns.Snapshot, attended bool) {
	if e.told != nil {
		e.told(s, attended)
	}
}

// report sends the cause of a fault to the log.
func (e *Engine) report(runID, key string, cause error) {
	if e.Fault != nil {
		e.Fault(runID, key, cause)
	}
}

// codeOf returns the code of a kind; nil: there is none.
func (e *Engine) codeOf(kind gateway.Kind) patterns.Pattern {
	if e.code != nil {
		return e.code
	}
	code, _ := kinds.Of(kind)
	return code
}

// Rehearse implements [patterns.Engine].
func (e *Engine) Rehearse(ctx context.Context, job patterns.Job) (patterns.Rehearsal, error) {
	return execution.DryRun(ctx, e.keeper().backing(), job)
}
