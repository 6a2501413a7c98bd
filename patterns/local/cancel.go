package local

import (
	"context"
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// cancel implements keeper's Cancel for a run whose principal was checked. The cancellation is on the disk before
// anyone sees it. It therefore holds even if the run is about to wait or the process ends.
func (f *file) cancel(ctx context.Context, n int64, by patterns.Note) error {
	for tries := range 3 { // its owner may change while this runs
		r, events, err := f.read(n)
		switch {
		case err != nil:
			return err
		case r == nil:
			return patterns.ErrNoRun
		case r.State != "ended" && r.State != "broken":
		case tries > 0: // this cancellation ended it
			return nil
		default:
			return patterns.ErrOver
		}
		l := f.life(r.ID())
		if l != nil {
			l.life.End(by)
		} else if err := r.Verify(events); err != nil {
			f.quarantine(r, err)
			return patterns.ErrOver
		}
		owned, err := f.recalled(n, by)
		switch {
		case err != nil:
			return err
		case l != nil:
			select {
			case <-l.life.Done(): // it may wait now and not have ended
				continue
			case <-ctx.Done():
				return nil
			}
		case owned: // its owner will see it
			f.back.Recalled.Store(true)
			return nil
		}
		f.mu.Lock()
		delete(f.lacking, n)
		f.mu.Unlock()
		if _, err := f.claim(n, nil); !errors.Is(err, patterns.ErrNotTaken) {
			switch {
			case isLacking(err), errors.Is(err, execution.ErrMismatch):
				return nil
			case errors.Is(err, journal.ErrBroken):
				return patterns.ErrOver
			}
			return err
		}
	}
	return errTooFast
}

// recalled notes on the disk that a run must be cancelled; owned reports that a process owns the run.
func (f *file) recalled(n int64, by patterns.Note) (owned bool, err error) {
	for range execution.MaxTries { // its owner may change in between
		var steps []store.Step
		err := f.journal.View(func(s store.Reader) (err error) {
			steps, owned, err = f.recallSteps(s, n, by)
			return err
		})
		if err != nil || len(steps) == 0 {
			return false, err
		}
		err = f.journal.Do(&store.Change{Durable: true, Steps: steps})
		if !store.IsRefused(err) {
			return owned && err == nil, err
		}
	}
	return false, errTooFast
}

// errTooFast is returned for a run whose owner changes each time it is looked at.
var errTooFast = fmt.Errorf(changingOwner, patterns.ErrJournal)

// recallSteps returns the steps that cancel a run in its present state; owned reports that a process owns the run.
func (f *file) recallSteps(s store.Reader, n int64, by patterns.Note) (steps []store.Step, owned bool, err error) {
	r, err := s.Row(n)
	switch {
	case err != nil || r == nil:
		return nil, false, err
	case r.State == "running":
		return []store.Step{store.Recall{N: n}}, true, nil
	case r.State != "ready" && r.State != "parked", r.Canceled:
		return nil, false, nil
	}
	steps, err = f.back.Note(s, n, journal.NoteBody{What: execution.NoteCancel, Note: by})
	return append([]store.Step{store.CancelResting{N: n, Epoch: r.Epoch}}, steps...), false, err
}
