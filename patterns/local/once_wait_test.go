package local_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Two runs that want the same act at once: it is made once, and both get its outcome; what certainly failed is made by the
// one that waited. With other arguments, or where nobody knows for too long, nothing is sent.
func TestOnceAtOnce(t *testing.T) {
	once := func(own *catalog.Tool) {
		own.Effect, own.Timeout = catalog.Write, time.Minute
		own.Once = func(map[string]any) (string, error) { return "order-7", nil }
	}
	for name, tt := range map[string]struct {
		first  func(context.Context, catalog.Call) (any, error)
		after  time.Duration // that the first takes
		args   object        // of the second
		calls  int
		reused bool
	}{
		"done":            {acts, 5 * time.Second, object{"n": 1.0}, 1, false},
		"failed":          {faults(catalog.Declined, false, errGone), 5 * time.Second, object{"n": 1.0}, 2, false},
		"other arguments": {acts, 5 * time.Second, object{"n": 2.0}, 1, true},
		"in doubt":        {faults(catalog.NoAnswer, false, errActed), 5 * time.Second, object{"n": 1.0}, 1, true},
	} {
		for _, kind := range ownKinds {
			if kind != gateway.Call && name == "other arguments" {
				continue // they are the call's own there
			}
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, e := &service{}, &local.Engine{}
					defer e.Close()
					s.turns = []func(context.Context, catalog.Call) (any, error){func(ctx context.Context, c catalog.Call) (any, error) {
						time.Sleep(tt.after) // on the bubble's clock
						return tt.first(ctx, c)
					}}
					job := s.ownJob(t, kind, once)
					first, second := make(chan patterns.Ended, 1), make(chan patterns.Ended, 1)
					begin := func(job patterns.Job, to chan patterns.Ended) {
						ended, err := e.Start(t.Context(), job)
						if err != nil {
							t.Error(err)
						}
						to <- ended
					}
					go begin(job, first)
					synctest.Wait()
					if kind == gateway.Call {
						job.Task.Args = tt.args
					}
					go begin(job, second)
					a, b := (<-first).Result, (<-second).Result
					if s.calls() != tt.calls || (endOf(b) == patterns.Success) == tt.reused {
						t.Errorf("after %d calls the first ends with %s, the second with %s; want %d calls", s.calls(), endOf(a), endOf(b), tt.calls)
					}
					if reason := endOf(b); tt.reused && reason != "policy_block:once_reused" && reason != "supervisor_block:once_reused" {
						t.Errorf("the second ends with %s, want once_reused", reason)
					}
					if name == "done" && (len(b.Ledger) != 1 || !b.Ledger[0].Duplicate) {
						t.Errorf("the second has the effects %+v, want a duplicate", b.Ledger)
					}
				})
			})
		}
	}
}
