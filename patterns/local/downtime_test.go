package local_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// interrupted begins a run whose call number at never answers, and leaves it when it is there.
func interrupted(t *testing.T, path string, source *begun, job func(at func(context.Context, int) error) patterns.Job, at int) string {
	t.Helper()
	e := openPort(t, path, source)
	entered := make(chan struct{})
	id := e.beginning(t, job(func(ctx context.Context, n int) error {
		if n == at {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}))
	<-entered
	e.Close()
	return id
}

// Reads that were interrupted are made again as the same act, and the time in which nobody had the run is not its own:
// neither its seconds nor the time and tries of its tasks are used up by it.
func TestDowntimeCostsNothing(t *testing.T) {
	path, source := newState(t), &begun{}
	var first *world
	job := func(w *world) patterns.Job {
		s := deafSpec(t, w.tool)
		s.Budget.MaxTime, s.Budget.TaskTimeout, s.Budget.MaxDispatches = time.Minute, 10*time.Second, 1
		return patterns.Job{Spec: s, Caller: patterns.Caller{Principal: mine}, Model: &script{}, Task: patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", object{"tasks": []any{
			object{"id": "a", "worker": "count", "args": object{"n": 1.0}},
		}})}}
	}
	id := interrupted(t, path, source, func(at func(context.Context, int) error) patterns.Job {
		first = newWorld(t, catalog.Read, at)
		return job(first)
	}, 1)
	second := newWorld(t, catalog.Read, nil)
	source.jobs[0] = job(second)
	source.jobs[0].Arguments = object{"job": 0.0}
	e := opened(t, path, source)
	e.Ahead(time.Hour)
	e.Go()
	p := port{e, source}
	s := p.until(t, id, patterns.Over)
	r := s.Ended.Result
	if got := rows(t, r); !r.OK() || fmt.Sprint(got) != "[a done 1 ]" {
		t.Errorf("ended with %s, tasks %q; want it done in one attempt: %s", r.StopReason, got, asJSON(t, r.Budget))
	}
	if len(first.order) != 1 || !slices.Equal(first.order, second.order) {
		t.Errorf("keys %q, then %q; want the same", first.order, second.order)
	}
	if used := r.Budget["max_seconds"].Used; used > 30 || s.Ended.Waited < time.Hour {
		t.Errorf("%v seconds used and %v waited, want the hour waited", used, s.Ended.Waited)
	}
	p.intact(t, id)
	again, _ := p.Run(mine, id)
	if asJSON(t, again.Ended) != asJSON(t, s.Ended) {
		t.Errorf("shown again as %s\nwant %s", asJSON(t, again.Ended), asJSON(t, s.Ended))
	}
}

// An act that ends the process each time is tried no more after a while.
func TestCrashesInARowEnd(t *testing.T) {
	t.Parallel()
	path, source := newState(t), &begun{}
	var w *world
	id := interrupted(t, path, source, func(at func(context.Context, int) error) patterns.Job {
		w = newWorld(t, catalog.Read, at)
		return w.job(t, 1)
	}, 1)
	restarts := 0
	for ; restarts < 12; restarts++ {
		entered := make(chan struct{}, 1)
		w.at = func(ctx context.Context, _ int) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}
		e := openPort(t, path, source)
		over := make(chan patterns.Snapshot, 1)
		go func() {
			s, _ := e.Wait(t.Context(), mine, id, patterns.Mark{State: patterns.Running})
			over <- s
		}()
		select {
		case <-entered:
			path = crashed(t, e)
			<-over
			continue
		case s := <-over:
			if s.State != patterns.Over || s.Ended.Result.OK() {
				t.Errorf("it came to %s, %s", s.State, s.Ended.Result.StopReason)
			}
		}
		break
	}
	if restarts != 8 || w.calls[w.order[0]] != 9 { // the first process left it in order
		t.Errorf("after %d crashes and %d calls it ended, want 8 crashes of one act: %v", restarts, len(w.order), w.calls)
	}
}

