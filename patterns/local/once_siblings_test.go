package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// Two tasks of one run that want the same act at once: it is made once, and the other has its outcome.
func TestPortOnceOfTwoTasks(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		for name, tt := range map[string]struct {
			first    func(context.Context, catalog.Call) (any, error)
			args     object // of the second
			parallel int
			calls    int
			second   string // its task's reason
		}{
			"done":                       {acts, object{"n": 1.0}, 2, 1, ""},
			"done, one after the other":  {acts, object{"n": 1.0}, 1, 1, ""},
			"failed":                     {faults(catalog.Declined, false, errGone), object{"n": 1.0}, 2, 2, ""},
			"in doubt":                   {faults(catalog.NoAnswer, false, errActed), object{"n": 1.0}, 2, 1, "policy_block:once_reused"},
			"in doubt, one by one":       {faults(catalog.NoAnswer, false, errActed), object{"n": 1.0}, 1, 1, "policy_block:once_reused"},
			"with other arguments, done": {acts, object{"n": 2.0}, 2, 1, "policy_block:once_reused"},
		} {
			t.Run(name, func(t *testing.T) {
				e, s := open(t), &service{turns: []func(context.Context, catalog.Call) (any, error){tt.first}}
				job := s.ownJob(t, gateway.Orchestrator, func(own *catalog.Tool) {
					looksUp(0)(own)
					onceOnly(own)
					own.Idempotent, own.Retry = false, catalog.Retry{}
				})
				job.Spec.Budget.MaxParallel, job.Spec.Budget.TaskTimeout = tt.parallel, time.Minute
				job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": []any{
					object{"id": "a", "worker": "own", "args": object{"n": 1.0}, "critical": false},
					object{"id": "b", "worker": "own", "args": tt.args, "critical": false}}})
				ended, err := e.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				r := e.until(t, ended.RunID, patterns.Over).Ended.Result
				if row := r.History[1].(patterns.TaskRow); row.StopReason != tt.second || s.calls() != tt.calls {
					t.Errorf("the second ended with %q after %d calls, want %q after %d", row.StopReason, s.calls(), tt.second, tt.calls)
				}
				e.intact(t, ended.RunID)
			})
		}
	})
}
