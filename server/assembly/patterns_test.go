package assembly

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// patternsFile loads a file of testdata/patterns.
func patternsFile(t testing.TB, name string) (Loaded, []yamldoc.Fault) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "patterns", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	for file, text := range map[string][]byte{path: text, filepath.Join(dir, "tokens"): []byte("me: abcdefghijklmnopqrstuvwxyz012345\n")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, warnings, err := Load(settings.Sources{Path: path, Environ: []string{binaries(t, "npx"), "PAY_TOKEN=secret-of-pay", "XDG_STATE_HOME=" + dir}}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded, warnings
}

// declaredIn declares a configuration and gives the specs by their names.
func declaredIn(t testing.TB, c Loaded) map[string]patterns.Spec {
	t.Helper()
	d, err := Declare(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]patterns.Spec{}
	for _, p := range d.patterns {
		specs[p.spec.Name] = p.spec
	}
	return specs
}

// loadOwn loads a file with patterns of its own.
func loadOwn(t testing.TB, patterns ...string) Loaded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(ownFile(patterns...)), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := Load(settings.Sources{Path: path}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// The target files: of a team's orders, and one pattern of each kind (spec/config.md section 12). What clients see of them is held.
func TestOwnPatternsListed(t *testing.T) {
	for _, name := range []string{"orders", "each"} {
		loaded, _ := patternsFile(t, name)
		s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var listed []json.RawMessage
		for _, tool := range s.Tools() {
			one, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, one)
		}
		got, err := json.MarshalIndent(listed, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if faults := loaded.Oversized(s); len(faults) > 0 {
			t.Errorf("%s: clients drop %v", name, faults)
		}
		path := filepath.Join("testdata", "patterns", name+".tools.json")
		if *update {
			if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got)+"\n", "\n")); diff != "" {
			t.Errorf("tools/list of %s is not %s; run go test ./server/assembly -run TestOwnPatternsListed -update (-want +got):\n%s", name, path, diff)
		}
	}
}

// What a file says of a pattern is what its spec has.
func TestOwnPatternSpecs(t *testing.T) {
	loaded, _ := patternsFile(t, "each")
	specs := declaredIn(t, loaded)
	if _, there := specs["route_ticket"]; there {
		t.Error("route_ticket is there, and the file drops it")
	}
	report := specs["order_report"]
	if report.Unmarked || report.Goal != "goal" || report.Budget.MinPlanSteps != 1 || report.Budget.MaxPlanSteps != 4 || report.Budget.MaxTokens != 20000 || report.Budget.MaxSameCall != 1 {
		t.Errorf("order_report = unmarked %v, goal %q, budget %+v", report.Unmarked, report.Goal, report.Budget)
	}
	if wrong := report.Input.Check(map[string]any{"order_id": "B-1"}); len(wrong) != 1 || string(wrong[0].Pointer) != "/order_id" {
		t.Errorf("order_report takes order_id B-1: %v", wrong)
	}
	if words, err := report.Instructions(patterns.Inputs{"order_id": "A-1001", "lines": 5.0}); err != nil || !strings.Contains(words, "A-1001") || !strings.Contains(words, "5") {
		t.Errorf("order_report is instructed %q, %v", words, err)
	}
	if report.Answer == nil || len(report.Answer.Check(map[string]any{"state": "gone", "text": "x"})) != 1 {
		t.Error("order_report answers with any state")
	}
	check := specs["morning_check"]
	if !slices.Equal(check.Tools, []string{"orders", "refund"}) || !slices.Equal(check.Critical, []string{"orders"}) || check.Budget.TaskTimeout.Seconds() != 10 || check.Budget.MaxTime.Seconds() != 120 {
		t.Errorf("morning_check = tools %v, critical %v, budget %+v", check.Tools, check.Critical, check.Budget)
	}
	refund, _ := check.Catalog.Tool("refund")
	if refund.Own() != "find_refund" || refund.Description != "Looks up a refund by its key." || refund.Pattern != "" || refund.Do == nil {
		t.Errorf("the worker refund is %+v", refund)
	}
	joined := check.Aggregate(nil, []patterns.TaskRow{
		{TaskID: "t1", Worker: "refund", Status: "done", AttemptsUsed: 1, Observation: map[string]any{"status": "failed"}}, {TaskID: "t2", Worker: "orders", Status: "failed", StopReason: "task_timeout"},
	})
	if joined.Fields["refund_state"] != "failed" || joined.Health != "red" {
		t.Errorf("morning_check joins to %+v, want red", joined)
	}
	desk := specs["order_desk"]
	route, _ := desk.Catalog.Tool("refund")
	want := catalog.Tool{Name: "refund", Of: "refund_order", Pattern: "refund_order", Goal: "goal", Server: catalog.PatternServer, Effect: catalog.Write}
	got := catalog.Tool{Name: route.Name, Of: route.Of, Pattern: route.Pattern, Goal: route.Goal, Server: route.Server, Effect: route.Effect}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(catalog.Tool{})); diff != "" || route.Do != nil || desk.Goal != "request" {
		t.Errorf("the route refund (-want +got):\n%s", diff)
	}
	if wrong := route.Input.Check(map[string]any{"goal": "money back", "order_id": "A-1001"}); len(wrong) > 0 {
		t.Errorf("the route refund does not take its pattern's goal and inputs: %v", wrong)
	}
	if wrong := route.Input.Check(map[string]any{"goal": "", "order": 1.0}); len(wrong) != 3 { // blank, missing, unknown
		t.Errorf("the route refund takes a blank goal and other inputs: %v", wrong)
	}
	if !desk.Reroute["look"](map[string]any{"status": "needs_reroute"}) || desk.Reroute["look"](map[string]any{"status": "done"}) || desk.Reroute["refund"]("text") {
		t.Error("a route declines by anything else than its status")
	}
	careful := specs["careful_refund"]
	if careful.Budget.MaxSameRead != 2 || careful.Budget.MaxSameCall != 1 || careful.Budget.MaxCallsPerTool.Named() || careful.Budget.PerTool != nil || careful.Approver.Least != gateway.SignedAssurance {
		t.Errorf("careful_refund = budget %+v, approver %+v", careful.Budget, careful.Approver)
	}
	if errand := specs["errand_execute"]; errand.Envelope != patterns.RequireWrite || errand.Plans != "errand" || errand.Budget.MaxSubtasks != 20 {
		t.Errorf("errand_execute = %+v", errand)
	}
}

