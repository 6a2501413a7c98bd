package kinds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Every proposal that gets no intent, or not as proposed, is handed over once: with the next effect, else with the end.
func TestJudgedAreHandedOver(t *testing.T) {
	turn := func(argument string, v any) patterns.Outcome { return answered(map[string]any{argument: v}) }
	steps := func(list ...any) patterns.Task {
		return patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "steps": list})}
	}
	routed := func(target string, args map[string]any) patterns.Task {
		return patterns.Task{Goal: "an api error", Caller: patterns.Proposals("route", map[string]any{"target": target, "args": args})}
	}
	ticket := map[string]any{"ticket": "an api error"}
	tests := map[string]struct {
		spec   func(*testing.T) patterns.Spec
		task   patterns.Task
		script map[string]patterns.Outcome
		want   []string
	}{
		"a plan": {demoOf(gateway.TaskDecomposition, nil), steps(subtaskNamed("a", "pay", map[string]any{})), nil,
			[]string{"end < plan plan refused invalid_plan:min_steps"}},
		"a plan too long to execute": {demoOf(gateway.TaskDecomposition, func(s *patterns.Spec) { s.Budget.MaxExecuteSteps = 2 }),
			steps(subtaskNamed("a", "get_manager_profile", nil), subtaskNamed("b", "get_manager_profile", nil), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute plan refused max_execute_steps"}},
		"a step of another tool": {demoOf(gateway.TaskDecomposition, func(s *patterns.Spec) { s.Execution = s.Execution[:1] }), steps(
			subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("b", "detect_risk_signals", map[string]any{"month": "2026-04"}), subtaskNamed("c", "x", nil)), nil,
			[]string{"end < plan plan refused invalid_plan:tool_not_allowed:x"}},
		"a call denied at the call": {demoOf(gateway.TaskDecomposition, func(s *patterns.Spec) { s.Execution = []string{"get_manager_profile"} }), steps(
			subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("b", "detect_risk_signals", map[string]any{"month": "2026-04"}), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute detect_risk_signals refused tool_denied:detect_risk_signals"}},
		"a call repeated": {demoOf(gateway.TaskDecomposition, nil), steps(
			subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("b", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute get_manager_profile refused loop_detected"}},
		"arguments": {demoOf(gateway.TaskDecomposition, nil), steps(
			subtaskNamed("a", "get_manager_profile", map[string]any{"manager": 42.0}), subtaskNamed("b", "get_manager_profile", nil), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute get_manager_profile refused tool_bad_args:get_manager_profile"}},
		"a call too many": {demoOf(gateway.TaskDecomposition, func(s *patterns.Spec) { s.Budget.MaxToolCalls = 0 }), steps(
			subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("b", "get_manager_profile", nil), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute get_manager_profile refused max_tool_calls"}},
		"blocked by policy, outside the supervisor": {demoOf(gateway.TaskDecomposition, func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Reason: "no"} })
		}), steps(subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0}), subtaskNamed("b", "get_manager_profile", nil), subtaskNamed("c", "get_manager_profile", nil)), nil,
			[]string{"end < execute get_manager_profile block policy_block:no"}},
		"a route": {demoOf(gateway.Routing, nil), routed("legal_specialist", ticket), nil,
			[]string{"end < route route refused invalid_route:route_not_allowed:legal_specialist"}},
		"a route at a turn": {demoOf(gateway.Routing, nil), patterns.Task{Goal: "an api error", Caller: patterns.Proposals("actions", []any{})},
			map[string]patterns.Outcome{"turn#1": turn("route", map[string]any{"target": "legal_specialist", "args": ticket}), "turn#2": turn("route", map[string]any{"target": "technical_specialist", "args": ticket})},
			[]string{"turn#2 < route route refused invalid_route:route_not_allowed:legal_specialist"}},
		"a hand-over": {demoOf(gateway.Routing, func(s *patterns.Spec) { s.Execution = nil }), routed("technical_specialist", ticket), nil,
			[]string{"end < delegate technical_specialist refused route_denied:technical_specialist"}},
		"actions": {demoOf(gateway.Supervisor, nil), acting(call("drop_table", map[string]any{}), call("issue_refund", map[string]any{})), nil,
			[]string{"end < worker action refused invalid_action:unknown_tool:drop_table"}},
		"three turns": {demoOf(gateway.Supervisor, nil), patterns.Task{Goal: "x", Caller: patterns.Proposals("actions", []any{})},
			map[string]patterns.Outcome{"turn#1": turn("actions", []any{call("a", nil)}), "turn#2": turn("actions", []any{call("b", nil)}), "turn#3": turn("actions", []any{call("c", nil)})},
			[]string{"turn#2 < worker action refused invalid_action:unknown_tool:a", "turn#3 < worker action refused invalid_action:unknown_tool:b", "end < worker action refused invalid_action:unknown_tool:c"}},
		"blocked": {demoOf(gateway.Supervisor, nil), acting(refundOf(10)), nil,
			[]string{"end < supervisor issue_refund block refund_requires_context"}},
		"blocked at the end": {demoOf(gateway.Supervisor, nil), acting(closing), nil,
			[]string{"end < supervisor final block final_requires_context"}},
		"revised": {demoOf(gateway.Supervisor, nil), acting(lookUp42, call("issue_refund", map[string]any{"user_id": 42.0, "amount_usd": 10.0}), closing), nil,
			[]string{"issue_refund#1 < supervisor issue_refund revise refund_reason_required"}},
		"revised and escalated": {demoOf(gateway.Supervisor, nil), acting(lookUp42, call("issue_refund", map[string]any{"user_id": 42.0, "amount_usd": 3000.0}), closing), nil,
			[]string{"approve#1 < supervisor issue_refund revise cap_to_remaining_run_budget", "approve#1 < supervisor issue_refund revise refund_reason_required",
				"approve#1 < supervisor issue_refund escalate high_refund_requires_human"}},
		"escalated to nobody": {demoOf(gateway.Supervisor, func(s *patterns.Spec) { s.Approver = patterns.Approver{} }), acting(lookUp42, refundOf(1100)), nil,
			[]string{"approve#1 < supervisor issue_refund escalate high_refund_requires_human"}},
		"changed, then blocked": {demoOf(gateway.Supervisor, func(s *patterns.Spec) {
			n := 0.0
			s.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
				n++
				return gateway.Verdict{Decision: gateway.Revise, Reason: "again", Args: map[string]any{"user_id": n}}
			})
		}), acting(lookUp42), nil, []string{"end < supervisor get_refund_context block revise_not_convergent"}},
		"a supervised loop": {demoOf(gateway.Supervisor, nil), acting(lookUp42, lookUp42, lookUp42), nil,
			[]string{"end < execution get_refund_context refused loop_detected:signature_repeat"}},
		"a plan of tasks": {bookkeeping, workers("thief"), nil, []string{"end < plan plan refused invalid_plan:worker_not_allowed:thief"}},
		"first attempts, with the first call": {booksOf(func(s *patterns.Spec) { s.Execution, s.Budget.MaxDispatches = []string{"read"}, 2 }), workers("book", "read", "read"), nil,
			[]string{"task#2/read#1 < dispatch book refused worker_denied:book", "task#2/read#1 < dispatch read refused max_dispatches"}},
		"all first attempts": {booksOf(func(s *patterns.Spec) { s.Execution = nil }), workers("book", "read"), nil,
			[]string{"end < dispatch book refused worker_denied:book", "end < dispatch read refused worker_denied:read"}},
		"retries, in the plan's order": {booksOf(func(s *patterns.Spec) {
			s.Budget.PerTool = map[string]gateway.CallLimit{"slow": {MaxCalls: 2, MaxSameCall: 1}}
		}), workers("slow", "slow", "read"),
			map[string]patterns.Outcome{"task#1/slow#1": {State: patterns.Unknown, Reason: patterns.ReasonTimeout}, "task#2/slow#1": {State: patterns.Unknown, Reason: patterns.ReasonTimeout}},
			[]string{"end < dispatch slow refused loop_detected:per_tool_limit", "end < dispatch slow refused loop_detected:per_tool_limit"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{script: tt.script}
			r, _ := w.run(t, tt.spec(t), tt.task)
			if diff := cmp.Diff(tt.want, w.judgments(r)); diff != "" {
				t.Errorf("ended with %s, handed over, -want +got:\n%s", r.StopReason, diff)
			}
		})
	}
}

func demoOf(kind gateway.Kind, change func(*patterns.Spec)) func(*testing.T) patterns.Spec {
	return func(t *testing.T) patterns.Spec {
		s := demoSpec(t, kind)
		if change != nil {
			change(&s)
		}
		return s
	}
}

func booksOf(change func(*patterns.Spec)) func(*testing.T) patterns.Spec {
	return func(t *testing.T) patterns.Spec {
		s := bookkeeping(t)
		change(&s)
		return s
	}
}

// A judgment holds what was proposed, what was wrong with it and what would have been right, and nothing without bounds.
func TestJudgedBody(t *testing.T) {
	spec := demoSpec(t, gateway.Supervisor)
	r, _ := (&world{}).run(t, spec, acting(refundOf(10)))
	want := `{"decision":"block","need":["get_refund_context"],"passes":1,"phase":"supervisor",` +
		`"proposal":{"args":{"amount_usd":10,"reason":"asked","user_id":42},"kind":"tool","name":"issue_refund"},` +
		`"reason":"refund_requires_context","rule":"refund_requires_context","text":"The account of this user was not looked up in this run.",` +
		`"values":{"args.user_id":42}}`
	if got := string(ijson.Canonical(r.Judged[0].Body)); got != want {
		t.Errorf("a block is\n%s, want\n%s", got, want)
	}

	spec = demoSpec(t, gateway.TaskDecomposition)
	plan := map[string]any{"kind": "plan", "steps": []any{
		subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": "42"}), subtaskNamed("b", "get_manager_profile", nil), subtaskNamed("c", "get_manager_profile", nil)}}
	r, _ = (&world{}).run(t, spec, patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", plan)})
	want = `{"decision":"refused","phase":"execute","problems":[{"got":"42","pointer":"/plan/steps/0/args/manager_id","reason":"tool_bad_args:get_manager_profile","want":"integer"}],` +
		`"proposal":{"args":{"manager_id":"42"},"tool":"get_manager_profile"},"reason":"tool_bad_args:get_manager_profile"}`
	if got := string(ijson.Canonical(r.Judged[0].Body)); got != want {
		t.Errorf("a refusal is\n%s, want\n%s", got, want)
	}

	plan["steps"].([]any)[0] = subtaskNamed("a", "get_manager_profile", map[string]any{"manager_id": 42.0, "note": strings.Repeat("x", 100_000)})
	r, _ = (&world{}).run(t, spec, patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", plan)})
	if n := len(ijson.Canonical(r.Judged[0].Body)); n > 16<<10+4096 {
		t.Errorf("a judgment of a large proposal has %d bytes", n)
	}
}

// Who looks at progress knows how many calls are planned.
func TestEffectsKnowTheTotal(t *testing.T) {
	w := &world{}
	spec, task := paying(t, &till{paid: map[string]string{}}, nil)
	w.run(t, spec, task)
	if e := w.effect(t, "pay#2"); e.Total != 3 {
		t.Errorf("the third of 3 calls knows of %d", e.Total)
	}
	w = &world{}
	w.run(t, bookkeeping(t), workers("read", "slow"))
	if e := w.effect(t, "task#2/slow#1"); e.Total != 2 {
		t.Errorf("the second of 2 tasks knows of %d", e.Total)
	}
	w = &world{}
	w.run(t, demoSpec(t, gateway.Supervisor), acting(lookUp42, closing))
	if e := w.effect(t, "get_refund_context#1"); e.Total != 0 {
		t.Errorf("a worker's call knows of %d calls; nobody knows how many there will be", e.Total)
	}
}
