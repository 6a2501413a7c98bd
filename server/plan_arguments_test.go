package server

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

// planTools are the planning tools of a test that begin runs, by name.
func planTools(t testing.TB, llm bool) map[string]*tool {
	t.Helper()
	s := serving(t, func(c *Config) { c.Patterns = withPlanning(c.Patterns, llm) })
	byName := map[string]*tool{}
	for _, tool := range s.tools {
		byName[tool.Spec.Name] = tool
	}
	return byName
}

const oneSubtask = `{"subtasks":[{"id":"a","description":"Do a."}]}`

// Faults of arguments alone (spec/planning-reference.md section 15, Arguments).
func TestPlanArgumentFaults(t *testing.T) {
	const d, e, r = "plan_decompose", "plan_execute", "plan_replan"
	long := strings.Repeat("x", arguments.MaxGoal+1)
	tools := planTools(t, false)
	for name, c := range map[string]struct {
		tool, args string
		want       string // reasons with their pointers
	}{
		"no goal":                        {d, `{}`, "missing:goal /goal"},
		"a blank goal":                   {d, `{"goal":" \n"}`, "missing:goal /goal"},
		"null is absent":                 {d, `{"goal":"g","strategy":null,"max_depth":null,"plan":null,"parent_plan_id":null,"dry_run":null}`, ""},
		"an unknown strategy":            {d, `{"goal":"g","strategy":"deep"}`, "limit:strategy /strategy"},
		"no subtasks wanted":             {d, `{"goal":"g","max_subtasks":0}`, "limit:max_subtasks /max_subtasks"},
		"over the ceilings":              {d, `{"goal":"g","max_subtasks":101,"max_depth":11}`, "limit:max_depth /max_depth; limit:max_subtasks /max_subtasks"},
		"at the ceilings":                {d, `{"goal":"g","max_subtasks":100,"max_depth":10}`, ""},
		"a number as text":               {d, `{"goal":"g","max_depth":"3"}`, "type:max_depth /max_depth"},
		"half a level":                   {d, `{"goal":"g","max_depth":1.5}`, "type:max_depth /max_depth"},
		"a long goal":                    {d, `{"goal":"` + long + `"}`, "too_large:goal /goal"},
		"a long context":                 {d, `{"goal":"g","context":"` + long + `"}`, "too_large:context /context"},
		"a plan that is a number":        {d, `{"goal":"g","plan":7}`, "type:plan /plan"},
		"a plan that is a flag":          {d, `{"goal":"g","plan":false}`, "type:plan /plan"},
		"a list is a fault of the plan":  {d, `{"goal":"g","plan":[]}`, ""},
		"broken JSON is too":             {d, `{"goal":"g","plan":"{"}`, ""},
		"a run to continue":              {d, `{"goal":"g","run_id":"run_1"}`, "unknown_field:run_id /run_id"},
		"several":                        {d, `{"goal":1,"gaol":1,"max_depth":0}`, "unknown_field:gaol /gaol; type:goal /goal; limit:max_depth /max_depth"},
		"nothing to carry out":           {e, `{}`, "missing:plan_id /plan_id"},
		"a blank plan_id":                {e, `{"plan_id":" "}`, "missing:plan_id /plan_id"},
		"a plan and a blank id":          {e, `{"plan_id":"","plan":` + oneSubtask + `}`, ""},
		"a plan and an id":               {e, `{"plan_id":"plan_1","plan":` + oneSubtask + `}`, "mismatch:plan /plan"},
		"an id that is a number":         {e, `{"plan_id":1}`, "type:plan_id /plan_id"},
		"a revision below 0":             {e, `{"plan_id":"p","expected_revision":-1}`, "limit:expected_revision /expected_revision"},
		"revision 0":                     {e, `{"plan_id":"p","expected_revision":0}`, ""},
		"no retries":                     {e, `{"plan_id":"p","max_retries":0}`, ""},
		"retries below 0":                {e, `{"plan_id":"p","max_retries":-1,"retry_delay_seconds":-0.1}`, "limit:max_retries /max_retries; limit:retry_delay_seconds /retry_delay_seconds"},
		"more at once":                   {e, `{"plan_id":"p","max_concurrent":17,"max_steps":0}`, "limit:max_concurrent /max_concurrent; limit:max_steps /max_steps"},
		"flags that are texts":           {e, `{"plan_id":"p","parallel":"true","finalize":1}`, "type:parallel /parallel; type:finalize /finalize"},
		"an unknown strategy of failure": {e, `{"plan_id":"p","on_subtask_failure":"ignore"}`, "limit:on_subtask_failure /on_subtask_failure"},
		"results that are a list":        {e, `{"plan_id":"p","results":[]}`, "type:results /results"},
		"results that are no JSON":       {e, `{"plan_id":"p","results":"done"}`, "type:results /results"},
		"results as text":                {e, `{"plan_id":"p","results":"{\"a\":{\"status\":\"failed\"}}"}`, ""},
		"a result without status":        {e, `{"plan_id":"p","results":{"a":{"result":1}}}`, "type:results /results/a/status"},
		"a result of another word":       {e, `{"plan_id":"p","results":{"a":{"status":"done"},"b":{"status":"completed"}}}`, "type:results /results/a/status"},
		"a result with more keys":        {e, `{"plan_id":"p","results":{"a":{"status":"failed","why":1}}}`, "type:results /results/a/why"},
		"a result that is a text":        {e, `{"plan_id":"p","results":{"a/b":"x"}}`, "type:results /results/a~1b"},
		"a long result":                  {e, `{"plan_id":"p","results":{"a":{"status":"completed","result":"` + strings.Repeat("x", 64<<10) + `"}}}`, "too_large:results /results/a/result"},
		"a replan of nothing":            {r, `{"plan":` + oneSubtask + `}`, "missing:plan_id /plan_id"},
		"a replan without a plan":        {r, `{"plan_id":"p"}`, "missing:plan /plan"},
		"long words":                     {r, `{"plan_id":"p","plan":{},"reason":"` + long + `","hints":"` + long + `"}`, "too_large:reason /reason; too_large:hints /hints"},
		"too long to wait":               {r, `{"plan_id":"p","plan":{},"max_wait_seconds":241}`, "limit:max_wait_seconds /max_wait_seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := tools[c.tool].take([]byte(c.args), "local:1")
			var got []string
			for _, p := range problems {
				got = append(got, p.Reason+" "+string(p.Pointer))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s %.200s (-want +got):\n%s", c.tool, c.args, diff)
			}
		})
	}
	if _, problems := planTools(t, true)[r].take([]byte(`{"plan_id":"p"}`), "local:1"); len(problems) > 0 {
		t.Errorf("with a language model a replan needs no plan: %v", problems)
	}
}

