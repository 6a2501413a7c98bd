package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	inprocess "patterngate/patterns/store/memory"
	"patterngate/patterns/windows"
)

// Values that count if a field of Engine is 0.
const (
	defaultCallerWait = 30 * time.Minute
	defaultMaxParked  = 1000
	defaultJoin       = 10 * time.Minute
)

// Engine carries out runs in this process. The zero Engine is ready to use and keeps runs in memory. [Open] returns an
// Engine that keeps them in a state file. An Engine is safe for concurrent use. Set its fields before you use it.
type Engine struct {
	// Recorded receives the record of each run that ended in memory; nil: it is not called.
	Recorded func(runID string, r *Record)
	// Fault receives the causes of tool and model faults, for the log. It also receives internal errors that no call
	// reports. nil: it is not called.
	Fault func(runID, key string, cause error)
	// CallerWait is how long a run waits for its caller. 0: 30 minutes; below 0: it does not wait.
	CallerWait time.Duration
	// MaxParked is how many runs of one principal can wait at once in memory. One more makes the oldest expire. 0:
	// 1000; below 0: none can wait.
	MaxParked int
	// Join is how long after its end an equal call still joins a run whose result was never delivered. 0: 10 minutes;
	// below 0: it does not join.
	Join time.Duration
	// Version is the version of the program, for the record.
	Version string
	// Asks receives each question that a run in this process asks a person, when the question is recorded; nil: it is
	// not called. Asks must not block.
	Asks func(patterns.Asked)
	// Catalog supplies the words for the calls that people are asked about, whichever configuration began their runs.
	// nil: a call is shown by its tool's name and arguments alone. Like the other settings, it must not change once the
	// engine is used.
	Catalog *catalog.Catalog

	// Source makes the jobs of child runs in memory. With a state file, the Source of its [Options] does. nil: no child
	// run is begun.
	Source patterns.Source

	// Reload loads the configuration again when a command asks for it; nil: such a command gets no answer. The engine
	// makes one call at a time.
	Reload func(ReloadRequest) ReloadAnswer

	hands   hands
	changed atomic.Pointer[inForce] // the settings of the last reload; nil: the fields count
	told    func(s patterns.Snapshot, attended bool)
	file    *file            // nil: in memory
	code    patterns.Pattern // of all kinds, in tests; nil: [kinds.Of]

	mu      sync.Mutex
	shelves map[string]*shelf // by principal; in memory
	calls   windows.Memory
	waiters waiters

	making sync.Once
	here   store.Store // in memory, see state
}

var _ patterns.Engine = (*Engine)(nil)

// keeper keeps runs and their records: in memory, or in a state file.
type keeper interface {
	// begin adds a new run with its first event. If an equal call began a run already, it returns the id of that run.
	begin(r *run) (joined string, err error)
	// take takes over a waiting run for the caller that continues it. It returns the run and its record, which includes
	// this continuation.
	take(c patterns.Continuation) (*run, *history, error)
	// park stores a run that waits, finish stores one that has ended, and lose ends one that an internal error stopped.
	park(l *life, rest patterns.Ended) error
	finish(l *life, rest patterns.Ended) error
	lose(l *life, rest patterns.Ended, fault error)
	// child begins or joins the run of a call and returns when that run ends or waits. Its error is the error of ctx,
	// or the reason why the parent cannot continue. ended returns what is known of the child run now.
	child(ctx context.Context, c *childCall) (childRest, error)
	ended(c *childCall) (childRest, error)
	// leave notes that no call waits for the run any more.
	leave(r *run)
	patterns.Runs
}

// keeper returns the store of the engine's runs.
func (e *Engine) keeper() keeper {
	if e.file != nil {
		return e.file
	}
	return inMemory{e}
}

// state returns the engine's store: the state file, or a store in this process.
func (e *Engine) state() store.Store {
	if e.file != nil {
		return e.file.journal
	}
	e.making.Do(func() { e.here = inprocess.New(inprocess.Limits{Plans: maxPlans, PlanBytes: maxPlanBytes}) })
	return e.here
}

// write makes a change of steps that belong to no run's record.
func (e *Engine) write(steps ...store.Step) error {
	return e.state().Do(&store.Change{Steps: steps})
}

// These limits say how many plans of one principal are kept in memory, and their maximum size together.
const (
	maxPlans     = 1000
	maxPlanBytes = 64 << 20
)

// Close ends the engine's goroutines when they have nothing to do. An engine in memory can still be used after it. With
// a state file, Close hands over the runs in progress: their records stay as they are, and another process can take
// them.
func (e *Engine) Close() {
	if e.file != nil {
		e.file.close()
	}
	e.hands.release()
}

// Start implements [patterns.Engine].
func (e *Engine) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	if _, ok := e.codeOf(job.Spec.Kind); !ok {
		return patterns.Ended{}, &patterns.Fault{Cause: fmt.Errorf("no pattern of kind %q", job.Spec.Kind)}
	}
	for try := 1; ; try++ {
		ended, err := e.start(ctx, job)
		if !errors.Is(err, errUnspent) || try == maxTries {
			return ended, err
		}
	}
}

