package patterns

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"patterngate/gateway"
)

// Engine carries out runs: it gives pattern code its [Run], performs the effects and keeps the record. It is safe
// for concurrent use.
type Engine interface {
	// Start begins one run, or joins the one that an equal call began, and returns when it ends or waits, when Job.Wait is
	// over, or when ctx ends: with the cause [ErrDetached] the run goes on without the call; with any other it is
	// cancelled, and what is under way is cut, unless it has begun to write or was joined. A fault of pattern code or
	// engine is a [*Fault]. Its error may also be [ErrReused], or [ErrJournal] where nothing was begun. Ended says how far
	// the run came in all cases.
	Start(ctx context.Context, job Job) (Ended, error)
	// Continue hands a waiting run what its caller sends and carries it on, as Start does. Of two continuations of one
	// turn one is taken. Its error may also be [ErrNoRun], [ErrNotTaken] or [ErrJournal].
	Continue(ctx context.Context, c Continuation) (Ended, error)
	// Rehearse says how the calls of a job's intent would be judged. Of a model it asks for one intent, where the job has none;
	// nothing else is performed, nothing is recorded, and no run begins. Its error is [*Fault] or the journal's.
	Rehearse(ctx context.Context, job Job) (Rehearsal, error)
	Runs
	Plans
}

// Job is one run to carry out.
type Job struct {
	Spec  Spec
	Task  Task
	Model Model
	// Progress is told of effects that are really performed, in order and one at a time; nil: nobody.
	Progress func(Progress)
	// Client and Principal stand in the record: who asked, and through what.
	Client, Principal string
	// Arguments are those of the tool as the caller sent them, for who looks at the run later. They are not changed.
	Arguments map[string]any
	Size      int // of what the caller sent, in bytes of memory: it is held as long as the run is known
	// ByKey is the caller's idempotency key; "" for none. Equal makes calls of one principal and tool equal: a hash over
	// what they ask for. An equal call joins the run instead of beginning another, with a key always, else while the run
	// goes on or waits, and until its result was delivered; an empty Equal is equal to nothing.
	ByKey, Equal string
	// Wait is how long the call waits for its run; 0: until it comes to rest, below: not at all.
	Wait time.Duration
	// Config names the configuration that Spec and Model were made from, by its hash; Policy and Catalog are hashes of
	// their own. They stand in the record.
	Config, Policy, Catalog string
	// Redact are the pointers to values that this configuration keeps out of the record.
	Redact []string
	// Present makes the uncut result for the record; nil: none is recorded. fault is the cause where ours ended the run.
	Present       func(ended Ended, fault error) Presented
	Era           string // the protocol that the client speaks
	ClientVersion string
	// Parent is of a child run; nil: nobody's call began it. The engine sets it.
	Parent *Parent
	// Earlier says that the record was begun by an earlier build, see [Task.Earlier]. The engine sets it.
	Earlier bool
}

// Asked is the task as pattern code is given it: with who asks for it, as the record says too.
func (j Job) Asked() Task {
	t := j.Task
	t.Earlier = j.Earlier
	t.Principal, t.Client = j.Principal, gateway.Client{Name: j.Client, Version: j.ClientVersion}
	return t
}

// Presented is a result as the record keeps it.
type Presented struct {
	Envelope json.RawMessage // uncut; need not be canonical
	Summary  string          // of it, for lists
}

// Source makes again what a recorded run was begun with, so that another process may carry it on.
type Source interface {
	// Job is the job of a run of a pattern, begun under a configuration by a principal with these arguments. Its error is
	// [*Lacking] where something is missing here that may come.
	Job(b Begun) (Job, error)
}

// Begun is what a record says about the begin of a run.
type Begun struct {
	RunID, Pattern, Principal, Client string
	Config                            string // hash
	Arguments                         map[string]any
	Parent                            *Parent // of a child run
}

// Lacking says why a run cannot be carried on here: it waits, with status waiting and kind retry.
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
	Waiting      *Waiting // nil: it ended, or runs
	Running      *Current // of one that goes on without the call; nil: it came to rest
	Joined       bool     // an earlier equal call's run
	Phase        string   // of the newest effect
	Calls        int      // of tools that were begun
	Requests     int      // to the model, retries included
	Began, Ended time.Time
	Waited       time.Duration // for callers and people, of the time in between
}

// Fault is a fault of ours inside a run, as opposed to what a model, tool or caller did.
type Fault struct {
	RunID string
	Cause error // for the log only
}

func (f *Fault) Error() string { return fmt.Sprintf("run %s: %v", f.RunID, f.Cause) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Pattern is pattern code: a function of what its run shows it, and of nothing else.
type Pattern func(Run, Spec, Task) Result
