package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

// listedTool is a tool as a client sees it.
type listedTool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               map[string]bool
}

// listTools asks a server for its tools.
func listTools(t *testing.T, c *session) ([]listedTool, json.RawMessage) {
	t.Helper()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	m := c.next()
	var r struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("tools/list: %v: %s", err, m.line)
	}
	var tools []listedTool
	for _, raw := range r.Tools {
		var tool listedTool
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatalf("tools/list: %v: %s", err, raw)
		}
		tools = append(tools, tool)
		golden(t, tool.Name, raw)
	}
	return tools, m.Result
}

// golden compares a declaration with the file that holds it.
func golden(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	file := filepath.Join("testdata", "tools", name+".json")
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it by: go test ./server -update", err)
	}
	if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
		t.Errorf("%s changed (-%s +now); if that is meant: go test ./server -update\n%s", name, file, diff)
	}
}

// The rules of design.md section 7 for what clients are shown.
func TestListedTools(t *testing.T) {
	tools, whole := listTools(t, connect(t, serving(t, offersPlanning)))
	var names []string
	size := 0
	for _, tool := range tools {
		names = append(names, tool.Name)
		if !slices.Contains(ownTools, tool.Name) && !strings.HasSuffix(tool.Title, " (demo data)") {
			t.Errorf("%s: title %q, want one that ends in (demo data)", tool.Name, tool.Title)
		}
		if n := utf8.RuneCountInString(tool.Description); n == 0 || n > 500 {
			t.Errorf("%s: a description of %d characters, want 1 to 500", tool.Name, n)
		}
		if len(tool.Annotations) != 4 {
			t.Errorf("%s: annotations %v, want all four", tool.Name, tool.Annotations)
		}
		for what, s := range map[string]struct {
			schema json.RawMessage
			most   int
		}{"input": {tool.InputSchema, 3 << 10}, "output": {tool.OutputSchema, 4 << 10}} {
			if len(s.schema) > s.most {
				t.Errorf("%s: %s schema of %d bytes, want at most %d", tool.Name, what, len(s.schema), s.most)
			}
			checkPortable(t, tool.Name+" "+what, s.schema)
			if _, err := catalog.CompileSchema(s.schema); err != nil {
				t.Errorf("%s: %s: %v", tool.Name, what, err)
			}
		}
		size += len(tool.InputSchema) + len(tool.OutputSchema) + len(tool.Description)
	}
	want := []string{td, or, rt, sv, "plan_decompose", "plan_execute", "plan_replan", "plan_status", arguments.CatalogTool, arguments.StatusTool, arguments.WaitTool, arguments.CancelTool, arguments.ListTool}
	if !slices.Equal(names, want) {
		t.Errorf("listed are %v, want %v", names, want)
	}
	if len(whole) > 16<<10 {
		t.Errorf("tools/list has %d bytes, want at most 16 KiB (schemas and descriptions %d)", len(whole), size)
	}
}

// checkPortable holds a schema to what all known clients take.
func checkPortable(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	v, err := ijson.Decode(raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	root, _ := v.(map[string]any)
	if root["type"] != "object" {
		t.Errorf("%s: root type %v, want object", name, root["type"])
	}
	if root["additionalProperties"] != nil && root["additionalProperties"] != false {
		t.Errorf("%s: additionalProperties %v", name, root["additionalProperties"])
	}
	var walk func(at ijson.Pointer, schema any)
	walk = func(at ijson.Pointer, schema any) {
		node, ok := schema.(map[string]any)
		if !ok {
			t.Errorf("%s%s: %v is no object", name, at, schema)
			return
		}
		for _, banned := range []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "$schema"} {
			if _, has := node[banned]; has {
				t.Errorf("%s%s: has %s", name, at, banned)
			}
		}
		if _, isText := node["type"].(string); !isText && node["type"] != nil {
			t.Errorf("%s%s: type %v, want one word", name, at, node["type"])
		}
		properties, _ := node["properties"].(map[string]any)
		for p, sub := range properties {
			walk(at.Member("properties").Member(p), sub)
		}
		if items, has := node["items"]; has {
			walk(at.Member("items"), items)
		}
		if more, has := node["additionalProperties"]; has && more != false {
			walk(at.Member("additionalProperties"), more)
		}
	}
	walk("", v)
}

