package store

import (
	"context"
	"errors"
	"time"
)

// Store keeps runs. It is safe for concurrent use. The errors of its methods wrap [patterns.ErrJournal], unless they say otherwise.
type Store interface {
	// Submit queues a change. The order of submission is the order of effect. It does not wait.
	Submit(*Change)
	// Queue is Submit for a caller that is about to wait for the change. help writes what is queued if no other goroutine does, and must be
	// called without a lock that Done needs. hurry leaves that to another goroutine. Both are nil if the store is closed, which Done was
	// told.
	Queue(*Change) (help, hurry func())
	// Do submits a change and waits for it. It replaces Done. The error is [ErrFenced], a [*Refused], or the store's.
	Do(*Change) error
	// View reads one state. It does not wait for changes. An error of the function is returned as it is.
	View(func(Reader) error) error
	// Changed reports whether another process has changed the store since the last call, or since it was opened.
	Changed() bool
	// Now is the store's time. It never goes back and is never before the newest event of an unfinished run. It is in whole microseconds.
	Now() time.Time

	// Hides says that the store gets or may hold values that must be gone once they are deleted. Tidy then removes what is left of them, if
	// nobody else uses the store now. It never waits.
	Hides()
	Tidy()

	// Backup copies one state into a new file. Check and Audit read all of it and say what is damaged.
	Backup(ctx context.Context, to string) error
	Check() error
	Audit() ([]Damage, error)

	// Owner is this process's claim to its runs.
	Owner() Owner
	// Close waits for what was submitted and for views. The store takes nothing more.
	Close()
}

// Owner is the claim of one process to the runs that it carries on. It ends with the process, however that ends.
type Owner interface {
	// ID names the claim.
	ID() string
	// Serves marks the claim of a process that takes up whatever is ready.
	Serves()
	// OthersServe reports whether another living process takes up what is ready. Servers returns their ids.
	OthersServe() bool
	Servers() []string
	// Dead reports whether another owner is gone. bury then removes what is left of it, after its runs were released.
	Dead(id string) (bury func(), dead bool)
	// Living returns those of some owners that are not gone.
	Living(ids []string) []string
}

// Damage is a fault of what is stored, outside the records of its runs.
type Damage struct {
	Run    string // whose rows are concerned; "" if that is not known
	Reason string
}

// ErrConflict is returned for a change whose events do not follow the record, because something was added in between.
var ErrConflict = errors.New("store: the record has grown")
