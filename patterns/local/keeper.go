package local

import (
	"context"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/execution"
	"patterngate/patterns/store"
)

// keeper keeps the runs of an engine and their records. There are two: [inMemory], and [file] over a store that other
// processes can use.
type keeper interface {
	patterns.Runs
	// backing returns where the runs are kept.
	backing() execution.Backing
	// begin adds a new run with its first event. If an equal call began a run already, it returns the id of that run.
	// entered waits until a run that began is stored. If that was refused, entered returns why, and notBegun what the
	// call gets instead: the id of the run that an equal call began, or an error.
	begin(r *run) (joined string, err error)
	entered(r *run) error
	notBegun(refused error, job patterns.Job) (joined string, err error)
	// take takes over a waiting run for the caller that continues it. It returns the run and its record, which includes
	// this continuation.
	take(c patterns.Continuation) (*run, *execution.History, error)

	// lives notes that a run has a life now; closed: that life must give up at once. The caller holds the engine's lock.
	// quits reports whether a life must begin nothing more, because no call waits for its run. lifeOf returns the life of
	// a run in this process; nil: it has none.
	lives(r *run) (closed bool)
	quits(r *run) bool
	lifeOf(principal, id string) *execution.Life
	// park stores a run that waits, and finish stores one that has ended. broke is called for a life that an error
	// stopped.
	park(r *run, l *execution.Life, rest patterns.Ended) error
	finish(r *run, l *execution.Life, rest patterns.Ended) error
	broke(r *run, l *execution.Life, rest patterns.Ended, cause error) execution.AtRest
	// unrecorded returns an outcome that this process knows and could not record.
	unrecorded(id, key string) (patterns.Outcome, bool)
	// parks reports whether runs can wait for their caller.
	parks() bool

	// child begins or joins the run of a call and returns when that run ends or waits. Its error is the error of ctx,
	// or the reason why the parent cannot continue. childNow returns what is known of that run now, and childRested how
	// long it waited, or was carried out by no process. source makes the jobs of child runs; nil: none is begun.
	child(ctx context.Context, parent *run, c *execution.ChildCall) (execution.ChildRest, error)
	childNow(parent *run, c *execution.ChildCall) (execution.ChildRest, error)
	childRested(id string) (time.Duration, error)
	source() patterns.Source

	// planChanged continues or ends the run that waited with a plan which another run of the principal changed; 0: none.
	planChanged(other int64, principal string, by patterns.Note)

	// rehearsed rehearses a run, to show it.
	rehearsed(principal, id string) (*execution.Rehearsal, error)
	// follow sees the changes of a run that a call joined, until stop is called.
	follow(id string, progress func(patterns.Progress)) (stop func())
	// advance implements [Engine.Advance].
	advance(ctx context.Context, id string) (Rest, error)

	// approvals returns the questions of runs to people.
	approvals() patterns.Approvals
	// signed makes a change that needs a signature while a key is enrolled. switching notes that a kill switch is set.
	signed(act gateway.SignedAct, wanted decisions.Wanted, step store.Step) error
	switching()
	// configure makes settings count for the store. reloaded records a reload that no request asked for.
	configure(s Settings, hides bool)
	reloaded(r ReloadRequest, a ReloadAnswer)

	// going and leave implement [Engine.Going] and [Engine.Leave]. close implements [Engine.Close].
	going() int
	leave(ctx context.Context)
	close()
}
