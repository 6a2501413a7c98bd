package local_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A window of more calls than are looked at cannot be told, and what reads it blocks.
func TestPortCrowdedWindowBlocks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		if os.Getenv("CI") == "" && !strings.HasSuffix(t.Name(), "/memory") {
			t.Skip("10,000 recorded calls take seconds: over a state file under CI=true only")
		}
		e, tool := open(t), counting(t, catalog.Read, nil)
		for range gateway.MaxWindow / 1000 {
			succeed(t, e, stepsOf(t, tool, 1000))
		}
		// Its own call is the one too many.
		ended, err := e.Start(t.Context(), windowed(t, tool, 2, dayCap{most: 1 << 30}))
		if err != nil || ended.Result.StopReason != "policy_block:policy_error:day_cap" || len(ended.Result.Ledger) != 1 {
			t.Errorf("%v, %s after %d calls; want the second blocked by what cannot be told", err, ended.Result.StopReason, len(ended.Result.Ledger))
		}
	})
}

// clocked is a policy over a window that begins where the day does, which keeps the times that it was asked for.
type clocked struct {
	dayCap
	mu    *sync.Mutex
	times *[]time.Time
}

func (c clocked) Windows(tool string) []gateway.Window {
	list := c.dayCap.Windows(tool)
	for i := range list {
		list[i].Since = func(now time.Time) time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			*c.times = append(*c.times, now)
			return now.Truncate(24 * time.Hour)
		}
	}
	return list
}

// A window ends at the time of the intent, as it is recorded: what is made after midnight counts for the new day, though an hour
// before it was too much.
func TestWindowEndsAtTheIntent(t *testing.T) {
	t.Parallel()
	path, tool := newState(t), counting(t, catalog.Write, nil)
	policy := clocked{dayCap{most: 1}, &sync.Mutex{}, &[]time.Time{}}
	today := time.Now().Truncate(24 * time.Hour)
	for i, tt := range []struct {
		ahead time.Duration // of the day's beginning
		ok    bool
	}{{24 * time.Hour, true}, {48*time.Hour - time.Minute, false}, {48 * time.Hour, true}, {71 * time.Hour, false}} {
		e := openPort(t, path, &begun{}, func(e *local.Engine) { e.Ahead(time.Until(today.Add(tt.ahead))) })
		ended, err := e.Start(t.Context(), windowed(t, tool, 1, policy))
		if err != nil || ended.Result.OK() != tt.ok {
			t.Errorf("run %d, %v after the first midnight: %v, %s; want it let through %t", i, tt.ahead, err, ended.Result.StopReason, tt.ok)
		}
		for _, event := range e.intact(t, ended.RunID) {
			same := func(at time.Time) bool { return at.UnixMicro() == event.At }
			if event.Kind == patterns.IntentEvent && strings.HasPrefix(event.Key, "count#") && !slices.ContainsFunc(*policy.times, same) {
				t.Errorf("the intent of %v was not judged by a window that ends then", event.At)
			}
		}
		e.Close()
	}
}

// What records hide is absent in windows, and never another value.
func TestWindowsHideWhatRecordsHide(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pointer, want string }{
		"an argument": {"/args/n", "<nil> true map[id:1]"}, "an observation": {"/result/id", "1 true map[]"}, "nothing": {"/args/card", "1 true map[id:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newState(t)
			e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}"), Redact: []string{tt.pointer}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			e.Go()
			p, w := port{e, &begun{}}, newWatcher()
			job := (&service{}).ownJob(t, gateway.Call, func(own *catalog.Tool) { own.Effect = catalog.Write })
			if ended, err := p.Start(t.Context(), job); err != nil || !ended.Result.OK() {
				t.Fatalf("%v, %s", err, ended.Result.StopReason)
			}
			for _, entry := range w.sees(t, p) {
				if got := fmt.Sprint(entry.Args["n"], entry.Counts(), entry.Observation); got != tt.want {
					t.Errorf("a later run sees %s, want %s", got, tt.want)
				}
			}
		})
	}
}

// A person's word about a call in doubt is told by windows: it counts while nobody knows, and then as they said.
func TestWindowsTellWhatPeopleSettled(t *testing.T) {
	t.Parallel()
	for name, happened := range map[string]bool{"it happened": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			e, w, s := openers["file"](t), newWatcher(), &service{turns: []func(context.Context, catalog.Call) (any, error){faults(catalog.NoAnswer, true, errGone)}}
			job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) { own.Effect = catalog.Write })
			job.Spec.Budget.MaxTime, job.Spec.Approver = time.Hour, patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
			id := e.beginning(t, job)
			e.until(t, id, patterns.Parked)
			if rows := told(w.sees(t, e)); !slices.Equal(rows, []string{"own write 1 in_doubt counts true"}) {
				t.Errorf("while nobody knows a later run sees %q", rows)
			}
			if err := e.Operator().Settle(id, "own#1", local.Settlement{By: patterns.Note{By: mine}, Happened: happened}); err != nil {
				t.Fatal(err)
			}
			r := e.until(t, id, patterns.Over).Ended.Result
			want := append(told(r.Ledger), "own write 1 done counts true") // of the run that looked
			if rows := told(w.sees(t, e)); !slices.Equal(rows, want) || len(r.Ledger) != 1 {
				t.Errorf("then a later run sees %q, want %q", rows, want)
			}
		})
	}
}

// What pruned runs spent is not given back: a window that begins before the end of one cannot be told.
func TestPrunedRunsGiveNothingBack(t *testing.T) {
	t.Parallel()
	e := openers["file"](t)
	job := windowed(t, counting(t, catalog.Write, nil), 2, dayCap{most: 2})
	if ended, err := e.Start(t.Context(), job); err != nil || !ended.Result.OK() {
		t.Fatalf("%v, %s; want both calls made", err, ended.Result.StopReason)
	}
	list, err := e.Operator().Prune(time.Now().Add(time.Hour), false)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs were pruned (%v), want the one", len(list), err)
	}
	if ended, err := e.Start(t.Context(), job); err != nil || ended.Result.StopReason != "policy_block:policy_error:day_cap" {
		t.Errorf("%v, %s; want it blocked, as nobody knows what was spent", err, ended.Result.StopReason)
	}
	e.Ahead(25 * time.Hour)
	if ended, err := e.Start(t.Context(), job); err != nil || !ended.Result.OK() {
		t.Errorf("a day later: %v, %s; want both calls made", err, ended.Result.StopReason)
	}
}
