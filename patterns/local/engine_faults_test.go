package local_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// world is a tool and what it was called for, by idempotency key, as somebody outside sees it.
type world struct {
	mu    sync.Mutex
	calls map[string]int
	order []string
	// at gets the number of each call, from 1, before the tool answers; it may be nil.
	at   func(ctx context.Context, n int) error
	tool catalog.Tool
}

func newWorld(t testing.TB, effect catalog.Effect, at func(ctx context.Context, n int) error) *world {
	t.Helper()
	type number struct {
		N int `json:"n"`
	}
	w := &world{calls: map[string]int{}, at: at}
	var err error
	w.tool, err = catalog.Typed(catalog.Tool{Name: "count", Description: "Counts.", Effect: effect},
		func(ctx context.Context, in number, call catalog.Call) (number, error) {
			w.mu.Lock()
			w.calls[call.Key]++
			w.order = append(w.order, call.Key)
			n := len(w.order)
			w.mu.Unlock()
			if w.at == nil {
				return in, nil
			}
			return in, w.at(ctx, n)
		})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) job(t testing.TB, n int) patterns.Job {
	job := stepsOf(t, w.tool, n)
	job.Principal = mine
	return job
}

// did checks how many acts there were, each done once.
func (w *world) did(t testing.TB, want int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, n := range w.calls {
		if n != 1 {
			t.Errorf("%s was done %d times", key, n)
		}
	}
	if len(w.calls) != want {
		t.Errorf("%d acts were done, want %d", len(w.calls), want)
	}
}

// A disk that is full in the middle of a run stops it before its next call; it goes on by itself when there is space,
// and what was done is not done again.
func TestFullDiskStopsARunAndLetsItGoOn(t *testing.T) {
	t.Parallel()
	for _, effect := range []catalog.Effect{catalog.Read, catalog.Write, catalog.Destructive} {
		t.Run(string(effect), func(t *testing.T) {
			e := openPort(t, newState(t), &begun{})
			w := newWorld(t, effect, func(_ context.Context, n int) error {
				if n == 2 {
					e.Full(t, true)
				}
				return nil
			})
			ended, err := e.Start(t.Context(), w.job(t, 4))
			if wait := ended.Waiting; err != nil || wait == nil || wait.Kind != patterns.ForRetry || wait.Cause != "journal" || wait.Phase != patterns.PhaseExecute {
				t.Fatalf("on a full disk: %+v, %v; want it waiting for the journal", ended, err)
			}
			w.did(t, 2)
			if s := e.until(t, ended.RunID, patterns.Parked); s.Ended.Waiting.Cause != "journal" {
				t.Errorf("shown as waiting for %+v", s.Ended.Waiting)
			}
			if _, err := e.Start(t.Context(), w.job(t, 1)); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("another run: %v, want %v", err, patterns.ErrJournal)
			}
			if _, err := e.Cancel(t.Context(), mine, ended.RunID, patterns.Note{By: mine}); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("Cancel: %v, want %v", err, patterns.ErrJournal)
			}
			w.did(t, 2)
			e.Full(t, false)
			if s := e.until(t, ended.RunID, patterns.Over); !s.Ended.Result.OK() {
				t.Errorf("it ended with %s", asJSON(t, s.Ended.Result))
			}
			w.did(t, 4)
			e.intact(t, ended.RunID)
			if lives, outcomes, stuck := e.Held(); lives+outcomes+stuck > 0 || len(e.RunIDs(mine)) != 1 {
				t.Errorf("%d lives, %d outcomes, %d stuck runs stay, and %d runs; want one run alone", lives, outcomes, stuck, len(e.RunIDs(mine)))
			}
		})
	}
}

// A disk that fills up under 64 runs stops each of them cleanly; all come to their end when there is space.
func TestDiskFillsUpUnder64Runs(t *testing.T) {
	t.Parallel()
	t.Run("no page is left", func(t *testing.T) { fillUnder64Runs(t, 10, (*local.Engine).Pages) })
	t.Run("nothing can be written", func(t *testing.T) { fillUnder64Runs(t, 100, (*local.Engine).Full) })
}

