package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/reference"
)

// nothing is the argument of tools that take none.
type nothing struct{}

// deaf is a tool that answers after d whatever its caller wants.
func deaf(t *testing.T, name string, effect catalog.Effect, d time.Duration) catalog.Tool {
	t.Helper()
	tool, err := catalog.Typed(catalog.Tool{Name: name, Description: "Answers late.", Effect: effect},
		func(context.Context, nothing, catalog.Call) (map[string]any, error) {
			time.Sleep(d)
			return map[string]any{"status": "done"}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// deafSpec is an orchestrator over the tools, with time limits of seconds.
func deafSpec(t *testing.T, tools ...catalog.Tool) patterns.Spec {
	t.Helper()
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return patterns.Spec{
		Name: "deaf", Kind: gateway.Orchestrator, Catalog: c, Policy: c.Names(), Execution: c.Names(),
		Budget: gateway.DefaultBudget(gateway.Orchestrator), Aggregate: reference.Operations,
	}
}

// tasksOf is a plan of one task for each worker, all critical or none.
func tasksOf(critical bool, workers ...string) string {
	var list []map[string]any
	for i, w := range workers {
		list = append(list, map[string]any{"id": fmt.Sprintf("t%d", i+1), "worker": w, "args": map[string]any{}, "critical": critical})
	}
	b, _ := json.Marshal(map[string]any{"kind": "plan", "tasks": list})
	return string(b)
}

// rows are a result's tasks as "id status attempts reason".
func rows(t *testing.T, r patterns.Result) []string {
	t.Helper()
	var got []string
	for _, h := range r.History {
		row := h.(patterns.TaskRow)
		got = append(got, fmt.Sprintf("%s %s %d %s", row.TaskID, row.Status, row.AttemptsUsed, row.StopReason))
	}
	return got
}

// Time limits return control at their very moment, whatever the tool does, and what comes later is recorded as late.
func TestLimitsCut(t *testing.T) {
	minute := func(effect catalog.Effect) func(*testing.T) []catalog.Tool {
		return func(t *testing.T) []catalog.Tool { return []catalog.Tool{deaf(t, "deaf", effect, time.Minute)} }
	}
	tests := map[string]struct {
		tools   func(*testing.T) []catalog.Tool
		workers []string
		budget  func(*gateway.Budget)
		want    []string
		took    time.Duration
		reason  string
	}{
		"a read is tried twice": {minute(catalog.Read), []string{"deaf"}, nil, []string{"t1 failed 2 task_timeout"}, 4 * time.Second, "success"},
		"a write is tried once": {minute(catalog.Write), []string{"deaf"}, nil, []string{"t1 failed 1 task_timeout"}, 2 * time.Second, "success"},
		"the deadline cuts the retry": {minute(catalog.Read), []string{"deaf"},
			func(b *gateway.Budget) { b.MaxTime = 3 * time.Second }, []string{"t1 failed 2 max_seconds"}, 3 * time.Second, "max_seconds"},
		"what waits for a place never starts": {minute(catalog.Read), []string{"deaf", "deaf"},
			func(b *gateway.Budget) { b.MaxTime, b.MaxParallel = time.Second, 1 },
			[]string{"t1 failed 1 max_seconds", "t2 failed 0 max_seconds"}, time.Second, "max_seconds"},
		"nor is it refused what it never asked": {minute(catalog.Read), []string{"deaf", "denied", "deaf"},
			func(b *gateway.Budget) { b.MaxTime, b.MaxParallel, b.MaxDispatches = time.Second, 1, 2 },
			[]string{"t1 failed 1 max_seconds", "t2 failed 0 max_seconds", "t3 failed 1 max_dispatches"}, time.Second, "max_seconds"},
		"what has a place is refused at once": {minute(catalog.Read), []string{"deaf", "denied", "denied"},
			func(b *gateway.Budget) { b.MaxTime, b.MaxParallel = time.Second, 2 },
			[]string{"t1 failed 1 max_seconds", "t2 failed 1 worker_denied:denied", "t3 failed 1 worker_denied:denied"}, time.Second, "max_seconds"},
		"the last dispatches go in the plan's order": {minute(catalog.Read), []string{"deaf", "deaf", "deaf"},
			func(b *gateway.Budget) { b.MaxDispatches = 4 },
			[]string{"t1 failed 2 task_timeout", "t2 failed 2 max_dispatches", "t3 failed 2 max_dispatches"}, 4 * time.Second, "success"},
		"first attempts take theirs before anything runs": {minute(catalog.Read), []string{"deaf", "deaf", "deaf"},
			func(b *gateway.Budget) { b.MaxDispatches, b.MaxParallel = 2, 1 },
			[]string{"t1 failed 2 max_dispatches", "t2 failed 2 max_dispatches", "t3 failed 1 max_dispatches"}, 4 * time.Second, "success"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := deafSpec(t, tt.tools(t)...)
				s.Policy = append(slices.Clone(s.Policy), "denied")
				if tt.budget != nil {
					tt.budget(&s.Budget)
				}
				start := time.Now()
				r, record := carryOut(t, s, patterns.Task{Goal: "x", Finalize: false}, &script{replies: []string{tasksOf(false, tt.workers...)}})
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if got := rows(t, r); fmt.Sprint(got) != fmt.Sprint(tt.want) || r.StopReason != tt.reason {
					t.Errorf("got %q, %s; want %q, %s", got, r.StopReason, tt.want, tt.reason)
				}
				for _, name := range []string{"max_dispatches", "task_timeout_seconds"} { // what was refused took none, and no time
					if spent := r.Budget[name]; spent.Used > spent.Limit {
						t.Errorf("%s: %v of %v are used", name, spent.Used, spent.Limit)
					}
				}
				time.Sleep(2 * time.Minute) // the bubble's: the tools answer at last
				synctest.Wait()
				if n := late(record); n == 0 {
					t.Error("no late result is recorded")
				}
			})
		})
	}
}

