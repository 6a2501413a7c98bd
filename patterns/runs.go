package patterns

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Runs is what an engine knows of its runs. Each is the matter of one principal; for others it does not exist. It is
// safe for concurrent use.
type Runs interface {
	// Run shows a run as it stands; false where the principal has none with this id, or it is forgotten.
	Run(principal, id string) (Snapshot, bool)
	// Wait returns the run as soon as it stands otherwise than the mark says: another state, or another turn. It returns
	// it as it stands, too, when ctx ends. False as for Run.
	Wait(ctx context.Context, principal, id string, mark Mark) (Snapshot, bool)
	// RunIDs lists the principal's runs, newest first; the newest 200 at least.
	RunIDs(principal string) []string
	// List is a page of runs, newest first.
	List(Filter) (Page, error)
	// Newest is the run that the principal most likely asks for: the newest that waits or has just ended, else that runs.
	Newest(principal string) (id string, ok bool)
	// Cancel has a run end before its next call and returns it as it then stands, at the latest when ctx ends. One that
	// ended before stays as it is: [ErrOver]. Its error may also be [ErrNoRun].
	Cancel(ctx context.Context, principal, id string, by Note) (Snapshot, error)
	// Delivered notes that the caller was given what a run came to: from then on an equal call is a new run.
	Delivered(principal, id string)
	// Events is a run's record so far. ErrNoRun where there is none.
	Events(principal, id string) ([]Event, error)
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
	Parent                            *Parent        // of a child run
	ClientVersion, Era                string         // as in [Job]
	Arguments                         map[string]any // as the caller sent them at the start; not to be changed
	State                             RunState
	Began                             time.Time
	Current                           Current // of a running one
	Ended                             Ended   // of one that waits or ended
	// Spec and Model are what the run was begun with; a zero Spec where this process cannot make it again.
	Spec  Spec
	Model string
	// Kept is the uncut result that the record holds, for a run that ended and whose result cannot be made again from the
	// record here: another version or configuration, or values that were redacted. Else nil.
	Kept json.RawMessage
	Head Head // of its record now
}

// Mark is what of a run's state its reader knows.
type Mark struct {
	State RunState
	Turn  int    // of one that waits for its caller; else 0
	Key   string // of the effect that it waits for
}

// Mark is the snapshot's own mark.
func (s Snapshot) Mark() Mark {
	m := Mark{State: s.State}
	if w := s.Ended.Waiting; w != nil && s.State == Parked {
		m.Turn, m.Key = w.Turn, w.Key
	}
	return m
}

// Current is what a running run does.
type Current struct {
	Phase, Doing string // words as in progress lines
	Done         int    // calls that were answered
	Total        int    // calls that are planned; 0: not known
	Since        time.Time
}

// Note is what somebody does to a run from outside.
type Note struct {
	By      string // the principal, from the channel
	Channel string // mcp, cli
	Reason  string // in their words; bounded by who asks
}

// Filter says which runs are listed. The zero Filter lists the newest of all principals.
type Filter struct {
	Principal    string    // "": all, for commands of the state's owner
	Status       string    // running, waiting, ok or stopped
	Pattern      string    // the tool's name
	StopReason   string    // whole, or a family without its names
	Since, Until time.Time // of the begin; zero: no bound. Until itself is not among them
	Limit        int       // of rows; 0: 20
	Cursor       string    // of the page before; opaque
}

// Page is some rows of a list.
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
	Expires, Began, Ended     time.Time // zero where there is none
	Owner                     string    // of a running one: the process that holds it, for commands; "" nobody
}

// ErrCursor is returned for a cursor that was not made for this list.
var ErrCursor = errors.New("patterns: not a cursor of this list")

// Continuation is what a caller sends for a run that waits for it.
type Continuation struct {
	Principal, RunID string
	Turn             int // for which it is meant; 0: the present one
	// Given are decoded arguments: route or actions, and continue_with.
	Given    map[string]any
	Size     int            // of what the caller sent, in bytes of memory
	Wait     time.Duration  // as in [Job]
	Progress func(Progress) // as in [Job]
	Taken    func()         // told that the run goes on with it, before it does; nil: nobody
}

// ErrNoRun is returned for a run that the principal does not have.
var ErrNoRun = errors.New("patterns: no such run")

// ErrNotTaken is returned for a continuation of a run that runs, has ended, or waits for something else or for another
// turn. Nothing of it was taken.
var ErrNotTaken = errors.New("patterns: the run does not wait for this")

// ErrOver is returned for what cannot be done to a run that has ended.
var ErrOver = errors.New("patterns: the run has ended")

// ErrReused is returned for an idempotency key under which this principal began a run of the same tool with other
// arguments. Nothing was begun.
var ErrReused = errors.New("patterns: the idempotency key was used with other arguments")

// ErrJournal is returned, wrapped, where the record cannot be written or read. What was not recorded was not begun.
var ErrJournal = errors.New("journal_unavailable")

// ErrDetached is the cause with which a call's context ends whose run goes on: the connection or the server went. A
// context that ends by any other cause takes the run back, unless it has begun to write.
var ErrDetached = errors.New("patterns: the call ended, the run goes on")
