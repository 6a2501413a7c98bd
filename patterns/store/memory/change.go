package memory

import (
	"fmt"
	"runtime/debug"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// change makes a change, all of it or nothing.
func (t *tables) change(c *store.Change) error {
	r := t.runs[c.Run]
	if c.Epoch > 0 {
		if broken, ok := t.broken[c.Run]; ok && broken == c.Epoch {
			return fmt.Errorf("%w: an earlier change of the run failed", patterns.ErrJournal)
		} else if ok && broken < c.Epoch {
			delete(t.broken, c.Run)
		}
		if r == nil || r.Epoch != c.Epoch {
			return store.ErrFenced
		}
	}
	err := t.both(c, r)
	if err != nil {
		for i := len(t.undo) - 1; i >= 0; i-- {
			t.undo[i]()
		}
		if (c.Chained || !store.IsRefused(err)) && c.Epoch > t.broken[c.Run] {
			t.broken[c.Run] = c.Epoch
		}
	}
	clear(t.undo)
	t.undo = t.undo[:0]
	return err
}

// both takes the steps of a change and adds its events. r is the run before the change; nil: there is none.
func (t *tables) both(c *store.Change, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil { // the caller must not wait for ever
			err = fmt.Errorf("%w: a change panicked: %v\n%s", patterns.ErrJournal, p, debug.Stack())
		}
	}()
	for _, b := range c.Begins {
		if b.StoppedBy(t.switches) {
			return &store.Refused{Stopped: true}
		}
	}
	certain := len(c.Steps) // steps from here on cannot refuse the change
	if follows(c, r) {
		for certain > 0 && alwaysHolds(c.Steps[certain-1]) {
			certain--
		}
	}
	for i, s := range c.Steps {
		t.noUndo = i >= certain
		if err := t.step(s); err != nil {
			return err
		}
	}
	return t.append(c)
}

// follows reports whether the events of a change certainly can be added, whatever its steps do.
func follows(c *store.Change, r *run) bool {
	return len(c.Events) == 0 || r != nil && c.Events[0].Seq == r.length()+1
}

// alwaysHolds reports whether a step never refuses a change. It knows the steps that follow others often.
func alwaysHolds(s store.Step) bool {
	switch s.(type) {
	case store.Park, store.End, store.SetLength, store.AddConfigs, store.GiveUp, store.Wake, store.DropChildren, store.DropChild, store.DropHidden, store.AddHidden,
		store.AddQuestion, store.KeepOutcome, store.FreeKey, store.SetSettled, store.HoldPlan, store.SetPlan:
		return true
	}
	return false
}

// append adds the events of a change to the record.
func (t *tables) append(c *store.Change) error {
	if len(c.Events) == 0 {
		return nil
	}
	r := t.runs[c.Run]
	if r == nil {
		return conflict()
	}
	return t.appendTo(r, c.Events)
}

// appendTo adds events to a record.
func (t *tables) appendTo(r *run, events []patterns.Event) error {
	for i := range events {
		if events[i].Seq != r.length()+1+int64(i) {
			return conflict()
		}
	}
	for _, e := range events {
		decoded := journal.Event{Seq: int(e.Seq), At: time.UnixMicro(e.At), Kind: e.Kind, Key: e.Key}
		if e.Kind == patterns.IntentEvent || e.Kind == patterns.OutcomeEvent {
			decoded.Body, _ = journal.Decode(e.Kind, e.Body) // a body that cannot be read is no call
		}
		r.events = append(r.events, e)
		t.calls.add(r, &decoded)
	}
	return nil
}

// conflict returns the error for events that do not follow the record.
func conflict() error { return fmt.Errorf("%w: %w", patterns.ErrJournal, store.ErrConflict) }
