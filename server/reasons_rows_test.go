package server_test

import (
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/openai"
)

const (
	td = gateway.TaskDecomposition
	or = gateway.Orchestrator
	rt = gateway.Routing
	sv = gateway.Supervisor
)

var (
	kinds = []gateway.Kind{td, or, rt, sv}
	// proposing is the phase in which a kind's intents are proposed.
	proposing = map[gateway.Kind]string{td: "plan", or: "plan", rt: "route", sv: "worker"}
)

// allRows are runs that together end in every stop reason there is.
func allRows() []row {
	var rows []row
	for _, part := range [][]row{successes(), requests(), catalogs(), runTools(), plans(), taskPlans(), routes(), actions(), rulesFaults(),
		modelFaults(), callFaults(), workerFaults(), loops(), limits(), blocks(), others(), singles(), ownReasons()} {
		rows = append(rows, part...)
	}
	return rows
}

func successes() []row {
	return []row{
		{kind: td, want: "success", replies: []llmtest.Reply{say(steps(sales...)), llmtest.Content("Net 26,825.")}},
		{kind: or, want: "success", replies: []llmtest.Reply{say(tasks("sales_worker")), llmtest.Content("Well.")}},
		{kind: rt, want: "success", replies: []llmtest.Reply{say(route("billing_specialist")), llmtest.Content("49 USD.")}},
		{kind: sv, want: "success", replies: []llmtest.Reply{say(lookUp), say(closing)}},
	}
}

func requests() []row {
	var rows []row
	for _, kind := range kinds {
		goal, intent := "goal", "plan"
		switch kind {
		case rt:
			goal, intent = "ticket", "route"
		case sv:
			intent = "actions"
		}
		deep := any("x")
		for range 100 {
			deep = []any{deep}
		}
		for want, args := range map[string]object{
			"unknown_field:gaol": with(kind, object{"gaol": 1}), "missing:" + goal: with(kind, object{goal: " "}),
			"type:" + goal: with(kind, object{goal: 5}), "too_large:" + goal: with(kind, object{goal: strings.Repeat("x", 17<<10)}),
			"limit:" + intent: with(kind, object{intent: deep}),
		} {
			rows = append(rows, row{kind: kind, want: "invalid_request:" + want, phase: "request", arguments: args})
		}
		rows = append(rows, row{
			kind: kind, want: "invalid_request:reused:idempotency_key", phase: "request", rules: true,
			arguments: with(kind, object{"idempotency_key": "k"}), again: with(kind, object{"idempotency_key": "k", goal: "another"}),
		})
	}
	first := map[gateway.Kind]object{rt: {"route": object{"target": "sales_specialist"}}, sv: {"actions": []any{}}}
	goal := map[gateway.Kind]string{rt: "ticket", sv: "goal"}
	for kind, intent := range first {
		rows = append(rows,
			row{kind: kind, want: "invalid_request:not_found:run_id", phase: "request", arguments: object{"run_id": "run_0123456789abcdef"}},
			row{kind: kind, want: "invalid_request:mismatch:" + goal[kind], phase: "request", arguments: with(kind, intent), then: object{goal[kind]: "another", "continue_with": "model"}})
	}
	return rows
}

// catalogs are calls of the tool that lists what may be called.
func catalogs() []row {
	rows := []row{{kind: gateway.Catalog, want: "success", arguments: object{}}}
	for want, args := range map[string]object{
		"unknown_field:tool": {"tool": "x"}, "type:names": {"names": 1}, "limit:limit": {"limit": 101},
		"too_large:query": {"query": strings.Repeat("x", 257)}, "not_found:names": {"names": []any{"pay"}},
	} {
		rows = append(rows, row{kind: gateway.Catalog, want: "invalid_request:" + want, phase: "request", arguments: args})
	}
	return rows
}

