package local

import (
	"patterngate/patterns"
	"patterngate/patterns/journal"
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
	call := job.Task.Plan
	if call == nil || call.PlanID == "" {
		return false, nil
	}
	n, ok := planNumber(call.PlanID)
	if !ok {
		return false, nil
	}
	r, err := t.row(n)
	if err != nil || r == nil {
		return false, err
	}
	if !before.over { // another run changed the plan and cancelled this one, which has not ended yet
		return before.canceled && r.run != before.n && r.under != before.n, nil
	}
	return outdated(before.reason) || r.changed > before.ended, nil
}

// outdated reports whether a run stopped because of how the plan stood at that time. The plan may stand otherwise now.
func outdated(reason string) bool {
	return reason == patterns.PlanConflict || reason == patterns.PlanBusy
}

// isStale is staleIn for a run in memory. The lock is held.
func (e inMemory) isStale(before *run) bool {
	n, _ := journal.RunNumber(before.id)
	t := &plansHere{Engine: e.Engine, principal: before.job.Principal}
	stale, _ := staleIn(t, before.job, planRun{ // rows in memory give no error
		n: n, canceled: before.lostPlan, over: before.state == patterns.Over,
		reason: before.rest.Result.StopReason, ended: before.rest.Ended.UnixMicro(),
	})
	return stale
}
