package store

import (
	"errors"
	"fmt"

	"patterngate/patterns"
)

// Change is one change of the store. Either all of it happens, or nothing. The store owns it from its submission until
// Done was called.
type Change struct {
	// Run and Epoch are the fence. If the run's row has another epoch, nothing happens and the error is [ErrFenced].
	// Run 0 means no run, and Epoch 0 means no fence.
	Run, Epoch int64
	// Steps are executed in order, before the events are added. The first step that does not hold refuses the change.
	Steps []Step
	// Begins lists the effects that the events begin. A kill switch that forbids one of them refuses the change.
	Begins []Begins
	// Events are added to the record of Run, in order. The caller has sealed them.
	Events []patterns.Event
	// Chained says that later changes of the run are sealed after this one. If this one is refused, the store refuses
	// all later changes of the run under Epoch.
	Chained bool
	// Durable says that the change must survive a loss of power.
	Durable bool
	// Done is called once with the result: nil, [ErrFenced], a [*Refused], or an error that wraps
	// [patterns.ErrJournal]. It must not wait for the store. It must not take a lock under which another goroutine
	// waits for the store. Done can be nil.
	Done func(error)
}

// Tell calls Done, if it is set.
func (c *Change) Tell(err error) {
	if c.Done != nil {
		c.Done(err)
	}
}

// Step is a condition, a write, or both. A conditional write that finds nothing to change does not hold. Each type says
// what it is.
type Step interface{ step() }

// ErrFenced is returned for a change by an owner that has lost the run: the run has another epoch.
var ErrFenced = errors.New("store: another process has the run")

// ErrClosed is returned for a change that was submitted after the store was closed.
var ErrClosed = fmt.Errorf("%w: closed", patterns.ErrJournal)

// ErrDamaged is returned if one row cannot be read, although the rest of the store can. The error also wraps
// [patterns.ErrJournal].
var ErrDamaged = errors.New("store: a row is damaged")

// Refused is returned for a change with a step that did not hold. Nothing of the change was written.
type Refused struct {
	Steps []Step // the steps that did not hold; at least one, unless Stopped
	// Stopped says that a kill switch forbids an effect of the change.
	Stopped bool
	// Joined is the run that an equal call began, see [Begin]; 0: none.
	Joined int64
}

func (r *Refused) Error() string {
	if r.Stopped {
		return "store: refused by a kill switch"
	}
	if len(r.Steps) == 0 {
		return "store: refused"
	}
	return fmt.Sprintf("store: refused by %T", r.Steps[0])
}

// Refuse returns the refusal by one step.
func Refuse(s Step) *Refused { return &Refused{Steps: []Step{s}} }

// IsRefused reports whether an error is a refusal.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*Refused](err)
	return ok
}

// RefusedBy reports whether an error is a refusal by a step of type S.
func RefusedBy[S Step](err error) bool {
	r, ok := errors.AsType[*Refused](err)
	if !ok {
		return false
	}
	for _, s := range r.Steps {
		if _, is := s.(S); is {
			return true
		}
	}
	return false
}
