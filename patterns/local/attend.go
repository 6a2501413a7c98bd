package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
)

// attend waits for a life to come to rest, as long as the call that brought it about wants and is there.
func (e *Engine) attend(ctx context.Context, l *life, wait time.Duration) (patterns.Ended, error) {
	var over <-chan time.Time
	var until time.Time
	switch {
	case wait < 0:
		l.letGo()
		return l.running(), nil
	case wait > 0:
		t := time.NewTimer(wait)
		defer t.Stop()
		over, until = t.C, time.Now().Add(wait)
	}
	select {
	case <-l.done:
		if l.replayed {
			return e.followed(ctx, l, until)
		}
		return l.rest, l.fault
	case <-over:
	case <-ctx.Done():
		if !detached(ctx) && l.takeBack() {
			<-l.done
			return l.rest, l.fault
		}
	}
	l.letGo()
	if e.rests(l) { // it came in the same moment
		<-l.done
		return l.rest, l.fault
	}
	return l.running(), nil
}

// followed waits for the next life of a run, as long as the call still would, until a time or, where that is none, until the run
// comes to rest.
func (e *Engine) followed(ctx context.Context, l *life, until time.Time) (patterns.Ended, error) {
	waits := ctx
	if !until.IsZero() {
		var cancel context.CancelFunc
		waits, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	s, ok := e.keeper().Wait(waits, l.job.Principal, l.id, patterns.Mark{State: patterns.Running})
	if ok && s.State == patterns.Running && ctx.Err() != nil && !detached(ctx) {
		s, ok = e.takenBack(ctx, l, s)
	}
	if !ok {
		return l.rest, l.fault
	}
	return endedOf(s), nil
}

// takenBack takes a run back between two of its lives for a call that was cut, unless it has begun to write: as [life.takeBack] does
// within one. ctx is the call's, which is over.
func (e *Engine) takenBack(ctx context.Context, l *life, s patterns.Snapshot) (patterns.Snapshot, bool) {
	next := e.lives(l.job.Principal, l.id)
	if l.hasWritten() || next != nil && next.hasWritten() {
		return s, true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takesBack)
	defer cancel()
	back, err := e.keeper().Cancel(ctx, l.job.Principal, l.id, patterns.Note{By: l.job.Principal})
	switch {
	case errors.Is(err, patterns.ErrOver):
		return e.keeper().Run(l.job.Principal, l.id)
	case err != nil: // it goes on
		return s, true
	}
	return back, true
}

// takesBack is how long a call that was cut waits for its run to be taken back.
const takesBack = 5 * time.Second

// endedOf is a run as it stands for a call that did not carry it out.
func endedOf(s patterns.Snapshot) patterns.Ended {
	ended := s.Ended
	if ended.RunID = s.RunID; s.State == patterns.Running {
		now := s.Current
		ended.Running = &now
	}
	return ended
}

// rests says that a life came to rest, so that nobody is told of it but the call that was there.
func (e *Engine) rests(l *life) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return l.run.state != patterns.Running
}

// join waits for a run that another call began.
func (e *Engine) join(ctx context.Context, id string, job patterns.Job) (patterns.Ended, error) {
	if job.Wait != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(job.Wait, 0))
		defer cancel()
	}
	if e.file != nil && job.Wait >= 0 {
		defer e.file.scheduler.follow(id, job.Progress)()
	}
	s, ok := e.keeper().Wait(ctx, job.Principal, id, patterns.Mark{State: patterns.Running})
	if !ok {
		return patterns.Ended{}, patterns.ErrNoRun
	}
	ended := endedOf(s)
	ended.RunID, ended.Joined = id, true
	return ended, nil
}
