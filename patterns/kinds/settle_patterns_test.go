package kinds

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/patterns"
	"patterngate/patterns/reference"
)

// demoSpec declares a pattern over the demo's tools.
func demoSpec(t *testing.T, kind gateway.Kind) patterns.Spec {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{Name: string(kind), Kind: kind, Catalog: c, Budget: gateway.DefaultBudget(kind)}
	reference.Declare(&s)
	switch kind {
	case gateway.TaskDecomposition:
		s.Policy = demo.DecompositionTools
	case gateway.Orchestrator:
		s.Policy, s.Aggregate = demo.OrchestratorWorkers, reference.Operations
	case gateway.Routing:
		s.Policy = demo.Specialists
	case gateway.Supervisor:
		s.Policy = demo.RefundTools
		s.Reviewer = refunds.Defaults.Judge()
		s.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	}
	s.Execution = s.Policy
	return s
}

func call(name string, args map[string]any) any {
	return map[string]any{"kind": "tool", "name": name, "args": args}
}

func refundOf(amount float64) any {
	return call("issue_refund", map[string]any{"user_id": 42.0, "amount_usd": amount, "reason": "asked"})
}

var (
	lookUp42 = call("get_refund_context", map[string]any{"user_id": 42.0})
	closing  = map[string]any{"kind": "final", "answer": "Done."}
)

func acting(actions ...any) patterns.Task {
	return patterns.Task{Goal: "refund", Caller: patterns.Proposals("actions", actions), Handover: true}
}

// unrepeatable has a pattern's tools write, and never twice by themselves.
func unrepeatable(t *testing.T, spec patterns.Spec) *catalog.Catalog {
	t.Helper()
	var tools []catalog.Tool
	for _, name := range spec.Policy {
		tool, _ := spec.Catalog.Tool(name)
		tool.Effect, tool.Idempotent = catalog.Write, false
		tools = append(tools, tool)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A refund in doubt counts against what the run may pay, and its doubt stops the run before anything else is judged.
func TestRefundInDoubt(t *testing.T) {
	spec := demoSpec(t, gateway.Supervisor)
	spec.Catalog = unrepeatable(t, spec)
	spec.Reviewer = refunds.Limits{AutoUSD: 1000, PerRunUSD: 500, Days: 14}.Judge()
	task := acting(lookUp42, refundOf(400), refundOf(300), closing)

	w := &world{script: map[string]patterns.Outcome{"issue_refund#1": lost}, parks: "doubt#1/settle#1"}
	_, waits := w.run(t, spec, task)
	if waits == nil || waits.Phase != patterns.PhaseExecution || waits.Tool != "issue_refund" {
		t.Fatalf("the run waits for %+v, want a settlement in execution", waits)
	}
	verdict := spec.Reviewer.Review(gateway.Case{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": 300.0, "reason": "r"}, Effects: waits.SoFar.Ledger})
	if verdict.Reason != "cap_to_remaining_run_budget" || verdict.Args["amount_usd"] != 100.0 {
		t.Errorf("beside a refund of 400 in doubt one of 300 is %s %v, want it capped to 100", verdict.Reason, verdict.Args)
	}

	for name, tt := range map[string]struct {
		settled patterns.Outcome
		reason  string
		paid    []any // amounts of the calls of issue_refund
	}{
		"it happened":    {answered(map[string]any{"happened": true, "by": "local:1"}), patterns.Success, []any{400.0, 100.0}},
		"it did not":     {answered(map[string]any{"happened": false}), patterns.Success, []any{400.0, 400.0, 100.0}},
		"nobody says":    {patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}, "in_doubt:issue_refund", []any{400.0}},
		"it was refused": {patterns.Outcome{State: patterns.OK, Output: "yes"}, "in_doubt:issue_refund", []any{400.0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{script: map[string]patterns.Outcome{"issue_refund#1": lost, "doubt#1/settle#1": tt.settled}, down: time.Hour, takes: time.Hour}
			r, _ := w.run(t, spec, task)
			var paid []any
			for _, e := range w.effects {
				if p := callOf(e).Permit; p.Tool() == "issue_refund" {
					paid = append(paid, p.Args()["amount_usd"])
				}
			}
			if r.StopReason != tt.reason || !slices.Equal(paid, tt.paid) {
				t.Errorf("ended with %s after calls of %v, want %s and %v", r.StopReason, paid, tt.reason, tt.paid)
			}
		})
	}
}

// A hand-over that nobody settles ends the run in delegate.
func TestDelegationInDoubt(t *testing.T) {
	spec := demoSpec(t, gateway.Routing)
	spec.Catalog = unrepeatable(t, spec)
	route := map[string]any{"target": "technical_specialist", "args": map[string]any{"ticket": "an api error"}}
	task := patterns.Task{Goal: "an api error", Caller: patterns.Proposals("route", route), Handover: true}
	for name, tt := range map[string]struct {
		settled        patterns.Outcome
		reason, status string
	}{
		"nobody says": {patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}, "in_doubt:technical_specialist", "in_doubt"},
		"it did not":  {answered(map[string]any{"happened": false}), patterns.Success, "done"},
		"it happened": {answered(map[string]any{"happened": true, "by": "x"}), "route_bad_observation", "done"}, // and nobody knows what was said
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{script: map[string]patterns.Outcome{"technical_specialist#1": lost, "doubt#1/settle#1": tt.settled}}
			r, _ := w.run(t, spec, task)
			if r.StopReason != tt.reason || r.Ledger[0].Status != gateway.EffectStatus(tt.status) || r.Phase != patterns.PhaseDelegate && tt.reason != patterns.Success {
				t.Errorf("ended with %s in %s, %s, want %s and %s", r.StopReason, r.Phase, r.Ledger[0].Status, tt.reason, tt.status)
			}
		})
	}
}

