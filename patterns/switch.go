package patterns

import (
	"errors"
	"slices"
	"time"

	"patterngate/gateway"
)

// Switch is a kill switch that is on: it stops calls of one tool, runs of one pattern, or everything. The zero Switch stops
// everything.
type Switch struct {
	Tool, Pattern          string // at most one of them
	Reason                 string // of who set it, for people
	By, Channel, Assurance string
	At                     time.Time
}

// WidestFirst is a list of switches with what stops everything at its beginning, else in their order: who is shown but the
// first is not to take a part for the whole.
func WidestFirst(list []Switch) []Switch {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Switch) int { return a.width() - b.width() })
	return list
}

// width is lowest of what stops everything.
func (s Switch) width() int { return min(1, len(s.Tool)+len(s.Pattern)) }

// Subject is what is signed to take the switch off.
func (s Switch) Subject() map[string]any {
	v := map[string]any{}
	if s.Tool != "" {
		v["tool"] = s.Tool
	}
	if s.Pattern != "" {
		v["pattern"] = s.Pattern
	}
	return v
}

// Switches are the kill switches of a state. One that is on stops every call, question to a model and beginning of a run's
// work that it is about, from the next one on and in every process over the state file; the run ends with the stop reason
// kill_switch in the phase where it stood. What is under way is not cut. It is safe for concurrent use.
type Switches interface {
	// KillSwitches lists those that are on, oldest first.
	KillSwitches() ([]Switch, error)
	// KillSwitch sets a switch, in place of one about the same, or takes it off by its Tool and Pattern. Setting one needs
	// nothing. Taking it off needs act, which is [gateway.ActSwitchOff] about [Switch.Subject], where an approver key is
	// enrolled; then its error is as for other signed acts. It may also be [ErrSwitch], [ErrNoSwitch] or the journal's.
	KillSwitch(on bool, s Switch, act gateway.SignedAct) error
}

// ErrSwitch is returned for a switch about a tool and a pattern at once.
var ErrSwitch = errors.New("patterns: a switch is about a tool, a pattern or everything")

// ErrNoSwitch is returned where none is on that could be taken off.
var ErrNoSwitch = errors.New("patterns: no such switch is on")
