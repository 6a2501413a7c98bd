package server_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/openai"
	"patterngate/patterns/llm/prompts"
	"patterngate/server"
)

const pl = gateway.Planning

// planRow is a session with one planning pattern whose last call ends as wanted.
type planRow struct {
	want, phase string
	task        string // stop reason of an attempt, in the trace
	calls       []planCall
	replies     []llmtest.Reply // of a model server; none: the rules
	change      func(*patterns.Spec)
	model       func(*openai.Config)
	fails       bool // a run that waits for the caller does not
}

// planCall is one call; a value that is made of the plan of a call before says so by "<plan>".
type planCall struct {
	verb   string
	args   object
	cancel bool
}

// subtasks is a plan of them.
func subtasks(list ...object) object {
	all := []any{}
	for _, s := range list {
		all = append(all, s)
	}
	return object{"kind": "plan", "subtasks": all}
}

// subtask is one with members besides id and description.
func subtask(id string, members ...any) object {
	s := object{"id": id, "description": "Do " + id + "."}
	for i := 0; i < len(members); i += 2 {
		s[members[i].(string)] = members[i+1]
	}
	return s
}

func own(id string, members ...any) object { return subtask(id, append(members, "tool", "caller")...) }

func tool(id, name string, args object, members ...any) object {
	return subtask(id, append(members, "tool", name, "args", args)...)
}

// badPlans are plans by the fault that they have.
func badPlans() map[string]any {
	deep := make([]object, 11)
	for i := range deep {
		if deep[i] = own(string(rune('a' + i))); i > 0 {
			deep[i]["parent"] = string(rune('a' + i - 1))
		}
	}
	many := make([]object, 101)
	for i := range many {
		many[i] = own("s" + strings.Repeat("x", i%60) + string(rune('a'+i/60)))
	}
	return map[string]any{
		"non_json": "{", "not_object": []any{}, "bad_kind": object{"kind": "plans", "subtasks": []any{}},
		"extra_keys": object{"subtasks": []any{own("a")}, "steps": 1}, "missing_subtasks": object{"kind": "plan"}, "empty": subtasks(),
		"max_subtasks": subtasks(many...), "subtask_1_not_object": object{"subtasks": []any{1}}, "subtask_1_extra_keys": subtasks(own("a", "why", 1)),
		"subtask_1_missing_id": subtasks(own("")), "subtask_1_bad_id": subtasks(own("A b")), "subtask_1_missing_description": subtasks(own("a", "description", " ")),
		"subtask_1_bad_description":  subtasks(own("a", "description", strings.Repeat("d", 4001))),
		"subtask_1_bad_dependencies": subtasks(own("a", "dependencies", "b")), "subtask_1_bad_tool": subtasks(subtask("a", "tool", 1)),
		"subtask_1_bad_args": subtasks(own("a", "args", 1)), "subtask_1_bad_critical": subtasks(own("a", "critical", "yes")),
		"subtask_1_bad_parent": subtasks(own("a", "parent", 1)), "subtask_1_bad_expect": subtasks(own("a", "expect", object{"type": "thing"})),
		"duplicate_id:a": subtasks(own("a"), own("a")), "unknown_dependency:a:z": subtasks(own("a", "dependencies", []any{"z"})),
		"self_dependency:a": subtasks(own("a", "dependencies", []any{"a"})), "unknown_parent:a:z": subtasks(own("a", "parent", "z")),
		"cycle_detected": subtasks(own("a", "dependencies", []any{"b"}), own("b", "dependencies", []any{"a"})), "max_depth": subtasks(deep...),
		"executor_not_allowed:pay": subtasks(subtask("a", "tool", "pay")), "bad_args:a": subtasks(tool("a", "get_manager_profile", object{})),
		"bad_reference:a": subtasks(own("a", "args", object{"x": "$results.z"})),
	}
}

