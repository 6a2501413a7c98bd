package local

import (
	"context"
	"errors"
	"fmt"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// take implements keeper. A late result of the run's last life may be recorded while this life is prepared. take then
// prepares it again.
func (f *file) take(c patterns.Continuation) (r *run, h *execution.History, err error) {
	for range 3 {
		r, h, err = f.takeNow(c)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return r, h, err
}

func (f *file) takeNow(c patterns.Continuation) (*run, *execution.History, error) {
	n, ok := journal.RunNumber(c.RunID)
	if !ok {
		return nil, nil, patterns.ErrNoRun
	}
	r, stored, err := f.read(n)
	switch {
	case err != nil:
		return nil, nil, err
	case r == nil || r.Principal != c.Principal:
		return nil, nil, patterns.ErrNoRun
	case r.State != "parked" || r.WaitingKind != string(patterns.ForCaller), c.Turn != 0 && c.Turn != r.Turn:
		return nil, nil, patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	switch {
	case errors.Is(err, journal.ErrBroken):
		f.quarantine(r, err)
		return nil, nil, patterns.ErrNotTaken
	case errors.Is(err, execution.ErrMismatch):
		_ = f.mismatch(l, err)
		return nil, nil, patterns.ErrNotTaken
	case err != nil:
		return nil, nil, err
	}
	out := journal.OutcomeBody{State: patterns.OK, Output: c.Given}
	if f.journal.Now().UnixMicro() >= r.Expires {
		return nil, nil, patterns.ErrNotTaken
	}
	l.events = append(l.events, l.run.Record.Append(patterns.OutcomeEvent, r.WaitsKey, f.journal.Now(), out))
	l.run.attended = true
	if err := f.takeOver(l); errors.Is(err, patterns.ErrNotTaken) {
		return nil, nil, patterns.ErrNotTaken
	} else if err != nil {
		return nil, nil, err
	}
	f.announceTaken(l)
	return l.run, l.history, nil
}

// settle implements [Operator.Settle].
func (f *file) settle(id, effect string, s Settlement) error {
	n, _ := journal.RunNumber(id)
	r, stored, err := f.read(n)
	if err != nil {
		return err
	}
	if r == nil {
		return patterns.ErrNoRun
	}
	if r.State != "parked" {
		return patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	if err != nil && !isLacking(err) {
		return err
	}
	key := l.history.Doubt(effect)
	if key == "" {
		return patterns.ErrNotTaken
	}
	out := map[string]any{"happened": s.Happened, "by": s.By.By, "channel": s.By.Channel}
	if s.Comment != "" {
		out["comment"] = s.Comment
	}
	if s.Result != nil {
		if out["result"], err = decodeResult(s.Result); err != nil {
			return err
		}
	}
	t := f.back.Continue(r, 0, l.last, l.hidden)
	record := t.Record()
	now := f.journal.Now()
	record.Append(patterns.NoteEvent, "", now, journal.NoteBody{What: execution.NoteSettle, Note: s.By, Act: s.Act})
	last := record.Append(patterns.OutcomeEvent, key, now, journal.OutcomeBody{State: patterns.OK, Output: out, Human: true})
	events := t.Take()
	head := events[len(events)-1].Hash
	subject := s.Subject(id, effect)
	step := store.Settle{N: n, Epoch: r.Epoch, Head: store.Head{Events: int64(last.Seq), Hash: head, Newest: last.At.UnixMicro()}}
	c := &store.Change{Run: n, Events: events, Durable: true}
	err = f.signer().Signed(s.Act, decisions.Wanted{Act: gateway.ActSettle, Subject: subject}, c, append([]store.Step{step}, t.KeepHidden()...)...)
	if store.IsRefused(err) {
		return patterns.ErrNotTaken
	}
	return err
}

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
var errTooFast = fmt.Errorf("%w: the run changes hands too fast", patterns.ErrJournal)

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