// The words are within the contract's lengths (spec/surface.md section 2).
func TestTitlesAndDescriptions(t *testing.T) {
	want := map[string][2]string{
		"run_task_decomposition": {"Plan and carry out a goal (demo data)", "Answers a goal with a plan of 3 to 6 tool calls in order. Use it for a report or a question that needs several look-ups. Send your own `plan`, or omit it. Follow `next`."},
		"run_orchestrator":       {"Run tasks in parallel (demo data)", "Runs up to 4 independent tasks in parallel and merges them into one report. Use it when no task needs the result of another. Send your own `plan`, or omit it. Follow `next`."},
		"route_ticket":           {"Route a ticket to a specialist (demo data)", "Hands a ticket to the specialist that fits (billing, technical or sales), and to another one if the first declines. Use it when exactly one expert must answer. Send your own `route`, or omit it. Follow `next`."},
		"supervised_refund":      {"Supervised refund (demo data)", "Looks up a customer, pays a refund and sends the email. The refund policy approves, changes or blocks each action, or asks a person. You cannot approve. Use it whenever money goes back. Send your own `actions`, or omit them. Follow `next`."},
	}
	want[arguments.CatalogTool] = [2]string{"List catalog tools", "Lists the tools that a plan, route or action may call: what each does, its arguments, its effect, and whether a person may have to approve. Use it before you write your own."}
	want[arguments.StatusTool] = [2]string{"Show a run", "Shows a run: what was done, what it waits for and what to do next. Use it after a call was cut off or when the person writes again. Without run_id: your newest waiting or finished run. With step: one whole observation."}
	want[arguments.WaitTool] = [2]string{"Wait for a run", "Waits until a run ends or changes. Use it after `running`, and once after `waiting`. When `next` says end_turn, stop calling."}
	want[arguments.CancelTool] = [2]string{"Cancel a run", "Stops a run before its next call. Finished calls stay done and are listed in effects. Use it only when the person asks."}
	want[arguments.ListTool] = [2]string{"List runs", "Lists your runs, newest first, with status, stop reason and one line each. Use it to find the id of a run."}
	got := map[string][2]string{}
	for _, tool := range serving(t).Tools() {
		got[tool.Name] = [2]string{tool.Title, tool.Description}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("title and description (-want +got):\n%s", diff)
	}
}

// Annotations follow from what may be executed, whatever the policy allows to be named.
func TestAnnotations(t *testing.T) {
	input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string, effect catalog.Effect, demo bool) catalog.Tool {
		return catalog.Tool{Name: name, Effect: effect, Simulated: demo, Input: input, Do: noTool}
	}
	tests := map[string]struct {
		execution []string
		want      map[string]bool
		title     string
	}{
		"reads":            {[]string{"look", "peek"}, map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}, "Plan and carry out a goal (demo data)"},
		"one writes":       {[]string{"look", "pay"}, map[string]bool{"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false}, "Plan and carry out a goal (demo data)"},
		"one destroys":     {[]string{"look", "wipe"}, map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}, "Plan and carry out a goal (demo data)"},
		"only real ones":   {[]string{"wipe"}, map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}, "Plan and carry out a goal"},
		"absent ones":      {[]string{"look", "gone"}, map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}, "Plan and carry out a goal (demo data)"},
		"nothing to reach": {nil, map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}, "Plan and carry out a goal"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := builtins(t, tool("look", catalog.Read, true), tool("peek", catalog.Read, true),
				tool("pay", catalog.Write, true), tool("wipe", catalog.Destructive, false))[0]
			p.Spec.Policy, p.Spec.Execution = []string{"look", "wipe"}, tt.execution
			declared := serving(t, func(c *Config) { c.Patterns = []Pattern{p} }).Tools()[0]
			var got map[string]bool
			if err := json.Unmarshal([]byte(mustJSON(declared.Annotations)), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("annotations for %v (-want +got):\n%s", tt.execution, diff)
			}
			if declared.Title != tt.title {
				t.Errorf("title for %v is %q, want %q", tt.execution, declared.Title, tt.title)
			}
		})
	}
}

