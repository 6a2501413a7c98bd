package execution

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Life is one execution of a run's code, from its start or over what is already recorded. The baton guards all its fields but
// Run, Record, ctx, done, and what it leaves: rest and summary.
type Life struct {
	*Run
	Record   *Record // the run's; a rehearsal has one of its own
	progress func(patterns.Progress)
	telling  sync.Mutex // held while progress is reported: child runs report theirs too
	ctx      context.Context
	cancel   context.CancelFunc
	lightly  context.Context // for effects that change nothing: also ends when the life quits
	quits    context.CancelFunc
	past     map[string]*memory // what is recorded, by key; nil for a run that begins
	dry      *Rehearsal         // a rehearsal: each branch ends at what is not recorded

	budget budget
	clock  clock
	ending ending
	people people
	sent   map[string]time.Time // when calls of this life were recorded, by their keys
	making map[actKey][]byte    // arguments of calls that are being made, by their business keys

	baton     sync.Mutex // held by the branch whose pattern code runs
	moved     *sync.Cond // on the baton: a branch ended or resumed
	waits     []*wait    // effects with a time limit that are being performed
	phase     string     // of the newest effect
	callsRuns bool       // a call began a run
	wrote     bool       // a call that changes something was begun

	call context.Context // of the call that began this life and can cancel the run; nil: none

	now     atomic.Pointer[patterns.Current] // for readers outside the run
	done    chan struct{}                    // closed when the life comes to rest
	rest    AtRest                           // after done
	summary string
}

// wait is a branch that waits for an effect with a time limit.
type wait struct {
	due   time.Time
	order int
}

// ErrHandedOver unwinds the branches of a run that this process gives up.
var ErrHandedOver = errors.New("local: the run is handed over")

// New makes the next life of a run, over its history. With a nil history the run begins. progress gets the lines of
// progress; nil: they are dropped. The life begins with [Life.Carry].
func New(r *Run, h *History, progress func(patterns.Progress)) *Life {
	l := &Life{Run: r, Record: r.Record, progress: progress, budget: budget{quotas: map[string]int{}}, clock: clock{latest: r.Began}, sent: map[string]time.Time{}, making: map[actKey][]byte{}, done: make(chan struct{})}
	now := patterns.Current{Since: r.Began}
	if h != nil {
		l.past, l.wrote = h.past, h.wrote
		l.budget = budget{h.quotas, h.order, h.Calls, h.Asked}
		l.clock = clock{h.waited, h.idle, h.latest}
		l.ending.taken, l.ending.noted, l.people.granted = h.Canceled, h.Noted, h.granted
		now.Phase, now.Done = h.Phase, h.Answered
	}
	l.prepare()
	l.now.Store(&now)
	return l
}

// CancelWith cancels the run if call ends before the run has begun to write, unless call ends with
// [patterns.ErrDetached]. It must be called before [Life.Carry].
func (l *Life) CancelWith(call context.Context) { l.call = call }

func (l *Life) prepare() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.lightly, l.quits = context.WithCancel(l.ctx)
	l.moved = sync.NewCond(&l.baton)
}

// park ends a branch at an effect that waits. The other branches continue until they end or wait.
func (l *Life) park(key string, e patterns.Effect, since time.Time, wait time.Duration) {
	w := *e.Waiting()
	w.Key, w.Since, w.Until = key, since, waitsUntil(e, since, wait)
	l.ending.parked = append(l.ending.parked, &w)
	runtime.Goexit()
}

// waitsUntil returns the time until which an effect waits.
func waitsUntil(e patterns.Effect, since time.Time, wait time.Duration) time.Time {
	if journal.IsQuestion(e) {
		return e.Waiting().Until
	}
	return since.Add(wait)
}

// Running returns the run's state for a caller that does not wait for it.
func (l *Life) Running() patterns.Ended {
	now := *l.now.Load()
	return patterns.Ended{RunID: l.RunID, Began: l.Began, Running: &now}
}

// Done returns a channel that is closed when the life has come to rest.
func (l *Life) Done() <-chan struct{} { return l.done }

// Rest returns how the life came to rest. It must not be called before that, see [Life.Done].
func (l *Life) Rest() AtRest { return l.rest }

// Left reports whether a branch ended because the life quit. Call it in [Host.Finish] and [Host.Broke], or after Done.
func (l *Life) Left() bool { return l.ending.left }

// Summary returns the summary of the run's result. Call it in [Host.Finish] and [Host.Broke], or after Done.
func (l *Life) Summary() string { return l.summary }

// Current returns what the run does now.
func (l *Life) Current() patterns.Current { return *l.now.Load() }

// recalled reports whether the run is canceled. It cancels the run if the call that began this life has ended, unless the run has
// begun to write or the caller detached from it.
func (l *Life) recalled() bool {
	if l.call != nil && l.call.Err() != nil && !l.wrote && !Detached(l.call) {
		l.ending.taken = true
		l.cancel()
	}
	return l.ending.taken
}

// Detached reports whether a call ended in a way that lets its run continue.
func Detached(call context.Context) bool { return errors.Is(context.Cause(call), patterns.ErrDetached) }