// fillUnder64Runs fills the disk at the call of a number.
func fillUnder64Runs(t *testing.T, at int, fill func(*local.Engine, testing.TB, bool)) {
	e := openPort(t, newState(t), &begun{})
	const steps = 4
	w := newWorld(t, catalog.Write, func(_ context.Context, n int) error {
		if n == at {
			fill(e.Engine, t, true)
		}
		return nil
	})
	ids := make(chan string, 64)
	var all sync.WaitGroup
	refused := 0
	var mu sync.Mutex
	for range 64 {
		all.Go(func() {
			ended, err := e.Start(context.Background(), w.job(t, steps))
			switch {
			case errors.Is(err, patterns.ErrJournal):
				mu.Lock()
				refused++
				mu.Unlock()
			case err != nil, ended.Waiting != nil && ended.Waiting.Cause != "journal", ended.Waiting == nil && !ended.Result.OK():
				t.Errorf("%+v, %v", ended, err)
			default:
				ids <- ended.RunID
			}
		})
	}
	all.Wait()
	close(ids)
	if len(ids)+refused != 64 || len(w.calls) == 64*steps {
		t.Errorf("%d runs and %d refused of 64, %d acts: the disk was never full", len(ids), refused, len(w.calls))
	}
	begun := len(ids)
	fill(e.Engine, t, false)
	for id := range ids {
		if s := e.until(t, id, patterns.Over); !s.Ended.Result.OK() {
			t.Errorf("%s ended with %s", id, s.Ended.Result.StopReason)
		}
		e.intact(t, id)
	}
	w.did(t, begun*steps)
}

// A state file that is taken away under an engine stops it; put back, all goes on.
func TestFileTakenAway(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"moved": func(path string) error { return os.Rename(path, path+".away") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newState(t)
			e := openPort(t, path, &begun{})
			w := newWorld(t, catalog.Write, func(_ context.Context, n int) error {
				if n == 2 {
					return harm(path)
				}
				return nil
			})
			ended, err := e.Start(t.Context(), w.job(t, 3))
			if err != nil || ended.Waiting == nil || ended.Waiting.Cause != "journal" {
				t.Fatalf("%+v, %v; want it waiting for the journal", ended, err)
			}
			if _, err := e.Start(t.Context(), w.job(t, 3)); !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "moved, deleted or replaced") {
				t.Errorf("another run: %v, want it refused", err)
			}
			w.did(t, 2)
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			if s := e.until(t, ended.RunID, patterns.Over); !s.Ended.Result.OK() {
				t.Errorf("put back: %s", asJSON(t, s.Ended.Result))
			}
			w.did(t, 3)
			e.intact(t, ended.RunID)
			e.Close()
			if s := openPort(t, path, e.begun).until(t, ended.RunID, patterns.Over); !s.Ended.Result.OK() {
				t.Errorf("after a restart: %s", s.Ended.Result.StopReason)
			}
		})
	}
}