// start begins a run. [errUnspent] says that nothing was begun: before the first call was recorded, a kill switch was
// set or another run took the call's business key. If the run is begun again, it sees the change.
func (e *Engine) start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	r := &run{engine: e, id: newID(), job: job, record: &Record{}, size: job.Size, state: patterns.Running, attended: true}
	joined, err := e.keeper().begin(r)
	switch {
	case err != nil:
		return patterns.Ended{}, err
	case joined != "":
		return e.join(ctx, joined, job)
	}
	l := newLife(r, nil, job.Progress)
	l.call = ctx
	go l.carry()
	ended, err := e.attend(ctx, l, job.Wait)
	if refused := r.record.file.entered(); refused != nil {
		<-l.done
		if joined, err = e.file.notBegun(refused, job); err != nil {
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
	l := newLife(r, h, c.Progress)
	go l.carry()
	return e.attend(ctx, l, c.Wait)
}

// carry executes a run until it ends or waits, and then stores its state. A branch that cannot continue unwinds its
// goroutine, so the rest of carry is deferred.
func (l *life) carry() {
	pattern, _ := l.engine.codeOf(l.job.Spec.Kind) // there was one at the start
	var result patterns.Result
	defer close(l.done)
	defer l.engine.waiters.announce(l.id)
	defer l.cancel()
	defer func() { l.conclude(result) }()
	l.baton.Lock()
	defer l.baton.Unlock()
	defer l.contain()
	root := &branch{life: l, keys: newKeys(""), at: l.began, newest: l.began}
	result = pattern(root, l.job.Spec, l.job.Asked())
	l.judged(result.Judged, root.keys)
}

// conclude records the result of a life: the run's end, its wait, or the error that stopped it.
func (l *life) conclude(result patterns.Result) {
	keep := l.engine.keeper()
	rest := patterns.Ended{
		RunID: l.id, Result: result, Phase: l.phase, Calls: l.calls, Requests: l.asked,
		Began: l.began, Ended: l.engine.now(), Waited: l.waited.sum + l.idle,
	}
	l.baton.Lock()
	err := l.cause
	if err == nil && l.left {
		err = errHandedOver
	}
	l.over = true
	l.baton.Unlock()
	switch {
	case err != nil:
	case len(l.parked) > 0:
		w := l.firstParked()
		rest.Result, rest.Waiting, rest.Ended = patterns.Result{}, w, w.Since
		err = keep.park(l, rest)
	default:
		rest.Ended = l.recordEnd(rest)
		err = keep.finish(l, rest)
	}
	if l.rest = rest; err != nil {
		l.broke(keep, rest, err)
	}
}

// recordEnd records the end of the run and returns its time.
func (l *life) recordEnd(rest patterns.Ended) time.Time {
	status := "stopped"
	if rest.Result.OK() {
		status = "ok"
	}
	end := journal.EndBody{Status: status, StopReason: rest.Result.StopReason, Phase: rest.Result.Phase, Usage: rest.Result.Usage, Model: answeredBy(l.job, rest.Result)}
	if present := l.job.Present; present != nil && l.engine.file != nil {
		shown := present(rest, nil)
		end.Envelope, l.summary = shown.Envelope, shown.Summary
	}
	return l.record.append(patterns.EndEvent, "", l.engine.now(), end).At
}

// broke ends a life that err stopped.
func (l *life) broke(keep keeper, rest patterns.Ended, err error) {
	rest.Result = patterns.Result{}
	switch {
	case l.engine.file == nil: // no other process can carry out the run
		l.rest, l.fault = rest, err
		keep.lose(l, rest, err)
	case l.unentered(err): // the run was never stored
		l.engine.file.gone(l)
	case errors.Is(err, errHandedOver), errors.Is(err, store.ErrFenced): // another process carries out the run
		if l.rest = l.running(); errors.Is(err, errHandedOver) {
			l.record.append(patterns.NoteEvent, "", l.engine.now(), journal.NoteBody{What: noteDetach, Note: patterns.Note{Channel: "engine"}})
			l.record.flush(false, nil)
		}
		if l.left { // another process can take the run before this one ends
			l.engine.file.release(l)
		}
		l.engine.file.lost(l)
	case errors.Is(err, errUnspent): // the run is replayed and then sees the change
		l.rest, l.replayed = l.running(), true
		l.engine.file.later(l)
	case errors.Is(err, patterns.ErrJournal):
		rest.Waiting = retry(&patterns.Lacking{Cause: "journal"}, l.engine.now())
		rest.Waiting.Phase = l.phase
		l.rest = rest
		l.engine.file.later(l)
	default:
		l.rest, l.fault = rest, err
		keep.lose(l, rest, err)
	}
}

// unentered reports whether the run of a life that err stopped is not in the state file and will never be. A run that
// an internal error stopped before its first write is still stored, together with its end.
func (l *life) unentered(err error) bool {
	refused := errors.Is(err, errHandedOver) || errors.Is(err, store.ErrFenced) || errors.Is(err, errUnspent) || errors.Is(err, patterns.ErrJournal)
	return l.record.file != nil && l.record.abandon(err, refused)
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
func (e *Engine) now() time.Time {
	if e.file != nil {
		return e.file.journal.Now()
	}
	return time.Now()
}

// contain recovers a panic of pattern code. The panic then ends the run, not the process.
func (l *life) contain() {
	if r := recover(); r != nil {
		l.stop(&patterns.Fault{RunID: l.id, Cause: fmt.Errorf("pattern code panicked: %v\n%s", r, debug.Stack())})
	}
}

// callerWait returns how long a run waits for its caller; false: it does not wait.
func (e *Engine) callerWait() (time.Duration, bool) {
	wait := e.Settings().CallerWait
	if wait == 0 {
		wait = defaultCallerWait
	}
	return wait, wait > 0 && (e.file != nil || e.maxParked() > 0)
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
