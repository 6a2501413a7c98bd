package settings_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/settings"
)

func TestLoadConfigPlanning(t *testing.T) {
	const file = `version: 1
llm: {temperature: 1.5}
patterns:
  plan:
    budget: {max_subtasks: 20, max_depth: 4, max_replans: 0, max_iterations: 3, min_subtasks: 0, max_concurrent: 256, max_retries: 0,
      max_tool_calls: 9, max_llm_calls: 8, max_tokens: 7, max_seconds: 0.5, subtask_timeout_seconds: 0.25, max_calls_per_tool: 6}
    tools: [sales_worker, issue_refund]
    allow: {execution: []}
    require_approval: write
    llm: {model: small, temperature: 0.5}
    instructions: "Say {{/* why */}}{{\"{{\"}}it}} briefly."
    approver: {kind: reject, min_assurance: signed}
`
	loaded, warnings, err := readText(t, file)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Load = %v, warnings %v", err, warnings)
	}
	var whole settings.Config
	if err := whole.Embed(nil); err != nil {
		t.Fatal(err)
	}
	want, _ := whole.Pattern("plan")
	half := 0.5
	b := &want.Budget
	b.MaxSubtasks, b.MaxDepth, b.MaxReplans, b.MaxIterations, b.MinSubtasks, b.MaxConcurrent, b.MaxRetries = 20, 4, 0, 3, 0, 256, 0
	b.MaxToolCalls, b.MaxLLMCalls, b.MaxTokens, b.MaxCallsPerTool = 9, 8, 7, 6
	b.MaxTime, b.SubtaskTimeout = time.Second/2, time.Second/4
	want.Execution = []string{}
	want.Tools = []string{"sales_worker", "issue_refund"}
	want.Planning = settings.Planning{Require: patterns.RequireWrite}
	want.LLM, want.Instructions = settings.PatternLLM{Model: "small", Temperature: &half}, `Say {{/* why */}}{{"{{"}}it}} briefly.`
	want.Approver.Kind, want.Approver.Least = patterns.RejectApprover, gateway.SignedAssurance
	got, _ := loaded.Pattern("plan")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if loaded.LLM.Temperature != 1.5 || loaded.LLM.OpenAI().Temperature != 1.5 {
		t.Errorf("the temperature for all is %v, asked with %v; want 1.5", loaded.LLM.Temperature, loaded.LLM.OpenAI().Temperature)
	}
	again, _, err := readText(t, string(loaded.YAML()))
	if err != nil || !ijson.Equal(again.Value(), loaded.Value()) {
		t.Errorf("config show loads as %v, %v, want %v:\n%s", err, again.Value(), loaded.Value(), loaded.YAML())
	}
}

// Names that no tool has, and those that narrow nothing, are said and do no harm.
func TestPlanningToolsWarnings(t *testing.T) {
	loaded, warnings, err := readText(t, "version: 1\npatterns: {plan: {tools: [sales_workers, sales_worker], allow: {policy: [issue_refund, sales_worker], execution: [fetch_sale_data]}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		"warning: pg.yaml:2:27: patterns.plan.tools[0]: no tool sales_workers; did you mean sales_worker?",
		"warning: pg.yaml:2:73: patterns.plan.allow.policy[0]: issue_refund is not in tools; write it in patterns.plan.tools too",
		"warning: pg.yaml:2:115: patterns.plan.allow.execution[0]: no tool fetch_sale_data; did you mean fetch_sales_data?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	p, _ := loaded.Pattern("plan")
	if policy, execution := p.Allows(); fmt.Sprint(policy, execution) != "[sales_worker] []" {
		t.Errorf("allows = %q, %q; want sales_worker and nothing", policy, execution)
	}
}