// What a rule sees of a pattern that is a worker or a route: its name, server pattern, its worst effect and its arguments.
func TestPatternsUnderRules(t *testing.T) {
	desk := func(rule string) string {
		return ownFileOf("version: 1", "policies: {desk: {rules: ["+rule+", {id: rest, approve: {}}]}, all: {rules: [{id: ok, approve: {}}]}}",
			"a: "+ofKindOver("routing", "routes: {r: {pattern: b}, look: {tool: find}}", "policy: desk, input: {region: {type: string, enum: [EU, US]}}"),
			"b: "+ofKindOver("supervisor", "tools: [pay]", "policy: all, input: {cents: {type: integer}}"))
	}
	tests := map[string]struct{ rule, want string }{
		"by its name":        {`{id: big, match: b, when: args.cents > 5, escalate: {reason: big}}`, ""},
		"its goal":           {`{id: big, match: b, when: args.goal == "", block: {}}`, ""},
		"its server":         {`{id: big, match: b, when: 'tool.server != "pattern" || tool.effect != "write"', block: {}}`, ""},
		"the inputs":         {`{id: big, match: b, when: input.region == "EU", block: {}}`, ""},
		"not by the route's": {`{id: big, match: r, block: {}}`, "r | policies.desk.rules.big.match: no tool r (b, find, pay, final)"},
		"its arguments":      {`{id: big, match: b, when: args.cent > 5, block: {}}`, "cent | policies.desk.rules.big.when: b has no argument cent (goal, cents); did you mean cents?"},
		"inputs":             {`{id: big, match: b, when: input.regio == "EU", block: {}}`, "regio | policies.desk.rules.big.when: input has no member regio (region); did you mean region?"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := desk(tt.rule)
			loaded, _, err := loadText(t, file)
			switch {
			case err == nil && tt.want == "":
				if r := reviewerIn(t, loaded, "a"); r == nil {
					t.Error("nobody judges a")
				}
			case err == nil:
				t.Errorf("Load(%s) loaded, want %s", file, tt.want)
			case tt.want == "":
				t.Errorf("Load(%s) = %v", file, err)
			default:
				if got := placedWords(t, file, err); got != tt.want {
					t.Errorf("Load(%s)\n got %s\nwant %s", file, got, tt.want)
				}
			}
		})
	}
}

