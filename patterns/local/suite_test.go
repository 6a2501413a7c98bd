package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// What follows holds for runs in memory and in a state file.

func TestPortShowsARunFromItsStartToItsEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, g := open(t), newGate(t, catalog.Read)
		id := e.beginning(t, g.job(t, 2))
		<-g.entered
		s, ok := e.Run(mine, id)
		if !ok || s.State != patterns.Running || s.Current.Phase != patterns.PhaseExecute || s.Current.Total != 2 || s.Began.IsZero() {
			t.Errorf("meanwhile it is shown (%t) as %+v", ok, s)
		}
		if n, ok := e.Newest(mine); n != id || !ok {
			t.Errorf("Newest gave %s, %t; want the running one", n, ok)
		}
		close(g.open)
		s = e.until(t, id, patterns.Over)
		r := s.Ended
		if !r.Result.OK() || r.Calls != 2 || r.Phase != patterns.PhaseExecute || r.RunID != id || r.Began.IsZero() || r.Ended.Before(r.Began) || r.Waiting != nil || r.Running != nil {
			t.Errorf("ended as %+v", r)
		}
		events := e.intact(t, id)
		if s.Head.String() != patterns.HeadOf(events).String() || events[0].Kind != patterns.StartEvent || events[len(events)-1].Kind != patterns.EndEvent {
			t.Errorf("head %v, record of %d events from %s to %s", s.Head, len(events), events[0].Kind, events[len(events)-1].Kind)
		}
	})
}

func TestPortHidesRunsFromOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := begin(t, e, refundJob(t, lookUp)).RunID
		over, err := e.Start(t.Context(), quick(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, principal := range []string{"local:2", "", "local:1 ", "LOCAL:1"} {
			for _, id := range []string{id, over.RunID, "run_0000000000000000", "", "run_", "run_zzzzzzzzzzzzzzzz", strings.ToUpper(id), strings.Repeat("run_", 1<<18)} {
				if s, ok := e.Run(principal, id); ok {
					t.Errorf("%q sees %s: %+v", principal, id, s)
				}
				if s, ok := e.Wait(t.Context(), principal, id, patterns.Mark{State: patterns.Running}); ok {
					t.Errorf("%q waits for %s: %+v", principal, id, s)
				}
				if events, err := e.Events(principal, id); !errors.Is(err, patterns.ErrNoRun) || events != nil {
					t.Errorf("Events of %q gave %v, want ErrNoRun", principal, err)
				}
				if _, err := e.Cancel(t.Context(), principal, id, patterns.Note{By: principal}); !errors.Is(err, patterns.ErrNoRun) {
					t.Errorf("Cancel of %q gave %v, want ErrNoRun", principal, err)
				}
				if _, err := e.Continue(t.Context(), patterns.Continuation{Principal: principal, RunID: id, Given: object{"actions": []any{final}}}); !errors.Is(err, patterns.ErrNoRun) {
					t.Errorf("Continue of %q gave %v, want ErrNoRun", principal, err)
				}
				e.Delivered(principal, id)
			}
			if _, ok := e.Newest(principal); ok || len(e.RunIDs(principal)) != 0 {
				t.Errorf("%q has runs", principal)
			}
			if page, err := e.List(patterns.Filter{Principal: principal}); principal != "" && (err != nil || len(page.Rows) != 0) {
				t.Errorf("List of %q gave %+v, %v", principal, page, err)
			}
		}
		if s := e.until(t, id, patterns.Parked); s.Ended.Waiting.Turn != 2 {
			t.Errorf("it was changed: %+v", s)
		}
	})
}

