package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

type turns = []func(context.Context, catalog.Call) (any, error)

// beside is a plan of two subtasks beside each other: a's calls end as first says, b's as s does, which found looks up.
func (s *service) beside(t *testing.T, first *service, change func(*catalog.Tool), more func(*patterns.PlanCall)) patterns.Job {
	t.Helper()
	job := s.ownJob(t, gateway.Planning, func(own *catalog.Tool) {
		own.Do = func(ctx context.Context, c catalog.Call) (any, error) {
			if c.Args["n"] == 1.0 {
				return first.do(ctx, c)
			}
			return s.do(ctx, c)
		}
		change(own)
	})
	job.Task.Plan.Concurrent = 2
	more(job.Task.Plan)
	job.Task.Caller = []document.Intent{document.FromText(planText(subtaskText("a", "own", object{"n": 1.0}), subtaskText("b", "own", object{"n": 2.0})), "/plan")}
	return job
}

// later ends a call after a while, on the bubble's clock.
func later(d time.Duration, turn func(context.Context, catalog.Call) (any, error)) func(context.Context, catalog.Call) (any, error) {
	return func(ctx context.Context, c catalog.Call) (any, error) {
		time.Sleep(d)
		return turn(ctx, c)
	}
}

// A subtask in doubt beside one that failed is no reason for another plan, which might have the act again as another one.
func TestNoPlanAnewOverADoubt(t *testing.T) {
	lost := faults(catalog.NoAnswer, true, errGone)
	for name, tt := range map[string]struct {
		change func(*catalog.Tool)
		fail   func(context.Context, catalog.Call) (any, error)
		asked  int // questions to the model
		reason string
	}{
		"its retry is dropped": {func(own *catalog.Tool) {
			own.Effect, own.Idempotent, own.Retry = catalog.Write, true, catalog.Retry{Max: 1, Delay: 5 * time.Second}
		}, lost, 0, "in_doubt:b"},
		"it may not be repeated": {func(own *catalog.Tool) { own.Effect = catalog.Write }, lost, 0, "in_doubt:b"},
		"there is none":          {func(own *catalog.Tool) { own.Effect = catalog.Write }, faults(catalog.Declined, false, errGone), 1, patterns.Success},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &service{turns: turns{later(time.Second, faults(catalog.Declined, false, errGone))}}
				s := &service{turns: turns{later(time.Second/2, tt.fail)}}
				job := s.beside(t, first, tt.change, func(c *patterns.PlanCall) { c.OnFailure = patterns.ReplanOnFailure })
				model := &script{replies: []string{planText(subtaskText("c", "own", object{"n": 3.0}))}}
				job.Spec.LLM, job.Model = true, model
				r := livedOut(t, job, &local.Engine{})
				if r.StopReason != tt.reason || len(model.asked) != tt.asked || s.calls() != 1+tt.asked {
					t.Errorf("ended with %s after %d questions and %d calls, want %s after %d and %d\n%s",
						r.StopReason, len(model.asked), s.calls(), tt.reason, tt.asked, 1+tt.asked, asJSON(t, r))
				}
				if v := r.Planned.View; tt.asked == 0 && (fmt.Sprint(v.Failed) != "[a]" || fmt.Sprint(v.InDoubt) != "[b]") {
					t.Errorf("%v failed and %v are in doubt, want a and b", v.Failed, v.InDoubt)
				}
			})
		})
	}
}