// A pause ends no process: however often the run is interrupted in it, it goes on with what it waited for.
func TestCrashesInAPause(t *testing.T) {
	t.Parallel()
	path, source, s := newState(t), &begun{}, &service{turns: []func(context.Context, catalog.Call) (any, error){faults(catalog.NoAnswer, false, errActed)}}
	job := s.ownJob(t, gateway.Call, looksUp(0))
	own, _ := job.Spec.Catalog.Tool("own")
	found, _ := job.Spec.Catalog.Tool("found")
	asked := 0
	found.Do = func(ctx context.Context, c catalog.Call) (any, error) {
		if asked++; asked == 1 {
			return nil, &catalog.Fault{Kind: catalog.NotSent, After: 30 * time.Second, Cause: errGone}
		}
		return object{"found": true}, nil
	}
	var err error
	if job.Spec.Catalog, err = catalog.New(own, found); err != nil {
		t.Fatal(err)
	}
	e := openPort(t, path, source)
	id := e.beginning(t, job)
	e.recorded(t, id, 1, func(ev patterns.Event) bool { return ev.Kind == patterns.IntentEvent && ev.Key == "doubt#1/sleep#1" })
	for n := range 10 {
		path = crashed(t, e)
		e = openPort(t, path, source)
		e.recorded(t, id, n+1, func(ev patterns.Event) bool {
			body, _ := patterns.DecodeBody(ev)
			note, ok := body.(*patterns.NoteBody)
			return ok && note.What == "takeover"
		})
	}
	path = crashed(t, e)
	last := opened(t, path, source)
	last.Ahead(time.Minute)
	last.Go()
	if r := (port{last, source}).until(t, id, patterns.Over).Ended.Result; !r.OK() || s.calls() != 1 || asked != 2 {
		t.Errorf("%s after %d calls and %d look-ups, want success after one and two", r.StopReason, s.calls(), asked)
	}
}

// recorded waits until so many events of a run are as wanted.
func (p port) recorded(t testing.TB, id string, want int, is func(patterns.Event) bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for n := 0; ; n = 0 {
		events, err := p.Events(mine, id)
		for _, e := range events {
			if is(e) {
				n++
			}
		}
		if err == nil && n >= want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d of %d events are recorded (%v)", n, want, err)
		}
	}
}

// crashed ends an engine and returns a state file in which it died without a word, at this moment.
func crashed(t testing.TB, e port) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "state.db")
	if err := e.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	e.Close()
	return copied
}

// A clock that was set back stands still until the world has caught up; limits of calls hold all the same.
func TestClockSetBack(t *testing.T) {
	path, source := newState(t), &begun{}
	e := opened(t, path, source)
	e.Ahead(time.Hour)
	e.Go()
	begin(t, port{e, source}, refundJob(t, lookUp)) // remembers the time
	e.Close()
	p := openPort(t, path, source)
	g := newGate(t, catalog.Read)
	s := deafSpec(t, g.tool)
	s.Budget.TaskTimeout, s.Budget.MaxRetriesPerTask = 20*time.Millisecond, 0
	job := patterns.Job{Spec: s, Caller: patterns.Caller{Principal: mine}, Model: &script{}, Task: patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", object{"tasks": []any{
		object{"id": "a", "worker": "count", "args": object{"n": 1.0}},
	}})}}
	began := time.Now()
	ended, err := p.Start(t.Context(), job)
	if err != nil || ended.Began.Before(began.Add(50*time.Minute)) {
		t.Fatalf("%v; it began at %v, want the remembered time", err, ended.Began)
	}
	if got := rows(t, ended.Result); fmt.Sprint(got) != "[a failed 1 task_timeout]" {
		t.Errorf("tasks %q, want the limit to hold", got)
	}
	var want []string // all begun at one time
	for range 7 {
		want = append(want, succeed(t, p, quick(t, 1)).RunID)
	}
	for _, whose := range []string{mine, ""} {
		var got []string
		for f := (patterns.Filter{Principal: whose, Limit: 2, Pattern: "steps"}); ; {
			page, err := p.List(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page.Rows {
				got = append(got, row.RunID)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
	}
}

// Runs leave nothing behind in the process: no goroutine, no memory of them.
func TestPortLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		for range 3 {
			succeed(t, e, quick(t, 2))
		}
		if e.File() {
			for range 200 {
				succeed(t, e, quick(t, 1))
			}
			if lives, outcomes, stuck := e.Held(); lives+outcomes+stuck > 0 {
				t.Errorf("%d lives, %d outcomes and %d stuck runs are held", lives, outcomes, stuck)
			}
		}
		if n := e.Waiters(); n != 0 {
			t.Errorf("%d runs are waited for", n)
		}
	})
}