func TestPortJoinsEqualCalls(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, g := open(t), newGate(t, catalog.Read)
		equal := func(key, what string) patterns.Job {
			job := g.job(t, 1)
			job.ByKey, job.Equal = key, what
			return job
		}
		id := e.beginning(t, equal("", "a"))
		<-g.entered
		id2 := e.beginning(t, equal("", "b"))
		other := equal("", "a")
		other.Principal = "local:2"
		if ended, err := e.Start(t.Context(), func() patterns.Job { other.Wait = -1; return other }()); err != nil || ended.Joined || ended.RunID == id || id2 == id {
			t.Errorf("another's call joined: %+v, %v", ended, err)
		}
		job := equal("", "a")
		job.Wait = -1
		if ended, err := e.Start(t.Context(), job); err != nil || !ended.Joined || ended.RunID != id || ended.Running == nil {
			t.Errorf("an equal call without patience: %+v, %v; want it joined and running", ended, err)
		}
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if ended, err := e.Start(ctx, equal("", "a")); err != nil || !ended.Joined || ended.Running == nil {
			t.Errorf("an equal call that goes: %+v, %v; want the run to go on", ended, err)
		}
		close(g.open)
		ended, err := e.Start(t.Context(), equal("", "a"))
		if err != nil || !ended.Joined || ended.RunID != id || !ended.Result.OK() {
			t.Errorf("an equal call: %+v, %v; want the same result", ended, err)
		}
		e.Delivered("local:2", id) // not theirs
		if ended, _ := e.Start(t.Context(), equal("", "a")); ended.RunID != id {
			t.Errorf("somebody else's word had the result delivered")
		}
		e.Delivered(mine, id)
		if ended, _ := e.Start(t.Context(), equal("", "a")); ended.Joined || ended.RunID == id {
			t.Errorf("after delivery it joined %+v", ended)
		}
	})
}

func TestPortJoinsByKey(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		long := strings.Repeat("k", 1<<20)
		keyed := func(key, equal string) patterns.Job {
			job := quick(t, 1)
			job.ByKey, job.Equal = key, equal
			return job
		}
		for _, key := range []string{"k", long, long + "2", "k\x00key", "K"} {
			first, err := e.Start(t.Context(), keyed(key, "a"))
			if err != nil || first.Joined {
				t.Fatalf("key of %d bytes: %+v, %v", len(key), first, err)
			}
			e.Delivered(mine, first.RunID)
			again, err := e.Start(t.Context(), keyed(key, "a"))
			if err != nil || !again.Joined || again.RunID != first.RunID || !again.Result.OK() {
				t.Errorf("the same key: %+v, %v; want the same run, delivered or not", again, err)
			}
			if _, err := e.Start(t.Context(), keyed(key, "b")); !errors.Is(err, patterns.ErrReused) {
				t.Errorf("other arguments: %v, want ErrReused", err)
			}
			renamed := keyed(key, "b")
			renamed.Spec.Name = "another"
			if ended, err := e.Start(t.Context(), renamed); err != nil || ended.Joined {
				t.Errorf("another tool: %+v, %v; want a run of its own", ended, err)
			}
			foreign := keyed(key, "b")
			foreign.Principal = "local:2"
			if ended, err := e.Start(t.Context(), foreign); err != nil || ended.Joined {
				t.Errorf("another principal: %+v, %v; want a run of its own", ended, err)
			}
		}
		if n := len(e.RunIDs(mine)); n != 10 {
			t.Errorf("%d runs, want 2 of each of 5 keys", n)
		}
	})
}

// However many equal calls come at once, one run is begun.
func TestPortBeginsOneOfManyEqualCalls(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		for _, key := range []string{"", "key"} {
			job := quick(t, 1)
			job.Equal, job.ByKey, job.Arguments = "same"+key, key, object{"job": 0.0}
			e.begun.add(job)
			ids := make([]string, 16)
			var all sync.WaitGroup
			for i := range ids {
				all.Go(func() {
					ended, err := e.Start(context.Background(), job)
					if err != nil || !ended.Result.OK() {
						t.Errorf("%+v, %v", ended, err)
					}
					ids[i] = ended.RunID
				})
			}
			all.Wait()
			if slices.Sort(ids); ids[0] != ids[len(ids)-1] {
				t.Errorf("key %q: several runs: %q", key, slices.Compact(ids))
			}
		}
	})
}

func TestPortJoinsNotForEver(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t, func(e *local.Engine) { e.Join = -1 })
		job := quick(t, 1)
		job.Equal = "a"
		first := succeed(t, e, job)
		if second := succeed(t, e, job); second.RunID == first.RunID || second.Joined {
			t.Errorf("a run whose time to be joined is over was joined: %+v", second)
		}
	})
}