// ledgers are an orchestrator's workers: book writes and is not idempotent, slow writes and is, read reads.
func bookkeeping(t *testing.T) patterns.Spec {
	t.Helper()
	worker := func(name string, effect catalog.Effect, idempotent bool) catalog.Tool {
		return catalog.Tool{Name: name, Effect: effect, Idempotent: idempotent, Input: schema(t, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
			Do: func(_ context.Context, c catalog.Call) (any, error) {
				return map[string]any{"status": "done", "result": map[string]any{"n": c.Args["n"]}}, nil
			}}
	}
	c, err := catalog.New(worker("book", catalog.Write, false), worker("slow", catalog.Write, true), worker("read", catalog.Read, true))
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{Name: "books", Kind: gateway.Orchestrator, Catalog: c, Policy: c.Names(), Execution: c.Names(), Budget: gateway.DefaultBudget(gateway.Orchestrator), Aggregate: reference.Operations}
	return s
}

func workers(names ...string) patterns.Task {
	var list []any
	for i, name := range names {
		list = append(list, map[string]any{"id": string(rune('a' + i)), "worker": name, "args": map[string]any{"n": float64(i)}, "critical": false})
	}
	return patterns.Task{Goal: "books", Inputs: patterns.Inputs{"report_date": "2026-02-26", "region": "US"}, Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": list})}
}

// A task in doubt waits for a person when the others have ended; then it goes on, and a crash costs it no dispatch and
// no retry.
func TestTaskInDoubt(t *testing.T) {
	late := patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonTimeout}
	tests := map[string]struct {
		tasks   patterns.Task
		script  map[string]patterns.Outcome
		change  func(*gateway.Budget)
		reasons []string // of the tasks, "" for done
		attempt []int
		keys    []string // after the dispatch
		same    bool
	}{
		"it did not happen": {tasks: workers("book", "read"),
			script:  map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": false})},
			reasons: []string{"", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1", "doubt#1/book#1"}, same: true},
		"it happened": {tasks: workers("book", "read"),
			script: map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": true, "by": "local:1",
				"result": map[string]any{"status": "done", "result": map[string]any{"n": 0.0}}})},
			reasons: []string{"", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1"}, same: true},
		"nobody says": {tasks: workers("book", "read"),
			script:  map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": {State: patterns.Failed, Reason: patterns.ReasonExpired}},
			reasons: []string{"in_doubt:book", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1"}},
		"two of them": {tasks: workers("book", "read", "book"),
			script: map[string]patterns.Outcome{"task#1/book#1": lost, "task#3/book#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": false}),
				"doubt#2/settle#1": answered(map[string]any{"happened": false})},
			reasons: []string{"", "", ""}, attempt: []int{1, 1, 1}, keys: []string{"doubt#1/settle#1", "doubt#1/book#1", "doubt#2/settle#1", "doubt#2/book#1"}, same: true},
		"then late, and nobody says": {tasks: workers("book", "read"),
			script:  map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": false}), "doubt#1/book#1": late},
			reasons: []string{"in_doubt:book", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1", "doubt#1/book#1", "doubt#1/settle#2"}},
		"then late, and nobody can be asked": {tasks: workers("book", "read"),
			script:  map[string]patterns.Outcome{"task#1/book#1": late, "doubt#1/settle#1": {State: patterns.Failed, Reason: patterns.ReasonRefused}},
			reasons: []string{"task_timeout", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1"}},
		"no dispatch is taken": {tasks: workers("book", "read"), change: func(b *gateway.Budget) { b.MaxDispatches, b.MaxToolCalls = 2, 2 },
			script:  map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": false})},
			reasons: []string{"", ""}, attempt: []int{1, 1}, keys: []string{"doubt#1/settle#1", "doubt#1/book#1"}, same: true},
		"in the second attempt": {tasks: workers("slow", "read"),
			script:  map[string]patterns.Outcome{"task#1/slow#1": late, "task#1/slow#2": lost, "doubt#1/settle#1": answered(map[string]any{"happened": true, "by": "x"})},
			reasons: []string{"", ""}, attempt: []int{2, 1}, keys: []string{"doubt#1/settle#1"}},
		"a read fails": {tasks: workers("read", "read"), script: map[string]patterns.Outcome{"task#1/read#1": lost},
			reasons: []string{"worker_error:read", ""}, attempt: []int{1, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := bookkeeping(t)
			if tt.change != nil {
				tt.change(&spec.Budget)
			}
			uninterrupted, _ := (&world{}).run(t, spec, tt.tasks)
			w := &world{script: tt.script, down: 10 * time.Minute, takes: time.Hour}
			r, _ := w.run(t, spec, tt.tasks)
			var reasons []string
			var attempts []int
			for _, row := range r.History {
				row := row.(patterns.TaskRow)
				reasons, attempts = append(reasons, row.StopReason), append(attempts, row.AttemptsUsed)
			}
			if !slices.Equal(reasons, tt.reasons) || !slices.Equal(attempts, tt.attempt) || r.StopReason != patterns.Success {
				t.Errorf("%s: tasks ended %q after %v attempts, want %q after %v", r.StopReason, reasons, attempts, tt.reasons, tt.attempt)
			}
			var keys []string
			for _, key := range w.keys {
				if len(key) < 4 || key[:4] != "task" && key[:4] != "plan" {
					keys = append(keys, key)
				}
			}
			if !slices.Equal(keys, tt.keys) {
				t.Errorf("settled by %v, want %v", keys, tt.keys)
			}
			if diff := cmp.Diff(shape(t, uninterrupted), shape(t, r)); tt.same && diff != "" {
				t.Errorf("other than without a crash, -uninterrupted +this:\n%s", diff)
			}
			if used, want := r.Budget["max_dispatches"].Used, float64(attempts[0]+len(attempts)-1); used != want {
				t.Errorf("%v dispatches were used, want %v", used, want)
			}
			if used := r.Budget["max_seconds"].Used; used < 0 || used > 10 {
				t.Errorf("%v seconds were used; ten minutes without a process do not count", used)
			}
		})
	}
}

// Who looks at an orchestrator that waits sees its plan, the tasks that ended, and all calls.
func TestTaskInDoubtSoFar(t *testing.T) {
	w := &world{script: map[string]patterns.Outcome{"task#1/book#1": lost, "task#3/book#1": lost}, parks: "doubt#1/settle#1"}
	_, waits := w.run(t, bookkeeping(t), workers("book", "read", "book"))
	if waits == nil || waits.Effect != "task#1/book#1" || waits.Phase != patterns.PhaseDispatch {
		t.Fatalf("waits for %+v", waits)
	}
	r := waits.SoFar
	var status []gateway.EffectStatus
	for _, e := range r.Ledger {
		status = append(status, e.Status)
	}
	if diff := cmp.Diff([]gateway.EffectStatus{gateway.InDoubt, gateway.Finished, gateway.InDoubt}, status); diff != "" || len(r.Trace) != 1 || r.Plan == nil || r.StopReason != "" {
		t.Errorf("so far %s", shape(t, r))
	}
	if used := r.Budget["max_dispatches"].Used; used != 3 {
		t.Errorf("%v dispatches so far, want 3", used)
	}
}

// A task that stays in doubt says so in its row, for a critical one the run ends.
func TestCriticalTaskInDoubt(t *testing.T) {
	task := workers("book")
	task.Caller = patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": []any{map[string]any{"id": "a", "worker": "book", "args": map[string]any{}, "critical": true}}})
	w := &world{script: map[string]patterns.Outcome{"task#1/book#1": lost, "doubt#1/settle#1": {State: patterns.Failed, Reason: patterns.ReasonExpired}}}
	r, _ := w.run(t, bookkeeping(t), task)
	if r.StopReason != "critical_task_failed" || len(r.FailedCritical) != 1 || !r.FailedCritical[0].InDoubt || r.FailedCritical[0].StopReason != "in_doubt:book" {
		t.Errorf("ended with %s: %+v", r.StopReason, r.FailedCritical)
	}
}
