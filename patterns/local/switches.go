package local

import (
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/store"
)

var _ patterns.Switches = (*Engine)(nil)

// KillSwitches implements [patterns.Switches].
func (e *Engine) KillSwitches() (list []patterns.Switch, err error) {
	err = e.state().View(func(r store.Reader) error {
		list, err = r.Switches()
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
		e.keeper().switching()
		return e.state().Do(&store.Change{Durable: true, Steps: []store.Step{store.SetSwitch{Switch: s}}})
	}
	wanted := decisions.Wanted{Act: gateway.ActSwitchOff, Subject: s.Subject()}
	err := e.keeper().signed(act, wanted, store.ClearSwitch{Tool: s.Tool, Pattern: s.Pattern})
	if store.IsRefused(err) {
		return patterns.ErrNoSwitch
	}
	return err
}
