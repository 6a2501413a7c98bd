package patterns

import (
	"errors"
	"time"
)

// Runs is what an engine knows of its runs. Each is the matter of one principal; for others it does not exist. It is
// safe for concurrent use.
type Runs interface {
	// Run shows a run as it stands; false where the principal has none with this id, or it is forgotten.
	Run(principal, id string) (Snapshot, bool)
	// RunIDs lists the principal's runs, newest first.
	RunIDs(principal string) []string
	// Watch has every change of a run's state told, also of those that no call waits for; attended says that the call
	// which begins or continues the run is still there and learns of the change by itself. It is called before the
	// engine is used, and told must not wait.
	Watch(told func(s Snapshot, attended bool))
}

// RunState says whether a run goes on. The zero RunState is none of them.
type RunState string

// The states of a run.
const (
	Running RunState = "running"
	Parked  RunState = "waiting"
	Over    RunState = "ended"
)

// Snapshot is a run as it stands.
type Snapshot struct {
	RunID, Pattern, Principal, Client string
	Arguments                         map[string]any // as the caller sent them at the start; not to be changed
	State                             RunState
	Current                           Current // of a running one
	Ended                             Ended   // of one that waits or ended
}

// Current is what a running run does.
type Current struct {
	Phase, Doing string // words as in progress lines
	Done         int    // calls that were answered
	Since        time.Time
}

// Continuation is what a caller sends for a run that waits for it.
type Continuation struct {
	Principal, RunID string
	Turn             int // for which it is meant; 0: the present one
	// Given are decoded arguments: route or actions, and continue_with.
	Given    map[string]any
	Size     int            // of what the caller sent, in bytes of memory
	Progress func(Progress) // as in [Job]
	Taken    func()         // told that the run goes on with it, before it does; nil: nobody
}

// ErrNoRun is returned for a run that the principal does not have.
var ErrNoRun = errors.New("patterns: no such run")

// ErrNotTaken is returned for a continuation of a run that runs, has ended, or waits for something else or for another
// turn. Nothing of it was taken.
var ErrNotTaken = errors.New("patterns: the run does not wait for this")