// What a call asks for, with the defaults of what it leaves out, each at most its ceiling.
func TestPlanTask(t *testing.T) {
	three := 3
	small := func(b *gateway.Budget) { b.MaxSubtasks, b.MaxDepth, b.MaxConcurrent, b.MaxRetries = 4, 2, 1, 0 }
	for name, c := range map[string]struct {
		tool, args string
		budget     func(*gateway.Budget)
		want       patterns.Task
	}{
		"decompose": {"plan_decompose", `{"goal":"g"}`, nil, patterns.Task{Goal: "g", Plan: &patterns.PlanCall{
			Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 3, MaxSubtasks: 15}}},
		"low ceilings": {"plan_decompose", `{"goal":"g","dry_run":true,"context":"c"}`, small, patterns.Task{Goal: "g", Plan: &patterns.PlanCall{
			Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 2, MaxSubtasks: 4, DryRun: true, Context: "c"}}},
		"next round": {"plan_decompose", `{"goal":"g","parent_plan_id":"plan_1"}`, nil, patterns.Task{Goal: "g", Plan: &patterns.PlanCall{
			Verb: patterns.DecomposeVerb, PlanID: "plan_1", Strategy: planning.Iterative, MaxDepth: 3, MaxSubtasks: 15}}},
		"in sequence": {"plan_execute", `{"plan_id":"plan_1","max_concurrent":9}`, nil, patterns.Task{Plan: &patterns.PlanCall{
			Verb: patterns.ExecuteVerb, PlanID: "plan_1", Concurrent: 1, OnFailure: patterns.AbortOnFailure, MaxRetries: 2, RetryDelay: time.Second}}},
		"side by side": {"plan_execute", `{"plan_id":"plan_1","parallel":true,"expected_revision":3,"on_subtask_failure":"retry","retry_delay_seconds":1e300,"max_steps":5,"finalize":true,"results":{"a":{"status":"completed"}}}`, nil,
			patterns.Task{Finalize: true, Plan: &patterns.PlanCall{
				Verb: patterns.ExecuteVerb, PlanID: "plan_1", Expected: &three, Concurrent: 3, OnFailure: patterns.RetryOnFailure, MaxRetries: 2,
				RetryDelay: 30 * time.Second, MaxSteps: 5, Results: map[string]any{"a": map[string]any{"status": "completed", "result": nil}}}}},
		"replan": {"plan_replan", `{"plan_id":"plan_1","reason":"r","failed_subtask":"a","hints":"h"}`, nil, patterns.Task{Plan: &patterns.PlanCall{
			Verb: patterns.ReplanVerb, PlanID: "plan_1", Reason: "r", Failed: "a", Hints: "h"}}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := planTools(t, true)[c.tool].Spec
			if c.budget != nil {
				c.budget(&spec.Budget)
			}
			taken, problems := lightTool(nil, spec, "m").take([]byte(c.args), "local:1")
			if len(problems) > 0 {
				t.Fatalf("%s: %v", c.args, problems)
			}
			if diff := cmp.Diff(c.want, taken.Task(true)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.args, diff)
			}
		})
	}
}

