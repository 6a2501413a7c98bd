package local

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
	"patterngate/patterns/store"
)

// life is one execution of a run's code, from its start or over what is already recorded. The baton guards all its fields but
// record, ctx, done and what it leaves: rest, fault, replayed and summary.
type life struct {
	*run
	record   *Record // the run's; late results use it after the run has dropped it
	progress func(patterns.Progress)
	telling  sync.Mutex // held while progress is reported: child runs report theirs too
	ctx      context.Context
	cancel   context.CancelFunc
	lightly  context.Context // for effects that change nothing: also ends when the life quits
	quits    context.CancelFunc
	past     map[string]*memory // what is recorded, by key; nil for a run that begins
	dry      *rehearsal         // a rehearsal: each branch ends at what is not recorded

	quotas map[string]int
	sent   map[string]time.Time // when calls of this life were recorded, by their keys
	making map[actKey][]byte    // arguments of calls that are being made, by their business keys
	order  int                  // intents so far
	calls  int                  // of tools, among them
	asked  int                  // requests to the model
	waited waited               // for its caller and for people
	idle   time.Duration        // time in which no process ran it
	latest time.Time            // time of the newest recorded outcome of any branch; before that of the start

	baton      sync.Mutex // held by the branch whose pattern code runs
	moved      *sync.Cond // on the baton: a branch ended or resumed
	waits      []*wait    // effects with a time limit that are being performed
	phase      string     // of the newest effect
	cause      error      // why the run cannot continue
	parked     []*patterns.Waiting
	onChildren []store.Standing             // child runs that branches wait for, and how they stood then
	callsRuns  bool                         // a call began a run
	wrote      bool                         // a call that changes something was begun
	taken      bool                         // the run is canceled: no effect begins any more
	noted      bool                         // the record says who canceled it
	over       bool                         // it has come to rest and takes no more requests
	left       bool                         // a branch ended because the life quit
	questions  map[string]*patterns.Waiting // questions to people that the code has asked, by approval
	granted    map[string]string            // approvals that were used, by the idempotency key of their call

	call context.Context // of the call that began this life and can cancel the run; nil: none

	now   atomic.Pointer[patterns.Current] // for readers outside the run
	done  chan struct{}                    // closed when the life comes to rest
	rest  patterns.Ended                   // how it rests, after done
	fault error
	// replayed says that another life continues the run here at once.
	replayed bool
	summary  string
}

// wait is a branch that waits for an effect with a time limit.
type wait struct {
	due   time.Time
	order int
}

// errHandedOver unwinds the branches of a run that this process gives up.
var errHandedOver = errors.New("local: the run is handed over")

// newLife makes the next life of a run, over its history. With a nil history the run begins.
func newLife(r *run, h *history, progress func(patterns.Progress)) *life {
	l := &life{run: r, record: r.record, progress: progress, quotas: map[string]int{}, sent: map[string]time.Time{}, making: map[actKey][]byte{}, done: make(chan struct{}), latest: r.began}
	if h != nil {
		l.past, l.quotas, l.order, l.calls, l.asked = h.past, h.quotas, h.order, h.calls, h.asked
		l.waited, l.idle, l.wrote, l.latest = h.waited, h.idle, h.wrote, h.latest
		l.taken, l.noted, l.granted = h.canceled, h.noted, h.granted
	}
	l.prepare()
	now := patterns.Current{Since: r.began}
	if h != nil {
		now.Phase, now.Done = h.phase, h.answered
	}
	l.now.Store(&now)
	r.engine.mu.Lock()
	r.life = l
	recall, closed := r.recall, false
	r.recall = nil
	if f := r.engine.file; f != nil {
		f.lives[r.id] = l
		closed = f.closed
	}
	r.engine.mu.Unlock()
	if recall != nil {
		l.end(*recall)
	}
	if closed {
		l.giveUp(errHandedOver)
	}
	l.quitUnattended()
	return l
}

func (l *life) prepare() {
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.lightly, l.quits = context.WithCancel(l.ctx)
	l.moved = sync.NewCond(&l.baton)
}

// park ends a branch at an effect that waits. The other branches continue until they end or wait.
func (l *life) park(key string, e patterns.Effect, since time.Time, wait time.Duration) {
	w := *e.Waiting()
	w.Key, w.Since, w.Until = key, since, lapses(e, since, wait)
	l.parked = append(l.parked, &w)
	runtime.Goexit()
}

// lapses returns the time until which an effect waits.
func lapses(e patterns.Effect, since time.Time, wait time.Duration) time.Time {
	if journal.IsQuestion(e) {
		return e.Waiting().Until
	}
	return since.Add(wait)
}