// runTools are calls of the tools about runs; what they show of a run is the run's own.
func runTools() []row {
	rows := []row{{kind: gateway.RunStatus, want: "success", arguments: object{}}, {kind: gateway.RunList, want: "success", arguments: object{}}}
	add := func(kind gateway.Kind, want string, args object) {
		rows = append(rows, row{kind: kind, want: "invalid_request:" + want, phase: "request", arguments: args})
	}
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	for _, kind := range []gateway.Kind{gateway.RunStatus, gateway.RunWait, gateway.RunCancel, gateway.RunList} {
		name := "run_id"
		if kind == gateway.RunList {
			name = "pattern"
		} else {
			add(kind, "not_found:run_id", object{"run_id": "run_0123456789abcdef"})
		}
		add(kind, "unknown_field:tool", object{name: "x", "tool": "x"})
		add(kind, "type:"+name, object{name: 1})
		add(kind, "limit:"+name, object{name: deep})
		add(kind, "too_large:"+name, object{name: strings.Repeat("x", 257)})
	}
	add(gateway.RunWait, "missing:run_id", object{})
	add(gateway.RunCancel, "missing:run_id", object{})
	return rows
}

// refusedReply is a model's reply that the gate refuses for a reason.
func refusedReply(kind gateway.Kind, family string, replies map[string]llmtest.Reply) []row {
	var rows []row
	for reason, reply := range replies {
		rows = append(rows, row{kind: kind, want: family + reason, phase: proposing[kind], replies: []llmtest.Reply{reply}})
	}
	return rows
}

// step is a plan of three steps of which the first is changed.
func step(change object) llmtest.Reply {
	plan := steps(sales...)
	first := plan["steps"].([]any)[0].(object)
	for k, v := range change {
		if first[k] = v; v == nil {
			delete(first, k)
		}
	}
	return say(plan)
}

func plans() []row {
	return refusedReply(td, "invalid_plan:", map[string]llmtest.Reply{
		"not_object": llmtest.Content("[]"), "non_json": llmtest.Content("A plan:"), "bad_kind": say(object{"kind": "route"}),
		"extra_keys": say(object{"kind": "plan", "note": 1, "steps": []any{}}), "missing_steps": say(object{"kind": "plan"}),
		"min_steps": say(steps(sales[:2]...)), "max_steps": say(steps(append(append(append([]any{}, sales...), sales...), sales...)...)),
		"duplicate_step_id": step(object{"id": "b"}), "tool_not_allowed:pay": step(object{"tool": "pay"}),
		"step_1_not_object": say(object{"kind": "plan", "steps": []any{1, 2, 3}}), "step_1_extra_keys": step(object{"note": 1}),
		"step_1_missing_id": step(object{"id": nil}), "step_1_missing_title": step(object{"title": nil}),
		"step_1_missing_tool": step(object{"tool": nil}), "step_1_bad_args": step(object{"args": []any{}}),
	})
}

// task is a plan of one task that is changed.
func task(change object) llmtest.Reply {
	plan := tasks("sales_worker")
	first := plan["tasks"].([]any)[0].(object)
	for k, v := range change {
		if first[k] = v; v == nil {
			delete(first, k)
		}
	}
	return say(plan)
}

func taskPlans() []row {
	twice := tasks("sales_worker", "sales_worker")
	twice["tasks"].([]any)[1].(object)["id"] = " a "
	return refusedReply(or, "invalid_plan:", map[string]llmtest.Reply{
		"non_json": llmtest.Content("[]"), "kind": say(object{"kind": "route"}), "tasks": say(object{"kind": "plan"}),
		"max_tasks": say(object{"kind": "plan", "tasks": []any{}}), "task_shape": say(object{"kind": "plan", "tasks": []any{1}}),
		"missing_keys": task(object{"critical": nil}), "task_id": task(object{"id": 1}), "duplicate_task_id": say(twice),
		"worker": task(object{"worker": ""}), "worker_not_allowed:pay": task(object{"worker": "pay"}),
		"args": task(object{"args": "x"}), "critical": task(object{"critical": "yes"}),
	})
}