// A record that was tampered with is not carried on, whatever is done to its run; nothing is appended to it, and other
// runs do not suffer.
func TestBrokenRecordsAreLeftAlone(t *testing.T) {
	t.Parallel()
	const of = " WHERE n = ?1 AND seq = "
	for name, query := range map[string]string{
		"an event altered":           "UPDATE events SET body = '{}'" + of + "3",
		"an event's time altered":    "UPDATE events SET at = at + 1" + of + "3",
		"an event removed":           "DELETE FROM events" + of + "3",
		"the first event removed":    "DELETE FROM events" + of + "1",
		"the last event removed":     "DELETE FROM events" + of + "(SELECT max(seq) FROM events WHERE n = ?1)",
		"all events removed":         "DELETE FROM events WHERE n = ?1",
		"two events swapped":         "UPDATE events SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END WHERE n = ?1 AND seq IN (3, 4)",
		"a key altered":              "UPDATE events SET key = 'other#1'" + of + "3",
		"a body that is no document": "UPDATE events SET body = x'ff'" + of + "3",
	} {
		t.Run(name, func(t *testing.T) {
			e := openPort(t, newState(t), &begun{})
			var faults []string
			e.Fault = func(id, _ string, cause error) { faults = append(faults, id+": "+cause.Error()) }
			id, sound := begin(t, e, refundJob(t, lookUp)).RunID, begin(t, e, refundJob(t, lookUp)).RunID
			e.Alter(t, query, local.Number(id))
			if s, ok := e.Run(mine, id); !ok || s.State != patterns.Over || s.Ended.Result.StopReason != "record_broken" {
				t.Errorf("shown (%t) as %s, %s; want record_broken", ok, s.State, s.Ended.Result.StopReason)
			}
			before, _ := e.Events(mine, id)
			if _, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"actions": []any{refund}}}); !errors.Is(err, patterns.ErrNotTaken) {
				t.Errorf("Continue: %v, want ErrNotTaken", err)
			}
			if s, err := e.Cancel(t.Context(), mine, id, patterns.Note{By: mine}); !errors.Is(err, patterns.ErrOver) || s.Ended.Result.StopReason != "record_broken" {
				t.Errorf("Cancel: %v, %s; want ErrOver", err, s.Ended.Result.StopReason)
			}
			if _, err := e.Operator().Resume(t.Context(), id); !errors.Is(err, patterns.ErrOver) {
				t.Errorf("Resume: %v, want ErrOver", err)
			}
			if after, _ := e.Events(mine, id); len(after) != len(before) {
				t.Errorf("%d events were appended", len(after)-len(before))
			}
			if len(faults) == 0 || !strings.Contains(faults[0], id) {
				t.Errorf("the log has %q, want the broken run", faults)
			}
			page, err := e.List(patterns.Filter{Principal: mine, StopReason: "record_broken"})
			if err != nil || len(page.Rows) != 1 || page.Rows[0].RunID != id || !strings.Contains(page.Rows[0].Summary, "damaged") {
				t.Errorf("listed: %+v, %v", page, err)
			}
			if ended := send(t, e, sound, object{"actions": []any{final}}); !ended.Result.OK() {
				t.Errorf("the other run ended with %s", ended.Result.StopReason)
			}
		})
	}
}

// A page of the file that is damaged may cost the runs on it, and nobody else; none is carried on over a part of its
// record.
func TestDamagedPagesCostTheirRunsAlone(t *testing.T) {
	t.Parallel()
	path := newState(t)
	e := openPort(t, path, &begun{})
	var ids []string
	for range 24 {
		ids = append(ids, begin(t, e, refundJob(t, lookUp)).RunID)
	}
	e.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const pageSize = 4096
	pages, broken, unreadable := len(whole)/pageSize, 0, 0
	for page := 1; page < pages; page += max(1, pages/12) {
		hurt := newState(t)
		b := slices.Clone(whole)
		clear(b[page*pageSize+3 : page*pageSize+5]) // a leaf without cells reads as empty, without an error
		if err := os.WriteFile(hurt, b, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := local.Open(local.Options{Path: hurt, Source: e.begun})
		if err != nil {
			if !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("page %d: %v", page, err)
			}
			unreadable++
			continue
		}
		e.Go()
		for _, id := range ids {
			ended, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"actions": []any{final}}})
			switch {
			case err == nil && ended.Result.OK():
				if h := len(ended.Result.History); h != 2 {
					t.Errorf("page %d: run %s ended with %d rows, want 2", page, id, h)
				}
			case errors.Is(err, patterns.ErrNotTaken), errors.Is(err, patterns.ErrNoRun), errors.Is(err, patterns.ErrJournal), err == nil && ended.Waiting != nil && ended.Waiting.Cause == "journal":
				broken++
			default:
				t.Errorf("page %d: %+v, %v", page, ended, err)
			}
		}
		e.Close()
	}
	t.Logf("%d pages, %d unreadable files, %d broken runs", pages, unreadable, broken)
	if broken == 0 || broken >= 12*len(ids) {
		t.Errorf("%d runs were broken of %d at each of 12 pages: the test shows nothing", broken, len(ids))
	}
}

