package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// take implements keeper. A late result of the run's last life may be recorded while this life is prepared. take then
// prepares it again.
func (f *file) take(c patterns.Continuation) (r *run, h *history, err error) {
	for range 3 {
		r, h, err = f.takeNow(c)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return r, h, err
}

func (f *file) takeNow(c patterns.Continuation) (*run, *history, error) {
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
	case errors.Is(err, ErrMismatch):
		_ = f.mismatch(l, err)
		return nil, nil, patterns.ErrNotTaken
	case err != nil:
		return nil, nil, err
	}
	out := journal.OutcomeBody{State: patterns.OK, Output: c.Given}
	if f.journal.Now().UnixMicro() >= r.Expires {
		return nil, nil, patterns.ErrNotTaken
	}
	l.events = append(l.events, l.run.record.append(patterns.OutcomeEvent, r.WaitsKey, f.journal.Now(), out))
	l.run.attended = true
	if err := f.takeOver(l); errors.Is(err, patterns.ErrNotTaken) {
		return nil, nil, patterns.ErrNotTaken
	} else if err != nil {
		return nil, nil, err
	}
	f.announceTaken(l)
	return l.run, l.history, nil
}

func sortLedger(list []gateway.Entry) {
	slices.SortFunc(list, func(a, b gateway.Entry) int { return cmp.Compare(a.Order, b.Order) })
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
	key := l.doubt(effect)
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
	record := &Record{seq: int(l.last.Seq), at: time.UnixMicro(l.last.At)}
	record.file = &tail{file: f, id: id, n: n, head: l.last.Hash, hidden: l.hidden}
	now := f.journal.Now()
	record.append(patterns.NoteEvent, "", now, journal.NoteBody{What: noteSettle, Note: s.By, Act: s.Act})
	last := record.append(patterns.OutcomeEvent, key, now, journal.OutcomeBody{State: patterns.OK, Output: out, Human: true})
	events := record.file.pending
	head := events[len(events)-1].Hash
	subject := s.Subject(id, effect)
	step := store.Settle{N: n, Epoch: r.Epoch, Head: store.Head{Events: int64(last.Seq), Hash: head, Newest: last.At.UnixMicro()}}
	c := &store.Change{Run: n, Events: events, Durable: true}
	err = f.signer().Signed(s.Act, decisions.Wanted{Act: gateway.ActSettle, Subject: subject}, c, append([]store.Step{step}, record.file.keepHidden()...)...)
	if store.IsRefused(err) {
		return patterns.ErrNotTaken
	}
	return err
}

// noteSteps returns the steps that append a note to the record of a run. The same change must take the run from its
// owner. What the run hides is hidden in the note too, because the note has a person's words. The error is not the
// store's if the record is damaged.
func (f *file) noteSteps(s store.Reader, n int64, body journal.NoteBody) ([]store.Step, error) {
	stored, err := s.Events(n)
	if err == nil && len(stored) == 0 {
		err = journal.ErrBroken
	}
	if err != nil {
		return nil, err
	}
	_, steps, err := f.hiding().Append(s, n, stored, journal.Event{Kind: patterns.NoteEvent, Body: body}, f.journal.Now())
	return steps, err
}

// doubt returns the key of the open question about a call whose outcome is unknown; "": there is none.
func (l *loaded) doubt(effect string) string {
	for key, m := range l.history.past {
		if m.intent == nil || m.intent.Kind != patterns.HumanEffect || m.intent.Name != "settle" || m.outcome.State != "" {
			continue
		}
		v, err := decodeResult(m.intent.Input)
		if about, ok := v.(map[string]any); err == nil && ok && about["effect"] == effect {
			return key
		}
	}
	return ""
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
			l.end(by)
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
			case <-l.done: // it may wait now and not have ended
				continue
			case <-ctx.Done():
				return nil
			}
		case owned: // its owner will see it
			f.recall.Store(true)
			return nil
		}
		f.mu.Lock()
		delete(f.lacking, n)
		f.mu.Unlock()
		if _, err := f.claim(n, nil); !errors.Is(err, patterns.ErrNotTaken) {
			switch {
			case isLacking(err), errors.Is(err, ErrMismatch):
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
	for range maxTries { // its owner may change in between
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
	steps, err = f.noteSteps(s, n, journal.NoteBody{What: noteCancel, Note: by})
	return append([]store.Step{store.CancelResting{N: n, Epoch: r.Epoch}}, steps...), false, err
}