// A declaration with a fault makes no server, and all faults are told.
func TestNewRefuses(t *testing.T) {
	good := builtins(t)
	change := func(f func(*Pattern)) []Pattern {
		p := good[0]
		f(&p)
		return []Pattern{p}
	}
	tests := map[string]struct {
		change func(*Config)
		want   []string
	}{
		"call without tool": {func(c *Config) { c.Patterns = change(func(p *Pattern) { p.Spec.Kind = gateway.Call }) }, []string{"names a tool"}},
		"call of none": {func(c *Config) {
			c.Patterns = change(func(p *Pattern) { p.Spec.Kind, p.Spec.Tool = gateway.Call, "absent" })
		}, []string{`no tool "absent"`}},
		"no engine":    {func(c *Config) { c.Engine = nil }, []string{"no engine"}},
		"no model":     {func(c *Config) { c.Model = nil }, []string{"no model"}},
		"result bytes": {func(c *Config) { c.ResultBytes = -1 }, []string{"result bytes -1"}},
		"own name":     {func(c *Config) { c.Patterns = change(func(p *Pattern) { p.Spec.Name = arguments.WaitTool }) }, []string{`pattern "run_wait": the name is taken`}},
		"twice":        {func(c *Config) { c.Patterns = []Pattern{good[0], good[0]} }, []string{`"run_task_decomposition": declared twice`}},
		"kind":         {func(c *Config) { c.Patterns = change(func(p *Pattern) { p.Spec.Kind = "chess" }) }, []string{`no pattern of kind "chess"`}},
		"name":         {func(c *Config) { c.Patterns = change(func(p *Pattern) { p.Spec.Name = "a b" }) }, []string{`"a b": a name is`}},
		"catalog":      {func(c *Config) { c.Patterns = change(func(p *Pattern) { p.Spec.Catalog = nil }) }, []string{"no catalog"}},
		"several at once": {func(c *Config) {
			c.Model, c.Patterns = nil, []Pattern{{}, {Spec: good[1].Spec, Title: "x"}, good[1]}
		}, []string{"no model", `no pattern of kind ""`, "declared twice"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := serving(t).config
			tt.change(&c)
			s, err := New(c)
			if s != nil || err == nil {
				t.Fatalf("New = %v, %v; want an error", s, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("New: %v; want it to say %q", err, want)
				}
			}
		})
	}
}

// What the schemas recommend must work: the example of each is accepted and carried through, also in smaller budgets.
func TestExamplesCarryThrough(t *testing.T) {
	arguments := map[string]string{
		"run_task_decomposition": `{"goal":"x","plan":%s}`, "route_ticket": `{"ticket":"refund my pro_monthly charge, user_id=42","route":%s}`,
		"run_orchestrator":  `{"goal":"x","report_date":"2026-02-26","region":"US","plan":%s}`,
		"supervised_refund": `{"goal":"x","actions":%s}`,
	}
	budgets := map[string]func(*gateway.Budget){
		"defaults": func(*gateway.Budget) {},
		"smaller":  func(b *gateway.Budget) { b.MinPlanSteps, b.MaxPlanSteps, b.MaxTasks = 1, 2, 1 },
	}
	for budget, change := range budgets {
		list := builtins(t)
		for i := range list {
			change(&list[i].Spec.Budget)
		}
		c := connect(t, serving(t, func(c *Config) { c.Patterns = list }))
		for _, p := range serving(t, func(c *Config) { c.Patterns = list }).tools {
			tool := p.declared
			t.Run(budget+" "+tool.Name, func(t *testing.T) {
				description := string(tool.RawInputSchema)
				_, example, found := strings.Cut(description, `Example: `)
				if !found {
					t.Fatalf("no example in %s", description)
				}
				var whole string
				if err := json.Unmarshal([]byte(`"`+example[:endOfString(example)]+`"`), &whole); err != nil {
					t.Fatal(err)
				}
				r := c.call(tool.Name, fmt.Sprintf(arguments[tool.Name], whole)).result(t)
				if r.IsError || r.Structured["status"] != "ok" {
					t.Errorf("the example %s ended with %v", whole, r.Structured)
				}
			})
		}
	}
}

