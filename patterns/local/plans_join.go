package local

import (
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// planRun is a run that an equal call began earlier. It works, or worked, on a stored plan.
type planRun struct {
	n        int64
	canceled bool
	over     bool
	reason   string // its stop reason
	ended    int64  // microseconds since 1970; only of one that is over
}

// staleIn reports whether a run must not be joined, because its plan is no longer the one that it works on or left. A new
// call then begins a run of its own. It is false for a call that names no plan.
func staleIn(t planTable, job patterns.Job, before planRun) (bool, error) {
	n := planOfCall(job)
	if n == 0 {
		return false, nil
	}
	r, err := t.row(n)
	if err != nil || r == nil {
		return false, err
	}
	if !before.over { // another run changed the plan and cancelled this one, which has not ended yet
		return before.canceled && r.Run != before.n && r.Under != before.n, nil
	}
	return slices.Contains(outdated[:], before.reason) || r.Changed > before.ended, nil
}

// planOfCall is the number of the stored plan that a call names; 0: none.
func planOfCall(job patterns.Job) int64 {
	if job.Task.Plan == nil {
		return 0
	}
	n, _ := journal.PlanNumber(job.Task.Plan.PlanID)
	return n
}

// outdated are the stop reasons of runs that stopped because of how their plan stood at that time. It may stand otherwise now.
var outdated = [...]string{patterns.PlanConflict, patterns.PlanBusy}

// isStale is staleIn for a run in memory. The lock is held.
func (e inMemory) isStale(before *run) (stale bool) {
	now := planRun{n: before.number(), over: before.state == patterns.Over, reason: before.rest.Result.StopReason, ended: before.rest.Ended.UnixMicro()}
	_ = e.state().View(func(s store.Reader) error { // a store in memory gives no error
		r, err := s.Row(now.n)
		now.canceled = r != nil && r.Canceled
		if err == nil {
			stale, err = staleIn(&plannedIn{Engine: e.Engine, s: s}, before.job, now)
		}
		return err
	})
	return stale
}
