package execution

import (
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// A kill switch stops effects that begin after it was set, in every process over the state file. The transaction that records an
// intent checks it, so nothing is sent after it. Effects in progress are not cut. Look-ups of calls in doubt continue unless their
// own tool is switched off: they only read, and report what was done.

// switchesIn returns the kill switches of a store that are on.
func switchesIn(s store.Store) (list []patterns.Switch, err error) {
	err = s.View(func(r store.Reader) error {
		list, err = r.Switches()
		return err
	})
	return list, err
}

// stops reports whether one of the switches forbids an effect of a run.
func stops(list []patterns.Switch, job patterns.Job, e patterns.Effect) bool {
	return beginsOf(job, e).StoppedBy(list)
}

// beginsOf returns what a kill switch needs to know about an effect.
func beginsOf(job patterns.Job, e patterns.Effect) store.Begins {
	b := store.Begins{Patterns: patternsOf(job)}
	if call, isCall := callOf(e); isCall {
		b.Tool, b.LooksUp = call.Permit.Tool(), call.Permit.LooksUp()
		b.Starts, _ = call.Permit.Pattern()
	}
	return b
}

// patternsOf returns the patterns of a run and of the runs around it.
func patternsOf(job patterns.Job) []string {
	list := within(job)
	if job.Spec.Plans != "" {
		list = append(slices.Clip(list), job.Spec.Plans)
	}
	return list
}

// stoppable reports whether switches are checked before an effect. They are not checked for pauses, what the caller has sent,
// questions about calls in doubt, and steps that release a plan.
func stoppable(e patterns.Effect) bool {
	switch a := e.Act.(type) {
	case patterns.CallAct, patterns.AskAct, patterns.ConsentAct, patterns.TurnAct:
		return true
	case patterns.PlanAct:
		return a.Step.Op == patterns.LoadOp && a.Step.Claim
	}
	return false
}

// isStopped reports whether a known switch forbids an effect. The transaction of the intent decides, see [Backing].
func (b *branch) isStopped(e patterns.Effect) bool {
	if !stoppable(e) {
		return false
	}
	list, err := b.Backing.switches(e)
	if err != nil {
		b.unwind(err)
	}
	return len(list) > 0 && stops(list, b.Job, e)
}

// stopsAtIntent reports whether the transaction of an effect's intent checks the kill switches.
func stopsAtIntent(e patterns.Effect) bool {
	switch e.Act.(type) {
	case patterns.CallAct, patterns.AskAct:
		return true
	}
	return false
}
