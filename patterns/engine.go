package patterns

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"patterngate/gateway"
)

// Engine executes runs: it gives pattern code its [Run], performs the effects and keeps the record. It is safe for concurrent use.
type Engine interface {
	// Start begins one run, or joins the run that an equal call began. It returns when the run ends or waits, when Job.Wait has
	// passed, or when ctx ends. If the cause of ctx is [ErrDetached], the run continues without the call. With any other cause the run
	// is cancelled and its open effects are cut, unless it has begun to write or was joined.
	//
	// The error is a [*Fault] for a fault of pattern code or engine. It may also be [ErrReused], or [ErrJournal] if nothing was begun.
	// Ended says in all cases how far the run came.
	Start(ctx context.Context, job Job) (Ended, error)
	// Continue gives a waiting run the caller's input and continues it, as Start does. Of two continuations of one turn, one is taken.
	// The error may also be [ErrNoRun], [ErrNotTaken] or [ErrJournal].
	Continue(ctx context.Context, c Continuation) (Ended, error)
	// Rehearse reports how the calls of a job's intent would be judged. It asks a model for one intent if the job has none. It
	// performs and records nothing else, and no run begins. The error is a [*Fault] or the journal's.
	Rehearse(ctx context.Context, job Job) (Rehearsal, error)
	Runs
	Plans
}

// Job is one run to execute.
type Job struct {
	Spec  Spec
	Task  Task
	Model Model
	// Progress is called for effects that are really performed, in order and one at a time; nil: no progress.
	Progress func(Progress)
	Caller
	Hashes // of the configuration that Spec and Model were made from
	Joining
	// Arguments are the tool's arguments as the caller sent them, for display. They are not changed.
	Arguments map[string]any
	Size      int // memory of the caller's input in bytes: kept as long as the run is known
	// Wait is how long the call waits for its run; 0: until the run ends or waits; below 0: not at all.
	Wait time.Duration
	// Redact lists the pointers to values that this configuration keeps out of the record.
	Redact []string
	// Present makes the full result for the record; nil: no result is recorded. fault is the cause if a fault of ours ended the run.
	Present func(ended Ended, fault error) Presented
	// Parent is set for a child run; nil: no call of another run began it. The engine sets it.
	Parent *Parent
	// Earlier says that an earlier build began the record, see [Task.Earlier]. The engine sets it.
	Earlier bool
}

// Caller says who asked for a run: the principal, and the client program with its version. Era is the protocol that the client
// speaks. All of it is recorded.
type Caller struct{ Principal, Client, ClientVersion, Era string }

// Hashes are those of the whole configuration and of its policies and catalog. They are recorded; "": not known.
type Hashes struct{ Config, Policy, Catalog string }

// Joining says which calls join a run instead of beginning another one.
type Joining struct {
	// ByKey is the caller's idempotency key; "" for none. Equal is a hash over the request: calls of one principal and tool with the
	// same Equal are equal. An equal call joins the run. With a key it always does; without one, while the run is running or waiting
	// and until its result was delivered. An empty Equal equals nothing.
	ByKey, Equal string
}

// Asked returns the task for pattern code, with the principal and the client, as the record has them.
func (j Job) Asked() Task {
	t := j.Task
	t.Earlier = j.Earlier
	t.Principal, t.Client = j.Principal, gateway.Client{Name: j.Client, Version: j.ClientVersion}
	return t
}

// Presented is a result as the record keeps it.
type Presented struct {
	Envelope json.RawMessage // not cut; need not be canonical
	Summary  string          // of the result, for lists
}

// Source makes the job of a recorded run again, so that another process can continue it.
type Source interface {
	// Job returns the job of a run of a pattern that a principal began under a configuration with these arguments. The error is
	// [*Lacking] if this process lacks something that may come.
	Job(b Begun) (Job, error)
}

// Begun is what a record says about the start of a run.
type Begun struct {
	RunID, Pattern string
	Caller                // without version and era
	Config         string // hash
	Arguments      map[string]any
	Parent         *Parent // of a child run
}

// Lacking says why this process cannot continue a run. The run then waits, with status waiting and kind retry.
type Lacking struct {
	Cause string   // config_missing, tool_missing, secret_missing, journal
	Needs []string // names
}

func (l *Lacking) Error() string { return l.Cause + ": " + strings.Join(l.Needs, ", ") }

// Progress is one line about a run: "execute: step 2 of 5, fetch_sales_data". It holds names, never arguments.
type Progress struct {
	RunID string
	Line  string
}

// Ended is how a run ended, or what it waits for.
type Ended struct {
	RunID        string
	Result       Result   // of a run that ended without a fault
	Waiting      *Waiting // nil: it has ended, or it runs
	Running      *Current // of a run that continues without the call; nil: it ended or waits
	Joined       bool     // an earlier equal call's run
	Phase        string   // of the newest effect
	Calls        int      // tool calls that were begun
	Requests     int      // to the model, retries included
	Began, Ended time.Time
	Waited       time.Duration // of the time in between: for callers and people
}

// Fault is a fault of this program inside a run, as opposed to an error of a model, tool or caller.
type Fault struct {
	RunID string
	Cause error // for the log only
}

func (f *Fault) Error() string { return fmt.Sprintf("run %s: %v", f.RunID, f.Cause) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Pattern is pattern code: a function of what its run shows it, and of nothing else.
type Pattern func(Run, Spec, Task) Result