// The same of a doubt that an earlier run left: the model is not asked, and the call is not made again as another one.
func TestNoPlanAnewOverAnEarlierDoubt(t *testing.T) {
	first := &service{turns: turns{faults(catalog.Declined, false, errGone), faults(catalog.Declined, false, errGone)}}
	s := &service{turns: turns{faults(catalog.NoAnswer, false, errActed)}}
	job := s.beside(t, first, func(own *catalog.Tool) { own.Effect = catalog.Write }, func(c *patterns.PlanCall) {})
	e := &local.Engine{}
	defer e.Close()
	r := planned(t, e, job.Spec, job.Task, nil).Result
	model := &script{replies: []string{planText(subtaskText("c", "own", object{"n": 2.0}))}}
	job.Spec.LLM = true
	again := planned(t, e, job.Spec, executing(r.Planned.PlanID, func(c *patterns.PlanCall) { c.OnFailure = patterns.ReplanOnFailure }), model).Result
	if again.StopReason != "in_doubt:b" || len(model.asked) != 0 || s.calls() != 1 || first.calls() != 2 {
		t.Errorf("ended with %s, then %s after %d questions and %d calls; want in_doubt:b after none and one",
			r.StopReason, again.StopReason, len(model.asked), s.calls())
	}
	// Its caller can make a new plan, and is told what is dropped.
	call := patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: r.Planned.PlanID}
	task := patterns.Task{Plan: &call, Caller: []document.Intent{document.FromText(planText(subtaskText("d", "caller", object{})), "/plan")}}
	removed := planned(t, e, job.Spec, task, nil).Result.Planned.View.Plan.Removed
	if len(removed) != 2 || removed[1].ID != "b" || removed[1].Status != patterns.SubtaskInDoubt || removed[1].StopReason != "in_doubt:own" {
		t.Errorf("the subtasks %+v are removed, want b among them, in doubt", removed)
	}
}

// Two writes whose answers were lost, and only one of which may be made again before a budget, the run's time or a kill switch
// ends it: the other is looked up once. It is done where it happened; else its subtask stays pending, for the same act.
func TestDoubtAtTheEndOfAPlansRun(t *testing.T) {
	const pause = 5 * time.Second
	few := func(b *gateway.Budget) { b.MaxToolCalls = 3 }
	short := func(b *gateway.Budget) { b.MaxTime = 3 * time.Second }
	for name, tt := range map[string]struct {
		limit   func(*gateway.Budget)
		cause   error // whether b's lost call acted
		unknown bool  // nobody can be asked
		reason  string
		looks   int
		done    string // what is completed
		pending string
		skips   bool // a's further call fails, and a is skipped
	}{
		"no call is left, and it happened":                       {few, errActed, false, patterns.Success, 1, "a b", "", false},
		"no call is left, and it did not":                        {few, errGone, false, "max_tool_calls", 1, "a", "b", false},
		"no call is left, and nobody knows":                      {few, errActed, true, "max_tool_calls", 0, "a", "b", false},
		"no call is left, and it happened, and the other failed": {few, errActed, false, patterns.SuccessPartial, 2, "b", "", true},
		"no time is left, and it happened":                       {short, errActed, false, "max_seconds", 2, "b", "a", false},
		"no time is left, and it did not":                        {short, errGone, false, "max_seconds", 2, "", "a b", false},
		"no time is left, and nobody knows":                      {short, errActed, true, "max_seconds", 0, "", "a b", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &service{turns: turns{faults(catalog.NoAnswer, true, errGone)}}
				s := &service{turns: turns{later(time.Second, faults(catalog.NoAnswer, true, tt.cause))}}
				job := s.beside(t, first, func(own *catalog.Tool) {
					looksUp(0)(own)
					own.Idempotent, own.Retry = true, catalog.Retry{Max: 1, Delay: pause}
					if tt.unknown {
						own.Reconcile = nil
					}
				}, func(c *patterns.PlanCall) {
					if tt.skips {
						c.OnFailure, first.turns = patterns.SkipOnFailure, append(first.turns, faults(catalog.Declined, false, errGone))
					}
				})
				tt.limit(&job.Spec.Budget)
				r := livedOut(t, job, &local.Engine{})
				var done, pending []string
				for _, row := range r.Planned.View.Plan.Subtasks {
					switch row.Status {
					case patterns.SubtaskCompleted:
						done = append(done, row.ID)
					case patterns.SubtaskPending:
						pending = append(pending, row.ID)
					}
				}
				got, want := []string{r.StopReason, strings.Join(done, " "), strings.Join(pending, " ")}, []string{tt.reason, tt.done, tt.pending}
				if !slices.Equal(got, want) || s.looked() != tt.looks || s.calls() != 1 {
					t.Errorf("ended with %q after %d look-ups and %d calls, want %q after %d and one\n%s", got, s.looked(), s.calls(), want, tt.looks, asJSON(t, r))
				}
				status := gateway.Failed
				switch {
				case tt.unknown:
					status = gateway.InDoubt
				case tt.cause == errActed:
					status = gateway.Finished
				}
				if i := slices.IndexFunc(r.Ledger, func(e gateway.Entry) bool { return e.Key == "b#1/own#1" }); r.Ledger[i].Status != status {
					t.Errorf("b's call is %s, want %s", r.Ledger[i].Status, status)
				}
			})
		})
	}
}

