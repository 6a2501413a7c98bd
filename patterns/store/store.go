package store

import (
	"context"
	"errors"
	"time"
)

// Store stores runs. It is safe for concurrent use. The errors of its methods wrap [patterns.ErrJournal], unless a
// method says otherwise.
type Store interface {
	// Submit queues a change and does not wait. Changes take effect in the order of their submission.
	Submit(*Change)
	// Queue is like Submit, for a caller that then waits for the change. help writes the queued changes if no other
	// goroutine does. The caller must not hold a lock that Done needs when it calls help. hurry lets another goroutine
	// write. If the store is closed, both are nil, and Done has got the error.
	Queue(*Change) (help, hurry func())
	// Do submits a change and waits for it. It replaces Done. The error is [ErrFenced], a [*Refused], or an error of
	// the store.
	Do(*Change) error
	// View reads one state. It does not wait for changes. It returns an error of the function unchanged.
	View(func(Reader) error) error
	// Changed reports whether another process has changed the store since the last call, or since it was opened.
	Changed() bool
	// Now returns the store's time, in whole microseconds. It never goes back, and it is never before the newest event
	// of an unfinished run.
	Now() time.Time

	// Hides tells the store that it gets or can hold values that must leave no trace after their deletion. Tidy removes
	// the remaining traces, if no other process uses the store now. Tidy never waits.
	Hides()
	Tidy()

	// Backup copies one state into a new file. Check and Audit read the whole store and report damage.
	Backup(ctx context.Context, to string) error
	Check() error
	Audit() ([]Damage, error)

	// Owner returns this process's claim to its runs.
	Owner() Owner
	// Close waits for submitted changes and for views. After it, the store accepts no changes.
	Close()
}

// Owner is the claim of one process to the runs that it executes. The claim ends with the process, also if the process
// crashes.
type Owner interface {
	// ID returns the name of the claim.
	ID() string
	// Serves marks the claim of a process that continues all runs that are ready.
	Serves()
	// OthersServe reports whether another living process continues ready runs. Servers returns the ids of such
	// processes.
	OthersServe() bool
	Servers() []string
	// Dead reports whether the process of another owner has ended. bury removes the traces of that owner; call it after
	// its runs were released.
	Dead(id string) (bury func(), dead bool)
	// Living returns the ids whose processes have not ended.
	Living(ids []string) []string
}

// Damage is a fault in the store, outside the records of its runs.
type Damage struct {
	Run    string // the run with the damaged rows; "" if that is not known
	Reason string
}

// ErrConflict is returned for a change whose events do not follow the record, because other events were added first.
var ErrConflict = errors.New("store: the record has grown")
