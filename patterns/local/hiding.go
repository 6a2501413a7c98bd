package local

import (
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// A run and its child runs hide the same values, because a goal or an answer may contain them. A child run's hidden values are
// deleted when the end of its parent is recorded. Until then, a process that continues the parent may need the child's answer.

// seal converts an event to the form in which it is stored.
func (t *tail) seal(e journal.Event) patterns.Event { return t.hidden.Seal(t.id, e, t.head) }

// keepHidden returns the steps that store the values which the pending events hide.
func (t *tail) keepHidden() []store.Step {
	if fresh := t.hidden.Fresh(); len(fresh) > 0 {
		return []store.Step{store.AddHidden{N: t.n, Values: fresh}}
	}
	return nil
}

// forget returns the steps that delete the hidden values of a run when it ends.
func (t *tail) forget() []store.Step {
	drops, itself := t.hidden.Drops()
	if !drops {
		return nil
	}
	return []store.Step{store.DropHidden{N: t.n, Parent: t.parent, Itself: itself}}
}

// public returns a text for the run's row. It returns "" if the text contains a hidden value.
func (r *Record) public(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.file.hidden; h.Active() && h.Tells(text) {
		return ""
	}
	return text
}

// told returns an error in a form that a log may contain.
func (r *Record) told(cause error) error {
	if r.file == nil {
		return cause
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return told(r.file.hidden, cause)
}

// told returns an error of a run that hides values, in a form that a log may contain.
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

// known returns the values that the run's record must not contain; nil: none.
func (r *Record) known() *redaction.Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.hidden.Known()
}

// inherits makes the record hide also the values that another run knows; nil: none.
func (r *Record) inherits(of *redaction.Values) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.hidden.Inherits(of)
}

// inherited returns the values that the parent run knows. It returns nil if the parent knows none or nothing is hidden here.
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

// publicValues returns the values that a reader of the run may see, without those that contain a hidden value.
func (r *Record) publicValues(v map[string]any) map[string]any {
	if len(v) == 0 {
		return v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.hidden.Shown(v)
}
