package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// openAt opens a journal that is closed with the test.
func openAt(t testing.TB, path string) *Store {
	t.Helper()
	j, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

func fresh(t testing.TB) *Store { return openAt(t, filepath.Join(t.TempDir(), "state.db")) }

// begin inserts a run's row.
func begin(t testing.TB, j *Store, run, epoch int64) {
	t.Helper()
	if err := j.Do(&store.Change{Run: run, Steps: raw(insertRun(run, epoch, "running"))}); err != nil {
		t.Fatal(err)
	}
}

func insertRun(run, epoch int64, state string) func(*session) error {
	return func(s *session) error {
		_, err := s.Exec("INSERT INTO runs (n, pattern, principal, config, began, state, epoch) VALUES (?, 'p', 'me', 'c', ?, ?, ?)", run, time.Now().UnixMicro(), state, epoch)
		return err
	}
}

// chain makes events from one place of a record on.
func chain(run, from int64, n int, before []byte) []patterns.Event {
	events := make([]patterns.Event, n)
	for i := range events {
		events[i] = patterns.Event{Seq: from + int64(i), At: 1000 + from + int64(i), Kind: patterns.IntentEvent, Key: "task#1", Body: json.RawMessage(`{"a":1}`)}
		events[i].Seal(runName(run), before)
		before = events[i].Hash
	}
	return events
}

func runName(run int64) string { return fmt.Sprintf("run_%016x", uint64(run)) }

// recordOf reads a run's events and verifies their chain.
func recordOf(t testing.TB, j *Store, run int64) []patterns.Event {
	t.Helper()
	var events []patterns.Event
	err := j.look(func(s *session) error {
		return s.Each(func(row func(...any) error) error {
			var e patterns.Event
			err := row(&e.Seq, &e.At, &e.Kind, &e.Key, &e.Body, &e.Hash)
			events = append(events, e)
			return err
		}, "SELECT seq, at, kind, key, body, hash FROM events WHERE n = ? ORDER BY seq", run)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(events) > 0 {
		if err := patterns.VerifyChain(runName(run), events, 0); err != nil {
			t.Errorf("run %d: %v", run, err)
		}
	}
	return events
}

func TestAppendsAreChainedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	j := openAt(t, path)
	var want int
	for _, n := range []int{1, 2, 3, 4, 7} {
		run := int64(-n) // ids use all 64 bits
		begin(t, j, run, 1)
		if err := j.Do(&store.Change{Run: run, Epoch: 1, Events: chain(run, 1, n, nil), Durable: n%2 == 0}); err != nil {
			t.Fatalf("%d events: %v", n, err)
		}
		want += n
	}
	j.Close()
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("-wal after close: %v, want none", err)
	}
	j = openAt(t, path)
	got := 0
	for _, n := range []int{1, 2, 3, 4, 7} {
		got += len(recordOf(t, j, int64(-n)))
	}
	if got != want {
		t.Errorf("%d events after reopening, want %d", got, want)
	}
}

func TestFenceKeepsFormerOwnersOut(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 2)
	for name, c := range map[string]store.Change{
		"one event":   {Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil)},
		"two events":  {Run: 1, Epoch: 3, Events: chain(1, 1, 2, nil)},
		"five events": {Run: 1, Epoch: 1, Events: chain(1, 1, 5, nil)},
		"no event":    {Run: 1, Epoch: 1},
		"no run":      {Run: 7, Epoch: 1, Events: chain(7, 1, 1, nil)},
		"a step":      {Run: 1, Epoch: 1, Steps: raw(func(*session) error { t.Error("a step was taken"); return nil })},
	} {
		if err := j.Do(&c); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s under another epoch: %v, want store.ErrFenced", name, err)
		}
	}
	if events := recordOf(t, j, 1); len(events) != 0 {
		t.Errorf("%d events were written, want none", len(events))
	}
	if err := j.Do(&store.Change{Run: 1, Epoch: 2, Events: chain(1, 1, 2, nil)}); err != nil {
		t.Errorf("the owner: %v", err)
	}
}

// full lets the file grow no more, as on a full disk, or lets it grow again.
func full(t testing.TB, j *Store, is bool) {
	t.Helper()
	limit := "PRAGMA max_page_count=1" // never below its size
	if !is {
		limit = "PRAGMA max_page_count=1000000"
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	check(t, j.writer.run(limit))
}
