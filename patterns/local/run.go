package local

import (
	"context"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
)

// run is one run in this process. In memory it stays from its start until it is removed, over a store while it has a
// life.
type run struct {
	execution.Run
	engine *Engine
	tail   *execution.Tail // of its record, over a store; nil: in memory
	size   int             // of what its caller sent so far, in bytes of memory

	// Guarded by the engine's lock.
	state     patterns.RunState
	attended  bool             // a call began or continues it and waits
	life      *execution.Life  // of a run that runs; nil for the moment between lives
	idle      patterns.Current // what is shown in that moment
	rest      patterns.Ended
	clock     *time.Timer    // of a run that waits for a limited time
	delivered bool           // its result was given to its caller
	within    *run           // of a child run that was begun here: the run that called it; else nil
	resumed   bool           // it was claimed from the store, not by a call
	recall    *patterns.Note // cancel it as soon as it has a life; nil: do not
}

var _ execution.Host = (*run)(nil)

// newRun makes a run that is about to begin or to continue here.
func (e *Engine) newRun(id string, job patterns.Job) *run {
	r := &run{engine: e, size: job.Size, state: patterns.Running}
	n, _ := journal.RunNumber(id)
	r.Run = execution.Run{RunID: id, N: n, Job: job, Code: e.codeOf(job.Spec.Kind), Backing: e.keeper().backing(), Host: r}
	return r
}

// live makes the run's next life, over its history. With a nil history the run begins.
func (r *run) live(h *execution.History, progress func(patterns.Progress)) *execution.Life {
	l, e := execution.New(&r.Run, h, progress), r.engine
	e.mu.Lock()
	r.life = l
	recall := r.recall
	r.recall = nil
	closed := e.keeper().lives(r)
	e.mu.Unlock()
	if recall != nil {
		l.End(*recall)
	}
	if closed {
		l.GiveUp(execution.ErrHandedOver)
	}
	if e.keeper().quits(r) {
		l.Quit()
	}
	return l
}

// continues makes a run go on at the end of its record.
func (r *run) continues(t *execution.Tail, began time.Time) {
	r.tail, r.Record, r.Began = t, t.Record(), began
}

// Perform implements [execution.Host].
func (r *run) Perform(work func()) { r.engine.hands.do(work) }

// Hook implements [execution.Host].
func (r *run) Hook(point string) { r.engine.hook(point) }

// Report implements [execution.Host].
func (r *run) Report(key string, cause error) { r.engine.report(r.RunID, key, cause) }

// Unrecorded implements [execution.Host].
func (r *run) Unrecorded(key string) (patterns.Outcome, bool) {
	return r.engine.keeper().unrecorded(r.RunID, key)
}

// Asked implements [execution.Host].
func (r *run) Asked(a patterns.Asked) {
	if r.engine.Asks != nil {
		r.engine.Asks(a)
	}
}

// CallerWait implements [execution.Host].
func (r *run) CallerWait() (time.Duration, bool) { return r.engine.callerWait() }

// Announce implements [execution.Host].
func (r *run) Announce(id string) { r.engine.waiters.announce(id) }

// Detach implements [execution.Host].
func (r *run) Detach() (quits bool) {
	r.engine.mu.Lock()
	r.attended = false
	r.engine.mu.Unlock()
	return r.engine.keeper().quits(r)
}

// Park implements [execution.Host].
func (r *run) Park(l *execution.Life, rest patterns.Ended) error {
	return r.engine.keeper().park(r, l, rest)
}

// Finish implements [execution.Host].
func (r *run) Finish(l *execution.Life, rest patterns.Ended) error {
	return r.engine.keeper().finish(r, l, rest)
}

// Broke implements [execution.Host].
func (r *run) Broke(l *execution.Life, rest patterns.Ended, cause error) execution.AtRest {
	return r.engine.keeper().broke(r, l, rest, cause)
}

// Child implements [execution.Host].
func (r *run) Child(ctx context.Context, c *execution.ChildCall) (execution.ChildRest, error) {
	return r.engine.keeper().child(ctx, r, c)
}

// ChildNow implements [execution.Host].
func (r *run) ChildNow(c *execution.ChildCall) (execution.ChildRest, error) {
	return r.engine.keeper().childNow(r, c)
}

// ChildRested implements [execution.Host].
func (r *run) ChildRested(id string) (time.Duration, error) {
	return r.engine.keeper().childRested(id)
}

// Life implements [execution.Host].
func (r *run) Life(id string) *execution.Life { return r.engine.keeper().lifeOf(r.Job.Principal, id) }

// PlanChanged implements [execution.Host].
func (r *run) PlanChanged(other int64, by patterns.Note) {
	r.engine.keeper().planChanged(other, r.Job.Principal, by)
}

// Grew implements [execution.Host].
func (r *run) Grew(bytes int) {
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	r.size += bytes
}

// snapshot shows the run without the head of its record. The caller holds the lock.
func (r *run) snapshot() patterns.Snapshot {
	s := patterns.Snapshot{
		RunID: r.RunID, Pattern: r.Job.Spec.Name, Caller: r.Job.Caller, Parent: r.Job.Parent,
		Arguments: r.Job.Arguments, State: r.state, Began: r.Began, Ended: r.rest, Spec: r.Job.Spec,
	}
	if r.Job.Model != nil {
		s.Model = r.Job.Model.Name()
	}
	if r.state == patterns.Running {
		s.Ended = patterns.Ended{RunID: r.RunID, Began: r.Began}
		if s.Current = r.idle; r.life != nil {
			s.Current = r.life.Current()
		}
	}
	return s
}

// isAttended reports whether a call waits for the run or for its parent. The caller holds the lock.
func (r *run) isAttended() bool {
	return r.attended || r.within != nil && r.within.isAttended()
}

// parentOf returns the number of the run whose call began this one; 0: it has no parent.
func (r *run) parentOf() int64 {
	if r.Job.Parent == nil {
		return 0
	}
	n, _ := journal.RunNumber(r.Job.Parent.RunID)
	return n
}