// planRows are sessions that together end in every stop reason of planning that a sound server in memory comes to.
func planRows() []planRow {
	one := func(args object) []planCall { return []planCall{{"decompose", args, false}} }
	made := func(list ...object) planCall {
		return planCall{"decompose", object{"goal": "g", "plan": subtasks(list...)}, false}
	}
	then := func(first planCall, verb string, args object) []planCall {
		args["plan_id"] = "<plan>"
		return []planCall{first, {verb, args, false}}
	}
	run := func(args object, list ...object) []planCall { return then(made(list...), "execute", args) }
	broken, good := tool("a", "broken", object{}), tool("a", "get_manager_profile", object{"manager_id": 42})
	rows := []planRow{
		{want: "success", calls: run(object{}, good)},
		{want: "success_partial", calls: run(object{"on_subtask_failure": "skip"}, good, tool("b", "broken", object{}))},
		{want: "iteration_pending", calls: []planCall{{"decompose", object{"goal": "g", "strategy": "iterative", "plan": subtasks(good)}, false}, {"execute", object{"plan_id": "<plan>"}, false}}},
		{want: "plan_complete", phase: "execute", calls: append(run(object{}, good), planCall{"execute", object{"plan_id": "<plan>"}, false})},
		{want: "plan_not_found", phase: "execute", calls: []planCall{{"execute", object{"plan_id": "plan_x"}, false}}},
		{want: "plan_not_found", phase: "status", calls: []planCall{{"status", object{"plan_id": "plan_x"}, false}}},
		{want: "plan_conflict", phase: "execute", calls: run(object{"expected_revision": 2}, good)},
		{want: "subtask_failed:a", phase: "execute", task: "executor_error:broken", calls: run(object{}, broken)},
		{want: "subtask_failed:a", phase: "execute", task: "executor_bad_result:lying", calls: run(object{}, tool("a", "lying", object{}))},
		{want: "subtask_failed:a", phase: "execute", task: "executor_reported_error:reporting", calls: run(object{}, tool("a", "reporting", object{}))},
		{want: "subtask_failed:b", phase: "execute", task: "loop_detected:signature_repeat", calls: run(object{}, good, tool("b", "get_manager_profile", object{"manager_id": 42}))},
		{want: "subtask_failed:b", phase: "execute", task: "loop_detected:per_tool_limit", calls: run(object{}, good, tool("b", "get_manager_profile", object{"manager_id": 41})),
			change: func(s *patterns.Spec) { s.Budget.MaxCallsPerTool = 1 }},
		{want: "subtask_failed:a", phase: "execute", task: "policy_block:tested", calls: run(object{}, good), change: func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Block, Reason: "tested"} })
		}},
		{want: "subtask_failed:a", phase: "execute", task: "policy_block:policy_error:cap", calls: run(object{}, good), change: func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Reason: "policy_error:cap", Rule: "cap"} })
		}},
		{want: "subtask_failed:c", phase: "execute", task: "bad_reference:$results.a./none", calls: append(run(object{}, own("a"), own("b", "dependencies", []any{"a"}), tool("c", "get_manager_profile", object{"manager_id": "$results.a./none"}, "dependencies", []any{"a"})),
			planCall{"execute", object{"plan_id": "<plan>", "results": object{"a": object{"status": "completed", "result": object{}}}}, false})},
		{want: "subtask_failed:a", phase: "execute", task: "caller_failed", calls: run(object{"results": object{"a": object{"status": "failed"}}}, own("a"))},
		{want: "subtask_timeout:a", phase: "execute", task: "subtask_timeout", calls: run(object{}, tool("a", "slow", object{})),
			change: func(s *patterns.Spec) { s.Budget.SubtaskTimeout = 20 * time.Millisecond }},
		{want: "max_retries:a", phase: "execute", calls: run(object{"on_subtask_failure": "retry", "max_retries": 1, "retry_delay_seconds": 0}, tool("a", "slow", object{})),
			change: func(s *patterns.Spec) { s.Budget.SubtaskTimeout = 20 * time.Millisecond }},
		{want: "critical_subtask_failed", phase: "execute", calls: run(object{"on_subtask_failure": "skip"}, tool("a", "broken", object{}, "critical", true), tool("b", "get_manager_profile", object{"manager_id": 42}))},
		{want: "blocked_dependencies", phase: "execute", calls: run(object{"on_subtask_failure": "skip"}, broken, own("b", "critical", true, "dependencies", []any{"a"}))},
		{want: "max_steps", phase: "execute", calls: run(object{"max_steps": 1}, good, tool("b", "get_manager_profile", object{"manager_id": 41}))},
		{want: "max_tool_calls", phase: "execute", calls: run(object{}, good, tool("b", "get_manager_profile", object{"manager_id": 41})), change: func(s *patterns.Spec) { s.Budget.MaxToolCalls = 1 }},
		{want: "max_seconds", phase: "execute", calls: run(object{}, tool("a", "slow", object{})), change: func(s *patterns.Spec) { s.Budget.MaxTime = 500 * time.Millisecond }},
		{want: "caller_expired", phase: "execute", fails: true, calls: run(object{}, own("a"))},
		{want: "max_replans", phase: "replan", calls: then(made(good), "replan", object{"plan": subtasks(own("b"))}), change: func(s *patterns.Spec) { s.Budget.MaxReplans = 0 }},
		{want: "max_iterations", phase: "plan", change: func(s *patterns.Spec) { s.Budget.MaxIterations = 1 }, calls: []planCall{
			{"decompose", object{"goal": "g", "strategy": "iterative", "plan": subtasks(good)}, false}, {"execute", object{"plan_id": "<plan>"}, false},
			{"decompose", object{"goal": "g", "parent_plan_id": "<plan>", "plan": subtasks(own("b"))}, false}}},
		{want: "executor_denied:get_manager_profile", phase: "execute", calls: run(object{}, good), change: func(s *patterns.Spec) { s.Execution = nil }},
		{want: "invalid_plan:min_subtasks", phase: "plan", calls: []planCall{made(good)}, change: func(s *patterns.Spec) { s.Budget.MinSubtasks = 2 }},
		{want: "invalid_replan:id_reused:a", phase: "replan", calls: then(made(good), "replan", object{"plan": subtasks(own("a"))})},
		{want: "invalid_replan:no_progress", phase: "replan", calls: then(made(good), "replan", object{"plan": subtasks(subtask("b", "description", "Do a.", "tool", "get_manager_profile", "args", object{"manager_id": 42}))})},
		{want: "invalid_request:mismatch:failed_subtask", phase: "request", calls: append(run(object{}, good, tool("b", "broken", object{})), planCall{"replan", object{"plan_id": "<plan>", "failed_subtask": "a", "plan": subtasks(own("c"))}, false})},
		{want: "invalid_request:not_found:results", phase: "request", calls: run(object{"results": object{"z": object{"status": "failed"}}}, own("a"))},
		{want: "invalid_request:unknown_field:gaol", phase: "request", calls: one(object{"goal": "g", "gaol": 1})},
		{want: "invalid_request:missing:goal", phase: "request", calls: one(object{})},
		{want: "invalid_request:type:plan", phase: "request", calls: one(object{"goal": "g", "plan": 1})},
		{want: "invalid_request:limit:strategy", phase: "request", calls: one(object{"goal": "g", "strategy": "x"})},
		{want: "invalid_request:too_large:goal", phase: "request", calls: one(object{"goal": strings.Repeat("g", 17<<10)})},
		{want: "invalid_request:reused:idempotency_key", phase: "request", calls: []planCall{
			{"decompose", object{"goal": "g", "plan": subtasks(good), "idempotency_key": "k"}, false},
			{"decompose", object{"goal": "h", "plan": subtasks(good), "idempotency_key": "k"}, false}}},
	}
	return append(rows, modelPlanRows(one, good)...)
}

