package patterns

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Runs gives access to an engine's runs. Each run belongs to one principal; for others it does not exist. It is safe for concurrent
// use.
type Runs interface {
	// Run returns a run in its current state; false if the principal has no run with this id or the run was forgotten.
	Run(principal, id string) (Snapshot, bool)
	// Wait returns the run as soon as it differs from the mark: another state, or another turn. When ctx ends, it returns the run in
	// its current state. False as for Run.
	Wait(ctx context.Context, principal, id string, mark Mark) (Snapshot, bool)
	// RunIDs lists the principal's runs, newest first; at least the newest 200.
	RunIDs(principal string) []string
	// List returns a page of runs, newest first.
	List(Filter) (Page, error)
	// Newest returns the run that the principal most likely asks for: the newest that waits or has just ended, otherwise the newest
	// that runs.
	Newest(principal string) (id string, ok bool)
	// Cancel ends a run before its next call. It returns the run in its new state, at the latest when ctx ends. A run that has already
	// ended stays unchanged: [ErrOver]. The error may also be [ErrNoRun].
	Cancel(ctx context.Context, principal, id string, by Note) (Snapshot, error)
	// Delivered notes that the caller received the result of a run. From then on an equal call begins a new run.
	Delivered(principal, id string)
	// Events returns a run's record so far. The error is ErrNoRun if the run does not exist.
	Events(principal, id string) ([]Event, error)
	// Watch sets the function that is called for every change of a run's state, also if no call waits for the run. The argument
	// attended says that the call which began or continued the run is still waiting. That call learns of the change itself. Call Watch
	// before the engine is used. The function must not block.
	Watch(told func(s Snapshot, attended bool))
}

// RunState is the state of a run. The zero RunState is none of the states.
type RunState string

// The states of a run.
const (
	Running RunState = "running"
	Parked  RunState = "waiting"
	Over    RunState = "ended"
)

// Snapshot is the current state of a run.
type Snapshot struct {
	RunID, Pattern string
	Caller
	Parent    *Parent        // of a child run
	Arguments map[string]any // as the caller sent them at the start; do not change them
	State     RunState
	Began     time.Time
	Current   Current // of a run in state Running
	Ended     Ended   // of a run that waits or has ended
	// Spec and Model are those that the run was begun with; Spec is zero if this process cannot make it again.
	Spec  Spec
	Model string
	// Kept is the full result in the record of an ended run, if the result cannot be made again from the record here. The reason is
	// another version or configuration, or redacted values. Otherwise it is nil.
	Kept json.RawMessage
	Head Head // of its record now
}

// Mark is the part of a run's state that a reader has seen.
type Mark struct {
	State RunState
	Turn  int    // of a run that waits for its caller; otherwise 0
	Key   string // of the effect that it waits for
}

// Mark returns the mark of the snapshot.
func (s Snapshot) Mark() Mark {
	m := Mark{State: s.State}
	if w := s.Ended.Waiting; w != nil && s.State == Parked {
		m.Turn, m.Key = w.Turn, w.Key
	}
	return m
}

// Current is what an active run does now.
type Current struct {
	Phase, Doing string // words as in progress lines
	Done         int    // answered calls
	Total        int    // planned calls; 0: not known
	Since        time.Time
}

// Note describes what a person or program does to a run from outside.
type Note struct {
	By      string // the principal, from the channel
	Channel string // mcp, cli
	Reason  string // in their own words; the length is limited by the channel
}

// Filter says which runs are listed. The zero Filter lists the newest of all principals.
type Filter struct {
	Principal    string    // "": all, for commands of the state file's owner
	Status       string    // running, waiting, ok or stopped
	Pattern      string    // the tool's name
	StopReason   string    // the whole stop reason, or its family without names
	Since, Until time.Time // of the start; zero: no limit. Until itself is excluded
	Limit        int       // of rows; 0: 20
	Cursor       string    // of the page before; opaque
}

// Page is one page of a list.
type Page struct {
	Rows []RunRow
	Next string // the cursor of the next page; "" on the last
}

// RunRow is one run of a list.
type RunRow struct {
	RunID, Pattern, Principal string
	Parent                    string // of a child run: the run whose call began it
	Status, StopReason, Phase string // status ok, stopped, running or waiting
	Summary                   string // at most 200 bytes
	WaitingKind               string
	Expires, Began, Ended     time.Time // zero if there is none
	Owner                     string    // of an active run: the process that has it, for commands; "" for none
}

// ErrCursor is returned for a cursor that was not made for this list.
var ErrCursor = errors.New("patterns: not a cursor of this list")

// Continuation is a caller's input for a run that waits for it.
type Continuation struct {
	Principal, RunID string
	Turn             int // the turn that it answers; 0: the current one
	// Given holds the decoded arguments: route or actions, and continue_with.
	Given    map[string]any
	Size     int            // memory of the caller's input in bytes
	Wait     time.Duration  // as in [Job]
	Progress func(Progress) // as in [Job]
	Taken    func()         // called before the run continues with the input; nil: no call
}

// ErrNoRun is returned for a run that the principal does not have.
var ErrNoRun = errors.New("patterns: no such run")

// ErrNotTaken is returned for a continuation of a run that runs, has ended, or waits for another thing or another turn. No part of it
// was taken.
var ErrNotTaken = errors.New("patterns: the run does not wait for this")

// ErrOver is returned for an operation that is not possible on an ended run.
var ErrOver = errors.New("patterns: the run has ended")

// ErrReused is returned for an idempotency key with which this principal began a run of the same tool with other arguments. Nothing
// was begun.
var ErrReused = errors.New("patterns: the idempotency key was used with other arguments")

// ErrJournal is returned, wrapped, if the record cannot be written or read. Nothing was begun that was not recorded.
var ErrJournal = errors.New("journal_unavailable")

// ErrDetached is the cause that ends a call's context while its run continues: the connection or the server ended. A context that ends
// with any other cause cancels the run, unless the run has begun to write.
var ErrDetached = errors.New("patterns: the call ended, the run continues")
