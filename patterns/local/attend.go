package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
)

// attend waits until the run ends or waits, and returns its state. It waits at most for the duration wait; 0: no limit,
// below: not at all. When ctx ends, attend cancels the run, unless the run has begun to write or the cause is
// [patterns.ErrDetached].
func (e *Engine) attend(ctx context.Context, r *run, l *execution.Life, wait time.Duration) (patterns.Ended, error) {
	var over <-chan time.Time
	var until time.Time
	switch {
	case wait < 0:
		l.LetGo()
		return l.Running(), nil
	case wait > 0:
		t := time.NewTimer(wait)
		defer t.Stop()
		over, until = t.C, time.Now().Add(wait)
	}
	select {
	case <-l.Done():
		if l.Rest().Replayed {
			return e.followed(ctx, r, l.Rest(), l.HasWritten(), until)
		}
		return l.Rest().Ended, l.Rest().Fault
	case <-over:
	case <-ctx.Done():
		if !execution.Detached(ctx) && l.TakeBack() {
			<-l.Done()
			return l.Rest().Ended, l.Rest().Fault
		}
	}
	l.LetGo()
	if e.rests(r) { // the run ended or waited at the same moment
		<-l.Done()
		return l.Rest().Ended, l.Rest().Fault
	}
	return l.Running(), nil
}

// followed waits for the next life of a run that is replayed, until the run ends or waits. It stops waiting when ctx
// ends, and at the time until if that is not zero. rest is how the life before came to rest, and wrote says that it had
// begun to write.
func (e *Engine) followed(ctx context.Context, r *run, rest execution.AtRest, wrote bool, until time.Time) (patterns.Ended, error) {
	waits := ctx
	if !until.IsZero() {
		var cancel context.CancelFunc
		waits, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	s, ok := e.keeper().Wait(waits, r.Job.Principal, r.RunID, patterns.Mark{State: patterns.Running})
	if ok && s.State == patterns.Running && ctx.Err() != nil && !execution.Detached(ctx) && !wrote {
		s, ok = e.takenBack(ctx, r, s)
	}
	if !ok {
		return rest.Ended, rest.Fault
	}
	return endedOf(s), nil
}

// takenBack cancels a run between two of its lives because its call was cut. It does nothing if the next life has begun
// to write. Within a life, [execution.Life.TakeBack] does the same. ctx is the context of the call, which has ended.
func (e *Engine) takenBack(ctx context.Context, r *run, s patterns.Snapshot) (patterns.Snapshot, bool) {
	if next := e.keeper().lifeOf(r.Job.Principal, r.RunID); next != nil && next.HasWritten() {
		return s, true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takesBack)
	defer cancel()
	back, err := e.keeper().Cancel(ctx, r.Job.Principal, r.RunID, patterns.Note{By: r.Job.Principal})
	switch {
	case errors.Is(err, patterns.ErrOver):
		return e.keeper().Run(r.Job.Principal, r.RunID)
	case err != nil: // the run continues
		return s, true
	}
	return back, true
}

// takesBack is how long a call that was cut waits until its run is cancelled.
const takesBack = 5 * time.Second

// endedOf returns the state of a run for a call that did not carry it out.
func endedOf(s patterns.Snapshot) patterns.Ended {
	ended := s.Ended
	if ended.RunID = s.RunID; s.State == patterns.Running {
		now := s.Current
		ended.Running = &now
	}
	return ended
}

// rests reports whether a run has ended or waits. If it has, only the call that was waiting reports the
// result.
func (e *Engine) rests(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return r.state != patterns.Running
}

// join waits for a run that another call began, and returns its state. It waits for at most job.Wait; 0: no limit,
// below: not at all.
func (e *Engine) join(ctx context.Context, id string, job patterns.Job) (patterns.Ended, error) {
	if job.Wait != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(job.Wait, 0))
		defer cancel()
	}
	if job.Wait >= 0 {
		defer e.keeper().follow(id, job.Progress)()
	}
	s, ok := e.keeper().Wait(ctx, job.Principal, id, patterns.Mark{State: patterns.Running})
	if !ok {
		return patterns.Ended{}, patterns.ErrNoRun
	}
	ended := endedOf(s)
	ended.RunID, ended.Joined = id, true
	return ended, nil
}
