package local

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"patterngate/patterns"
)

// life is one execution of a run. All its fields but record and ctx are guarded by the baton.
type life struct {
	engine *Engine
	job    patterns.Job
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	record *Record

	baton  sync.Mutex // held by the branch whose pattern code runs
	moved  *sync.Cond // on the baton: a branch ended or resumed
	waits  []*wait    // effects with a time limit that are being performed
	quotas map[string]int
	order  int       // intents so far
	calls  int       // of tools, among them
	asked  int       // requests to the model
	newest time.Time // of all events
	phase  string    // of the newest effect
	cause  error     // why the run cannot go on
}

// wait is a branch that waits for an effect with a time limit.
type wait struct {
	due   time.Time
	order int
}

func newLife(ctx context.Context, e *Engine, job patterns.Job) *life {
	l := &life{engine: e, job: job, id: newID(), record: &Record{}, quotas: map[string]int{}}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.moved = sync.NewCond(&l.baton)
	return l
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
	if l.ctx.Err() != nil {
		l.unwind(patterns.ErrCanceled)
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

// rest registers a limited wait and gives the baton away.
func (l *life) rest(w *wait) {
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
		l.engine.Fault(l.id, key, cause)
	}
}

// tell says a line of progress. The baton is held, so lines come one at a time.
func (l *life) tell(lines ...string) {
	if l.job.Progress == nil {
		return
	}
	for _, line := range lines {
		if line != "" {
			l.job.Progress(patterns.Progress{RunID: l.id, Line: line})
		}
	}
}
