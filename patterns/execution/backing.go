package execution

import (
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// Backing is where the runs of an engine are kept, and so how what a run does takes effect. There are two:
//
//   - [Stored]: events are written to a store that other processes can use. What an effect takes and changes is written
//     with the run's events, in one transaction. The transaction can be refused: the run is then replayed and sees what
//     has changed.
//   - [InMemory]: events stay in this process. What an effect takes and changes takes effect at once.
type Backing interface {
	// Store returns where plans, switches, business keys and the rows of runs are.
	Store() store.Store
	// Now returns the current time, by the clock that records use.
	Now() time.Time
	// Calls calls look with the table of the calls of all runs. look must only read it.
	Calls(look func(windows.Table) error) error
	// Plans returns what decides about stored plans.
	Plans() planclaims.Claims

	// people reports whether people can answer the questions of runs. keepsResult reports whether the record gets the
	// result in the form in which the caller is shown it.
	people() bool
	keepsResult() bool

	// admits reports whether the policy still allows a call that is about to be begun. holds is nil if the policy looks
	// at no earlier run. takesKey takes the business key of the call. Over a store, the transaction of the intent decides
	// both, and these methods are only a first look.
	admits(b *branch, key, once string, e patterns.Effect, holds holds, now time.Time) bool
	takesKey(b *branch, key string, e patterns.Effect, isDone bool) bool
	// intent returns what belongs to the transaction of an effect's intent: what it begins, for the kill switches, and
	// steps. outcome returns the steps that belong to the transaction of its outcome. nil: none.
	intent(b *branch, key, once string, e patterns.Effect, isDone bool, holds holds) (*store.Begins, func(journal.Event) []store.Step)
	outcome(b *branch, e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step
	// awaits reports whether an outcome must be on the disk before the code continues.
	awaits(b *branch, e patterns.Effect, out patterns.Outcome) bool
	// switches returns the kill switches that can forbid an effect now.
	switches(e patterns.Effect) ([]patterns.Switch, error)

	// take has a step taken that belongs to no event. foundOut stores what happened to a call that ended in doubt.
	take(b *branch, step store.Step)
	foundOut(b *branch, once string, as store.Settled)

	// claimsPlan and changesPlan take the steps of a decision about a stored plan; again: another run changed the plan
	// in between. planKept is called when a change of a plan is recorded. loaded is called with what was read of one.
	claimsPlan(b *branch, steps []store.Step) (again bool, err error)
	changesPlan(b *branch, plan, reason string, steps []store.Step) (again bool)
	planKept(b *branch, s *patterns.PlanStep)
	loaded(b *branch, out patterns.Outcome)
}

// holds checks in a table of calls whether a policy still allows a call. The error is [ErrUnspent] if it does not.
type holds func(windows.Table) error