// A subtask whose retry another's failure left no time for, and which turns out to have done nothing, failed: it is not in doubt.
func TestDroppedRetryOfWhatDidNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		lost   error
		found  any // what the look-up makes of it
		reason string
	}{
		"it did not happen":           {errGone, nil, "executor_error:own"},
		"it happened, with an error":  {errActed, object{"error": "no"}, "executor_reported_error:own"},
		"it happened, and is no good": {errActed, "text", "executor_bad_result:own"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &service{turns: turns{later(time.Second, faults(catalog.Declined, false, errGone))}}
				s := &service{turns: turns{faults(catalog.NoAnswer, true, tt.lost)}}
				job := s.beside(t, first, func(own *catalog.Tool) {
					looksUp(0)(own)
					own.Idempotent, own.Retry = true, catalog.Retry{Max: 1, Delay: 5 * time.Second}
					own.Reconcile.Output = func(catalog.Doubt, any) (any, error) { return tt.found, nil }
				}, func(c *patterns.PlanCall) {})
				r := livedOut(t, job, &local.Engine{})
				row := r.Planned.View.Plan.Subtasks[1]
				if r.StopReason != "subtask_failed:a" || row.Status != patterns.SubtaskFailed || row.StopReason != tt.reason || s.calls() != 1 {
					t.Errorf("ended with %s after %d calls, b %s by %s; want subtask_failed:a after one, b failed by %s",
						r.StopReason, s.calls(), row.Status, row.StopReason, tt.reason)
				}
			})
		})
	}
}

// The same where the process ends during that look-up: the next goes on with it, and makes no other call.
func TestDoubtAtTheEndOfAPlansRunInAFile(t *testing.T) {
	t.Parallel()
	lost := faults(catalog.NoAnswer, true, errActed)
	s := &service{turns: turns{lost, lost}} // whichever is made again
	job := s.beside(t, s, func(own *catalog.Tool) {
		looksUp(0)(own)
		own.Idempotent, own.Retry = true, catalog.Retry{Max: 1, Delay: 10 * time.Millisecond}
	}, func(c *patterns.PlanCall) {})
	job.Spec.Budget.MaxToolCalls = 3
	own, _ := job.Spec.Catalog.Tool("own")
	found, _ := job.Spec.Catalog.Tool("found")
	says, asked := found.Do, make(chan struct{}, 9)
	found.Do = func(ctx context.Context, c catalog.Call) (any, error) {
		said, err := says(ctx, c)
		if asked <- struct{}{}; s.looked() == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return said, err
	}
	job.Spec.Catalog = must(catalog.New(own, found))
	path, source := newState(t), &begun{}
	e := openPort(t, path, source)
	id := leftDuring(t, e, job, asked)
	e = openPort(t, path, source)
	r := e.until(t, id, patterns.Over).Ended.Result
	if c := r.Planned.View.Counts; r.StopReason != patterns.Success || c.Completed != 2 || s.calls() != 3 || s.looked() != 2 {
		t.Errorf("ended with %s, %d subtasks completed after %d calls and %d look-ups; want success, both after 3 and 2", r.StopReason, c.Completed, s.calls(), s.looked())
	}
	e.intact(t, id)
}
