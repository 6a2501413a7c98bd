package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/patterns"
)

// Operator is what the owner of the state may do with the runs of all principals: what commands stand on.
type Operator struct{ engine *Engine }

// Operator returns the owner's view of the engine's runs.
func (e *Engine) Operator() Operator { return Operator{e} }

// Settlement says whether a call in doubt happened.
type Settlement struct {
	By       patterns.Note
	Happened bool
	Result   json.RawMessage // what the call returned, one JSON document; nil where that is not known
	Comment  string
}

// Tombstone is what stays of a pruned run.
type Tombstone struct {
	RunID, Pattern, StopReason string
	Began, Ended               time.Time
	Head                       patterns.Head
}

// AmbiguousError is returned for the beginning of an id that several runs have.
type AmbiguousError struct{ IDs []string }

func (a *AmbiguousError) Error() string { return fmt.Sprintf("%d runs begin so", len(a.IDs)) }

var errTODO = errors.New("local: not built yet")

// Find is the id of the one run that begins so: 4 digits or more, with or without run_. [patterns.ErrNoRun], [*AmbiguousError].
func (o Operator) Find(beginning string) (string, error) { return "", errTODO }

// Run shows a run as it stands.
func (o Operator) Run(id string) (patterns.Snapshot, bool) { return patterns.Snapshot{}, false }

// Record is a run's record with the length that was kept at its last rest (0: none yet), even where it is broken.
func (o Operator) Record(id string) (events []patterns.Event, kept int64, err error) {
	return nil, 0, errTODO
}

// List is a page of all principals' runs, tombstones not among them.
func (o Operator) List(f patterns.Filter) (patterns.Page, error) { return patterns.Page{}, errTODO }

// Cancel is as [patterns.Runs] has it. A run that no process carries on is ended here; nothing of it is called.
func (o Operator) Cancel(ctx context.Context, id string, by patterns.Note) (patterns.Snapshot, error) {
	return patterns.Snapshot{}, errTODO
}

// Settle says what became of a call in doubt, by its effect key. The run then goes on wherever it is taken.
// [patterns.ErrNotTaken] where the run does not wait for this.
func (o Operator) Settle(id, effect string, s Settlement) error { return errTODO }

// Seize takes a run from an owner that lives but does not move. What that owner has sent cannot be recalled.
// [patterns.ErrNotTaken] where nobody owns it.
func (o Operator) Seize(id string, by patterns.Note) error { return errTODO }

// Resume carries on what is ready here, or the one run, and returns the runs when they rest, or as they stand when ctx ends.
func (o Operator) Resume(ctx context.Context, id string) ([]patterns.Snapshot, error) {
	return nil, errTODO
}

// Prune deletes runs that ended before a time but for their tombstones; dry only lists them.
func (o Operator) Prune(before time.Time, dry bool) ([]Tombstone, error) { return nil, errTODO }

// Tombstones lists what stays of pruned runs, newest first.
func (o Operator) Tombstones() ([]Tombstone, error) { return nil, errTODO }

// Backup copies the state into a new file while it is in use.
func (e *Engine) Backup(ctx context.Context, file string) error { return errTODO }
