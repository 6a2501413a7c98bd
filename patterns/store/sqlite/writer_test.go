package sqlite

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// held keeps the writer in a transaction until release is called.
func held(j *Store) (release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	j.Submit(&store.Change{Steps: raw(func(*session) error { close(in); <-out; return nil })})
	<-in
	return func() { close(out) }
}

func TestWaitingChangesShareATransaction(t *testing.T) {
	commits := 0
	j, err := Open(filepath.Join(t.TempDir(), "state.db"), func(point string) {
		if point == "committed" {
			commits++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	release := held(j)
	var told []int
	for i := range 100 {
		j.Submit(&store.Change{Steps: raw(insertRun(int64(i+1), 1, "running")), Done: func(err error) {
			told = append(told, i)
			check(t, err)
		}})
	}
	release()
	j.Close()
	if commits != 2 {
		t.Errorf("%d commits for one change and 100 that came meanwhile, want 2", commits)
	}
	if len(told) != 100 || !slices.IsSorted(told) {
		t.Errorf("told %v, want all in the order of submission", told)
	}
}

func TestOnlySyncedBatchesWaitForTheDisk(t *testing.T) {
	var j *Store
	var got []int
	hook := func(point string) {
		if point != "commit" {
			return
		}
		var level int
		check(t, j.writer.Each(func(row func(...any) error) error { return row(&level) }, "PRAGMA synchronous"))
		got = append(got, level)
	}
	j, err := Open(filepath.Join(t.TempDir(), "state.db"), hook)
	if err != nil {
		t.Fatal(err)
	}
	for _, sync := range []bool{false, true, true, false} {
		check(t, j.Do(&store.Change{Durable: sync}))
	}
	release := held(j) // a batch in which one is synced is synced
	j.Submit(&store.Change{})
	j.Submit(&store.Change{Durable: true})
	release()
	j.Close()
	const normal, full = 1, 2
	if want := []int{normal, full, full, normal, normal, full}; !slices.Equal(got, want) {
		t.Errorf("PRAGMA synchronous at the commits: %v, want %v", got, want)
	}
}

func TestRefusalConcernsItsChangeAlone(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	release := held(j)
	results := map[string]error{}
	submit := func(name string, c *store.Change) {
		c.Done = func(err error) { results[name] = err }
		j.Submit(c)
	}
	submit("before", &store.Change{Steps: raw(insertRun(2, 1, "running"))})
	submit("refused", &store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil), Steps: raw(func(s *session) error {
		if err := insertRun(3, 1, "running")(s); err != nil {
			return err
		}
		return errNo
	})})
	submit("constraint", &store.Change{Run: 2, Epoch: 1, Steps: raw(func(s *session) error {
		if err := insertRun(4, 1, "running")(s); err != nil {
			return err
		}
		return insertRun(1, 1, "running")(s) // is there
	})})
	submit("twice", &store.Change{Run: 2, Events: append(chain(2, 1, 1, nil), chain(2, 1, 1, nil)...)})
	submit("after", &store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 2, nil)})
	release()
	j.Close()
	for name, want := range map[string]error{"before": nil, "constraint": patterns.ErrJournal, "twice": patterns.ErrJournal, "after": nil} {
		if got := results[name]; !errors.Is(got, want) || want == nil && got != nil {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if err := results["refused"]; !store.RefusedBy[store.WindowHolds](err) {
		t.Errorf("refused: %v, want a refusal by its step", err)
	}
	j = openAt(t, j.path)
	if got, want := runsOf(t, j), []int64{1, 2}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if n := len(recordOf(t, j, 1)); n != 2 {
		t.Errorf("run 1 has %d events, want the 2 that came after its refused change", n)
	}
}

func runsOf(t *testing.T, j *Store) (list []int64) {
	t.Helper()
	check(t, j.look(func(s *session) error {
		return s.Each(func(row func(...any) error) error {
			var n int64
			err := row(&n)
			list = append(list, n)
			return err
		}, "SELECT n FROM runs ORDER BY n")
	}))
	return list
}

func TestAfterAFailedTransactionRunsNeedAnotherEpoch(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	begin(t, j, 2, 1)
	full(t, j, true)
	large := chain(1, 1, 1, nil)
	large[0].Body = []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	if err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: large}); !errors.Is(err, patterns.ErrJournal) {
		t.Fatalf("append to a full file: %v, want %v", err, patterns.ErrJournal)
	}
	full(t, j, false)
	if err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil)}); !errors.Is(err, patterns.ErrJournal) || errors.Is(err, store.ErrFenced) {
		t.Errorf("append under the epoch of a failed one: %v, want %v", err, patterns.ErrJournal)
	}
	if err := j.Do(&store.Change{Run: 2, Epoch: 1, Events: chain(2, 1, 1, nil)}); err != nil {
		t.Errorf("another run: %v", err)
	}
	check(t, j.alter(func(s *session) error {
		_, err := s.Exec("UPDATE runs SET epoch = 2 WHERE n = 1")
		return err
	}))
	if err := j.Do(&store.Change{Run: 1, Epoch: 2, Events: chain(1, 1, 1, nil)}); err != nil {
		t.Errorf("under a new epoch: %v", err)
	}
	if err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 2, 1, nil)}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("then under the old one: %v, want store.ErrFenced", err)
	}
}