// A file lies over a built-in pattern as before, and what comes with own patterns too.
func TestOverBuiltins(t *testing.T) {
	tests := map[string]struct {
		file string
		want func(t *testing.T, c Loaded, specs map[string]patterns.Spec)
	}{
		"title and description": {"run_task_decomposition: {title: Reports, description: Makes reports.}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			s, err := c.Server(nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if tool := s.Tools()[0]; tool.Title != "Reports" || tool.Description != "Makes reports." {
				t.Errorf("listed as %q: %q", tool.Title, tool.Description)
			}
		}},
		"an input beside its own": {"run_orchestrator: {input: {tenant: {type: string}}}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			if names := specs["run_orchestrator"].Input.PropertyNames(); !slices.Equal(names, []string{"tenant"}) {
				t.Errorf("its inputs are %v, want tenant: the others it has by its kind", names)
			}
		}},
		"its goal": {"route_ticket: {goal_argument: request}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			if specs["route_ticket"].Goal != "request" || !specs["route_ticket"].Unmarked {
				t.Errorf("route_ticket = %+v", specs["route_ticket"])
			}
		}},
		"workers": {"run_orchestrator: {workers: {sales: {tool: sales_worker, description: Sales.}}, critical: [sales]}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			spec := specs["run_orchestrator"]
			worker, _ := spec.Catalog.Tool("sales")
			if !slices.Equal(spec.Policy, []string{"sales"}) || !slices.Equal(spec.Critical, []string{"sales"}) || worker.Own() != "sales_worker" {
				t.Errorf("run_orchestrator = policy %v, critical %v, worker %+v", spec.Policy, spec.Critical, worker)
			}
		}},
		"a worker narrowed": {"run_orchestrator: {workers: {sales: {tool: sales_worker}, stock: {tool: inventory_worker}}, allow: {execution: [stock]}}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			if spec := specs["run_orchestrator"]; !slices.Equal(spec.Execution, []string{"stock"}) || len(spec.Policy) != 2 {
				t.Errorf("run_orchestrator = policy %v, execution %v", spec.Policy, spec.Execution)
			}
		}},
		"limits of one tool": {"supervised_refund: {budget: {per_tool: {issue_refund: {max_calls: 1}}}}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			want := map[string]gateway.CallLimit{
				"get_refund_context": {MaxCalls: 3, MaxSameCall: 2}, "issue_refund": {MaxCalls: 1, MaxSameCall: gateway.AsOthers},
			}
			if diff := cmp.Diff(want, specs["supervised_refund"].Budget.PerTool); diff != "" {
				t.Errorf("per_tool (-want +got):\n%s", diff)
			}
		}},
		"finalize": {"route_ticket: {finalize: false}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			if specs["route_ticket"].Finalize != patterns.FinalizeNo {
				t.Errorf("finalize %q", specs["route_ticket"].Finalize)
			}
		}},
		"nothing": {"route_ticket: {title: null}", func(t *testing.T, c Loaded, specs map[string]patterns.Spec) {
			for name, spec := range specs {
				if !spec.Unmarked || spec.Goal != "" || spec.Input != nil || spec.Instructions != nil || spec.Answer != nil || spec.Reroute != nil {
					t.Errorf("%s has what only own patterns have: %+v", name, spec)
				}
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, warnings, err := loadText(t, "version: 1\npatterns: {"+tt.file+"}\n")
			if err != nil || len(warnings) > 0 {
				t.Fatalf("Load = %v, warnings %v", err, warnings)
			}
			tt.want(t, loaded, declaredIn(t, loaded))
		})
	}
}