func routes() []row {
	rows := refusedReply(rt, "invalid_route:", map[string]llmtest.Reply{
		"not_object": llmtest.Content("1"), "non_json": llmtest.Content("billing"), "bad_kind": say(object{"kind": "plan"}),
		"extra_keys":     say(object{"kind": "route", "target": "billing_specialist", "args": object{"ticket": "x"}, "note": 1}),
		"missing_target": say(object{"kind": "route", "args": object{"ticket": "x"}}), "route_not_allowed:pay": say(route("pay")),
		"bad_args":       say(object{"kind": "route", "target": "billing_specialist", "args": 1}),
		"missing_ticket": say(object{"kind": "route", "target": "billing_specialist", "args": object{"ticket": " "}}),
	})
	return append(rows, row{kind: rt, want: "invalid_route:repeat_target_after_reroute", phase: "route",
		replies: []llmtest.Reply{say(route("sales_specialist")), say(route("sales_specialist"))}})
}

func actions() []row {
	return refusedReply(sv, "invalid_action:", map[string]llmtest.Reply{
		"not_object": llmtest.Content("null"), "non_json": llmtest.Content("{"), "bad_kind": say(object{"kind": "invalid"}),
		"extra_keys_final": say(object{"kind": "final", "answer": "x", "note": 1}), "bad_final_answer": say(object{"kind": "final"}),
		"extra_keys_tool": say(object{"kind": "tool", "name": "issue_refund", "note": 1}), "bad_tool_name": say(act(" ", nil)),
		"bad_tool_args": say(object{"kind": "tool", "name": "issue_refund", "args": 1}), "unknown_tool:pay": say(act("pay", nil)),
		"extra_tool_args:get_refund_context":              say(act("get_refund_context", object{"user_id": 42, "note": 1})),
		"missing_required_arg:get_refund_context:user_id": say(act("get_refund_context", nil)),
		"bad_arg_type:get_refund_context:user_id":         say(act("get_refund_context", object{"user_id": "42"})),
	})
}

