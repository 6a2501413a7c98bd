package local_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// watcher approves all calls, and keeps what the windows held in the newest review.
type watcher struct {
	*sync.Mutex
	seen *gateway.Seen
}

func newWatcher() watcher { return watcher{&sync.Mutex{}, &gateway.Seen{}} }

func (watcher) Windows(tool string) []gateway.Window {
	return []gateway.Window{{Name: "all.day", Tools: []string{"own"}, Since: func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }}}
}

func (w watcher) Review(c gateway.Case) gateway.Verdict {
	w.Lock()
	defer w.Unlock()
	*w.seen = c.Windows["all.day"]
	return gateway.Verdict{Decision: gateway.Approve, Reason: "watched"}
}

// sees are the calls of own that a later run is shown, but for its own one.
func (w watcher) sees(t *testing.T, e port) []gateway.Entry {
	t.Helper()
	s := &service{}
	job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) { own.Effect = catalog.Write })
	job.Spec.Reviewer = w
	ended, err := e.Start(t.Context(), job)
	if err != nil || !ended.Result.OK() {
		t.Fatalf("the run that looks: %v, %s", err, endOf(ended.Result))
	}
	w.Lock()
	defer w.Unlock()
	if w.seen.Err != nil {
		t.Fatalf("the window: %v", w.seen.Err)
	}
	return slices.DeleteFunc(slices.Clone(w.seen.Effects), func(e gateway.Entry) bool { return e.RunID == ended.RunID || e.RunID == "" })
}

// told are calls as a cap counts them.
func told(list []gateway.Entry) (rows []string) {
	for _, e := range list {
		rows = append(rows, fmt.Sprintf("%s %s %v %s counts %t", e.Tool, e.Effect, e.Args["n"], e.Status, e.Counts()))
	}
	return rows
}

// Whatever becomes of a run's call, a window shows it to later runs as the run's own result does: none that may have acted is
// left out or told to have failed, and an act is told once, however often it was tried.
func TestPortWindowsTellWhatResultsTell(t *testing.T) {
	t.Parallel()
	gone, lost, declined := faults(catalog.NotSent, true, errGone), faults(catalog.NoAnswer, true, errGone), faults(catalog.Declined, false, errGone)
	broken := func(context.Context, catalog.Call) (any, error) { return object{"error": "no money"}, nil }
	panics := func(context.Context, catalog.Call) (any, error) { panic("it broke") }
	acted := faults(catalog.NoAnswer, true, errActed)
	type turns = []func(context.Context, catalog.Call) (any, error)
	plain := func(own *catalog.Tool) { own.Effect = catalog.Write }
	again := func(own *catalog.Tool) {
		own.Effect, own.Idempotent, own.Retry = catalog.Write, true, catalog.Retry{Max: 1, Delay: time.Millisecond, MaxDelay: time.Millisecond}
	}
	onBoth(t, func(t *testing.T, open opener) {
		tried := 0
		for name, tt := range map[string]struct {
			turns  turns
			change func(*catalog.Tool)
		}{
			"done": {nil, plain}, "refused": {turns{declined}, plain}, "not sent": {turns{gone, gone, gone}, plain},
			"reports an error": {turns{broken}, plain}, "lost": {turns{lost}, plain}, "hangs": {turns{hangs}, plain}, "panics": {turns{panics}, plain},
			"lost, then done": {turns{lost}, again}, "lost, then refused": {turns{lost, declined}, again}, "lost twice": {turns{lost, lost}, again},
			"not sent, then done": {turns{gone}, again}, "hangs, then refused": {turns{hangs, declined}, again}, "hangs, then done": {turns{hangs}, again},
			"lost, and it acted": {turns{acted}, looksUp(0)}, "lost, and it did not": {turns{lost}, looksUp(0)},
			"lost, did not, and again lost": {turns{lost, lost, declined}, looksUp(0)}, "once": {nil, onceOnly}, "once, lost and refused": {turns{lost, declined}, onceOnly},
			"only reads": {nil, nil}, "reads and fails": {turns{declined}, nil},
		} {
			tried++
			for i, kind := range ownKinds {
				if os.Getenv("CI") == "" && i != tried%len(ownKinds) {
					continue // outside CI a case is tried with one kind, and each kind with some cases
				}
				t.Run(name+"/"+string(kind), func(t *testing.T) {
					t.Parallel()
					e, s, w := open(t), &service{turns: tt.turns}, newWatcher()
					job := s.ownJob(t, kind, tt.change)
					job.Spec.Reviewer = w
					job.Spec.Budget.TaskTimeout, job.Spec.Budget.SubtaskTimeout = 30*time.Millisecond, 30*time.Millisecond
					if kind != gateway.Orchestrator && kind != gateway.Planning {
						job.Spec.Budget.MaxTime = 100 * time.Millisecond
					}
					job.Spec.Approver = patterns.Approver{}
					ended, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					snapshot, _ := e.Run(mine, ended.RunID)
					if snapshot.State != patterns.Over { // a person is to say what became of it
						if _, err := e.Cancel(t.Context(), mine, ended.RunID, patterns.Note{By: mine}); err != nil {
							t.Fatal(err)
						}
						snapshot = e.until(t, ended.RunID, patterns.Over)
					}
					want := told(snapshot.Ended.Result.Ledger)
					if got := told(w.sees(t, e)); !slices.Equal(got, want) {
						t.Errorf("%s: a later run sees %q, want what the result tells, %q", endOf(snapshot.Ended.Result), got, want)
					}
				})
			}
		}
	})
}

var _ gateway.Windowed = watcher{}
