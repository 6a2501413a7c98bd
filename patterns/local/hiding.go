package local

import (
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// What a run hides, its child runs hide too, and the other way round: a goal may hold it, and an answer. A child run's table is emptied
// with the end of the run above it: until that is recorded, who goes on with the parent may need what the child answered.

// seal is an event as it is stored.
func (t *tail) seal(e journal.Event) patterns.Event { return t.hidden.Seal(t.id, e, t.head) }

// keepHidden are the steps that keep what the pending events hide.
func (t *tail) keepHidden() []store.Step {
	if fresh := t.hidden.Fresh(); len(fresh) > 0 {
		return []store.Step{store.AddHidden{N: t.n, Values: fresh}}
	}
	return nil
}

// forget are the steps that drop what a run hid, with its end.
func (t *tail) forget() []store.Step {
	drops, itself := t.hidden.Drops()
	if !drops {
		return nil
	}
	return []store.Step{store.DropHidden{N: t.n, Parent: t.parent, Itself: itself}}
}

// public is a text for the run's row; empty where it tells what is hidden.
func (r *Record) public(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.file.hidden; h.Active() && h.Tells(text) {
		return ""
	}
	return text
}

// told is an error as a log may have it.
func (r *Record) told(cause error) error {
	if r.file == nil {
		return cause
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return told(r.file.hidden, cause)
}

// told is an error as a log may have it, of a run that hides values.
func told(h *redaction.Values, cause error) error {
	if !h.Active() || !h.Tells(cause.Error()) {
		return cause
	}
	if fault, ours := errors.AsType[*patterns.Fault](cause); ours {
		return &patterns.Fault{RunID: fault.RunID, Cause: told(h, fault.Cause)}
	}
	if errors.Is(cause, ErrMismatch) {
		return fmt.Errorf("%w; its words hold redacted values", ErrMismatch)
	}
	return errors.New("the words hold redacted values")
}

// known are the values that a run's record is kept free of; nil: none.
func (r *Record) known() *redaction.Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.hidden.Known()
}

// inherits has values be looked for that are known elsewhere; nil: none.
func (r *Record) inherits(of *redaction.Values) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.hidden.Inherits(of)
}

// inherited are the values that the run above knows; nil: none is known, or nothing is hidden here.
func (f *file) inherited(parent int64) *redaction.Values {
	if parent == 0 || f.hiding().None() {
		return nil
	}
	r, stored, err := f.read(parent)
	if err != nil || r == nil {
		return nil
	}
	_, h, _, err := f.reveal(parent, stored)
	if err != nil {
		return nil
	}
	return h
}

// publicValues are values for who looks, without those that tell what is hidden.
func (r *Record) publicValues(v map[string]any) map[string]any {
	if len(v) == 0 {
		return v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.hidden.Shown(v)
}