// modelPlanRows are sessions in which a model is asked, or the rules.
func modelPlanRows(one func(object) []planCall, good object) []planRow {
	goal := object{"goal": "Do it"}
	rows := []planRow{
		{want: "goal_unclear", phase: "plan", calls: one(object{"goal": "xyzzy"})},
		{want: "max_llm_calls", phase: "plan", calls: one(goal), replies: []llmtest.Reply{say(1)}, change: func(s *patterns.Spec) { s.Budget.MaxLLMCalls = 0 }},
		{want: "max_tokens", phase: "finalize", replies: []llmtest.Reply{say(subtasks(good))}, change: func(s *patterns.Spec) { s.Budget.MaxTokens = 0 },
			calls: []planCall{{"execute", object{"plan": subtasks(good), "finalize": true}, false}}},
		{want: "max_cost_usd", phase: "plan", calls: one(goal), change: func(s *patterns.Spec) {
			s.LLM, s.Budget.MaxCost, s.Prices.Decide = true, 0.001, patterns.Price{InputUSD: 1, OutputUSD: 1}
		}},
	}
	for reason, reply := range map[string]llmtest.Reply{
		"llm_timeout": llmtest.Silence(), "llm_unreachable": llmtest.Reset(), "llm_empty": llmtest.Content(" "),
		"llm_error:auth": llmtest.Status(401), "llm_error:rate_limit": llmtest.Status(429), "llm_error:server": llmtest.Status(500),
		"llm_error:bad_request": llmtest.Status(400), "llm_error:refused": llmtest.Refusal("No."), "llm_error:no_choices": llmtest.NoChoices(),
	} {
		var change func(*openai.Config)
		if reason == "llm_timeout" { // what is answered has time for it
			change = func(c *openai.Config) { c.Timeout = 100 * time.Millisecond }
		}
		rows = append(rows, planRow{want: reason, phase: "plan", calls: one(goal), replies: []llmtest.Reply{reply}, model: change})
	}
	return rows
}

