package local

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/store/sqlite"
)

// tailed is a record of a run in a journal.
func tailed(t *testing.T) *Record {
	t.Helper()
	j, err := sqlite.Open(filepath.Join(t.TempDir(), "state.db"), nil)
	check(t, err)
	t.Cleanup(j.Close)
	check(t, j.Do(&store.Change{Run: 7, Steps: []store.Step{store.Begin{N: 7, Pattern: "p", Kind: "routing", Principal: "local:1", Client: "c", Config: "sha256:test", Began: 1, Newest: 1, Owner: j.Owner().ID()}}}))
	return &Record{file: &tail{file: &file{journal: j}, id: journal.RunID(7), n: 7, epoch: 1}}
}

// flushed is what a flush is told.
func flushed(r *Record) error {
	done := make(chan error, 1)
	r.flush(true, func(err error) { done <- err })
	return <-done
}

// recordOf are the events that the state file has of a run.
func recordOf(t *testing.T, r *Record, n int64) (events []patterns.Event) {
	t.Helper()
	check(t, r.file.file.journal.View(func(s store.Reader) (err error) { events, err = s.Events(n); return err }))
	return events
}

// no refuses what is recorded with it.
func no(journal.Event) []store.Step { return raw(func(execer) error { return errNo }) }

// A result that comes late must not take with it the intent that a branch is about to have written: the branch learns of
// its own change, and a call whose approval is not there any more is not made.
func TestLateResultsLeaveIntentsAlone(t *testing.T) {
	r := tailed(t)
	r.appendAlso(patterns.IntentEvent, "pay#1", time.Now(), journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay"},
		no)
	r.late("look_up#1", time.Now(), journal.OutcomeBody{State: patterns.OK})
	if err := flushed(r); !errors.Is(err, errUnspent) {
		t.Errorf("the intent's flush was told %v, want %v", err, errUnspent)
	}
	if got := recordOf(t, r, 7); len(got) != 0 {
		t.Errorf("the record has %d events, want none", len(got))
	}
}

// What is sealed behind a change that was refused would leave a gap in the record: it is refused, too.
func TestNothingBehindARefusedChange(t *testing.T) {
	r := tailed(t)
	intent := journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay"}
	r.appendAlso(patterns.IntentEvent, "task#1/pay#1", time.Now(), intent, no)
	if err := flushed(r); !errors.Is(err, errUnspent) {
		t.Fatalf("the refused change was told %v, want %v", err, errUnspent)
	}
	r.append(patterns.IntentEvent, "task#2/pay#1", time.Now(), intent)
	if err := flushed(r); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("the change behind it was told %v, want %v", err, patterns.ErrJournal)
	}
	if got := recordOf(t, r, 7); len(got) != 0 {
		t.Errorf("the record has %d events, want none", len(got))
	}
}

// Who follows from the beginning on, when nothing has changed yet, rests until something does, and is told of it.
func TestFollowFromNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiters{}
		_, from := w.follow(t.Context(), 0)
		wait, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if ids, next := w.follow(wait, from); len(ids) > 0 || next != from || time.Since(began) != time.Minute {
			t.Fatalf("follow(%d) = %v, %d after %s; want nothing for a minute", from, ids, next, time.Since(began))
		}
		w.announce("run_1")
		if ids, next := w.follow(t.Context(), from); len(ids) != 1 || ids[0] != "run_1" || next != from+1 {
			t.Errorf("follow(%d) = %v, %d; want run_1", from, ids, next)
		}
	})
}
