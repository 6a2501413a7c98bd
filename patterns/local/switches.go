package local

import (
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/store"
)

// A kill switch stops effects that begin after it was set, in every process over the state file. The transaction that records an
// intent checks it, so nothing is sent after it. Effects in progress are not cut. Look-ups of calls in doubt continue unless their
// own tool is switched off: they only read, and report what was done.

var _ patterns.Switches = (*Engine)(nil)

// KillSwitches implements [patterns.Switches].
func (e *Engine) KillSwitches() (list []patterns.Switch, err error) {
	err = e.state().View(func(s store.Reader) error {
		list, err = s.Switches()
		return err
	})
	return list, err
}

// KillSwitch implements [patterns.Switches].
func (e *Engine) KillSwitch(on bool, s patterns.Switch, act gateway.SignedAct) error {
	if s.Tool != "" && s.Pattern != "" {
		return patterns.ErrSwitch
	}
	if s.At.IsZero() {
		s.At = e.now()
	}
	s.At = s.At.UTC().Truncate(time.Microsecond)
	if on {
		if e.file != nil {
			e.file.stopping.Store(true)
		}
		return e.state().Do(&store.Change{Durable: true, Steps: []store.Step{store.SetSwitch{Switch: s}}})
	}
	err := e.clearSwitch(s, act)
	if store.IsRefused(err) {
		return patterns.ErrNoSwitch
	}
	return err
}

// clearSwitch turns a switch off. In memory no key is enrolled, so no signature is needed.
func (e *Engine) clearSwitch(s patterns.Switch, act gateway.SignedAct) error {
	step := store.ClearSwitch{Tool: s.Tool, Pattern: s.Pattern}
	if e.file == nil {
		return e.write(step)
	}
	return e.file.signer().Signed(act, decisions.Wanted{Act: gateway.ActSwitchOff, Subject: s.Subject()}, &store.Change{Durable: true}, step)
}

// stops reports whether one of the switches forbids an effect of a run.
func stops(list []patterns.Switch, job patterns.Job, e patterns.Effect) bool {
	return begins(job, e).StoppedBy(list)
}

// begins returns what a kill switch needs to know about an effect.
func begins(job patterns.Job, e patterns.Effect) store.Begins {
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

// isStopped reports whether a known switch forbids an effect. The transaction of the intent decides, see [branch.stoppedBy].
func (b *branch) isStopped(e patterns.Effect) bool {
	f := b.engine.file
	switch {
	case !stoppable(e):
		return false
	case f != nil && !f.stopping.Load() && stopsAtIntent(e): // its intent checks it
		return false
	}
	list, err := b.engine.KillSwitches()
	if err != nil {
		b.unwind(err)
	}
	if f != nil {
		f.stopping.Store(len(list) > 0)
	}
	return stops(list, b.job, e)
}

// stopsAtIntent reports whether the transaction of an effect's intent checks the kill switches.
func stopsAtIntent(e patterns.Effect) bool {
	switch e.Act.(type) {
	case patterns.CallAct, patterns.AskAct:
		return true
	}
	return false
}

// stoppedBy returns what the transaction of an intent checks against the kill switches; nil: it checks nothing.
func (b *branch) stoppedBy(e patterns.Effect) *store.Begins {
	if b.engine.file == nil || !stopsAtIntent(e) {
		return nil
	}
	begins := begins(b.job, e)
	return &begins
}
