package local_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
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

// A task that wants another act under a key that one beside it is using does not wait for that one: it is refused at once, so
// that the third has its place, and not sent where the first then fails.
func TestPortOnceOfOtherArguments(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		third := make(chan struct{})
		e, s := open(t), &service{turns: turns{func(ctx context.Context, _ catalog.Call) (any, error) {
			select {
			case <-third:
				return nil, &catalog.Fault{Kind: catalog.Declined, Cause: errGone}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}}
		job := s.ownJob(t, gateway.Orchestrator, func(own *catalog.Tool) { onceOnly(own) })
		own, _ := job.Spec.Catalog.Tool("own")
		found, _ := job.Spec.Catalog.Tool("found")
		says := found.Do
		found.Do = func(ctx context.Context, c catalog.Call) (any, error) {
			close(third)
			return says(ctx, c)
		}
		names := []string{"own", "found"}
		job.Spec.Catalog, job.Spec.Tools, job.Spec.Policy, job.Spec.Execution = must(catalog.New(own, found)), names, names, names
		job.Spec.Budget.MaxParallel, job.Spec.Budget.TaskTimeout, job.Spec.Budget.MaxRetriesPerTask = 2, 5*time.Second, 0
		task := func(id, worker string, args object) object {
			return object{"id": id, "worker": worker, "args": args, "critical": false}
		}
		job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": []any{
			task("a", "own", object{"n": 1.0}), task("b", "own", object{"n": 2.0}), task("c", "found", object{"key": "k"})}})
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range e.until(t, ended.RunID, patterns.Over).Ended.Result.History {
			got = append(got, row.(patterns.TaskRow).StopReason)
		}
		if want := []string{"worker_error:own", "policy_block:once_reused", ""}; !slices.Equal(got, want) || s.calls() != 1 {
			t.Errorf("the tasks ended with %q after %d calls, want %q after one", got, s.calls(), want)
		}
		e.intact(t, ended.RunID)
	})
}

// The same of a plan's subtasks, which never wait for each other: what is being made is not disturbed.
func TestPortOnceOfSubtasks(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		third := make(chan struct{})
		e, s := open(t), &service{turns: turns{func(ctx context.Context, c catalog.Call) (any, error) {
			select {
			case <-third:
				return acts(ctx, c)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}}
		job := s.ownJob(t, gateway.Planning, func(own *catalog.Tool) {
			onceOnly(own)
			own.Idempotent, own.Retry = false, catalog.Retry{}
		})
		own, _ := job.Spec.Catalog.Tool("own")
		found, _ := job.Spec.Catalog.Tool("found")
		says := found.Do
		found.Do = func(ctx context.Context, c catalog.Call) (any, error) {
			close(third)
			return says(ctx, c)
		}
		names := []string{"own", "found"}
		job.Spec.Catalog, job.Spec.Tools, job.Spec.Policy, job.Spec.Execution = must(catalog.New(own, found)), names, names, names
		job.Spec.Budget.SubtaskTimeout = 5 * time.Second
		job.Task.Plan.Concurrent, job.Task.Plan.OnFailure = 2, patterns.SkipOnFailure
		job.Task.Caller = []document.Intent{document.FromText(planText(
			subtaskText("a", "own", object{"n": 1.0}), subtaskText("b", "own", object{"n": 2.0}), subtaskText("c", "found", object{"key": "k"})), "/plan")}
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		r := e.until(t, ended.RunID, patterns.Over).Ended.Result
		var got []string
		for _, row := range r.Planned.View.Plan.Subtasks {
			got = append(got, string(row.Status)+" "+row.StopReason)
		}
		if want := []string{"completed ", "skipped policy_block:once_reused", "completed "}; !slices.Equal(got, want) || s.calls() != 1 {
			t.Errorf("ended with %s, the subtasks %q after %d calls, want %q after one", r.StopReason, got, s.calls(), want)
		}
		e.intact(t, ended.RunID)
	})
}
