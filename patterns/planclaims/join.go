package planclaims

import (
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Earlier is a run that an equal call began earlier. It works, or worked, on a stored plan.
type Earlier struct {
	N          int64
	Over       bool
	StopReason string
	Ended      int64 // microseconds since 1970; only of a run that is over
}

// Stale reports whether a call that names a plan must not join an earlier run. That is so if the plan is no longer the one
// that the run works on or left. The call then begins a run of its own. Stale is false for a call that names no plan.
func (c Claims) Stale(job patterns.Job, before Earlier) (stale bool, err error) {
	n := NamedBy(job)
	if n == 0 {
		return false, nil
	}
	err = c.Store.View(func(s store.Reader) error {
		row, err := s.Row(before.N)
		canceled := row != nil && row.Canceled
		var r *store.Plan
		if err == nil {
			r, err = s.Plan(n)
		}
		switch {
		case err != nil || r == nil:
		case !before.Over: // another run changed the plan and canceled this one, which has not ended yet
			stale = canceled && r.Run != before.N && r.Under != before.N
		default:
			stale = slices.Contains(Outdated[:], before.StopReason) || r.Changed > before.Ended
		}
		return err
	})
	return stale, err
}

// NamedBy returns the number of the stored plan that a call names; 0: none.
func NamedBy(job patterns.Job) int64 {
	if job.Task.Plan == nil {
		return 0
	}
	n, _ := journal.PlanNumber(job.Task.Plan.PlanID)
	return n
}

// Outdated are the stop reasons of runs that stopped because of how their plan stood at that time. It may stand
// otherwise now.
var Outdated = [...]string{patterns.PlanConflict, patterns.PlanBusy}
