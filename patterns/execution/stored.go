package execution

import (
	"errors"
	"sync/atomic"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// Stored is the [Backing] of runs in a store that other processes can use. It needs Journal and Rules before it is used. It
// is safe for concurrent use.
type Stored struct {
	Journal store.Store
	// Rules returns the redaction rules in force.
	Rules func() redaction.Rules
	// Stopping says that a kill switch may be on. While it is false, only the transactions of intents check switches.
	Stopping atomic.Bool
	// Recalled says that a run is to be canceled that did not live here when it was looked for.
	Recalled atomic.Bool
}

var _ Backing = (*Stored)(nil)

// Store implements [Backing].
func (s *Stored) Store() store.Store { return s.Journal }

// Now implements [Backing].
func (s *Stored) Now() time.Time { return s.Journal.Now() }

// Calls implements [Backing].
func (s *Stored) Calls(look func(windows.Table) error) error {
	return s.Journal.View(func(r store.Reader) error { return look(windows.Stored{Calls: r, Rules: s.Rules()}) })
}

// Plans implements [Backing].
func (s *Stored) Plans() planclaims.Claims {
	return planclaims.Claims{Store: s.Journal, Canceled: func(r store.Reader, run, by int64) ([]store.Step, error) {
		return s.Note(r, run, journal.NoteBody{What: NoteCancel, Note: planChangedBy(journal.RunID(by))})
	}}
}

// Note returns the steps that append a note to the record of a run. The same change must take the run from its owner.
// What the run hides is hidden in the note too, because the note has a person's words. The error is not the store's if
// the record is damaged.
func (s *Stored) Note(r store.Reader, n int64, body journal.NoteBody) ([]store.Step, error) {
	events, err := r.Events(n)
	if err == nil && len(events) == 0 {
		err = journal.ErrBroken
	}
	if err != nil {
		return nil, err
	}
	_, steps, err := s.Rules().Append(r, n, events, journal.Event{Kind: patterns.NoteEvent, Body: body}, s.Now())
	return steps, err
}

// unspent converts the error of a run's own change. It returns [ErrUnspent] for a refusal: the run is replayed and then
// finds the reason.
func (s *Stored) unspent(err error) error {
	refused, is := errors.AsType[*store.Refused](err)
	if !is {
		return err
	}
	if refused.Stopped {
		s.Stopping.Store(true)
	}
	return ErrUnspent
}

func (s *Stored) people() bool      { return true }
func (s *Stored) keepsResult() bool { return true }

// admits is only a first look. The transaction of the intent decides.
func (s *Stored) admits(b *branch, _, _ string, _ patterns.Effect, holds holds, _ time.Time) bool {
	if holds == nil {
		return true
	}
	err := s.Calls(holds)
	if err != nil && !errors.Is(err, ErrUnspent) {
		b.unwind(err)
	}
	return err == nil
}

// takesKey leaves the business key to the transaction of the intent.
func (s *Stored) takesKey(*branch, string, patterns.Effect, bool) bool { return true }

// intent implements [Backing]. A call spends an approval, takes a business key, and is refused if the limits that
// permitted it do not hold any more.
func (s *Stored) intent(b *branch, key, once string, e patterns.Effect, isDone bool, holds holds) (begins *store.Begins, _ func(journal.Event) []store.Step) {
	if stopsAtIntent(e) {
		of := beginsOf(b.Job, e)
		begins = &of
	}
	call, isCall := callOf(e)
	switch {
	case journal.IsQuestion(e):
		return begins, b.row(e.Waiting())
	case !isCall:
		return begins, nil
	}
	steps := append(b.spend(call.Permit, once), b.takes(key, e, isDone)...)
	if holds != nil {
		steps = append(steps, store.WindowHolds{Judge: s.judges(holds)})
	}
	if len(steps) == 0 {
		return begins, nil
	}
	return begins, func(journal.Event) []store.Step { return steps }
}

// judges converts the check of a call's windows to the form in which the store asks it, in the transaction of the
// intent.
func (s *Stored) judges(holds holds) func(store.Calls) (bool, error) {
	rules := s.Rules()
	return func(calls store.Calls) (bool, error) {
		err := holds(windows.Stored{Calls: calls, Rules: rules})
		if errors.Is(err, ErrUnspent) {
			return false, nil
		}
		return true, err
	}
}

func (s *Stored) outcome(b *branch, e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if a, isPlan := e.Act.(patterns.PlanAct); isPlan {
		return b.stored(a.Step, out)
	}
	if drops := b.drops(e, out); drops != nil {
		return drops
	}
	return b.closes(e, out)
}

func (s *Stored) awaits(b *branch, e patterns.Effect, out patterns.Outcome) bool {
	_, isBusiness := b.businessOf(out.Key, e)
	return (changes(e) || isBusiness) && out.State != patterns.Canceled
}

func (s *Stored) switches(e patterns.Effect) ([]patterns.Switch, error) {
	if !s.Stopping.Load() && stopsAtIntent(e) {
		return nil, nil
	}
	list, err := switchesIn(s.Journal)
	if err == nil {
		s.Stopping.Store(len(list) > 0)
	}
	return list, err
}

// take leaves the step to the run's next flush.
func (s *Stored) take(b *branch, step store.Step) { b.Record.then(step) }

func (s *Stored) foundOut(b *branch, once string, as store.Settled) {
	b.Record.then(store.SetSettled{Run: b.N, Once: once, State: as.State, Attempt: as.Attempt})
}

// claimsPlan stores the steps together with the pending events.
func (s *Stored) claimsPlan(b *branch, steps []store.Step) (again bool, err error) {
	return false, b.Record.along(steps...)
}

// changesPlan only keeps the steps: they are stored together with the record of their outcome, see [branch.stored].
func (s *Stored) changesPlan(b *branch, _, _ string, steps []store.Step) (again bool) {
	b.planned = steps
	return false
}

// planKept waits until a step is stored, and notifies those that wait for the plan or for the run under this one.
func (s *Stored) planKept(b *branch, step *patterns.PlanStep) {
	under := s.beneath(step.Plan)
	if err := b.Record.settled(); err != nil { // a reader of the run may have flushed the outcome: wait for that
		b.unwind(err)
	}
	b.Host.Announce(step.Plan)
	if step.Op != patterns.CreateOp {
		b.Host.PlanChanged(under, planChangedBy(b.RunID))
	}
}

// beneath returns the run that waits under the holder of a plan; 0: none.
func (s *Stored) beneath(plan string) (run int64) {
	n, _ := journal.PlanNumber(plan)
	_ = s.Journal.View(func(r store.Reader) error { // the result is only used to notify a run
		p, err := r.Plan(n)
		if p != nil {
			run = p.Under
		}
		return err
	})
	return run
}

func (s *Stored) loaded(*branch, patterns.Outcome) {} // the size of a run counts in memory only
