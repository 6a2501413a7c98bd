package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Rest is the state of a run that has ended, waits or is ready, with the time at which it may continue by itself.
type Rest struct {
	// Over reports that the run has ended.
	Over bool
	// Waiting is what the run waits for. It is "" if the run has ended or is ready.
	Waiting patterns.WaitingKind
	// WakeAt is when the run must be advanced again if nothing wakes it before. The zero time: only another event wakes
	// it.
	WakeAt time.Time
}

// Advance takes a run that is ready or due, carries it out until it ends or waits, and returns its state then. If the
// run has ended or waits already, Advance only returns its state. An engine needs no [Engine.Go] if another scheduler
// calls Advance. That scheduler calls it at once, at each WakeAt, and whenever something was given to the run.
//
// When ctx ends, Advance hands the run over and returns the error of ctx. It returns [patterns.ErrNotTaken] if another
// process or another call carries out the run, and [patterns.ErrNoRun] if the run is unknown. It can also return an
// error of the store. If this process lacks something that the run needs, the run waits with the kind retry. The engine
// must keep its runs in a store.
func (e *Engine) Advance(ctx context.Context, id string) (Rest, error) {
	f := e.file
	n, ok := journal.RunNumber(id)
	if f == nil || !ok {
		return Rest{}, patterns.ErrNoRun
	}
	l, err := f.claim(n, nil)
	switch {
	case errors.Is(err, patterns.ErrNotTaken), errors.Is(err, journal.ErrBroken), errors.Is(err, ErrMismatch): // the row has the state
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
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.GiveUp{N: t.n, Owner: f.owner.ID(), Epoch: t.epoch}}}) // if this fails, the end of this process releases the run
	return Rest{}, ctx.Err()
}

// restOf returns the state of a run from its row. It returns [patterns.ErrNotTaken] if the run is running.
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