func TestCloseDoesWhatWasSubmitted(t *testing.T) {
	j := fresh(t)
	told := 0
	for i := range 1000 {
		j.Submit(&store.Change{Steps: raw(insertRun(int64(i+1), 1, "running")), Done: func(err error) {
			check(t, err)
			told++
		}})
	}
	j.Close()
	j.Close()
	if told != 1000 {
		t.Errorf("%d changes told, want 1000", told)
	}
	if err := j.Do(&store.Change{}); !errors.Is(err, store.ErrClosed) || !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("a change after close: %v, want errClosed", err)
	}
	if err := j.look(func(*session) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a view after close: %v, want errClosed", err)
	}
	if j.Changed() {
		t.Error("changed after close")
	}
}

func TestManyWritersAndReaders(t *testing.T) {
	t.Parallel()
	j := fresh(t)
	var wg sync.WaitGroup
	for run := int64(1); run <= 16; run++ {
		wg.Go(func() {
			if err := j.alter(insertRun(run, 1, "running")); err != nil {
				t.Error(err)
			}
			var before []byte
			for seq := int64(1); seq <= 40; seq += 2 {
				events := chain(run, seq, 2, before)
				before = events[1].Hash
				c := &store.Change{Run: run, Epoch: 1, Events: events, Durable: seq == 21}
				if run%2 == 0 {
					j.Submit(c) // the next one stands behind it
				} else if err := j.Do(c); err != nil {
					t.Errorf("run %d at %d: %v", run, seq, err)
				}
				_ = j.Changed()
			}
			if err := j.Do(&store.Change{Run: run, Epoch: 1}); err != nil {
				t.Error(err)
			}
			if n := len(recordOf(t, j, run)); n != 40 {
				t.Errorf("run %d has %d events, want 40", run, n)
			}
		})
	}
	wg.Wait()
	check(t, j.Check())
}

func TestViewSeesOneState(t *testing.T) {
	j := fresh(t)
	count := func(s *session) (n int) {
		check(t, s.Each(func(row func(...any) error) error { return row(&n) }, "SELECT count(*) FROM runs"))
		return n
	}
	check(t, j.look(func(s *session) error {
		before := count(s)
		begin(t, j, 1, 1)
		if after := count(s); before != 0 || after != 0 {
			t.Errorf("%d and %d runs in one view while one begins, want 0 and 0", before, after)
		}
		return nil
	}))
	check(t, j.look(func(s *session) error {
		if n := count(s); n != 1 {
			t.Errorf("%d runs in the next view, want 1", n)
		}
		if _, err := s.Exec("DELETE FROM runs"); err == nil {
			t.Error("a view deleted")
		}
		return nil
	}))
	own := errors.New("own")
	if err := j.look(func(*session) error { return own }); !errors.Is(err, own) || errors.Is(err, patterns.ErrJournal) {
		t.Errorf("an error of the view's own: %v, want %v", err, own)
	}
}

func TestChangedTellsOfOtherWritersOnly(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	if j.Changed() {
		t.Error("changed by its own write")
	}
	other := openAt(t, j.path)
	begin(t, other, 2, 1)
	if got := [2]bool{j.Changed(), j.Changed()}; got != [2]bool{true, false} {
		t.Errorf("after another's write: %v, want true once", got)
	}
}