// rulesFaults are what the offline rules cannot propose.
func rulesFaults() []row {
	goal := func(kind gateway.Kind, text string) object {
		name := "goal"
		if kind == rt {
			name = "ticket"
		}
		return with(kind, object{name: text})
	}
	// A specialist of its own whose further argument no ticket holds.
	needy := func(s *patterns.Spec) {
		input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"ticket":{"type":"string"},"serial_number":{"type":"integer"}},
			"required":["ticket","serial_number"],"additionalProperties":false}`))
		if err != nil {
			panic(err)
		}
		tool, _ := s.Catalog.Tool("reporting")
		tool.Name, tool.Description, tool.Input = "guarantee_desk", "Looks up the guarantee of a machine.", input
		c, err := catalog.New(tool)
		if err != nil {
			panic(err)
		}
		s.Catalog, s.Policy, s.Execution = c, c.Names(), c.Names()
	}
	return []row{
		{kind: td, rules: true, want: "goal_incomplete:*", phase: "plan", arguments: goal(td, "Show the sales, the refunds, the KPIs and the risk signals")},
		{kind: or, rules: true, want: "goal_incomplete:*", phase: "plan", change: needy, arguments: goal(or, "Look up the guarantee of my machine")},
		{kind: rt, rules: true, want: "goal_incomplete:*", phase: "route", change: needy, arguments: goal(rt, "Is the guarantee of my machine still good?")},
		{kind: sv, rules: true, want: "goal_incomplete:*", phase: "worker", arguments: goal(sv, "Refund the customer")},
		{kind: td, rules: true, want: "goal_unclear", phase: "plan", arguments: goal(td, "Sing a song about the sea")},
		{kind: or, rules: true, want: "goal_unclear", phase: "plan", arguments: goal(or, "Sing a song about the sea")},
		{kind: sv, rules: true, want: "goal_unclear", phase: "worker", arguments: goal(sv, "Sing a song about the sea")},
		{kind: rt, rules: true, want: "route_unclear", phase: "route", arguments: goal(rt, "Sing a song about the sea")},
	}
}

func modelFaults() []row {
	faults := map[string]llmtest.Reply{
		"llm_timeout": llmtest.Silence(), "llm_unreachable": llmtest.Reset(), "llm_empty": llmtest.Content(" \n"),
		"llm_error:auth": llmtest.Status(401), "llm_error:rate_limit": llmtest.Status(429), "llm_error:server": llmtest.Status(500),
		"llm_error:bad_request": llmtest.Status(400), "llm_error:refused": llmtest.Refusal("No."), "llm_error:no_choices": llmtest.NoChoices(),
	}
	proposals := map[gateway.Kind]llmtest.Reply{td: say(steps(sales...)), or: say(tasks("sales_worker")), rt: say(route("billing_specialist"))}
	var rows []row
	for reason, reply := range faults {
		var first, second func(*openai.Config)
		if reason == "llm_timeout" { // what is answered has time for it
			first = func(c *openai.Config) { c.Timeout = 100 * time.Millisecond }
			second = func(c *openai.Config) { c.Timeout = time.Second }
		}
		for _, kind := range kinds {
			rows = append(rows, row{kind: kind, want: reason, phase: proposing[kind], replies: []llmtest.Reply{reply}, model: first})
			if proposal, finalizes := proposals[kind]; finalizes {
				rows = append(rows, row{kind: kind, want: reason, phase: "finalize", replies: []llmtest.Reply{proposal, reply}, model: second})
			}
		}
	}
	return rows
}

// allowOnly leaves one name on the execution allowlist.
func allowOnly(name string) func(*patterns.Spec) {
	return func(s *patterns.Spec) { s.Execution = []string{name} }
}

func callFaults() []row {
	call := func(tool string, args object) []llmtest.Reply {
		return []llmtest.Reply{say(steps(append([]any{tool, args}, sales...)...))}
	}
	one := func(v any) []llmtest.Reply { return []llmtest.Reply{say(v)} }
	return []row{
		{kind: td, want: "tool_denied:fetch_refund_data", phase: "execute", replies: one(steps(sales...)), change: allowOnly("fetch_sales_data")},
		{kind: td, want: "tool_missing:absent", phase: "execute", replies: call("absent", object{})},
		{kind: td, want: "tool_bad_args:fetch_sales_data", phase: "execute", replies: call("fetch_sales_data", object{"month": 4})},
		{kind: td, want: "tool_error:broken", phase: "execute", replies: call("broken", object{})},
		{kind: td, want: "tool_bad_result:lying", phase: "execute", replies: call("lying", object{})},
		{kind: sv, want: "tool_denied:get_refund_context", phase: "execution", replies: one(lookUp), change: allowOnly("issue_refund")},
		{kind: sv, want: "tool_missing:absent", phase: "execution", replies: one(act("absent", object{}))},
		{kind: sv, want: "tool_error:broken", phase: "execution", replies: one(act("broken", object{}))},
		{kind: sv, want: "tool_bad_result:lying", phase: "execution", replies: one(act("lying", object{}))},
		{kind: rt, want: "route_denied:billing_specialist", phase: "delegate", replies: one(route("billing_specialist")), change: allowOnly("sales_specialist")},
		{kind: rt, want: "route_missing:absent", phase: "delegate", replies: one(route("absent"))},
		{kind: rt, want: "route_bad_args:billing_specialist", phase: "delegate",
			replies: one(object{"kind": "route", "target": "billing_specialist", "args": object{"ticket": "x", "note": 1}})},
		{kind: rt, want: "route_error:broken", phase: "delegate", replies: one(route("broken"))},
		{kind: rt, want: "route_bad_observation", phase: "delegate", replies: one(route("reporting"))},
	}
}

// workerFaults are the ways in which a task fails; the run goes on.
func workerFaults() []row {
	r := func(task, worker string) row {
		return row{kind: or, want: "success", task: task, replies: []llmtest.Reply{say(tasks("sales_worker", worker)), llmtest.Content("Partly.")}}
	}
	denied, args, slow, few := r("worker_denied:inventory_worker", "inventory_worker"), r("worker_bad_args:inventory_worker", "inventory_worker"),
		r("task_timeout", "payments_worker"), r("max_dispatches", "inventory_worker")
	denied.change = allowOnly("sales_worker")
	args.replies[0] = say(object{"kind": "plan", "tasks": []any{object{"id": "a", "worker": "inventory_worker", "args": object{"region": 1}, "critical": false}}})
	slow.change = func(s *patterns.Spec) { s.Budget.TaskTimeout, s.Budget.MaxRetriesPerTask = 5*time.Millisecond, 0 }
	few.change = func(s *patterns.Spec) { s.Budget.MaxDispatches = 1 }
	calls := r("max_tool_calls", "inventory_worker")
	calls.change = func(s *patterns.Spec) { s.Budget.MaxToolCalls = 1 }
	critical := row{kind: or, want: "critical_task_failed", phase: "dispatch", replies: []llmtest.Reply{task(object{"worker": "broken", "args": object{}, "critical": true})}}
	return []row{
		denied, args, slow, few, calls, critical, r("worker_missing:absent", "absent"), r("worker_error:broken", "broken"),
		r("worker_bad_result:lying", "lying"), r("worker_reported_error:reporting", "reporting"),
	}
}

func loops() []row {
	mail := say(act("send_refund_email", object{"user_id": 42, "amount_usd": 10, "message": "Paid"}))
	return []row{
		{kind: td, want: "loop_detected", phase: "execute", replies: []llmtest.Reply{say(steps(append(sales[:4:4], sales[:2]...)...))}},
		{kind: sv, want: "loop_detected:signature_repeat", phase: "execution",
			replies: []llmtest.Reply{say(lookUp), say(refund(10)), mail, mail}},
		{kind: sv, want: "loop_detected:per_tool_limit", phase: "execution",
			replies: []llmtest.Reply{say(lookUp), say(refund(10)), say(refund(11)), say(refund(12))}},
	}
}

func limits() []row {
	rows := []row{
		{kind: td, want: "max_execute_steps", phase: "execute", replies: []llmtest.Reply{say(steps(sales...))},
			change: func(s *patterns.Spec) { s.Budget.MaxExecuteSteps = 2 }},
		{kind: td, want: "max_tool_calls", phase: "execute", replies: []llmtest.Reply{say(steps(sales...))},
			change: func(s *patterns.Spec) { s.Budget.MaxToolCalls = 2 }},
		{kind: sv, want: "max_tool_calls", phase: "execution", replies: []llmtest.Reply{say(lookUp)}, change: func(s *patterns.Spec) { s.Budget.MaxToolCalls = 0 }},
		{kind: rt, want: "max_tool_calls", phase: "delegate", replies: []llmtest.Reply{say(route("billing_specialist"))},
			change: func(s *patterns.Spec) { s.Budget.MaxToolCalls = 0 }},
		{kind: rt, want: "max_delegations", phase: "delegate", replies: []llmtest.Reply{say(route("sales_specialist")), say(route("billing_specialist"))},
			change: func(s *patterns.Spec) { s.Budget.MaxDelegations = 1 }},
		{kind: rt, want: "max_route_attempts", phase: "route", replies: []llmtest.Reply{say(route("sales_specialist"))},
			change: func(s *patterns.Spec) { s.Budget.MaxRouteAttempts = 1 }},
		{kind: sv, want: "max_steps", phase: "worker", replies: []llmtest.Reply{say(lookUp)}, change: func(s *patterns.Spec) { s.Budget.MaxSteps = 1 }},
	}
	proposal := map[gateway.Kind]llmtest.Reply{td: say(steps(sales...)), or: say(tasks("sales_worker")), rt: say(route("billing_specialist"))}
	for _, kind := range kinds {
		rows = append(rows,
			row{kind: kind, want: "max_seconds", phase: proposing[kind], change: func(s *patterns.Spec) { s.Budget.MaxTime = 0 }},
			row{kind: kind, want: "max_llm_calls", phase: proposing[kind], change: func(s *patterns.Spec) { s.Budget.MaxLLMCalls = 0 }},
			row{kind: kind, want: "max_tokens", phase: proposing[kind], change: func(s *patterns.Spec) { s.Budget.MaxTokens = 0 }},
			row{kind: kind, want: "max_cost_usd", phase: proposing[kind], change: func(s *patterns.Spec) {
				s.LLM, s.Budget.MaxCost, s.Prices.Decide = true, 0.001, patterns.Price{InputUSD: 1, OutputUSD: 1}
			}})
		if reply, finalizes := proposal[kind]; finalizes {
			rows = append(rows,
				row{kind: kind, want: "max_llm_calls", phase: "finalize", replies: []llmtest.Reply{reply}, change: func(s *patterns.Spec) { s.Budget.MaxLLMCalls = 1 }},
				row{kind: kind, want: "max_tokens", phase: "finalize", replies: []llmtest.Reply{reply}, change: func(s *patterns.Spec) { s.Budget.MaxTokens = 1 }},
				row{kind: kind, want: "max_cost_usd", phase: "finalize", replies: []llmtest.Reply{reply}, change: func(s *patterns.Spec) {
					s.LLM, s.Budget.MaxCost, s.Prices.Write = true, 0.001, patterns.Price{InputUSD: 1, OutputUSD: 1}
				}},
				row{kind: kind, want: "max_seconds", phase: "finalize", replies: []llmtest.Reply{reply, llmtest.Silence()},
					change: func(s *patterns.Spec) { s.Budget.MaxTime = time.Second }})
		}
	}
	return rows
}

// blocks are what the refund policy does not allow.
func blocks() []row {
	b := func(reason string, actions ...object) row {
		r := row{kind: sv, want: "supervisor_block:" + reason, phase: "supervisor"}
		for _, a := range actions {
			r.replies = append(r.replies, say(a))
		}
		return r
	}
	budget, old, endless := b("refund_budget_exhausted", lookUp, refund(10)), b("refund_window_expired", lookUp, refund(10)),
		b("revise_not_convergent", lookUp, refund(1000))
	budget.change = refundsBy(refunds.Limits{AutoUSD: 1000, Days: 14}.Judge())
	old.change = refundsBy(refunds.Limits{AutoUSD: 1000, PerRunUSD: 2000}.Judge())
	endless.change = refundsBy(refunds.Limits{AutoUSD: 1000, PerRunUSD: 999.995, Days: 14}.Judge())
	return []row{
		b("invalid_refund_amount", lookUp, refund(0.001)), b("refund_requires_context", refund(10)), old, budget, endless,
		b("refund_exceeds_last_charge", lookUp, refund(700), refund(600)),
		b("email_before_refund", lookUp, act("send_refund_email", object{"user_id": 42, "amount_usd": 10, "message": "x"})),
		b("final_requires_context", closing), b("no_rule_matched", act("reporting", object{})),
	}
}

func refundsBy(policy gateway.Reviewer) func(*patterns.Spec) {
	return func(s *patterns.Spec) { s.Reviewer = policy }
}

func others() []row {
	rows := []row{
		{kind: sv, want: "human_rejected", phase: "human_approval", replies: []llmtest.Reply{say(lookUp), say(refund(1200))}},
		{kind: rt, want: "caller_expired", phase: "route", arguments: with(rt, object{"route": object{"target": "sales_specialist"}})},
		{kind: sv, want: "caller_expired", phase: "worker", arguments: with(sv, object{"actions": []any{lookUp}})},
	}
	proposal := map[gateway.Kind]llmtest.Reply{td: say(steps(sales...)), or: say(tasks("sales_worker")), rt: say(route("billing_specialist")), sv: say(lookUp)}
	asking := func(s *patterns.Spec) {
		s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"} })
	}
	rows = append(rows,
		row{kind: td, want: "human_rejected", phase: "execute", replies: []llmtest.Reply{proposal[td]}, change: asking},
		row{kind: rt, want: "human_rejected", phase: "delegate", replies: []llmtest.Reply{proposal[rt]}, change: asking},
		row{kind: or, want: "critical_task_failed", task: "human_rejected", phase: "dispatch", change: asking,
			replies: []llmtest.Reply{task(object{"worker": "sales_worker", "critical": true})}})
	for _, kind := range kinds {
		rows = append(rows, row{kind: kind, want: "cancelled", phase: proposing[kind], replies: []llmtest.Reply{llmtest.Silence()}, cancel: true})
		rows = append(rows, row{kind: kind, want: "internal_error", phase: proposing[kind], replies: []llmtest.Reply{proposal[kind]},
			change: func(s *patterns.Spec) {
				s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { panic("a rule is broken") })
			}})
	}
	return rows
}