func TestNothingIsBegunOnAFullDisk(t *testing.T) {
	e := openPort(t, newState(t), &begun{})
	w := newWorld(t, catalog.Write, nil)
	e.Full(t, true)
	for range 3 {
		if ended, err := e.Start(t.Context(), w.job(t, 1)); !errors.Is(err, patterns.ErrJournal) || ended.RunID != "" {
			t.Errorf("%+v, %v; want %v", ended, err, patterns.ErrJournal)
		}
	}
	e.Full(t, false)
	w.did(t, 0)
	if ids := e.RunIDs(mine); len(ids) != 0 {
		t.Errorf("runs %q, want none", ids)
	}
	succeed(t, e, w.job(t, 1))
	w.did(t, 1)
}

// A waiting run whose caller comes while the disk is full waits on, and is continued when there is space.
func TestContinueOnAFullDisk(t *testing.T) {
	e := openPort(t, newState(t), &begun{})
	id := begin(t, e, refundJob(t, lookUp)).RunID
	e.Full(t, true)
	given := patterns.Continuation{Principal: mine, RunID: id, Turn: 2, Given: object{"actions": []any{final}}}
	if ended, err := e.Continue(t.Context(), given); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("%+v, %v; want %v", ended, err, patterns.ErrJournal)
	}
	e.until(t, id, patterns.Parked)
	e.Full(t, false)
	if ended, err := e.Continue(t.Context(), given); err != nil || !ended.Result.OK() {
		t.Errorf("with space: %+v, %v", ended, err)
	}
	e.intact(t, id)
}

// Tools and models that break down break nothing else.
func TestPortContainsPanics(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		for effect, want := range map[catalog.Effect]string{catalog.Read: "failed", catalog.Write: "in_doubt"} {
			w := newWorld(t, effect, func(context.Context, int) error { panic("broken tool") })
			ended, err := e.Start(t.Context(), w.job(t, 2))
			if err != nil || ended.Result.OK() || len(ended.Result.Ledger) != 1 || string(ended.Result.Ledger[0].Status) != want {
				t.Errorf("a %s that panics: %v, %s", effect, err, asJSON(t, ended.Result))
			}
			e.intact(t, ended.RunID)
		}
		job := patterns.Job{Spec: spec(t, "task_decomposition", 0), Task: patterns.Task{Goal: "x"}, Model: panicking{}, Caller: patterns.Caller{Principal: mine}}
		ended, err := e.Start(t.Context(), job)
		if err != nil || !strings.HasPrefix(ended.Result.StopReason, "llm_error") {
			t.Errorf("a model that panics: %v, %s", err, ended.Result.StopReason)
		}
		succeed(t, e, quick(t, 1))
	})
}

type panicking struct{}

func (panicking) Name() string { return "panicking" }
func (panicking) Ask(context.Context, patterns.Question) (patterns.Answer, error) {
	panic("broken model")
}

// TestEffectWithoutAnAct: an effect that does not say what it does is a fault of the pattern code.
func TestEffectWithoutAnAct(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t, func(e *local.Engine) {
			e.Runs(func(run patterns.Run, _ patterns.Spec, _ patterns.Task) patterns.Result {
				run.Do(patterns.Effect{Name: "nothing"})
				return patterns.Result{StopReason: patterns.Success}
			})
		})
		ended, err := e.Start(t.Context(), newWorld(t, catalog.Read, nil).job(t, 1))
		if _, is := errors.AsType[*patterns.Fault](err); !is || ended.Result.OK() {
			t.Errorf("ended with %s, %v; want a fault", ended.Result.StopReason, err)
		}
	})
}
