package server_test

import (
	"context"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

const cl = gateway.Call

// ofOwnTools are reasons of calls that were cut, lost or not sent, of business keys and of kill switches: real servers and
// services get them, in every kind and over MCP, in package cli (TestHostileOwnTools, TestOwnCallsRefusedInEveryKind).
var ofOwnTools = []string{
	"tool_unavailable:T", "tool_timeout:T", "route_unavailable:T", "route_timeout:T", "worker_unavailable:W", "executor_unavailable:T",
	"supervisor_block:once_reused", "policy_block:once_reused", "kill_switch",
}

// calling makes a pattern of kind call call a tool.
func calling(tool string, more ...func(*patterns.Spec)) func(*patterns.Spec) {
	return func(s *patterns.Spec) {
		s.Tool = tool
		for _, f := range more {
			f(s)
		}
	}
}

// singles are calls of one tool, and what else the gate refuses where own tools are in reach.
func singles() []row {
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	verdict := func(v gateway.Verdict) func(*patterns.Spec) {
		return func(s *patterns.Spec) {
			s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return v })
		}
	}
	block, ask := verdict(gateway.Verdict{Reason: "mine"}), verdict(gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"})
	erring := verdict(gateway.Verdict{Reason: "policy_error:cap", Rule: "cap"})
	panics := func(s *patterns.Spec) {
		s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { panic("a rule is broken") })
	}
	rows := []row{
		{want: "success", arguments: object{"user_id": 42}},
		{want: "invalid_request:type:max_wait_seconds", phase: "request", arguments: object{"max_wait_seconds": "x"}},
		{want: "invalid_request:limit:user_id", phase: "request", arguments: object{"user_id": deep}},
		{want: "invalid_request:too_large:arguments", phase: "request", arguments: object{"user_id": strings.Repeat("x", 1<<20)}},
		{want: "invalid_request:reused:idempotency_key", phase: "request", arguments: object{"user_id": 42, "idempotency_key": "k"},
			again: object{"user_id": 43, "idempotency_key": "k"}},
		{want: "tool_denied:get_refund_context", phase: "call", change: allowOnly("reporting")},
		{want: "tool_bad_args:get_refund_context", phase: "call", arguments: object{"gaol": 1}},
		{want: "tool_error:broken", phase: "call", arguments: object{}, change: calling("broken")},
		{want: "tool_bad_result:lying", phase: "call", arguments: object{}, change: calling("lying")},
		{want: "max_seconds", phase: "call", change: func(s *patterns.Spec) { s.Budget.MaxTime = 0 }},
		{want: "max_tool_calls", phase: "call", change: func(s *patterns.Spec) { s.Budget.MaxToolCalls = 0 }},
		{want: "policy_block:mine", phase: "call", change: block},
		{want: "policy_block:policy_error:cap", phase: "call", change: erring},
		{want: "human_rejected", phase: "call", change: ask},
		{want: "internal_error", phase: "call", change: panics},
		{want: "cancelled", phase: "call", arguments: object{}, change: hanging, cancel: true},
	}
	for i := range rows {
		rows[i].kind, rows[i].rules = cl, true
		if rows[i].arguments == nil {
			rows[i].arguments = object{"user_id": 42}
		}
	}
	outside := func(s *patterns.Spec) { // a value that the schema does not allow
		c := s.Catalog
		tool, _ := c.Tool("get_refund_context")
		tool.Input = schemaOf(`{"type":"object","properties":{"user_id":{"type":"integer","maximum":9}},"required":["user_id"],"additionalProperties":false}`)
		s.Catalog, _ = catalog.New(tool)
	}
	keyless := func(s *patterns.Spec) {
		tool, _ := s.Catalog.Tool("get_refund_context")
		tool.Once = func(map[string]any) (string, error) { return "no key", nil }
		s.Catalog, _ = catalog.New(tool)
	}
	return append(rows,
		row{kind: sv, want: "invalid_action:bad_arg_value:get_refund_context:user_id", phase: "worker", replies: []llmtest.Reply{say(lookUp)}, change: outside},
		row{kind: sv, want: "tool_bad_args:get_refund_context", phase: "execution", replies: []llmtest.Reply{say(lookUp)}, change: keyless},
		row{kind: td, want: "policy_block:mine", phase: "execute", replies: []llmtest.Reply{say(steps(sales...))}, change: block},
		row{kind: rt, want: "policy_block:mine", phase: "delegate", replies: []llmtest.Reply{say(route("billing_specialist"))}, change: block},
		row{kind: or, want: "critical_task_failed", task: "policy_block:mine", phase: "dispatch", change: block,
			replies: []llmtest.Reply{task(object{"worker": "sales_worker", "critical": true})}},
		row{kind: td, want: "policy_block:policy_error:cap", phase: "execute", replies: []llmtest.Reply{say(steps(sales...))}, change: erring},
		row{kind: rt, want: "policy_block:policy_error:cap", phase: "delegate", replies: []llmtest.Reply{say(route("billing_specialist"))}, change: erring},
		row{kind: or, want: "critical_task_failed", task: "policy_block:policy_error:cap", phase: "dispatch", change: erring,
			replies: []llmtest.Reply{task(object{"worker": "sales_worker", "critical": true})}},
		row{kind: sv, want: "supervisor_block:mine", phase: "supervisor", replies: []llmtest.Reply{say(lookUp)}, change: block},
		row{kind: sv, want: "supervisor_block:policy_error:cap", phase: "supervisor", replies: []llmtest.Reply{say(lookUp)}, change: erring},
	)
}

func schemaOf(text string) *catalog.Schema {
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}

// hanging is a tool that answers only to a cancellation.
func hanging(s *patterns.Spec) {
	tool, _ := s.Catalog.Tool("reporting")
	tool.Name, tool.Do = "hanging", func(ctx context.Context, _ catalog.Call) (any, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return nil, ctx.Err()
	}
	s.Catalog, _ = catalog.New(tool)
	s.Tool, s.Policy, s.Execution = "hanging", []string{"hanging"}, []string{"hanging"}
}