// planningIsNotHere are reasons of planning that other tests get: in package local, where a stored plan can be damaged and held,
// and a person asked; in the tests of llm; or by the other kinds, of the same code.
var planningIsNotHere = []string{
	"plan_busy", "plan_corrupt", "executor_missing:T", "executor_bad_args:T", "human_rejected", "goal_incomplete:T.A", "cancelled",
	"internal_error",
}

// plan gets every stop reason of planning over MCP and marks it as seen.
func planReasons(t *testing.T, seen *reasonsSeen) {
	t.Run("faults of plans", func(t *testing.T) {
		c := openPlanning(t, planRow{})
		defer c.close()
		first := c.call("plan_decompose", object{"goal": "g", "plan": subtasks(own("held"))}, false)
		tree := c.call("plan_decompose", object{"goal": "g", "strategy": "hierarchical", "plan": subtasks(own("held"))}, false)
		for fault, plan := range badPlans() {
			args := object{"goal": "g", "plan": plan, "max_subtasks": 100, "max_depth": 10}
			held := first
			if strings.Contains(fault, "parent") || fault == "max_depth" {
				args["strategy"], held = "hierarchical", tree
			}
			row{want: "invalid_plan:" + fault, phase: "plan", kind: pl}.judge(t, c.call("plan_decompose", args, false).object, seen)
			args = object{"plan_id": held.object["plan_id"], "plan": plan}
			row{want: "invalid_replan:" + fault, phase: "replan", kind: pl}.judge(t, c.call("plan_replan", args, false).object, seen)
		}
	})
	for _, r := range planRows() {
		t.Run(r.want+" "+r.task, func(t *testing.T) {
			c := openPlanning(t, r)
			defer c.close()
			var answer reply
			id := any(nil)
			for _, call := range r.calls {
				for name, v := range call.args {
					if v == "<plan>" {
						call.args[name] = id
					}
				}
				answer = c.call("plan_"+call.verb, call.args, call.cancel)
				if made := answer.object["plan_id"]; made != nil {
					id = made
				}
			}
			row{want: r.want, phase: r.phase, kind: pl}.judge(t, answer.object, seen)
			attempts := attemptReasons(answer.object)
			for _, reason := range attempts {
				seen.note(t, pl, reason, patterns.PhaseExecute, true)
			}
			if r.task != "" && !slices.Contains(attempts, r.task) {
				t.Errorf("no attempt ended with %q: %v", r.task, answer.object["trace"])
			}
		})
	}
}

// attemptReasons are the stop reasons of attempts at subtasks, less those of the run's own end.
func attemptReasons(result map[string]any) []string {
	var reasons []string
	trace, _ := result["trace"].([]any)
	for _, row := range trace {
		row, _ := row.(map[string]any)
		if reason, ok := row["stop_reason"].(string); ok && reason != "max_seconds" {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// openPlanning serves one planning pattern.
func openPlanning(t *testing.T, r planRow) *session {
	t.Helper()
	spec := specOf(t, gateway.TaskDecomposition)
	var tools []catalog.Tool
	for _, name := range spec.Catalog.Names() {
		known, _ := spec.Catalog.Tool(name)
		tools = append(tools, known)
	}
	slow := badTools(t)[0]
	slow.Name, slow.Do = "slow", func(ctx context.Context, _ catalog.Call) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	all, err := catalog.New(append(tools, slow)...)
	if err != nil {
		t.Fatal(err)
	}
	spec.Kind, spec.Catalog, spec.Plans, spec.Envelope = pl, all, "plan", patterns.RequireNone
	spec.Policy = append(spec.Policy, "slow")
	spec.Execution, spec.Budget, spec.Prompts = spec.Policy, gateway.DefaultBudget(pl), prompts.Of(pl)
	if r.change != nil {
		r.change(&spec)
	}
	var model patterns.Model = offline.New()
	if len(r.replies) > 0 {
		fake := llmtest.NewServer(r.replies...)
		t.Cleanup(fake.Close)
		config := openai.Config{BaseURL: fake.URL, APIKey: "test", Model: "test", Timeout: 5 * time.Second}
		if r.model != nil {
			r.model(&config)
		}
		m, err := openai.New(config)
		if err != nil {
			t.Fatal(err)
		}
		model, spec.LLM = m, true
	}
	var list []server.Pattern
	for _, verb := range []string{"decompose", "execute", "replan"} {
		spec.Name = "plan_" + verb
		list = append(list, server.Pattern{Spec: spec})
	}
	wait := time.Hour
	if r.fails {
		wait = -1
	}
	return openAll(t, list, model, wait)
}
