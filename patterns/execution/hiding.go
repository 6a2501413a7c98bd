package execution

import (
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// A run and its child runs hide the same values, because a goal or an answer may contain them. A child run's hidden
// values are deleted when the end of its parent is recorded. Until then, a process that continues the parent may need
// the child's answer.

// seal converts an event to the form in which it is stored.
func (t *Tail) seal(e journal.Event) patterns.Event { return t.hidden.Seal(t.id, e, t.head) }

// sealed returns a body in its stored form. It is not added.
func (t *Tail) sealed(body journal.OutcomeBody) []byte {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	return t.seal(journal.Event{Kind: patterns.OutcomeEvent, Body: body}).Body
}

// KeepHidden returns the steps that store the values which the pending events hide.
func (t *Tail) KeepHidden() []store.Step {
	if fresh := t.hidden.Fresh(); len(fresh) > 0 {
		return []store.Step{store.AddHidden{N: t.n, Values: fresh}}
	}
	return nil
}

// Forget returns the steps that delete the hidden values of a run when it ends.
func (t *Tail) Forget() []store.Step {
	drops, itself := t.hidden.Drops()
	if !drops {
		return nil
	}
	return []store.Step{store.DropHidden{N: t.n, Parent: t.parent, Itself: itself}}
}

// Public returns a text for the run's row. It returns "" if the text contains a hidden value.
func (t *Tail) Public(text string) string {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	if t.hidden.Active() && t.hidden.Tells(text) {
		return ""
	}
	return text
}

// publicValues returns the values that a reader of the run may see, without those that contain a hidden value.
func (t *Tail) publicValues(v map[string]any) map[string]any {
	if len(v) == 0 {
		return v
	}
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	return t.hidden.Shown(v)
}

func (t *Tail) told(cause error) error {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	return Told(t.hidden, cause)
}

// Told returns an error of a run that hides values, in a form that a log may contain.
func Told(h *redaction.Values, cause error) error {
	if !h.Active() || !h.Tells(cause.Error()) {
		return cause
	}
	if fault, ours := errors.AsType[*patterns.Fault](cause); ours {
		return &patterns.Fault{RunID: fault.RunID, Cause: Told(h, fault.Cause)}
	}
	if errors.Is(cause, ErrMismatch) {
		return fmt.Errorf(hiddenWords, ErrMismatch)
	}
	return errors.New(hiddenText)
}

// Known returns the values that the run's record must not contain; nil: none.
func (t *Tail) Known() *redaction.Values {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	return t.hidden.Known()
}

// Inherits makes the record hide also the values that another run knows; nil: none.
func (t *Tail) Inherits(of *redaction.Values) {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	t.hidden.Inherits(of)
}
