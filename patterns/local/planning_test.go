package local_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

// planSpec declares one verb of planning over the demo's tools that read.
func planSpec(t testing.TB, verb patterns.PlanVerb) patterns.Spec {
	t.Helper()
	s := spec(t, gateway.Planning, 0)
	s.Name, s.Plans, s.LLM, s.Envelope = "plan_"+string(verb), "plan", true, patterns.RequireNone
	s.Policy = demo.ReadTools
	s.Execution = s.Policy
	return s
}

// decomposing and executing are calls as the server makes them.
func decomposing(t testing.TB, plan string) patterns.Task {
	t.Helper()
	call := patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 3, MaxSubtasks: 15}
	return patterns.Task{Goal: "Review April", Plan: &call, Caller: []document.Intent{document.FromText(plan, "/plan")}}
}

func executing(id string, more func(*patterns.PlanCall)) patterns.Task {
	call := patterns.PlanCall{Verb: patterns.ExecuteVerb, PlanID: id, Concurrent: 1, OnFailure: patterns.AbortOnFailure, MaxRetries: 2, RetryDelay: time.Second}
	if more != nil {
		more(&call)
	}
	return patterns.Task{Plan: &call}
}

// planned carries out a job on an engine.
func planned(t testing.TB, e *local.Engine, s patterns.Spec, task patterns.Task, model patterns.Model) patterns.Ended {
	t.Helper()
	ended, err := e.Start(context.Background(), patterns.Job{Spec: s, Task: task, Model: model, Caller: patterns.Caller{Principal: "local:1"}})
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func subtaskText(id, tool string, args map[string]any, dependencies ...string) string {
	deps := make([]any, len(dependencies))
	for i, d := range dependencies {
		deps[i] = d
	}
	return string(ijson.Canonical(map[string]any{"id": id, "description": "Do " + id + ".", "tool": tool, "args": args, "dependencies": deps}))
}

func planText(subtasks ...string) string {
	text := `{"kind":"plan","subtasks":[`
	for i, s := range subtasks {
		if i > 0 {
			text += ","
		}
		text += s
	}
	return text + "]}"
}

var april = map[string]any{"month": "2026-04"}

func TestPlanIsMadeAndCarriedOut(t *testing.T) {
	e := &local.Engine{}
	defer e.Close()
	text := planText(
		subtaskText("a", "calculate_monthly_kpis", april),
		subtaskText("b", "get_manager_profile", map[string]any{"manager_id": 99.0}, "a"),
		subtaskText("c", "fetch_sales_data", april, "b"),
		subtaskText("d", "detect_risk_signals", april),
	)
	made := planned(t, e, planSpec(t, patterns.DecomposeVerb), decomposing(t, text), nil).Result
	if made.StopReason != patterns.Success || made.Planned == nil {
		t.Fatalf("decompose: %s", asJSON(t, made))
	}
	id := made.Planned.PlanID
	r := planned(t, e, planSpec(t, patterns.ExecuteVerb), executing(id, nil), nil).Result
	if r.StopReason != "subtask_failed:b" {
		t.Fatalf("execute: %s", asJSON(t, r))
	}
	r = planned(t, e, planSpec(t, patterns.ExecuteVerb), executing(id, func(c *patterns.PlanCall) { c.OnFailure = patterns.SkipOnFailure }), nil).Result
	if r.StopReason != patterns.SuccessPartial {
		t.Fatalf("execute again: %s", asJSON(t, r))
	}
}

// Who waits for another attempt when the run is to stop does not keep it from stopping, in its first life or when it is
// carried on.
func TestPausesEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var record *execution.Record
		e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
		defer e.Close()
		text := planText(
			subtaskText("m", "model", map[string]any{}),
			subtaskText("p", "inventory_worker", map[string]any{"report_date": "2026-02-26", "region": "US"}),
			subtaskText("b", "get_manager_profile", map[string]any{"manager_id": 99.0}, "p"),
		)
		s := planSpec(t, patterns.ExecuteVerb)
		s.Catalog = spec(t, gateway.Planning, 1).Catalog
		task := executing("", func(c *patterns.PlanCall) {
			c.OnFailure, c.Concurrent, c.RetryDelay = patterns.RetryOnFailure, 2, 20*time.Second
		})
		task.Caller = []document.Intent{document.FromText(text, "/plan")}
		model := &script{replies: []string{"!llm_timeout", "!llm_timeout"}}
		began := time.Now()
		ended := planned(t, e, s, task, model)
		if r := ended.Result; r.StopReason != "subtask_failed:m" || fmt.Sprint(r.Planned.View.Failed) != "[m b]" {
			t.Errorf("got %s, %v failed; want both, the first of them named", r.StopReason, r.Planned.View.Failed)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it stopped after %s, as long as the pause that nobody needs", took)
		}
		again, err := local.Replay(record, s, task, execution.First)
		if got, want := asJSON(t, again), asJSON(t, ended.Result); err != nil || got != want {
			t.Errorf("the replay: %v, %s; want %s", err, got, want)
		}
	})
}
