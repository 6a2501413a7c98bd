package server

import (
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

// What a planning run's reader is told to do (spec/planning-reference.md section 15, next).
func TestPlanNext(t *testing.T) {
	const d, e, r = "plan_decompose", "plan_execute", "plan_replan"
	for name, c := range map[string]struct {
		tool, args, reason, phase string
		llm                       bool
		want                      string // action, tool, arguments
	}{
		"made":             {d, `{"goal":"g"}`, "success", "", false, `call plan_execute {"expected_revision":3,"plan_id":"plan_1"}`},
		"carried out":      {e, `{"plan_id":"plan_1"}`, "success", "", false, `answer_user`},
		"in part":          {e, `{"plan_id":"plan_1"}`, "success_partial", "", false, `answer_user`},
		"a round":          {e, `{"plan_id":"plan_1"}`, "iteration_pending", "", true, `call plan_decompose {"goal":"g","parent_plan_id":"plan_1"}`},
		"replanned":        {r, `{"plan_id":"plan_1"}`, "success", "", true, `call plan_execute {"plan_id":"plan_1"}`},
		"complete":         {e, `{"plan_id":"plan_1"}`, "plan_complete", "execute", true, `answer_user`},
		"a subtask failed": {e, `{"plan_id":"plan_1"}`, "subtask_failed:b", "execute", true, `call plan_replan {"expected_revision":3,"failed_subtask":"b","plan_id":"plan_1"}`},
		"without a model":  {e, `{"plan_id":"plan_1"}`, "max_retries:b", "execute", false, `call plan_replan {"expected_revision":3,"failed_subtask":"b","plan":` + mustJSON(arguments.Call{Spec: patterns.Spec{Kind: gateway.Planning}}.IntentSkeleton()) + `,"plan_id":"plan_1"}`},
		"a budget":         {e, `{"plan_id":"plan_1"}`, "max_tool_calls", "execute", true, `call plan_execute {"plan_id":"plan_1"}`},
		"cancelled":        {e, `{"plan_id":"plan_1"}`, "cancelled", "execute", true, `call plan_execute {"plan_id":"plan_1"}`},
		"no such plan":     {e, `{"plan_id":"plan_1"}`, "plan_not_found", "execute", true, `call plan_status {}`},
		"busy":             {e, `{"plan_id":"plan_1"}`, "plan_busy", "execute", true, `call plan_status {"plan_id":"plan_1"}`},
		"another revision": {e, `{"plan_id":"plan_1","expected_revision":2}`, "plan_conflict", "execute", true, `call plan_execute {"expected_revision":3,"plan_id":"plan_1"}`},
		"no text":          {e, `{"plan_id":"plan_1"}`, "llm_timeout", "finalize", true, `answer_user`},
		"no model":         {d, `{"goal":"g"}`, "llm_timeout", "plan", true, `call plan_decompose {"goal":"g","plan":` + mustJSON(arguments.Call{Spec: patterns.Spec{Kind: gateway.Planning}}.IntentSkeleton()) + `}`},
		"not allowed here": {e, `{"plan_id":"plan_1"}`, "executor_denied:pay", "execute", true, `call plan_replan {"expected_revision":3,"failed_subtask":"b","plan_id":"plan_1","reason":"executor_denied:pay"}`},
		"in doubt":         {e, `{"plan_id":"plan_1"}`, "in_doubt:b", "execute", true, `tell_user`},
		"damaged":          {e, `{"plan_id":"plan_1"}`, "plan_corrupt", "execute", true, `tell_user`},
	} {
		t.Run(name, func(t *testing.T) {
			tool := planTools(t, c.llm)[c.tool]
			taken, _ := tool.take([]byte(c.args), "local:1")
			for _, ledger := range [][]gateway.Entry{nil, {{Tool: "issue_refund", Effect: "write", Status: gateway.Finished}}} {
				n := outcome.Ended(taken, patterns.Ended{Result: patterns.Result{
					StopReason: c.reason, Phase: c.phase, Ledger: ledger,
					Planned: &patterns.Planned{PlanID: "plan_1", Revision: 3, Failed: "b", Goal: "g", LLM: c.llm},
				}}).Next
				got := n.Action
				if n.Tool != "" {
					got += " " + n.Tool + " " + mustJSON(n.Arguments)
				}
				holds(t, n)
				if got != c.want {
					t.Errorf("%s of %s: next %s, want %s", c.reason, c.tool, got, c.want)
				}
			}
		})
	}
}
