package execution

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/store/sqlite"
)

// newStore makes a store that other processes can use.
func newStore(t *testing.T) store.Store {
	t.Helper()
	j, err := sqlite.Open(filepath.Join(t.TempDir(), "state.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// change makes a change.
func change(t *testing.T, j store.Store, c *store.Change) {
	t.Helper()
	if err := j.Do(c); err != nil {
		t.Fatal(err)
	}
}

// alter changes a store as another program can.
func alter(t *testing.T, j store.Store, query string, args ...any) {
	t.Helper()
	change(t, j, &store.Change{Steps: []store.Step{store.WindowHolds{Judge: func(c store.Calls) (bool, error) {
		_, err := c.(interface {
			Exec(query string, args ...any) (changed int64, err error)
		}).Exec(query, args...)
		return true, err
	}}}})
}

// tailed is a record of a run in a journal.
func tailed(t *testing.T) (*Record, store.Store) {
	t.Helper()
	j := newStore(t)
	change(t, j, &store.Change{Run: 7, Steps: []store.Step{store.Begin{N: 7, Pattern: "p", Kind: "routing", Principal: "local:1", Client: "c", Config: "sha256:test", Began: 1, Newest: 1, Owner: j.Owner().ID()}}})
	return (&Stored{Journal: j}).Continue(&store.Row{N: 7}, 1, patterns.Event{}, nil).Record(), j
}

// flushed is the result of a flush.
func flushed(r *Record) error {
	done := make(chan error, 1)
	r.Flush(true, func(err error) { done <- err })
	return <-done
}

// recordOf are the events that the state file has of a run.
func recordOf(t *testing.T, j store.Store, n int64) (events []patterns.Event) {
	t.Helper()
	if err := j.View(func(s store.Reader) (err error) { events, err = s.Events(n); return err }); err != nil {
		t.Fatal(err)
	}
	return events
}

// no refuses what is recorded with it.
func no(journal.Event) []store.Step {
	return []store.Step{store.WindowHolds{Judge: func(store.Calls) (bool, error) { return false, nil }}}
}

// A result that comes late must not take with it the intent that a branch is about to have written: the branch learns of
// its own change, and a call whose approval is not there any more is not made.
func TestLateResultsLeaveIntentsAlone(t *testing.T) {
	r, j := tailed(t)
	r.appendAlso(patterns.IntentEvent, "pay#1", time.Now(), journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay"},
		no)
	r.late("look_up#1", time.Now(), journal.OutcomeBody{State: patterns.OK})
	if err := flushed(r); !errors.Is(err, ErrUnspent) {
		t.Errorf("the intent's flush was told %v, want %v", err, ErrUnspent)
	}
	if got := recordOf(t, j, 7); len(got) != 0 {
		t.Errorf("the record has %d events, want none", len(got))
	}
}

// What is sealed behind a change that was refused would leave a gap in the record: it is refused, too.
func TestNothingBehindARefusedChange(t *testing.T) {
	r, j := tailed(t)
	intent := journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay"}
	r.appendAlso(patterns.IntentEvent, "task#1/pay#1", time.Now(), intent, no)
	if err := flushed(r); !errors.Is(err, ErrUnspent) {
		t.Fatalf("the refused change was told %v, want %v", err, ErrUnspent)
	}
	r.Append(patterns.IntentEvent, "task#2/pay#1", time.Now(), intent)
	if err := flushed(r); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("the change behind it was told %v, want %v", err, patterns.ErrJournal)
	}
	if got := recordOf(t, j, 7); len(got) != 0 {
		t.Errorf("the record has %d events, want none", len(got))
	}
}
