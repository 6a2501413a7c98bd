package local

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/patterns"
)

// life is one execution of a run's code, from its start or over what is recorded already. All its fields but record and
// ctx are guarded by the baton.
type life struct {
	*run
	record   *Record // the run's; late results find it here when the run has let go of it
	progress func(patterns.Progress)
	ctx      context.Context
	cancel   context.CancelFunc
	past     map[string]*memory // what is recorded, by key; nil for a run that begins

	baton  sync.Mutex // held by the branch whose pattern code runs
	moved  *sync.Cond // on the baton: a branch ended or resumed
	waits  []*wait    // effects with a time limit that are being performed
	phase  string     // of the newest effect
	cause  error      // why the run cannot go on
	parked *patterns.Waiting

	now atomic.Pointer[patterns.Current] // for who looks at the run from outside
}

// wait is a branch that waits for an effect with a time limit.
type wait struct {
	due   time.Time
	order int
}

// errParked unwinds the branches of a run that waits.
var errParked = errors.New("local: the run waits")

// newLife is the next life of a run.
func newLife(ctx context.Context, r *run, progress func(patterns.Progress)) *life {
	l := &life{run: r, record: r.record, progress: progress}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.moved = sync.NewCond(&l.baton)
	r.engine.mu.Lock()
	idle := r.idle
	l.now.Store(&idle)
	r.life = l
	r.engine.mu.Unlock()
	return l
}

// live runs the pattern's code in a goroutine of its own, since a branch that cannot go on unwinds.
func (l *life) live() (result patterns.Result, err error) {
	pattern, _ := patterns.PatternOf(l.job.Spec.Kind) // there was one at the start
	root := &branch{life: l, keys: newKeys(""), at: l.began}
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

// park ends this life at an effect that waits for the caller: every branch unwinds, and nothing but the record stays.
func (l *life) park(key string, e patterns.Effect, since time.Time, wait time.Duration) {
	w := *e.Waiting
	w.Since, w.Until = since, since.Add(wait)
	l.parked, l.waitsAt = &w, key
	l.unwind(errParked)
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
		l.engine.Fault(l.id, key, cause)
	}
}

// tell says a line of progress. The baton is held, so lines come one at a time.
func (l *life) tell(lines ...string) {
	if l.progress == nil {
		return
	}
	for _, line := range lines {
		if line != "" {
			l.progress(patterns.Progress{RunID: l.id, Line: line})
		}
	}
}
