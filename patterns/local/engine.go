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
	"patterngate/patterns/windows"
)

// What is in force where an Engine says 0.
const (
	defaultCallerWait = 30 * time.Minute
	defaultMaxParked  = 1000
	defaultJoin       = 10 * time.Minute
)

// Engine carries out runs in this process. The zero Engine is ready and keeps them in memory; [Open] gives one that keeps
// them in a state file. It is safe for concurrent use; its fields are set before.
type Engine struct {
	// Recorded is given the record of each run that ended in memory; nil: nobody.
	Recorded func(runID string, r *Record)
	// Fault is told, for the log, the cause of tool and model faults, and of a fault of ours that no call is told; nil: nobody.
	Fault func(runID, key string, cause error)
	// CallerWait is how long a run waits for its caller; 0: 30 minutes, below: not at all.
	CallerWait time.Duration
	// MaxParked is how many runs of one principal wait at once in memory; the oldest expires for one more. 0: 1000, below:
	// none.
	MaxParked int
	// Join is how long after its end a run whose result was never delivered is joined by an equal call; 0: 10 minutes,
	// below: not at all.
	Join time.Duration
	// Version of the program, for the record.
	Version string
	// Asks is told of each question that a run puts to a person here, when it is recorded; nil: nobody. It must not wait.
	Asks func(patterns.Asked)
	// Catalog words the calls that people are asked about, whoever began them; nil: they are shown by their tool's name and
	// arguments alone. Like the other settings it is not changed once the engine is used.
	Catalog *catalog.Catalog

	// Source makes the jobs of child runs in memory; with a state file its [Options] do. Nil: none are begun.
	Source patterns.Source

	// Reload is asked by a command to load the configuration again; nil: nobody answers. It is called one at a time.
	Reload func(ReloadRequest) ReloadAnswer

	hands   hands
	changed atomic.Pointer[inForce] // by a reload; nil: what the fields say
	told    func(s patterns.Snapshot, attended bool)
	file    *file            // nil: in memory
	code    patterns.Pattern // of all kinds, in tests; nil: [kinds.Of]

	mu      sync.Mutex
	shelves map[string]*shelf // by principal; in memory
	plans   map[int64]*store.Plan
	// In memory: kill switches that are on, and what was done under business keys.
	switches []patterns.Switch
	acts     map[actKey]*firstAct
	calls    windows.Memory
	waiters  waiters
}

var _ patterns.Engine = (*Engine)(nil)

// keeper keeps runs and their records: in memory, or in a state file.
type keeper interface {
	// begin takes in a new run with its first event, or returns the id of the one that an equal call began.
	begin(r *run) (joined string, err error)
	// take gives a waiting run to who continues it, with what is recorded, this continuation included.
	take(c patterns.Continuation) (*run, *history, error)
	// park lets a run wait, finish keeps how one ended, and lose drops one that a fault of ours ended.
	park(l *life, rest patterns.Ended) error
	finish(l *life, rest patterns.Ended) error
	lose(l *life, rest patterns.Ended, fault error)
	// child begins or joins the run of a call and returns when that rests; its error is ctx's, or why the parent cannot go on. ended
	// is what is known of it by now.
	child(ctx context.Context, c *childCall) (childRest, error)
	ended(c *childCall) (childRest, error)
	// leave notes that no call waits for the run any more.
	leave(r *run)
	patterns.Runs
}

// keeper is where the engine's runs are kept.
func (e *Engine) keeper() keeper {
	if e.file != nil {
		return e.file
	}
	return inMemory{e}
}

// Close lets the engine's goroutines go when they have nothing to do. In memory the engine may still be used. With a
// state file what runs is handed over: it stays as it is recorded, for who takes it next.
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

// start begins a run. [errUnspent] says that nothing was begun: by the time that its first call was to be recorded, a kill
// switch was on, or another run had its business key. A run that is begun again knows.
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

// carry lets a run live until it ends or waits, and puts it where it then belongs. Branches that cannot go on unwind, so
// that the rest is deferred.
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

// conclude records what a life came to.
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

// recordEnd records the end.
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

// broke ends a life that cannot go on by what happened to it.
func (l *life) broke(keep keeper, rest patterns.Ended, err error) {
	rest.Result = patterns.Result{}
	switch {
	case l.unentered(err): // there is no run
		l.engine.file.gone(l)
	case errors.Is(err, errHandedOver), errors.Is(err, store.ErrFenced): // somebody else carries it on
		if l.rest = l.running(); errors.Is(err, errHandedOver) {
			l.record.append(patterns.NoteEvent, "", l.engine.now(), journal.NoteBody{What: noteDetach, Note: patterns.Note{Channel: "engine"}})
			l.record.flush(false, nil)
		}
		if l.left { // others need not wait until this process has ended
			l.engine.file.release(l)
		}
		l.engine.file.lost(l)
	case errors.Is(err, errUnspent): // it is replayed and then knows why
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

// unentered says that the run of a life that ends by an error is not in the state file, and will not be. One that broke down by
// a fault of ours before anything of it was written is entered with its end.
func (l *life) unentered(err error) bool {
	refused := errors.Is(err, errHandedOver) || errors.Is(err, store.ErrFenced) || errors.Is(err, errUnspent) || errors.Is(err, patterns.ErrJournal)
	return l.record.file != nil && l.record.abandon(refused)
}

// retry is what a run waits for that cannot be carried on here.
func retry(l *patterns.Lacking, now time.Time) *patterns.Waiting {
	return &patterns.Waiting{Kind: patterns.ForRetry, Cause: l.Cause, Needs: l.Needs, Since: now}
}

// newID makes a run's id: unguessable.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "run_" + hex.EncodeToString(b[:])
}

// now is the time that the record goes by.
func (e *Engine) now() time.Time {
	if e.file != nil {
		return e.file.journal.Now()
	}
	return time.Now()
}

// contain turns a panic of pattern code into the run's end instead of the process's.
func (l *life) contain() {
	if r := recover(); r != nil {
		l.stop(&patterns.Fault{RunID: l.id, Cause: fmt.Errorf("pattern code panicked: %v\n%s", r, debug.Stack())})
	}
}

// callerWait is how long a run waits for its caller; false: not at all.
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

// joinable is the time since which a run must have ended to be joined without a key.
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
