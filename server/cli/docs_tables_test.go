package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/settings"
)

// docsTables makes a table of the page of patterns: of its tools, of what its gate judges, or its phases. Package settings makes that of
// its budget.
func docsTables(t *testing.T, table, pattern string) string {
	t.Helper()
	p, ok := embedded(t).Pattern(pattern)
	write := map[string]func(*testing.T, settings.Pattern) string{
		"tools": toolsTable, "judged": judgedTable, "policy": policyTable, "phases": phasesTable,
	}[table]
	if !ok || write == nil {
		t.Fatalf("no table %s of %s", table, pattern)
	}
	return write(t, p)
}

// embedded is the configuration of a fresh installation.
func embedded(t *testing.T) assembly.Loaded {
	t.Helper()
	var c settings.Config
	if err := c.Embed(nil); err != nil {
		t.Fatal(err)
	}
	return assembly.Loaded{Document: settings.Document{Config: c}}
}

// demoCatalog is the catalog of a fresh installation.
func demoCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func toolsTable(t *testing.T, p settings.Pattern) string {
	var b strings.Builder
	all := demoCatalog(t)
	for _, name := range p.Policy {
		tool, _ := all.Tool(name)
		signature := tool.Signature()
		if p.Kind == gateway.Orchestrator {
			signature = tool.Signature("request_id")
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", signature, tool.Effect, tool.Description)
	}
	return b.String()
}

// docsPhases are the phases of all patterns, in the order in which a run may pass them.
var docsPhases = []string{
	patterns.PhaseRequest, patterns.PhasePlan, patterns.PhaseExecute, patterns.PhaseDispatch, patterns.PhaseRoute, patterns.PhaseDelegate,
	patterns.PhaseWorker, patterns.PhaseReview, patterns.PhaseHuman, patterns.PhaseExecution, patterns.PhaseFinalize,
}

// phasesTable lists the stop reasons of each phase, those of one family counted.
func phasesTable(t *testing.T, p settings.Pattern) string {
	var b strings.Builder
	for _, phase := range docsPhases {
		var families []string
		count := map[string]int{}
		for _, s := range stopreason.All() {
			if !s.Occurs(p.Kind, phase) {
				continue
			}
			family, _, _ := strings.Cut(s.Name, ":")
			if count[family]++; count[family] == 1 {
				families = append(families, family)
			}
		}
		for i, family := range families {
			families[i] = "`" + family + "`"
			if n := count[family]; n > 1 {
				families[i] = fmt.Sprintf("`%s:` (%d)", family, n)
			}
		}
		if len(families) > 0 {
			fmt.Fprintf(&b, "- `%s`: %s\n", phase, strings.Join(families, ", "))
		}
	}
	return b.String()
}

// judgedTable shows the faults of an intent in the order in which the gate finds them. It shows faulty intents to the
// gate: their faults must come in this order, and none that the registry has may be missing.
func judgedTable(t *testing.T, p settings.Pattern) string {
	j := judgedOf(p)
	found := map[string]bool{j.family + ":non_json": true} // a caller's intent was decoded with its call
	for _, text := range j.faulty {
		v, err := ijson.Decode([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		last := -1
		for _, problem := range judge(t, p, document.FromCaller(v, "")).Problems {
			row, _ := stopreason.Lookup(j.family + ":" + problem.Reason)
			at := slices.Index(j.order, strings.TrimPrefix(row.Name, j.family+":"))
			if at <= last {
				t.Errorf("%s is judged as %s after %v; want the order of the page: %v", text, row.Name, last, j.order)
			}
			last, found[row.Name] = at, true
		}
	}
	var b strings.Builder
	b.WriteString("| | refused as | because |\n|---|---|---|\n")
	for i, name := range j.order {
		for _, s := range stopreason.All() {
			if s.Name == j.family+":"+name && s.Occurs(p.Kind, j.phase) {
				fmt.Fprintf(&b, "| %d | `%s` | %s |\n", i+1, s.Name, s.Meaning)
			}
		}
	}
	for _, s := range stopreason.All() {
		of, _, _ := strings.Cut(s.Name, ":")
		if of == j.family && s.Occurs(p.Kind, j.phase) && !found[s.Name] {
			t.Errorf("the page of patterns does not say when %s judges %s: add its place and an intent with this fault", p.Name, s.Name)
		}
	}
	return b.String()
}

// judge shows an intent to the parser of a kind.
func judge(t *testing.T, p settings.Pattern, intent document.Intent) *document.Refusal {
	t.Helper()
	var refusal *document.Refusal
	switch p.Kind {
	case gateway.TaskDecomposition:
		_, refusal = gateway.ParsePlan(intent, gateway.PlanRules{Min: p.Budget.MinPlanSteps, Max: p.Budget.MaxPlanSteps, Allowed: p.Policy})
	case gateway.Orchestrator:
		_, refusal = gateway.ParseTasks(intent, gateway.TaskRules{Max: p.Budget.MaxTasks, Allowed: p.Policy})
	case gateway.Routing:
		_, refusal = gateway.ParseRoute(intent, gateway.RouteRules{Allowed: p.Policy, Forbidden: p.Policy[:1]})
	case gateway.Supervisor:
		_, refusal = gateway.ParseAction(intent, gateway.ActionRules{Allowed: append(slices.Clone(p.Policy), "charge"), Catalog: withCharge(t)})
	}
	return refusal
}

// withCharge are the demo's tools, whose arguments have types alone, and one that bounds a value.
func withCharge(t *testing.T) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	input, _, faults := catalog.CompileArguments([]byte(`{"cents":{"type":"integer","minimum":1},"order":{"type":"string"}}`))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	all, err := catalog.New(append(tools, catalog.Tool{
		Name: "charge", Description: "Charges.", Effect: catalog.Read, Idempotent: true, Input: input,
		Do: func(context.Context, catalog.Call) (any, error) { return map[string]any{}, nil },
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judgedIntents are a kind's faults in their order and intents that have them, each with one faulty element.
type judgedIntents struct {
	family, phase string
	order, faulty []string
}

func judgedOf(p settings.Pattern) judgedIntents {
	const step = `{"id":"a","title":"t","tool":"get_manager_profile"},`
	switch p.Kind {
	case gateway.TaskDecomposition:
		return judgedIntents{"invalid_plan", patterns.PhasePlan, []string{
			"not_object", "bad_kind", "extra_keys", "missing_steps", "min_steps", "max_steps",
			"step_I_not_object", "step_I_extra_keys", "step_I_missing_id", "duplicate_step_id", "step_I_missing_title",
			"step_I_missing_tool", "tool_not_allowed:T", "step_I_bad_args",
		}, []string{
			`1`, `{"kind":"x","note":1}`, `{"note":1,"steps":[1]}`, `{"note":1,"steps":[1,2,3,4,5,6,7]}`,
			`{"steps":[1,` + step + strings.Replace(step, `"a"`, `"b"`, 1) + `{"id":"c","title":"t","tool":"get_manager_profile"}]}`,
			`{"steps":[` + step + strings.Replace(step, `"a"`, `"b"`, 1) + `{"note":1,"args":1}]}`,
			`{"steps":[` + step + strings.Replace(step, `"a"`, `"b"`, 1) + `{"note":1,"id":"a","tool":"pay","args":1}]}`,
		}}
	case gateway.Orchestrator:
		return judgedIntents{"invalid_plan", patterns.PhasePlan, []string{
			"kind", "tasks", "max_tasks", "task_shape", "missing_keys", "task_id", "duplicate_task_id", "worker", "worker_not_allowed:W", "args", "critical",
		}, []string{
			`{"kind":"x"}`, `{"kind":"x","tasks":[]}`, `{"tasks":[1]}`, `{"tasks":[{"worker":1,"args":1,"critical":1}]}`,
			`{"tasks":[{"id":1,"worker":"pay","args":1,"critical":1}]}`,
			`{"tasks":[{"id":"a","worker":"sales_worker","args":{}},{"id":"a","worker":"pay","args":{}}]}`,
		}}
	case gateway.Routing:
		return judgedIntents{"invalid_route", patterns.PhaseRoute, []string{
			"not_object", "bad_kind", "extra_keys", "missing_target", "route_not_allowed:T", "bad_args", "missing_ticket", "repeat_target_after_reroute",
		}, []string{
			`1`, `{"kind":"x","note":1,"args":1}`, `{"note":1,"target":"legal_specialist","args":1}`, `{"note":1,"target":"` + p.Policy[0] + `"}`,
		}}
	}
	return judgedIntents{"invalid_action", patterns.PhaseWorker, []string{
		"not_object", "bad_kind", "extra_keys_tool", "bad_tool_name", "bad_tool_args", "unknown_tool:N", "extra_tool_args:N",
		"missing_required_arg:N:A", "bad_arg_type:N:A", "bad_arg_value:N:A", "extra_keys_final", "bad_final_answer",
	}, []string{
		`1`, `{"kind":"x"}`, `{"kind":"tool","note":1,"args":1}`, `{"kind":"tool","note":1,"name":"pay","args":1}`,
		`{"kind":"tool","name":"issue_refund","args":{"note":1,"amount_usd":"x"}}`,
		`{"kind":"tool","name":"charge","args":{"cents":0,"order":1}}`, `{"kind":"final","note":1}`,
	}}
}

// policyTable shows the refund policy's decisions in the order of its rules, by asking it.
func policyTable(t *testing.T, p settings.Pattern) string {
	done := func(tool string, args map[string]any, observation any) gateway.Entry {
		return gateway.Entry{Tool: tool, Effect: catalog.Write, Args: args, Status: gateway.Finished, Observation: observation}
	}
	of42 := map[string]any{"user_id": 42.0}
	known := func(days float64) gateway.Entry {
		return done("get_refund_context", of42, map[string]any{"billing": map[string]any{"last_charge_usd": 1200.0, "days_since_payment": days}})
	}
	paid := func(user, usd float64) gateway.Entry {
		return done("issue_refund", map[string]any{"user_id": user, "amount_usd": usd}, map[string]any{"status": "ok"})
	}
	refund := func(usd float64, reason string) map[string]any {
		return map[string]any{"user_id": 42.0, "amount_usd": usd, "reason": reason}
	}
	limit := func(name string) float64 { v, _ := p.Params[name].(float64); return v }
	above := limit("auto_refund_limit_usd") + 1
	rows := []struct {
		tool, when string
		c          gateway.Case
	}{
		{"get_refund_context", "always", gateway.Case{Tool: "get_refund_context", Args: of42}},
		{"issue_refund", "the amount is less than a cent", gateway.Case{Args: refund(0, "r")}},
		{"issue_refund", "this customer was not looked up in this run", gateway.Case{Args: refund(1, "r")}},
		{"issue_refund", fmt.Sprintf("the payment is more than %v days old", limit("refund_window_days")), gateway.Case{Args: refund(1, "r"), Effects: []gateway.Entry{known(limit("refund_window_days") + 1)}}},
		{"issue_refund", fmt.Sprintf("the run has refunded its %v USD", limit("max_refund_per_run_usd")), gateway.Case{Args: refund(1, "r"), Effects: []gateway.Entry{known(1), paid(7, limit("max_refund_per_run_usd"))}}},
		{"issue_refund", "a further refund would exceed the customer's last charge", gateway.Case{Args: refund(201, "r"), Effects: []gateway.Entry{known(1), paid(42, 1000)}}},
		{"issue_refund", "it is more than what the run may still refund", gateway.Case{Args: refund(limit("max_refund_per_run_usd")+1, "r"), Effects: []gateway.Entry{known(1)}}},
		{"issue_refund", "no reason is given", gateway.Case{Args: refund(1, " "), Effects: []gateway.Entry{known(1)}}},
		{"issue_refund", fmt.Sprintf("it is more than %v USD", limit("auto_refund_limit_usd")), gateway.Case{Args: refund(above, "r"), Effects: []gateway.Entry{known(1)}}},
		{"issue_refund", "else", gateway.Case{Args: refund(limit("auto_refund_limit_usd"), "r"), Effects: []gateway.Entry{known(1)}}},
		{"send_refund_email", "exactly this amount was refunded to this customer", gateway.Case{Args: map[string]any{"user_id": 42.0, "amount_usd": 10.0}, Effects: []gateway.Entry{paid(42, 10)}}},
		{"send_refund_email", "else", gateway.Case{Args: map[string]any{"user_id": 42.0, "amount_usd": 11.0}, Effects: []gateway.Entry{paid(42, 10)}}},
		{"final", "somebody was looked up in this run", gateway.Case{Answer: "a", Effects: []gateway.Entry{known(1)}}},
		{"final", "else", gateway.Case{Answer: "a"}},
		{"any other", "always", gateway.Case{Tool: "get_manager_profile"}},
	}
	d, err := assembly.Declare(embedded(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	specs := d.Specs()
	reviewer := specs[slices.IndexFunc(specs, func(s patterns.Spec) bool { return s.Name == p.Name })].Reviewer
	var b strings.Builder
	b.WriteString("| tool | when | decision | reason |\n|---|---|---|---|\n")
	for _, r := range rows {
		if _, exists := demoCatalog(t).Tool(r.tool); exists {
			r.c.Tool, r.tool = r.tool, "`"+r.tool+"`"
		}
		v := reviewer.Review(r.c)
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", r.tool, r.when, v.Decision, v.Reason)
	}
	return b.String()
}