func TestPortWaitsAsLongAsItIsTold(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, g := open(t), newGate(t, catalog.Read)
		job := g.job(t, 1)
		job.Wait = 5 * time.Millisecond
		ended, err := e.Start(t.Context(), job)
		if err != nil || ended.Running == nil || ended.Waiting != nil || ended.RunID == "" {
			t.Fatalf("after its wait: %+v, %v; want it running", ended, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, ok := e.Wait(ctx, mine, ended.RunID, patterns.Mark{State: patterns.Running}); !ok || s.State != patterns.Running {
			t.Errorf("Wait of who is gone: %t, %s", ok, s.State)
		}
		if s, ok := e.Wait(t.Context(), mine, ended.RunID, patterns.Mark{State: patterns.Parked}); !ok || s.State != patterns.Running {
			t.Errorf("Wait of who knows an older state: %t, %s", ok, s.State)
		}
		close(g.open)
		e.until(t, ended.RunID, patterns.Over)
	})
}

// A call that goes takes its run back unless it says that it only goes itself, or the run has begun to write.
func TestPortCallsGo(t *testing.T) {
	for name, tt := range map[string]struct {
		effect catalog.Effect
		cause  error
		goesOn bool
	}{
		"a read, taken back":  {catalog.Read, nil, false},
		"a read, detached":    {catalog.Read, patterns.ErrDetached, true},
		"a write, taken back": {catalog.Write, nil, true},
		"a write, detached":   {catalog.Write, patterns.ErrDetached, true},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				e, g := open(t), newGate(t, tt.effect)
				ctx, leave := context.WithCancelCause(t.Context())
				came := make(chan patterns.Ended, 1)
				go func() {
					ended, err := e.Start(ctx, g.job(t, 2))
					if err != nil {
						t.Error(err)
					}
					came <- ended
				}()
				<-g.entered
				leave(tt.cause)
				ended := <-came
				if goesOn := ended.Running != nil; goesOn != tt.goesOn {
					t.Fatalf("it came to %+v; it goes on: %t, want %t", ended, goesOn, tt.goesOn)
				}
				close(g.open)
				s := e.until(t, ended.RunID, patterns.Over)
				if want := map[bool]string{true: "success", false: "cancelled"}[tt.goesOn]; s.Ended.Result.StopReason != want {
					t.Errorf("it ended with %s, want %s", s.Ended.Result.StopReason, want)
				}
				e.intact(t, ended.RunID)
			})
		})
	}
}

func TestPortContinuesWithoutItsCall(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := begin(t, e, refundJob(t, lookUp)).RunID
		taken := 0
		ended, err := e.Continue(t.Context(), patterns.Continuation{
			Principal: mine, RunID: id, Turn: 2, Given: object{"actions": []any{refund}}, Wait: -1, Taken: func() { taken++ },
		})
		if err != nil || ended.Running == nil || taken != 1 {
			t.Fatalf("%+v, %v, taken %d times", ended, err, taken)
		}
		s := e.until(t, id, patterns.Parked)
		if w := s.Ended.Waiting; w.Turn != 3 || w.Kind != patterns.ForCaller || s.Ended.Calls != 2 {
			t.Errorf("waits for %+v after %d calls, want turn 3 after 2", w, s.Ended.Calls)
		}
		ctx, leave := context.WithCancelCause(t.Context())
		leave(patterns.ErrDetached)
		if ended, err = e.Continue(ctx, patterns.Continuation{Principal: mine, RunID: id, Given: object{"actions": []any{final}}}); err != nil || ended.RunID != id {
			t.Errorf("a call that is gone: %+v, %v", ended, err)
		}
		if s := e.until(t, id, patterns.Over); !s.Ended.Result.OK() {
			t.Errorf("ended with %s", s.Ended.Result.StopReason)
		}
		e.intact(t, id)
	})
}

func TestPortCallersExpire(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t, func(e *local.Engine) { e.CallerWait = 10 * time.Millisecond })
		id := begin(t, e, refundJob(t, lookUp)).RunID
		s := e.until(t, id, patterns.Over)
		if r := s.Ended.Result; r.StopReason != "caller_expired" || len(r.History) != 1 {
			t.Errorf("it ended with %s", asJSON(t, r))
		}
		if _, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"actions": []any{final}}}); !errors.Is(err, patterns.ErrNotTaken) {
			t.Errorf("who comes too late: %v, want ErrNotTaken", err)
		}
		e.intact(t, id)
	})
}
