package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// thousand is the plan of n calls of a tool, each with up to two dependencies among the 30 before it, and what carries it
// out, 64 at once.
func thousand(b testing.TB, n int) (making, carrying patterns.Job) {
	b.Helper()
	tool := counting(b, catalog.Read, nil)
	c, err := catalog.New(tool)
	if err != nil {
		b.Fatal(err)
	}
	budget := gateway.DefaultBudget(gateway.Planning)
	budget.MaxSubtasks, budget.MaxConcurrent, budget.MaxToolCalls = n, 64, gateway.Limit(2*n)
	list := make([]any, n)
	for i := range list {
		deps := []any{}
		if i%3 != 0 {
			deps = append(deps, fmt.Sprintf("s%d", max(0, i-7)))
		}
		if i%5 == 0 && i > 30 {
			deps = append(deps, fmt.Sprintf("s%d", i-30))
		}
		list[i] = map[string]any{"id": fmt.Sprintf("s%d", i), "description": "Count.", "tool": tool.Name, "args": map[string]any{"n": float64(i)}, "dependencies": deps}
	}
	names := []string{tool.Name}
	spec := patterns.Spec{Name: "plan_decompose", Kind: gateway.Planning, Plans: "plan", Envelope: patterns.RequireNone, Catalog: c, Tools: names, Policy: names, Execution: names, Budget: budget}
	call := &patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 3, MaxSubtasks: n}
	making = patterns.Job{Caller: patterns.Caller{Principal: mine}, Spec: spec, Task: patterns.Task{
		Goal: "count", Plan: call, Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "subtasks": list}),
	}}
	spec.Name = "plan_execute"
	carrying = patterns.Job{Caller: patterns.Caller{Principal: mine}, Spec: spec, Task: patterns.Task{Plan: &patterns.PlanCall{
		Verb: patterns.ExecuteVerb, Concurrent: 64, OnFailure: patterns.AbortOnFailure,
	}}}
	return making, carrying
}

// BenchmarkPlan is a plan of 1,000 subtasks of no work, carried out 64 at once; making it is not timed.
func BenchmarkPlan(b *testing.B) {
	const n = 1000
	for name, open := range openers {
		b.Run(name, func(b *testing.B) {
			making, carrying := thousand(b, n)
			e := open(b, func(*local.Engine) {})
			for b.Loop() {
				b.StopTimer()
				made, err := e.Start(b.Context(), making)
				if err != nil || !made.Result.OK() {
					b.Fatalf("%+v, %v", made.Result, err)
				}
				task := carrying
				call := *carrying.Task.Plan
				call.PlanID = made.Result.Planned.PlanID
				task.Task.Plan = &call
				b.StartTimer()
				ended, err := e.Start(b.Context(), task)
				if err != nil || ended.Result.StopReason != patterns.Success || len(ended.Result.Trace) != n {
					b.Fatalf("%s %v", ended.Result.StopReason, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/subtask")
		})
	}
}

// BenchmarkPlanDoesNotWait is a (0.3 s), b (0) and c (0.3 s, after b), two at once: c does not wait for a.
func BenchmarkPlanDoesNotWait(b *testing.B) {
	slow := counting(b, catalog.Read, func(ctx context.Context) error {
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	quick := counting(b, catalog.Read, nil)
	quick.Name = "quick"
	c, err := catalog.New(slow, quick)
	if err != nil {
		b.Fatal(err)
	}
	names := []string{slow.Name, quick.Name}
	spec := patterns.Spec{Name: "plan_execute", Kind: gateway.Planning, Plans: "plan", Envelope: patterns.RequireNone, Catalog: c, Tools: names, Policy: names, Execution: names, Budget: gateway.DefaultBudget(gateway.Planning)}
	text := planText(subtaskText("a", slow.Name, map[string]any{"n": 1.0}), subtaskText("b", quick.Name, map[string]any{"n": 2.0}), subtaskText("c", slow.Name, map[string]any{"n": 3.0}, "b"))
	job := patterns.Job{Caller: patterns.Caller{Principal: mine}, Spec: spec, Task: patterns.Task{
		Caller: []document.Intent{document.FromText(text, "/plan")},
		Plan:   &patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 2, OnFailure: patterns.AbortOnFailure},
	}}
	for name, open := range openers {
		b.Run(name, func(b *testing.B) {
			e := open(b, func(*local.Engine) {})
			for b.Loop() {
				ended, err := e.Start(b.Context(), job)
				if err != nil || ended.Result.StopReason != patterns.Success {
					b.Fatalf("%s %v", asJSON(b, ended.Result), err)
				}
			}
		})
	}
}
