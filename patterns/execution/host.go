package execution

import (
	"context"
	"time"

	"patterngate/patterns"
)

// Host is what the lives of a run need of the engine that executes it. Each run has its own Host. A Host is safe for
// concurrent use. Report, Unrecorded, CallerWait, Announce, Life, ChildNow, ChildRested, PlanChanged and Grew are called while the life's
// baton is held: they must not call that life. Perform and Asked must not block.
type Host interface {
	// Perform runs work on another goroutine and does not wait for it.
	Perform(work func())
	// Hook is called at the points "send" and "sent" around an effect.
	Hook(point string)
	// Report sends the cause of a tool or model fault, or an internal error, to the log. key is that of the effect.
	Report(key string, cause error)
	// Unrecorded returns an outcome that this process knows and could not record.
	Unrecorded(key string) (patterns.Outcome, bool)
	// Asked is called when a question to a person has been recorded. It must not block.
	Asked(patterns.Asked)
	// CallerWait returns how long the run waits for its caller; false: it does not wait.
	CallerWait() (wait time.Duration, waits bool)
	// Announce wakes the callers that wait for a run or a stored plan, because it has changed.
	Announce(id string)
	// Detach notes that no call waits for the run any more. quits: the life must begin nothing more.
	Detach() (quits bool)

	// Park stores the run as one that waits, and Finish stores it as one that has ended. Broke is called for a life that
	// an error stopped, also an error of Park or Finish. It returns how the life comes to rest.
	Park(l *Life, rest patterns.Ended) error
	Finish(l *Life, rest patterns.Ended) error
	Broke(l *Life, rest patterns.Ended, cause error) AtRest

	// Child begins or joins the run of a call and returns when that run has ended or waits. Its error is the error of
	// ctx, or the reason why this run cannot continue. ChildNow returns what is known of that run now. ChildRested
	// returns how long it waited for its caller and for people, or was carried out by no process.
	Child(ctx context.Context, c *ChildCall) (ChildRest, error)
	ChildNow(c *ChildCall) (ChildRest, error)
	ChildRested(id string) (time.Duration, error)
	// Life returns the life of another run of the same principal in this process; nil: it has none.
	Life(id string) *Life

	// PlanChanged is called when the run's change of a stored plan is stored. other is the run that waited with the plan,
	// and that continues now or has lost the plan by the change; 0: none. by says why.
	PlanChanged(other int64, by patterns.Note)
	// Grew notes that the run holds so many more bytes in memory.
	Grew(bytes int)
}

// Run is a run as its lives see it.
type Run struct {
	RunID   string
	N       int64 // the number in the id
	Job     patterns.Job
	Code    patterns.Pattern // of the job's kind; nil: it is not known here
	Began   time.Time
	Record  *Record
	Backing Backing
	Host    Host
}

// AtRest is how a life came to rest.
type AtRest struct {
	// Ended is the state of the run: it has ended, waits, or runs elsewhere.
	Ended patterns.Ended
	// Fault is the internal error that ended the run; nil: none.
	Fault error
	// Replayed says that another life continues the run here at once.
	Replayed bool
}
