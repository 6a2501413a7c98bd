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
	Reason                 string // words of the person who set it
	By, Channel, Assurance string
	At                     time.Time
}

// WidestFirst returns the switches with those that stop everything first, and the others in their order. So a person who sees only
// the first does not mistake it for the whole.
func WidestFirst(list []Switch) []Switch {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Switch) int { return a.width() - b.width() })
	return list
}

// width returns 0 for a switch that stops everything, and 1 for any other.
func (s Switch) width() int { return min(1, len(s.Tool)+len(s.Pattern)) }

// Subject returns the subject that must be signed to remove the switch.
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

// Switches gives access to the kill switches of a state. A switch that is on stops every call, model question and start of a run's
// work that it covers. It applies from the next one on, in every process that uses the state file. The run ends with the stop reason
// kill_switch in its current phase. Work in progress is not interrupted. It is safe for concurrent use.
type Switches interface {
	// KillSwitches lists the switches that are on, oldest first.
	KillSwitches() ([]Switch, error)
	// KillSwitch sets a switch, or removes the switch with this Tool and Pattern. A new switch replaces one with the same Tool and
	// Pattern. Setting a switch needs no signature. If an approver key is enrolled, removing one needs act: [gateway.ActSwitchOff]
	// about [Switch.Subject]. The error is then as for other signed acts. It may also be [ErrSwitch], [ErrNoSwitch] or the journal's.
	KillSwitch(on bool, s Switch, act gateway.SignedAct) error
}

// ErrSwitch is returned for a switch that names a tool and a pattern at once.
var ErrSwitch = errors.New("patterns: a switch is about a tool, a pattern or everything")

// ErrNoSwitch is returned if there is no switch to remove.
var ErrNoSwitch = errors.New("patterns: no such switch is on")