// What is shown of a configuration loads to the same, and so does what records keep of it; the order of workers and fields stays.
func TestOwnPatternsShown(t *testing.T) {
	for name, file := range map[string]string{
		"each": "",
		"workers and models": ownFileOf("version: 1\nllm: {role: big, repair_turns: 2, models: {big: {model: b, fallback: small, price: {input_usd: 1, output_usd: 2.5}}, small: {base_url: 'http://127.0.0.1:1/v1', timeout_seconds: 5, temperature: 1, price: {input_usd: 0, output_usd: 0}}}}", "policies: {all: {rules: [{id: ok, approve: {}}]}}",
			"z: "+ofKindOver("orchestrator", "workers: {z: {tool: find}, a: {pattern: b, description: The other.}}", `aggregate: {fields: {z: tasks.z.observation.cents, a: fields.z + 1}, health: [{is: red, when: "fields.a > 3"}, {is: green, when: "true"}]}, critical: [a], finalize: true, budget: {max_cost_usd: 0.25, max_same_call: 2, per_tool: {z: {max_calls: 2}}}`),
			"b: "+ofKind("supervisor", "input: {z: {type: string}, a: {type: integer, default: 1}}, goal_argument: wish, answer: {y: {type: string}, b: {type: number}}, llm: {provider: openai, role: small, response_format: json_schema, repair_turns: 0, temperature: 0.5}"),
			"r: "+ofKindOver("routing", "routes: [pay, find]", "policy: all")),
	} {
		t.Run(name, func(t *testing.T) {
			var loaded Loaded
			environ := []string{binaries(t, "npx"), "PAY_TOKEN=secret-of-pay"}
			if file == "" {
				loaded, _ = patternsFile(t, name)
			} else {
				environ = append(environ, "OPENAI_API_KEY=key")
				path := writeConfig(t, file)
				var err error
				if loaded, _, err = Load(settings.Sources{Path: path, Environ: environ}, LoadOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			path := loaded.Path
			for form, text := range map[string][]byte{"as it is": loaded.YAML(), "with origins": loaded.OriginYAML()} {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				again, _, err := Load(settings.Sources{Path: path, Environ: environ}, LoadOptions{})
				if err != nil {
					t.Fatalf("%s does not load: %v\n%s", form, err, text)
				}
				if got := again.Hash(); got != loaded.Hash() {
					t.Errorf("%s loads as another configuration (-want +got):\n%s", form, cmp.Diff(string(loaded.Snapshot()), string(again.Snapshot())))
				}
			}
			again, err := reloaded(loaded, environ...)
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash() != loaded.Hash() {
				t.Errorf("the snapshot loads as another configuration (-want +got):\n%s", cmp.Diff(string(loaded.Snapshot()), string(again.Snapshot())))
			}
			for _, p := range loaded.Patterns {
				kept, _ := again.Pattern(p.Name)
				if diff := cmp.Diff(p.Hands, kept.Hands, cmpopts.IgnoreFields(settings.Hand{}, "Item")); diff != "" {
					t.Errorf("hands of %s (-want +got):\n%s", p.Name, diff)
				}
				if diff := cmp.Diff(p.Aggregate, kept.Aggregate); diff != "" {
					t.Errorf("aggregate of %s (-want +got):\n%s", p.Name, diff)
				}
			}
		})
	}
}

// A thousand patterns load, one more does not; aliases are as what they stand for.
func TestManyPatterns(t *testing.T) {
	list := []string{"x0: &one " + ofKind("supervisor", "")}
	for i := 1; i < settings.MaxPatterns-len(settings.BuiltinPatterns); i++ {
		list = append(list, fmt.Sprintf("x%d: *one", i))
	}
	loaded := loadOwn(t, list...)
	if len(loaded.Patterns) != settings.MaxPatterns {
		t.Fatalf("%d patterns, want %d", len(loaded.Patterns), settings.MaxPatterns)
	}
	file := ownFile(append(list, "more: *one")...)
	if _, _, err := loadText(t, file); err == nil || placedWords(t, file, err) != "more | patterns.more: more than 1000 patterns; remove it" {
		t.Errorf("one more: %v", err)
	}
}

// A wide web of patterns is gone through once, however many ways lead through it.
func TestWideComposition(t *testing.T) {
	var list []string
	names := func(level int) string {
		var routes []string
		for i := range 40 {
			routes = append(routes, fmt.Sprintf("r%d: {pattern: p%d_%d}", i, level, i))
		}
		return "routes: {" + strings.Join(routes, ", ") + "}"
	}
	for level := range settings.MaxDepth - 1 {
		for i := range 40 {
			list = append(list, fmt.Sprintf("p%d_%d: %s", level, i, ofKindOver("routing", names(level+1), "")))
		}
	}
	for i := range 40 {
		list = append(list, fmt.Sprintf("p%d_%d: %s", settings.MaxDepth-1, i, ofKind("supervisor", "")))
	}
	loaded := loadOwn(t, list...)
	if specs := declaredIn(t, loaded); len(specs["p0_0"].Tools) != 40 {
		t.Errorf("p0_0 has %d routes, want 40", len(specs["p0_0"].Tools))
	}
}
