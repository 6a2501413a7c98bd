package local_test

import (
	"context"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// A plan's act with a business key whose call was cut is made again by a later run of the plan, as the same act, and by no other
// run.
func TestPortOnceOverRunsOfAPlan(t *testing.T) {
	declined := faults(catalog.Declined, false, errGone)
	for name, tt := range map[string]struct {
		cuts   int // runs of the plan that are taken back while the act is under way
		last   func(context.Context, catalog.Call) (any, error)
		reason string // of the run after these
		other  string // of a run of another plan, then
	}{
		"once":               {1, acts, patterns.Success, patterns.Success},
		"twice":              {2, acts, patterns.Success, patterns.Success},
		"then it is refused": {1, declined, "executor_error:own", reused},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				e, s := open(t), &service{}
				for range tt.cuts {
					s.turns = append(s.turns, func(ctx context.Context, _ catalog.Call) (any, error) {
						go takeBack(e)
						<-ctx.Done()
						return nil, ctx.Err()
					})
				}
				s.turns = append(s.turns, tt.last)
				job := s.ownJob(t, gateway.Planning, func(own *catalog.Tool) { onceOnly(own); own.Retry.Max = 0 })
				run := func(job patterns.Job, plan string) patterns.Result {
					if plan != "" {
						job.Task = executing(plan, nil)
					}
					ended, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					e.until(t, ended.RunID, patterns.Over)
					e.intact(t, ended.RunID)
					return ended.Result
				}
				plan := ""
				for n := range tt.cuts {
					r := run(job, plan)
					if r.StopReason != "cancelled" || s.calls() != n+1 {
						t.Fatalf("run %d ended with %s after %d calls, want cancelled after %d", n+1, endOf(r), s.calls(), n+1)
					}
					plan = r.Planned.PlanID
					if other := run(job, ""); endOf(other) != reused || s.calls() != n+1 {
						t.Fatalf("then another plan's ended with %s after %d calls, want %s", endOf(other), s.calls(), reused)
					}
				}
				r := run(job, plan)
				if endOf(r) != tt.reason || s.calls() != tt.cuts+1 {
					t.Errorf("the last ended with %s after %d calls, want %s after %d", endOf(r), s.calls(), tt.reason, tt.cuts+1)
				}
				for _, key := range s.keys {
					if key != s.keys[0] {
						t.Errorf("the calls had the keys %q, want one", s.keys)
					}
				}
				if other := run(job, ""); endOf(other) != tt.other || s.calls() != tt.cuts+1 {
					t.Errorf("then another plan's ended with %s after %d calls, want %s after %d", endOf(other), s.calls(), tt.other, tt.cuts+1)
				}
			})
		})
	}
}

// takeBack cancels all runs that run.
func takeBack(e port) {
	for _, id := range e.RunIDs(mine) {
		if s, ok := e.Run(mine, id); ok && s.State == patterns.Running {
			_, _ = e.Cancel(context.Background(), mine, id, patterns.Note{By: mine})
		}
	}
}

const reused = "policy_block:once_reused"
