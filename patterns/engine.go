package patterns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patterngate/gateway"
)

// Engine carries out runs: it gives pattern code its [Run], performs the effects and keeps the record. It is safe
// for concurrent use.
type Engine interface {
	// Start carries out one run to its end. When ctx ends, the run stops before its next effect and Start returns
	// [ErrCanceled]; a fault of pattern code or engine is a [*Fault]. Ended says how far the run came in all cases.
	Start(ctx context.Context, job Job) (Ended, error)
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
}

// Progress is one line about a run: "execute: step 2 of 5, fetch_sales_data". It holds names, never arguments.
type Progress struct {
	RunID string
	Line  string
}

// Ended is how a run ended.
type Ended struct {
	RunID        string
	Result       Result // not with an error
	Phase        string // of the newest effect
	Calls        int    // of tools that were begun
	Requests     int    // to the model, retries included
	Began, Ended time.Time
}

// ErrCanceled is returned for a run whose caller went away or whose engine is closing.
var ErrCanceled = errors.New("patterns: the run was canceled")

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
