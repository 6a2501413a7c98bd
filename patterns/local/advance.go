package local

import (
	"cmp"
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Rest says how a run rests, and when it may go on by itself.
type Rest struct {
	// Over says that the run has ended.
	Over bool
	// Waiting is what the run waits for; "" if it has ended, or is ready.
	Waiting patterns.WaitingKind
	// WakeAt is when the run must be advanced again if nothing wakes it before; zero: only something else wakes it.
	WakeAt time.Time
	// Below are the runs that calls of the run began and that are not over. They must be advanced too: the run continues when they have ended.
	Below []string
}

// Advance takes up a run that is ready or due, carries it on until it ends or rests, and says how it then rests. A run that rests already is
// left as it is. So another scheduler can call Advance instead of [Engine.Go]: at once, at each WakeAt, for each run Below, and whenever
// something was given to the run. Advance also releases the runs of processes that have died, and sees what others want while it waits.
//
// When ctx ends, the run is handed over and the error is ctx's; child runs that live here go on. The error is [patterns.ErrNotTaken] if
// another process carries the run on, [patterns.ErrNoRun], or the journal's. A run that lacks something here rests with the kind retry.
// The engine must be over a store.
func (e *Engine) Advance(ctx context.Context, id string) (Rest, error) {
	return e.keeper().advance(ctx, id)
}

func (f *file) advance(ctx context.Context, id string) (Rest, error) {
	n, ok := journal.RunNumber(id)
	if !ok {
		return Rest{}, patterns.ErrNoRun
	}
	if err := ctx.Err(); err != nil {
		return Rest{}, err
	}
	defer f.scheduler.heed()()
	l, err := f.claim(n, nil)
	switch {
	case errors.Is(err, patterns.ErrNotTaken), errors.Is(err, journal.ErrBroken), errors.Is(err, execution.ErrMismatch): // its row says how it stands
	case isLacking(err):
		return Rest{Waiting: patterns.ForRetry}, nil
	case err != nil:
		return Rest{}, err
	}
	for {
		if l == nil { // another call has it here, or nobody
			l = f.life(id)
		}
		if l == nil {
			rest, ours, err := f.restOf(n)
			if !ours {
				return rest, err
			}
			select { // its life has just ended, and it is given up for the next one
			case <-ctx.Done():
				return Rest{}, ctx.Err()
			case <-time.After(defaultPoll):
				continue
			}
		}
		select {
		case <-l.life.Done():
			l = nil
		case <-ctx.Done():
			if l.run.resumed { // the run of a call that somebody waits for stays the call's
				f.handOver(l)
			}
			return Rest{}, ctx.Err()
		}
	}
}

// handOver ends a life and makes its run ready for the next process that takes it.
func (f *file) handOver(l *lived) {
	l.life.GiveUp(execution.ErrHandedOver)
	<-l.life.Done()
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.GiveUp{N: l.N, Owner: f.owner.ID(), Epoch: l.tail.Epoch()}}}) // else the end of this process does it
	f.scheduler.nudge()
}

// restOf is how a run rests, by its row. ours says that it is in this process's hands and about to be given up.
func (f *file) restOf(n int64) (rest Rest, ours bool, err error) {
	var r *store.Row
	err = f.journal.View(func(s store.Reader) error {
		if r, err = s.Row(n); err != nil || r == nil || r.State != "parked" {
			return err
		}
		below, err := s.Below(n)
		for _, child := range below {
			is, fault := s.Standing(child)
			if err = cmp.Or(err, fault); err == nil && (is.State == "running" || is.State == "ready" || is.State == "parked") {
				rest.Below = append(rest.Below, journal.RunID(child))
			}
		}
		return err
	})
	switch {
	case err != nil:
		return rest, false, err
	case r == nil:
		return rest, false, patterns.ErrNoRun
	case r.State == "running":
		return rest, r.Owner == f.owner.ID(), patterns.ErrNotTaken
	case r.State == "ready": // it could not be taken now
		rest.WakeAt = f.journal.Now().Add(again)
	case r.State == "parked":
		rest.Waiting = patterns.WaitingKind(r.WaitingKind)
		if r.Wake > 0 {
			rest.WakeAt = time.UnixMicro(r.Wake)
		}
	default:
		rest.Over = true
	}
	return rest, false, nil
}