// firstParked returns the wait that is shown if several branches wait: the one with the first key.
func (l *life) firstParked() *patterns.Waiting {
	return slices.MinFunc(l.parked, func(a, b *patterns.Waiting) int { return compareKeys(a.Key, b.Key) })
}

// running returns the run's state for a caller that does not wait for it.
func (l *life) running() patterns.Ended {
	now := *l.now.Load()
	return patterns.Ended{RunID: l.id, Began: l.began, Running: &now}
}

// recalled reports whether the run is canceled. It cancels the run if the call that began this life has ended, unless the run has
// begun to write or the caller detached from it.
func (l *life) recalled() bool {
	if l.call != nil && l.call.Err() != nil && !l.wrote && !detached(l.call) {
		l.taken = true
		l.cancel()
	}
	return l.taken
}

// detached reports whether a call ended in a way that lets its run continue.
func detached(call context.Context) bool { return errors.Is(context.Cause(call), patterns.ErrDetached) }

// letGo notes that the call which began this life is over.
func (l *life) letGo() {
	l.baton.Lock()
	l.call = nil
	l.baton.Unlock()
	l.engine.keeper().leave(l.run)
	l.quitUnattended()
}

// takeBack cancels the run and cuts its effects in progress. It returns false, and does nothing, if the run has begun to write.
func (l *life) takeBack() bool {
	l.baton.Lock()
	defer l.baton.Unlock()
	if l.wrote {
		return false
	}
	l.taken = true
	l.cancel()
	return true
}

// hasWritten reports whether the run has begun to write.
func (l *life) hasWritten() bool {
	l.baton.Lock()
	defer l.baton.Unlock()
	return l.wrote
}

// end cancels the run, even if it has begun to write, and records who wants that.
func (l *life) end(by patterns.Note) {
	l.baton.Lock()
	defer l.baton.Unlock()
	if l.over {
		return
	}
	if !l.noted {
		l.record.append(patterns.NoteEvent, "", l.engine.now(), journal.NoteBody{What: noteCancel, Note: by})
	}
	l.taken, l.noted = true, true
	l.cancel()
}

// giveUp unwinds the life and records nothing more.
func (l *life) giveUp(cause error) {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.stop(cause)
}

// stop stores why the run cannot continue. The first cause counts. The caller holds the baton.
func (l *life) stop(cause error) {
	if l.cause == nil {
		l.cause = cause
	}
	l.cancel()
}

// unwind ends the branch. Its deferred calls run, nothing can recover it, and its parent unwinds as well.
func (l *life) unwind(cause error) {
	l.stop(cause)
	runtime.Goexit()
}

// alive unwinds the branch if the run cannot continue.
func (l *life) alive() {
	if l.cause != nil {
		runtime.Goexit()
	}
}

// take uses up an effect's quotas, all or none. If one is spent it returns that quota's name.
func (l *life) take(quotas []patterns.Quota) (spent string) {
	for _, q := range quotas {
		if l.quotas[q.Name] >= q.Limit {
			return q.Name
		}
	}
	for _, q := range quotas {
		l.quotas[q.Name]++
	}
	return ""
}

// changes reports whether an effect can change something outside the run.
func changes(e patterns.Effect) bool {
	call, isCall := callOf(e)
	return isCall && call.Permit.Effect() != catalog.Read
}

// yield registers a wait with a time limit, if w is not nil, and releases the baton.
func (l *life) yield(w *wait) {
	if w != nil {
		l.waits = append(l.waits, w)
	}
	l.baton.Unlock()
}

// resume takes the baton again. After a time-out it first lets the waits continue that were due earlier.
func (l *life) resume(w *wait, fellDue bool) {
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
func (l *life) report(key string, cause error) {
	if cause != nil && l.engine.Fault != nil {
		l.engine.Fault(l.id, key, l.record.told(cause))
	}
}

// tell reports lines of progress. The caller holds the baton, so the lines come one at a time.
func (l *life) tell(lines ...string) {
	if l.progress == nil {
		return
	}
	l.telling.Lock()
	defer l.telling.Unlock()
	for _, line := range lines {
		if line != "" {
			l.progress(patterns.Progress{RunID: l.id, Line: line})
		}
	}
}

// startOf makes the body of a run's first event.
func startOf(r *run, version string) journal.StartBody {
	job := r.job
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
		RunID: r.id, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client,
		ClientVersion: job.ClientVersion, Era: job.Era, Arguments: job.Arguments, Config: job.Config, More: more,
		Parent: job.Parent, Code: journal.NewestCode,
	}
}
