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

// life is one execution of a run's code, from its start or over what is recorded already. All its fields but record, ctx,
// done and what it leaves are guarded by the baton.
type life struct {
	*run
	record   *Record // the run's; late results find it here when the run has let go of it
	progress func(patterns.Progress)
	telling  sync.Mutex // held while progress is told: child runs tell theirs too
	ctx      context.Context
	cancel   context.CancelFunc
	lightly  context.Context // of what changes nothing: it ends also when the life quits
	quits    context.CancelFunc
	past     map[string]*memory // what is recorded, by key; nil for a run that begins
	dry      *rehearsal         // nothing is performed: each branch ends at what is not recorded

	quotas map[string]int
	sent   map[string]time.Time // when calls of this life were recorded, by their keys
	making map[actKey][]byte    // arguments of calls that are being made, by their business keys
	order  int                  // intents so far
	calls  int                  // of tools, among them
	asked  int                  // requests to the model
	waited waited               // for its caller and for people
	idle   time.Duration        // in which it was in nobody's hands
	latest time.Time            // of the newest recorded outcome of any branch; before that of the start

	baton      sync.Mutex // held by the branch whose pattern code runs
	moved      *sync.Cond // on the baton: a branch ended or resumed
	waits      []*wait    // effects with a time limit that are being performed
	phase      string     // of the newest effect
	cause      error      // why the run cannot go on
	parked     []*patterns.Waiting
	onChildren []store.Standing             // child runs with which branches rest, as they then stood
	callsRuns  bool                         // a call began a run
	wrote      bool                         // a call that changes something was begun
	taken      bool                         // the run was taken back: nothing more is begun
	noted      bool                         // the record says who wanted it cancelled
	over       bool                         // it comes to rest: nothing can be said to it any more
	left       bool                         // a branch ended because the life quits
	questions  map[string]*patterns.Waiting // questions to people that the code has put, by approval
	granted    map[string]string            // approvals that were spent, by the idempotency key of their call

	call context.Context // of who began this life and may take it back; nil: nobody

	now   atomic.Pointer[patterns.Current] // for who looks at the run from outside
	done  chan struct{}                    // closed when it came to rest
	rest  patterns.Ended                   // then
	fault error
	// replayed says that the run is carried on here at once, by another life.
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

// newLife is the next life of a run, over what is recorded; nil: it begins.
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

// park ends a branch at an effect that waits for somebody. The others go on until they end or wait.
func (l *life) park(key string, e patterns.Effect, since time.Time, wait time.Duration) {
	w := *e.Waiting
	w.Key, w.Since, w.Until = key, since, lapses(e, since, wait)
	l.parked = append(l.parked, &w)
	runtime.Goexit()
}

// lapses is until when an effect waits.
func lapses(e patterns.Effect, since time.Time, wait time.Duration) time.Time {
	if journal.IsQuestion(e) {
		return e.Waiting.Until
	}
	return since.Add(wait)
}

// firstParked is what the run is said to wait for where several branches wait: the first by its key.
func (l *life) firstParked() *patterns.Waiting {
	return slices.MinFunc(l.parked, func(a, b *patterns.Waiting) int { return compareKeys(a.Key, b.Key) })
}

// running is how the run is shown to who does not wait for it.
func (l *life) running() patterns.Ended {
	now := *l.now.Load()
	return patterns.Ended{RunID: l.id, Began: l.began, Running: &now}
}

// recalled reports whether the run was taken back, by now.
func (l *life) recalled() bool {
	if l.call != nil && l.call.Err() != nil && !l.wrote && !detached(l.call) {
		l.taken = true
		l.cancel()
	}
	return l.taken
}

// detached reports that a call ended while its run goes on.
func detached(call context.Context) bool { return errors.Is(context.Cause(call), patterns.ErrDetached) }

// letGo notes that the call which began this life is over.
func (l *life) letGo() {
	l.baton.Lock()
	l.call = nil
	l.baton.Unlock()
	l.engine.keeper().leave(l.run)
	l.quitUnattended()
}

// takeBack has the run end before its next call and cuts what is under way, unless it has begun to write.
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

// end has the run end before its next call, whatever it has begun, and notes who wants it.
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

// giveUp unwinds the life without another word in the record.
func (l *life) giveUp(cause error) {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.stop(cause)
}

// stop notes why the run cannot go on; the first cause counts. The baton is held.
func (l *life) stop(cause error) {
	if l.cause == nil {
		l.cause = cause
	}
	l.cancel()
}

// unwind ends the branch: its deferred calls run, nothing can recover it, its parent unwinds as well.
func (l *life) unwind(cause error) {
	l.stop(cause)
	runtime.Goexit()
}

// alive unwinds the branch where the run cannot go on.
func (l *life) alive() {
	if l.cause != nil {
		runtime.Goexit()
	}
}

// take grants an effect its quotas, all or none, and returns the name of one that is spent.
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

// changes says that an effect may change something outside.
func changes(e patterns.Effect) bool {
	return e.Kind == patterns.ToolEffect && e.Permit.Effect() != catalog.Read
}

// yield registers a limited wait and gives the baton away.
func (l *life) yield(w *wait) {
	if w != nil {
		l.waits = append(l.waits, w)
	}
	l.baton.Unlock()
}

// resume takes the baton back. A wait that fell due lets those go first that were due before it.
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

// report tells the cause of what a tool or model did, for the log.
func (l *life) report(key string, cause error) {
	if cause != nil && l.engine.Fault != nil {
		l.engine.Fault(l.id, key, l.record.told(cause))
	}
}

// tell says a line of progress. The baton is held, so lines come one at a time.
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

// startOf is the first event's body.
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