func late(r *execution.Record) int {
	n := 0
	for _, e := range r.Events() {
		if e.Kind == patterns.LateEvent {
			n++
		}
	}
	return n
}

// A write that timed out may have happened: it is in doubt.
func TestWriteInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := deafSpec(t, deaf(t, "pay", catalog.Write, time.Minute))
		r, _ := carryOut(t, s, patterns.Task{Goal: "x"}, &script{replies: []string{tasksOf(true, "pay")}})
		if r.StopReason != "critical_task_failed" || len(r.FailedCritical) != 1 || !r.FailedCritical[0].InDoubt {
			t.Errorf("stop reason %s, failed %+v; want critical_task_failed with a task in doubt", r.StopReason, r.FailedCritical)
		}
		if len(r.Ledger) != 1 || r.Ledger[0].Status != gateway.InDoubt {
			t.Errorf("effects %+v, want one in doubt", r.Ledger)
		}
		time.Sleep(time.Minute)
	})
}

// A tool that ends its own goroutine has broken down like one that panics.
func TestToolEndsItsGoroutine(t *testing.T) {
	for effect, want := range map[catalog.Effect]gateway.EffectStatus{catalog.Read: gateway.Failed, catalog.Write: gateway.InDoubt} {
		gone, err := catalog.Typed(catalog.Tool{Name: "gone", Description: "Goes.", Effect: effect},
			func(context.Context, nothing, catalog.Call) (map[string]any, error) {
				runtime.Goexit()
				return nil, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		r, _ := carryOut(t, deafSpec(t, gone), patterns.Task{Goal: "x"}, &script{replies: []string{tasksOf(true, "gone")}})
		if got := rows(t, r); fmt.Sprint(got) != "[t1 failed 1 worker_error:gone]" {
			t.Errorf("%s: rows %q, want worker_error:gone", effect, got)
		}
		if len(r.Ledger) != 1 || r.Ledger[0].Status != want {
			t.Errorf("%s: effects %+v, want one %s", effect, r.Ledger, want)
		}
	}
}

// What comes at the very limit is too late, whichever timer fires first.
func TestAtTheLimit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2*time.Second - 1: "[t1 done 1 ]", 2 * time.Second: "[t1 failed 2 task_timeout]",
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := carryOut(t, deafSpec(t, deaf(t, "slow", catalog.Read, d)), patterns.Task{Goal: "x"}, &script{replies: []string{tasksOf(false, "slow")}})
			if got := fmt.Sprint(rows(t, r)); got != want {
				t.Errorf("a worker that takes %v: %s, want %s", d, got, want)
			}
			synctest.Wait()
		})
	}
}

// The run's time is the recorded running time: a deadline of zero lets no request begin.
func TestNoTime(t *testing.T) {
	for name, want := range map[string]string{"decompose": "plan", "orchestrate": "plan", "route": "route", "supervise": "worker"} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, runs[name].kind, 0)
			s.Budget.MaxTime = 0
			model := &script{replies: runs[name].replies}
			r, _ := carryOut(t, s, runs[name].task, model)
			if r.StopReason != "max_seconds" || r.Phase != want || len(model.asked) != 0 {
				t.Errorf("got %s in %s after %d questions, want max_seconds in %s before any", r.StopReason, r.Phase, len(model.asked), want)
			}
		})
	}
}