// A repaired call is offered where the repair is sure.
func TestPlanRepairs(t *testing.T) {
	tools := planTools(t, false)
	for name, c := range map[string]struct{ tool, args, want, fill string }{
		"a number":        {"plan_decompose", `{"goal":"g","max_depth":"3"}`, `{"goal":"g","max_depth":3}`, ""},
		"a word":          {"plan_execute", `{"plan_id":"p","on_subtask_failure":"retri"}`, `{"on_subtask_failure":"retry","plan_id":"p"}`, ""},
		"a result's word": {"plan_execute", `{"plan_id":"p","results":{"a":{"status":"complete"}}}`, `{"plan_id":"p","results":{"a":{"status":"completed"}}}`, ""},
		"own subtasks":    {"plan_replan", `{"plan_id":"p"}`, `{"plan":` + mustJSON(arguments.Call{Spec: patterns.Spec{Kind: gateway.Planning}}.IntentSkeleton()) + `,"plan_id":"p"}`, "/plan"},
	} {
		t.Run(name, func(t *testing.T) {
			taken, problems := tools[c.tool].take([]byte(c.args), "local:1")
			e := outcome.Refused(taken, problems)
			fill := ""
			for _, at := range e.Next.Fill {
				fill += string(at)
			}
			if got := mustJSON(e.Next.Arguments); got != c.want || fill != c.fill {
				t.Errorf("%s: next %s, fill %q; want %s, fill %q", c.args, got, fill, c.want, c.fill)
			}
		})
	}
}

// A planning pattern's tools are named after it, and nothing else may have the name of the one that shows its plans.
func TestPlanningNames(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]Pattern) []Pattern
		want   string
	}{
		"another verb": {func(list []Pattern) []Pattern { list[4].Spec.Name = "plan_make"; return list }, "plan_decompose, plan_execute or plan_replan"},
		"status taken": {func(list []Pattern) []Pattern { list[0].Spec.Name = "plan_status"; return list }, "is how the plans of"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Patterns: c.change(withPlanning(builtins(t), false)), Engine: EngineFor(t, nil), Model: serving(t).config.Model})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