// LetGo notes that the call which began this life is over.
func (l *Life) LetGo() {
	l.baton.Lock()
	l.call = nil
	l.baton.Unlock()
	if l.Host.Detach() {
		l.Quit()
	}
}

// TakeBack cancels the run and cuts its effects in progress. It returns false, and does nothing, if the run has begun to write.
func (l *Life) TakeBack() bool {
	l.baton.Lock()
	defer l.baton.Unlock()
	if l.wrote {
		return false
	}
	l.ending.taken = true
	l.cancel()
	return true
}

// HasWritten reports whether the run has begun to write.
func (l *Life) HasWritten() bool {
	l.baton.Lock()
	defer l.baton.Unlock()
	return l.wrote
}

// End cancels the run, even if it has begun to write, and records who wants that.
func (l *Life) End(by patterns.Note) {
	l.baton.Lock()
	defer l.baton.Unlock()
	if l.ending.over {
		return
	}
	if !l.ending.noted {
		l.Record.Append(patterns.NoteEvent, "", l.Backing.Now(), journal.NoteBody{What: NoteCancel, Note: by})
	}
	l.ending.taken, l.ending.noted = true, true
	l.cancel()
}

// GiveUp unwinds the life and records nothing more.
func (l *Life) GiveUp(cause error) {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.stop(cause)
}

// stop stores why the run cannot continue. The first cause counts. The caller holds the baton.
func (l *Life) stop(cause error) {
	if l.ending.cause == nil {
		l.ending.cause = cause
	}
	l.cancel()
}

// unwind ends the branch. Its deferred calls run, nothing can recover it, and its parent unwinds as well.
func (l *Life) unwind(cause error) {
	l.stop(cause)
	runtime.Goexit()
}

// alive unwinds the branch if the run cannot continue.
func (l *Life) alive() {
	if l.ending.cause != nil {
		runtime.Goexit()
	}
}

// changes reports whether an effect can change something outside the run.
func changes(e patterns.Effect) bool {
	call, isCall := callOf(e)
	return isCall && call.Permit.Effect() != catalog.Read
}

// yield registers a wait with a time limit, if w is not nil, and releases the baton.
func (l *Life) yield(w *wait) {
	if w != nil {
		l.waits = append(l.waits, w)
	}
	l.baton.Unlock()
}

// resume takes the baton again. After a time-out it first lets the waits continue that were due earlier.
func (l *Life) resume(w *wait, fellDue bool) {
	l.baton.Lock()
	if w == nil {
		return
	}
	for fellDue && slices.ContainsFunc(l.waits, func(o *wait) bool { return o.before(w) }) {
		l.moved.Wait()
	}
	l.waits = slices.DeleteFunc(l.waits, func(o *wait) bool { return o == w })
	l.moved.Broadcast()
}

func (w *wait) before(o *wait) bool {
	return w.due.Before(o.due) || w.due.Equal(o.due) && w.order < o.order
}

// report sends the cause of a tool or model fault to the log.
func (l *Life) report(key string, cause error) {
	if cause != nil {
		l.Host.Report(key, l.Record.sink.told(cause))
	}
}

// tell reports lines of progress. The caller holds the baton, so the lines come one at a time.
func (l *Life) tell(lines ...string) {
	if l.progress == nil {
		return
	}
	l.telling.Lock()
	defer l.telling.Unlock()
	for _, line := range lines {
		if line != "" {
			l.progress(patterns.Progress{RunID: l.RunID, Line: line})
		}
	}
}

// Start makes the body of the run's first event. version is that of this program.
func (r *Run) Start(version string) journal.StartBody {
	job := r.Job
	more := map[string]any{"version": version, "budget": patterns.Limits(job.Spec)}
	for name, v := range map[string]string{"policy": job.Policy, "catalog": job.Catalog, "idempotency_key": job.ByKey} {
		if v != "" {
			more[name] = v
		}
	}
	client := map[string]any{"name": job.Client}
	for name, v := range map[string]string{"version": job.ClientVersion, "era": job.Era} {
		if v != "" {
			client[name] = v
		}
	}
	more["client"] = client
	return journal.StartBody{
		RunID: r.RunID, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client,
		ClientVersion: job.ClientVersion, Era: job.Era, Arguments: job.Arguments, Config: job.Config, More: more,
		Parent: job.Parent, Code: journal.NewestCode,
	}
}

// Flush writes what the life has recorded so far. It holds the baton, so no branch is between an intent and its own flush: the
// branch itself must get that result.
func (l *Life) Flush() error {
	told := make(chan error, 1)
	l.baton.Lock()
	l.Record.Flush(false, func(err error) { told <- err })
	l.baton.Unlock()
	return <-told
}

// Quit stops the life from beginning new effects. Effects in progress continue only if they can change something.
func (l *Life) Quit() {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.quits()
}

// stay ends the branch if the life quits: another life performs the next effect. A canceled run does not need this, because it
// begins no effect anyway.
func (l *Life) stay() {
	if l.lightly.Err() != nil && !l.ending.taken {
		l.ending.left = true
		runtime.Goexit()
	}
}

// scope returns the context of an effect. An effect that can change something continues when the life quits.
func (l *Life) scope(e patterns.Effect) context.Context {
	if changes(e) {
		return l.ctx
	}
	return l.lightly
}
