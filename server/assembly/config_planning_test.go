package assembly

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings"
)

func TestLoadConfigRefusesPlanning(t *testing.T) {
	plan := func(entry string) string { return "version: 1\npatterns: {plan: {" + entry + "}}\n" }
	testFaults(t, map[string]faultCase{
		"a pattern of one's own": {
			"version: 1\npatterns: {errand: {kind: planning}}\n",
			"pg.yaml:2:20: patterns.errand.title: missing; write a few words that people read\npg.yaml:2:20: patterns.errand.description: missing; write what it does and when to use it, for the model\npg.yaml:2:20: patterns.errand.tools: missing; write the tools that it may call: [NAME]",
		},
		"one of its tools": {
			"version: 1\npatterns: {plan_execute: {}}\n",
			"pg.yaml:2:26: patterns.plan_execute.kind: missing; write task_decomposition, orchestrator, routing, supervisor, planning or call",
		},
		"another kind":           {plan("kind: routing"), `pg.yaml:2:25: patterns.plan.kind: got "routing"; write planning or remove it`},
		"nothing at once":        {plan("budget: {max_concurrent: 0}"), "pg.yaml:2:44: patterns.plan.budget.max_concurrent: got 0; write a whole number from 1 to 256"},
		"all at once":            {plan("budget: {max_concurrent: 257}"), "pg.yaml:2:44: patterns.plan.budget.max_concurrent: got 257; write a whole number from 1 to 256"},
		"too many":               {plan("budget: {max_subtasks: 10001}"), "pg.yaml:2:42: patterns.plan.budget.max_subtasks: got 10001; write a whole number from 0 to 10000"},
		"an unlimited plan":      {plan("budget: {max_replans: -1}"), "pg.yaml:2:41: patterns.plan.budget.max_replans: got -1; write a whole number from 0 to 10000"},
		"another kind's limit":   {plan("budget: {max_steps: 1}"), "pg.yaml:2:28: patterns.plan.budget.max_steps: a limit of kind supervisor; remove it"},
		"a time as text":         {plan(`budget: {subtask_timeout_seconds: 5s}`), `pg.yaml:2:53: patterns.plan.budget.subtask_timeout_seconds: got "5s"; write a number of seconds: 5`},
		"one tool":               {plan("tools: sales_worker"), `pg.yaml:2:26: patterns.plan.tools: got "sales_worker"; write a list: [sales_worker]`},
		"a flag for an approval": {plan("require_approval: true"), "pg.yaml:2:37: patterns.plan.require_approval: got true; write none, plan or write"},
		"every write":            {plan("require_approval: writes"), `pg.yaml:2:37: patterns.plan.require_approval: got "writes"; write none, plan or write; did you mean write?`},
		"a model's server":       {plan("llm: {base_url: http://h}"), "pg.yaml:2:25: patterns.plan.llm.base_url: unknown key; write provider, role, model, temperature, response_format or repair_turns"},
		"a model without name":   {plan(`llm: {model: " "}`), "pg.yaml:2:32: patterns.plan.llm.model: blank; write a model's name: gpt-4.1-mini"},
		"a hot model":            {plan("llm: {temperature: 2.1}"), "pg.yaml:2:38: patterns.plan.llm.temperature: got 2.1; write a number from 0 to 2"},
		"a hot model for all":    {"version: 1\nllm: {temperature: -0.1}\n", "pg.yaml:2:20: llm.temperature: got -0.1; write a number from 0 to 2"},
		"a list of instructions": {plan("instructions: [a]"), "pg.yaml:2:33: patterns.plan.instructions: got a list; write text in quotes"},
		"an input":               {plan(`instructions: "For {{.order}}."`), "pg.yaml:2:40: patterns.plan.instructions: {{.order}}: no input order; this pattern has no inputs; write the text itself"},
		"a printed input":        {plan(`instructions: '{{printf "%s" .a.b}}'`), `pg.yaml:2:36: patterns.plan.instructions: no function printf; one of eq, ne, lt, le, gt, ge, not, and, or, len, index`},
		"an input asked for":     {plan(`instructions: '{{if .a}}b{{end}}'`), "pg.yaml:2:39: patterns.plan.instructions: {{.a}}: no input a; this pattern has no inputs; write the text itself"},
		"an endless loop":        {plan(`instructions: '{{range 1000000000}}{{end}}'`), "pg.yaml:2:42: patterns.plan.instructions: {{range 1000000000}}{{end}}: a range over a constant; range over an input"},
		"a huge text":            {plan(`instructions: '{{printf "%900000000d" 1}}'`), `pg.yaml:2:36: patterns.plan.instructions: no function printf; one of eq, ne, lt, le, gt, ge, not, and, or, len, index`},
		"a definition":           {plan(`instructions: '{{define "a"}}b{{end}}'`), `pg.yaml:2:34: patterns.plan.instructions: got define "a"; write the text itself`},
		"no template":            {plan(`instructions: "a {{ b"`), `pg.yaml:2:36: patterns.plan.instructions: not a template: line 1: function "b" not defined; write text; two braces are {{"{{"}}`},
		"too many words":         {plan(`instructions: "` + strings.Repeat("a", 8193) + `"`), "pg.yaml:2:33: patterns.plan.instructions: got 8193 bytes; write at most 8192"},
		"params of a refund":     {plan("params: {auto_refund_limit_usd: 1}"), "pg.yaml:2:19: patterns.plan.params: no policy that has params; write policy: NAME beside them, or remove them"},
		"a person without a record": {
			"version: 1\nstate: ':memory:'\npatterns: {plan: {approver: {kind: inbox}}}\n",
			"pg.yaml:3:36: patterns.plan.approver.kind: inbox with state :memory:: a run that is not recorded cannot wait for a person; name a file with state or --state, or write reject or simulated",
		},
	})
}