// endOfString is where the JSON string that the text is inside of ends.
func endOfString(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// The schemas name what the policy allows, and nothing beyond.
func TestSchemaFollowsPolicy(t *testing.T) {
	p := builtins(t)[0]
	p.Spec.Policy = []string{"fetch_sales_data", "absent_tool"}
	p.Spec.Budget.MaxPlanSteps = 5
	s := serving(t, func(c *Config) { c.Patterns = []Pattern{p}; c.Configured = true })
	schema, err := ijson.Decode(s.Tools()[0].RawInputSchema)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[ijson.Pointer]string{
		"/properties/plan/properties/steps/items/properties/tool/enum": `["fetch_sales_data","absent_tool"]`,
		"/properties/plan/properties/steps/maxItems":                   `5`,
		"/properties/plan/properties/steps/minItems":                   `3`,
		"/properties/finalize/description":                             `"Write a final text. Default true."`,
		"/required":                                                    `["goal"]`,
	} {
		if got, _ := at.In(schema); string(ijson.Canonical(got)) != want {
			t.Errorf("%s is %s, want %s", at, ijson.Canonical(got), want)
		}
	}
	plan, _ := ijson.Pointer("/properties/plan/description").In(schema)
	if want := "Tools: fetch_sales_data {month: YYYY-MM}. Example: {"; !strings.HasPrefix(plan.(string), want) {
		t.Errorf("the plan is described by %q, want it to begin %q", plan, want)
	}
}

// Instructions speak of what is listed only.
func TestInstructions(t *testing.T) {
	all := serving(t).instructions()
	if n := utf8.RuneCountInString(all); n > 1500 {
		t.Errorf("instructions of %d characters, want at most 1,500", n)
	}
	for _, name := range []string{"run_task_decomposition for steps in order", "run_orchestrator", "route_ticket", "supervised_refund", "describe_catalog shows", "waiting for caller", "waiting for approval or settlement: tell the user next.say, call run_wait once, then end your turn. running: call run_wait.", "after a cut call use run_status"} {
		if !strings.Contains(all, name) {
			t.Errorf("instructions do not speak of %s: %s", name, all)
		}
	}
	for _, later := range []string{"plan_"} {
		if strings.Contains(all, later) {
			t.Errorf("instructions speak of %s, which is not there", later)
		}
	}
	crowd := serving(t).tools
	for i := range 20 {
		crowd = append(crowd, &tool{Reader: arguments.Reader{Spec: patterns.Spec{Kind: gateway.Call, Name: fmt.Sprintf("%062d%02d", 0, i)}}})
	}
	if text := instructions(crowd, true); utf8.RuneCountInString(text) > 1500 || !strings.Contains(text, " and 17 more for one checked call each") {
		t.Errorf("instructions with 20 long names have %d characters: %s", utf8.RuneCountInString(text), text)
	}
	one := serving(t, func(c *Config) { c.Patterns = c.Patterns[2:3] }).instructions()
	if strings.Contains(one, "run_orch") || !strings.Contains(one, "Which tool: route_ticket for one expert. describe_catalog") {
		t.Errorf("instructions for route_ticket alone: %s", one)
	}
	if none := serving(t, func(c *Config) { c.Patterns = c.Patterns[:2] }).instructions(); strings.Contains(none, "waiting for caller") {
		t.Errorf("instructions for patterns that never wait for their caller: %s", none)
	}
}
