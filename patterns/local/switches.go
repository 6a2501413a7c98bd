package local

import (
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A kill switch stops what is begun after it was set, in every process over the state file: it is looked for in the
// transaction that records an intent, so nothing is sent behind it. What is under way is not cut. Look-ups of calls in doubt
// go on, unless their own tool is switched off: they only read, and say what was done.

var _ patterns.Switches = (*Engine)(nil)

// KillSwitches implements [patterns.Switches].
func (e *Engine) KillSwitches() (list []patterns.Switch, err error) {
	if e.file == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.Clone(e.switches), nil
	}
	err = e.file.journal.view(func(s *session) error {
		list, err = readSwitches(s)
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
	if e.file == nil {
		return e.inMemorySwitch(on, s)
	}
	return e.file.journal.do(&change{sync: true, also: func(to *session) error {
		if on {
			e.file.stopping.Store(true)
			_, err := to.exec(insertSwitch, s.Tool, s.Pattern, s.Reason, s.By, s.Channel, s.Assurance, s.At.UnixMicro())
			return err
		}
		if err := e.file.signed(to, act, wanted{gateway.ActSwitchOff, s.Subject()}); err != nil {
			return err
		}
		changed, err := to.exec(deleteSwitch, s.Tool, s.Pattern)
		if err == nil && changed == 0 {
			err = refusal{patterns.ErrNoSwitch}
		}
		return err
	}})
}

func (e *Engine) inMemorySwitch(on bool, s patterns.Switch) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.switches, func(o patterns.Switch) bool { return o.Tool == s.Tool && o.Pattern == s.Pattern })
	if at >= 0 {
		e.switches = slices.Delete(slices.Clone(e.switches), at, at+1)
	}
	switch {
	case on:
		e.switches = append(slices.Clip(e.switches), s)
	case at < 0:
		return patterns.ErrNoSwitch
	}
	return nil
}

func readSwitches(s *session) (list []patterns.Switch, err error) {
	err = s.each(func(row func(...any) error) error {
		var one patterns.Switch
		var at int64
		err := row(&one.Tool, &one.Pattern, &one.Reason, &one.By, &one.Channel, &one.Assurance, &at)
		one.At = time.UnixMicro(at).UTC()
		list = append(list, one)
		return err
	}, selectSwitches)
	return list, err
}

// stops reports whether one of the switches forbids that a run's effect is begun.
func stops(list []patterns.Switch, job patterns.Job, e patterns.Effect) bool {
	if e.Kind != patterns.ToolEffect {
		return stopTool(list, job, "", false)
	}
	name, _ := e.Permit.Pattern()
	return stopTool(list, job, e.Permit.Tool(), e.Permit.LooksUp()) || stopsPattern(list, name)
}

// stopsPattern reports whether one of the switches is about a pattern of which a call begins a run; "" for what is none.
func stopsPattern(list []patterns.Switch, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(s patterns.Switch) bool { return s.Pattern == name })
}

// stopTool is stops for a call of a tool; "" for what is none.
func stopTool(list []patterns.Switch, job patterns.Job, tool string, looksUp bool) bool {
	return slices.ContainsFunc(list, func(s patterns.Switch) bool {
		switch {
		case s.Tool != "":
			return s.Tool == tool
		case looksUp:
			return false
		}
		return s.Pattern == "" || s.Pattern == job.Spec.Plans || slices.Contains(within(job), s.Pattern)
	})
}

// stoppable reports whether switches are looked for before an effect. What takes no part in it: pauses, what the caller has
// handed in, questions about calls in doubt, and what gives a plan back.
func stoppable(e patterns.Effect) bool {
	switch e.Kind {
	case patterns.ToolEffect, patterns.ModelEffect:
		return true
	case patterns.PlanEffect:
		return e.Plan.Op == patterns.LoadOp && e.Plan.Claim
	case patterns.HumanEffect:
		return e.Approval != nil
	case patterns.CallerEffect:
		return e.Waiting != nil
	}
	return false
}

// isStopped reports whether a switch forbids an effect, as far as is known; [branch.unlessStopped] is sure of it.
func (b *branch) isStopped(e patterns.Effect) bool {
	f := b.engine.file
	switch {
	case !stoppable(e):
		return false
	case f != nil && !f.stopping.Load() && (e.Kind == patterns.ToolEffect || e.Kind == patterns.ModelEffect): // their intents find out
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

// unlessStopped refuses the transaction of an intent where a switch forbids it; nil: none may. The run is replayed then, and
// knows of the switch.
func (b *branch) unlessStopped(e patterns.Effect) func(*session) error {
	f := b.engine.file
	if f == nil || e.Kind != patterns.ToolEffect && e.Kind != patterns.ModelEffect {
		return nil
	}
	return func(s *session) error {
		list, err := readSwitches(s)
		if err != nil || len(list) == 0 {
			return err
		}
		f.stopping.Store(true)
		if stops(list, b.job, e) {
			return refusal{errUnspent}
		}
		return nil
	}
}
