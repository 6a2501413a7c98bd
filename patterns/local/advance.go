package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
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
}

// Advance takes up a run that is ready or due, carries it on until it ends or rests, and says how it then rests. A run that rests already is
// left as it is. So an engine needs no [Engine.Go] if another scheduler calls Advance: at once, at each WakeAt, and whenever something was
// given to the run.
//
// When ctx ends, the run is handed over and the error is ctx's. It is [patterns.ErrNotTaken] if another process or another call carries the
// run on, [patterns.ErrNoRun], or the journal's. A run that lacks something here rests with the kind retry. The engine must be over a store.
func (e *Engine) Advance(ctx context.Context, id string) (Rest, error) {
	f := e.file
	n, ok := journal.RunNumber(id)
	if f == nil || !ok {
		return Rest{}, patterns.ErrNoRun
	}
	l, err := f.claim(n, nil)
	switch {
	case errors.Is(err, patterns.ErrNotTaken), errors.Is(err, journal.ErrBroken), errors.Is(err, ErrMismatch): // its row says how it stands
		return f.restOf(n)
	case isLacking(err):
		return Rest{Waiting: patterns.ForRetry}, nil
	case err != nil:
		return Rest{}, err
	case l == nil:
		return Rest{}, patterns.ErrNoRun
	}
	select {
	case <-l.done:
		return f.restOf(n)
	case <-ctx.Done():
	}
	l.giveUp(errHandedOver)
	<-l.done
	t := l.record.file
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.GiveUp{N: t.n, Owner: f.owner.ID(), Epoch: t.epoch}}}) // else the end of this process does it
	return Rest{}, ctx.Err()
}

// restOf is how a run rests, by its row.
func (f *file) restOf(n int64) (rest Rest, err error) {
	r, err := f.rowOf(n)
	switch {
	case err != nil:
		return rest, err
	case r == nil:
		return rest, patterns.ErrNoRun
	case r.State == "running":
		return rest, patterns.ErrNotTaken
	}
	return restOfRow(r, f.journal.Now()), nil
}

func restOfRow(r *store.Row, now time.Time) Rest {
	switch r.State {
	case "parked":
		rest := Rest{Waiting: patterns.WaitingKind(r.WaitingKind)}
		if r.Wake > 0 {
			rest.WakeAt = time.UnixMicro(r.Wake)
		}
		return rest
	case "ready":
		return Rest{WakeAt: now}
	}
	return Rest{Over: true}
}
