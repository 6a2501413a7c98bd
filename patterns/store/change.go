package store

import (
	"errors"
	"fmt"

	"patterngate/patterns"
)

// Change is one change of what is stored: all of it happens, or nothing. It belongs to the store from its submission until Done was
// called.
type Change struct {
	// Run and Epoch are the fence. If the run's row has another epoch, nothing happens and the error is [ErrFenced]. Run 0 is no run,
	// Epoch 0 no fence.
	Run, Epoch int64
	// Steps are taken in their order, before the events are added. The first one that does not hold refuses the change.
	Steps []Step
	// Begins are effects that the events begin. A kill switch that forbids one of them refuses the change.
	Begins []Begins
	// Events are added to the record of Run, in their order. The caller has sealed them.
	Events []patterns.Event
	// Chained says that later changes of the run are sealed behind this one. If it is refused, the run takes nothing more under Epoch.
	Chained bool
	// Durable says that the change must survive the loss of power.
	Durable bool
	// Done is called once with how it went: nil, [ErrFenced], a [*Refused], or an error that wraps [patterns.ErrJournal]. It must not
	// wait for the store, nor for a lock under which another goroutine waits for the store. nil: nobody is told.
	Done func(error)
}

// Tell calls Done, if there is one.
func (c *Change) Tell(err error) {
	if c.Done != nil {
		c.Done(err)
	}
}

// Step is one thing that must hold, or that is written, or both: a write that finds nothing to change does not hold.
// Each type says which.
type Step interface{ step() }

// ErrFenced is returned for a change by an owner that lost the run: the run has another epoch.
var ErrFenced = errors.New("store: another process has the run")

// ErrClosed is returned for a change that comes after the store was closed.
var ErrClosed = fmt.Errorf("%w: closed", patterns.ErrJournal)

// ErrDamaged is returned for a row that cannot be read, although the store can. The error wraps [patterns.ErrJournal] too.
var ErrDamaged = errors.New("store: a row is damaged")

// Refused is returned for a change of which a step did not hold. Nothing of the change was written.
type Refused struct {
	Steps []Step // that did not hold; at least one, unless Stopped
	// Stopped says that a kill switch forbids what the change begins.
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
