package patterns

import (
	"context"
	"fmt"
	"time"

	"patterngate/gateway"
)

// Engine carries out runs: it gives pattern code its [Run], performs the effects and keeps the record. It is safe
// for concurrent use.
type Engine interface {
	// Start carries out one run until it ends or waits. When ctx ends, what is under way is cut, nothing more is begun,
	// and the run ends as cancelled. A fault of pattern code or engine is a [*Fault]. Ended says how far the run came in
	// all cases.
	Start(ctx context.Context, job Job) (Ended, error)
	// Continue hands a waiting run what its caller sends and carries it on, as Start does. Of two continuations of one
	// turn one is taken. Its error may also be [ErrNoRun] or [ErrNotTaken].
	Continue(ctx context.Context, c Continuation) (Ended, error)
	Runs
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
}

// Progress is one line about a run: "execute: step 2 of 5, fetch_sales_data". It holds names, never arguments.
type Progress struct {
	RunID string
	Line  string
}

// Ended is how a run ended, or what it waits for.
type Ended struct {
	RunID        string
	Result       Result   // of a run that ended without a fault
	Waiting      *Waiting // nil: it ended
	Phase        string   // of the newest effect
	Calls        int      // of tools that were begun
	Requests     int      // to the model, retries included
	Began, Ended time.Time
	Waited       time.Duration // for callers, of the time in between
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

// PatternOf is the code of a kind; unknown kinds have none.
func PatternOf(kind gateway.Kind) (Pattern, bool) {
	p, ok := map[gateway.Kind]Pattern{
		gateway.TaskDecomposition: Decompose,
		gateway.Orchestrator:      Orchestrate,
		gateway.Routing:           Route,
		gateway.Supervisor:        Supervise,
	}[kind]
	return p, ok
}