// declaredAs is what a file declares under a tool's name.
func declaredAs(t *testing.T, file, tool string, environ ...string) declaredPattern {
	t.Helper()
	loaded, _, err := loadText(t, file, environ...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Declare(loaded, environ)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.patterns {
		if p.spec.Name == tool {
			return p
		}
	}
	t.Fatalf("%s declares no %s", file, tool)
	return declaredPattern{}
}

func TestPlanningSpecs(t *testing.T) {
	const key = settings.KeyVariable + "=k"
	for _, verb := range []string{"decompose", "execute", "replan"} {
		p := declaredAs(t, "version: 1\n", "plan_"+verb)
		if s := p.spec; s.Kind != gateway.Planning || s.Plans != "plan" || s.LLM || s.Envelope != patterns.RequireNone || cmp.Diff(demo.ReadTools, s.Policy) != "" || cmp.Diff(demo.ReadTools, s.Execution) != "" {
			t.Errorf("plan_%s is %+v; want kind planning over the tools that read, without a model and an approval", verb, s)
		}
	}
	plain := declaredAs(t, "version: 1\n", "plan_execute", key)
	if !plain.spec.LLM || plain.model.Name() != "gpt-4.1-mini" || cmp.Diff(prompts.Of(gateway.Planning), plain.spec.Prompts) != "" {
		t.Errorf("with a key plan_execute has LLM %v, model %s", plain.spec.LLM, plain.model.Name())
	}
	const file = "version: 1\npatterns: {plan: {require_approval: plan, instructions: 'Be {{\"brief\"}}.', llm: {model: own}, allow: {execution: [sales_worker]}}}\n"
	own := declaredAs(t, file, "plan_replan", key)
	if own.model.Name() != "own" || own.spec.Envelope != patterns.RequirePlan || fmt.Sprint(own.spec.Execution) != "[sales_worker]" || len(own.spec.Policy) != len(demo.ReadTools) {
		t.Errorf("plan_replan asks %s, approval of %q, may call %q of %q", own.model.Name(), own.spec.Envelope, own.spec.Execution, own.spec.Policy)
	}
	for _, prompt := range []string{own.spec.Prompts.Decide, own.spec.Prompts.Answer, own.spec.Prompts.Replan, own.spec.Prompts.Work} {
		if !strings.HasSuffix(prompt, "\nBe brief.\n") {
			t.Errorf("a prompt ends with %.80q, want the instructions", prompt[max(0, len(prompt)-80):])
		}
	}
	if other := declaredAs(t, file, "route_ticket", key); other.model.Name() != "gpt-4.1-mini" || strings.Contains(other.spec.Prompts.Decide, "Be brief") {
		t.Errorf("route_ticket asks %s and was told of another pattern's words", other.model.Name())
	}
}

// Wherever the refund tools may be called, the refund policy judges them, with the one set of figures that there is.
func TestRefundToolsAreJudgedEverywhere(t *testing.T) {
	const limits = "supervised_refund: {enabled: false, params: {auto_refund_limit_usd: 5}}"
	tests := map[string]struct {
		entry, tool string
		judged      bool
	}{
		"planning":                       {"plan: {tools: [issue_refund, sales_worker]}", "plan_execute", true},
		"planning's default":             {"plan: {}", "plan_execute", true},
		"planning without refunds":       {"plan: {tools: [sales_worker]}", "plan_execute", false},
		"refunds that are not called":    {"plan: {allow: {execution: [sales_worker]}}", "plan_execute", false},
		"a decomposition that pays":      {"run_task_decomposition: {allow: {policy: [issue_refund], execution: [issue_refund]}}", "run_task_decomposition", true},
		"a decomposition that pays none": {"run_task_decomposition: {}", "run_task_decomposition", false},
	}
	refund := gateway.Case{Args: map[string]any{"user_id": 42.0, "amount_usd": 6.0, "reason": "late"}, Effects: []gateway.Entry{{
		Tool: "get_refund_context", Status: gateway.Finished, Args: map[string]any{"user_id": 42.0},
		Observation: map[string]any{"status": "ok", "billing": map[string]any{"last_charge_usd": 1200.0, "days_since_payment": 1.0}},
	}}}
	for name, tt := range tests {
		got := declaredAs(t, "version: 1\npatterns: {"+limits+", "+tt.entry+"}\n", tt.tool)
		hash := hashOf(ijson.Canonical(map[string]any{}))
		if got.spec.Reviewer == nil != !tt.judged {
			t.Errorf("%s: the reviewer is %v, want one %t", name, got.spec.Reviewer, tt.judged)
			continue
		}
		if tt.judged {
			hash = gateway.PolicyHash(got.spec.Reviewer)
			if refund.Tool = "issue_refund"; slices.Contains(got.spec.Execution, "issue_refund") {
				if v := got.spec.Reviewer.Review(refund); v.Decision != gateway.Escalate {
					t.Errorf("%s: 6 USD above a limit of 5: %+v, want a person", name, v)
				}
			}
			if refund.Tool = "sales_worker"; got.spec.Reviewer.Review(refund).Reason != gateway.Allowlisted {
				t.Errorf("%s: a tool without a policy is judged", name)
			}
		}
		if got.policy != hash {
			t.Errorf("%s: the policy's hash is %s, want %s", name, got.policy, hash)
		}
	}
}

// A snapshot of a version without planning is loaded as it was, under its own hash.
func TestSnapshotBeforePlanning(t *testing.T) {
	c := embedded(t)
	c.LLM.BaseURL = "http://127.0.0.1:1"
	value, err := ijson.Decode(c.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []ijson.Pointer{"/llm/temperature", "/patterns/plan"} {
		var ok bool
		if value, ok = ijson.Remove(value, at); !ok {
			t.Fatalf("the snapshot has no %s", at)
		}
	}
	old := ijson.Canonical(value)
	s := &source{}
	s.serve(own(t, embedded(t)), &shelf{snapshots: map[string][]byte{hashOf(old): old}, asked: map[string]int{}})
	job, err := s.Job(patterns.Begun{Pattern: "supervised_refund", Config: hashOf(old), Arguments: map[string]any{"goal": "g"}})
	if err != nil || job.Config != hashOf(old) || job.Model.Name() != "gpt-4.1-mini" || job.Spec.Budget.MaxSteps != 8 {
		t.Errorf("Job = %+v, %v; want one under %s", job, err, hashOf(old))
	}
}
