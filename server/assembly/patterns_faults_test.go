package assembly

import (
	"errors"
	"strings"
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// ownFile is a file with two real tools, a policy and patterns of its own.
func ownFile(patterns ...string) string {
	return ownFileOf("version: 1", "policies: {all: {params: {cap_cents: 5}, rules: [{id: ok, approve: {}}]}}", patterns...)
}

func ownFileOf(head, policies string, patterns ...string) string {
	const output = ", input: {key: {type: string}}, output_schema: {status: {type: string, enum: [paid, open]}, cents: {type: integer}}"
	return head + "\ncatalog: {http: {" + httpTool("find", output) + ",\n  " +
		strings.Replace(httpTool("pay", ", input: {cents: {type: integer}}"), "effect: read", "effect: write", 1) + "}}\n" +
		policies + "\npatterns:\n  " + strings.Join(patterns, "\n  ") + "\n"
}

// A pattern of a kind with all that it must have, and more.
func ofKind(kind, more string) string {
	hands := map[string]string{"orchestrator": "workers", "routing": "routes"}[kind]
	if hands == "" {
		hands = "tools"
	}
	return ofKindOver(kind, hands+": [find]", more)
}

func ofKindOver(kind, hands, more string) string {
	text := "{kind: " + kind + ", title: T, description: D."
	for _, part := range []string{hands, more} {
		if part != "" {
			text += ", " + part
		}
	}
	return text + "}"
}

// What is wrong with patterns of the file's own is said with its place and what would have been right (spec/config.md sections 7 and 11).
func TestOwnPatternFaults(t *testing.T) {
	td := func(more string) string { return "a: " + ofKind("task_decomposition", more) }
	or := func(more string) string { return "a: " + ofKind("orchestrator", more) }
	rt := func(more string) string { return "a: " + ofKind("routing", more) }
	workers := func(list, more string) string { return "a: " + ofKindOver("orchestrator", "workers: "+list, more) }
	routes := func(name, list, more string) string {
		return name + ": " + ofKindOver("routing", "routes: "+list, more)
	}
	tests := map[string]struct {
		patterns []string
		want     string // a line a fault: what begins at its place, and its words
	}{
		"no title":               {[]string{"a: {kind: routing, description: D., routes: [find]}"}, "{kind | patterns.a.title: missing; write a few words that people read"},
		"no description":         {[]string{"a: {kind: routing, title: T, routes: [find]}"}, "{kind | patterns.a.description: missing; write what it does and when to use it, for the model"},
		"no kind":                {[]string{"a: {title: T}"}, "{title | patterns.a.kind: missing; write task_decomposition, orchestrator, routing, supervisor, planning or call"},
		"unknown kind":           {[]string{"a: {kind: router}"}, `router | patterns.a.kind: got "router"; write task_decomposition, orchestrator, routing, supervisor, planning or call`},
		"no tools":               {[]string{"a: " + ofKindOver("supervisor", "", "")}, "{kind | patterns.a.tools: missing; write the tools that it may call: [NAME]"},
		"no workers":             {[]string{"a: " + ofKindOver("orchestrator", "", "")}, "{kind | patterns.a.workers: missing; write its workers: {NAME: {tool: TOOL}}, or a list of tools"},
		"unknown tool":           {[]string{"a: " + ofKindOver("task_decomposition", "tools: [fimd]", "")}, "fimd | patterns.a.tools[0]: no tool fimd; did you mean find?"},
		"unknown worker's tool":  {[]string{workers("{w: {tool: fimd}}", "")}, "fimd | patterns.a.workers.w.tool: no tool fimd; did you mean find?"},
		"unknown tool in a list": {[]string{workers("[find, fimd]", "")}, "fimd | patterns.a.workers[1]: no tool fimd; did you mean find?"},
		"twice in a list":        {[]string{workers("[find, find]", "")}, "find | patterns.a.workers[1]: find is listed twice; remove one"},
		"unknown pattern":        {[]string{routes("a", "{r: {pattern: bee}}", ""), "beee: " + ofKind("supervisor", "")}, "bee | patterns.a.routes.r.pattern: no pattern bee; did you mean beee?"},
		"tool for a pattern":     {[]string{routes("a", "{r: {pattern: find}}", "")}, "find | patterns.a.routes.r.pattern: find is also a tool; write tool: find"},
		"pattern for a tool":     {[]string{routes("a", "{r: {tool: b}}", ""), "b: " + ofKind("supervisor", "")}, "b | patterns.a.routes.r.tool: no tool b; it is a pattern: write pattern: b"},
		"both":                   {[]string{workers("{w: {tool: find, pattern: b}}", "")}, "{tool | patterns.a.workers.w: both tool and pattern; keep one"},
		"neither":                {[]string{workers("{w: {description: D.}}", "")}, "{description | patterns.a.workers.w: neither tool nor pattern; write tool: NAME or pattern: NAME"},
		"a word for a worker":    {[]string{workers("{w: find}", "")}, `find | patterns.a.workers.w: got "find"; write {tool: find} or {pattern: find}`},
		"a taken worker's name":  {[]string{workers("{final: {tool: find}}", "")}, "final | patterns.a.workers.final: final is a reserved name; give the worker another name"},
		"another tool's name":    {[]string{workers("{pay: {tool: find}}", "")}, "pay | patterns.a.workers.pay: pay is also a tool; give the worker another name"},
		"a pattern's, a tool's":  {[]string{workers("{pay: {pattern: b}}", ""), "b: " + ofKind("supervisor", "")}, "pay | patterns.a.workers.pay: pay is also a tool; give the worker another name"},
		"unknown policy":         {[]string{td("policy: al")}, "al | patterns.a.policy: no policy al; write all, or add policies: {al: {rules: [...]}}"},
		"unknown param":          {[]string{td("policy: all, params: {cap_cent: 1}")}, "cap_cent | patterns.a.params.cap_cent: no param cap_cent (cap_cents); did you mean cap_cents?"},
		"param of another type":  {[]string{td("policy: all, params: {cap_cents: 1.5}")}, "1.5 | patterns.a.params.cap_cents: got 1.5, but the policy's is an int; write a whole number"},
		"a key of another kind":  {[]string{td("critical: [find]")}, "critical | patterns.a.critical: a key of kind orchestrator, but this pattern is of kind task_decomposition; remove it"},
		"workers of a router":    {[]string{rt("workers: [find]")}, "workers | patterns.a.workers: a key of kind orchestrator, but this pattern is of kind routing; write routes"},
		"routes of a supervisor": {[]string{"a: " + ofKind("supervisor", "routes: [find]")}, "routes | patterns.a.routes: a key of kind routing, but this pattern is of kind supervisor; write tools"},
		"tools of a call":        {[]string{"a: {kind: call, tool: find, tools: [find]}"}, "tools | patterns.a.tools: a key of kind task_decomposition, orchestrator, routing, supervisor or planning, but this pattern is of kind call; write tool"},
		"approval of a plan":     {[]string{td("require_approval: plan")}, "require_approval | patterns.a.require_approval: a key of kind planning, but this pattern is of kind task_decomposition; remove it"},
		"misspelt key":           {[]string{td("goal_argumnet: x")}, "goal_argumnet | patterns.a.goal_argumnet: unknown key; did you mean goal_argument?"},
		"template variable": {[]string{td(`input: {order_id: {type: string}}, instructions: "For {{.order}}."`)},
			".order | patterns.a.instructions: {{.order}}: no input order; did you mean order_id?"},
		"input of the kind":     {[]string{td("input: {run_id: {type: string}}")}, "run_id | patterns.a.input.run_id: run_id is an argument of kind task_decomposition; write another name"},
		"input is the goal":     {[]string{td("goal_argument: order, input: {order: {type: string}}")}, "order | patterns.a.input.order: order is the argument with the goal; write another name, or another goal_argument"},
		"input of planning":     {[]string{"a: " + ofKind("planning", "input: {max_steps: {type: integer}}")}, "max_steps | patterns.a.input.max_steps: max_steps is an argument of kind planning; write another name"},
		"goal of the kind":      {[]string{td("goal_argument: plan")}, "plan | patterns.a.goal_argument: plan is an argument of kind task_decomposition; write another name"},
		"name of an input":      {[]string{td("input: {Order: {type: string}}")}, "Order | patterns.a.input.Order: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"proto":                 {[]string{td("input: {__proto__: {type: string}}")}, "__proto__ | patterns.a.input.__proto__: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"a schema that is none": {[]string{td("input: {order: {oneOf: []}}")}, "[]}}} | patterns.a.input.order.oneOf: not allowed here; write one schema without oneOf, anyOf, allOf, not, if and $ref"},
		"answer":                {[]string{td("answer: {state: {type: strin}}")}, `strin | patterns.a.answer.state.type: got "strin"; write one word: object, string, integer, number, boolean, array, null; did you mean string?`},
		"a large answer": {[]string{td("answer: {text: {type: string, description: " + strings.Repeat("d", 4096) + "}}")},
			"{text | patterns.a.answer: got 4219 bytes of schema; write at most 4096"},
		"critical":             {[]string{or("critical: [fimd]")}, "fimd | patterns.a.critical[0]: no worker fimd; did you mean find?"},
		"per tool":             {[]string{td("budget: {per_tool: {pay: {max_calls: 1}}}")}, "pay | patterns.a.budget.per_tool.pay: no tool pay; there are find"},
		"least and most":       {[]string{td("budget: {min_plan_steps: 7}")}, "7 | patterns.a.budget.min_plan_steps: more than max_plan_steps, 6; raise max_plan_steps or lower it"},
		"another kind's limit": {[]string{td("budget: {max_tasks: 7}")}, "max_tasks | patterns.a.budget.max_tasks: a limit of kind orchestrator; remove it"},
		"tools and workers":    {[]string{or("tools: [find]")}, "tools | patterns.a.tools: both tools and workers; keep one"},
		"field": {[]string{or(`aggregate: {fields: {s: "tasks.find.observation.statuss"}}`)},
			`statuss" | patterns.a.aggregate.fields.s: the result of find has no member statuss (status, cents); did you mean status?`},
		"field of a worker": {[]string{or(`aggregate: {fields: {s: tasks.finf.id}}`)}, "finf.id | patterns.a.aggregate.fields.s: tasks has no worker finf (find); did you mean find?"},
		"health":            {[]string{or(`aggregate: {health: [{is: red, when: "1 + 1"}]}`)}, "1 | patterns.a.aggregate.health[0].when: int, but bool is needed"},
		"no colour":         {[]string{or(`aggregate: {health: [{is: blue, when: "true"}]}`)}, `blue | patterns.a.aggregate.health[0].is: got "blue"; write red, yellow or green`},
		"reroute":           {[]string{routes("a", `{r: {tool: find, reroute: 'result.statsu == "x"'}}`, "")}, "statsu | patterns.a.routes.r.reroute: result has no member statsu (status, cents); did you mean status?"},
		"a cycle":           {[]string{routes("a", "{r: {pattern: b}}", ""), routes("b", "{r: {pattern: a}}", "")}, "a | patterns.b.routes.r.pattern: a cycle: a -> b -> a; remove one of them from it"},
		"itself":            {[]string{routes("a", "{r: {pattern: a}}", "")}, "a | patterns.a.routes.r.pattern: a cycle: a -> a; remove one of them from it"},
		"too deep": {[]string{routes("a", "{r: {pattern: b}}", ""), routes("b", "{r: {pattern: c}}", ""), routes("c", "{r: {pattern: d}}", ""), routes("d", "{r: {pattern: e}}", ""), "e: " + ofKind("supervisor", "")},
			"b | patterns.a.routes.r.pattern: 5 patterns inside each other: a -> b -> c -> d -> e; use at most 4"},
		"over its caller's": {[]string{routes("a", "{r: {pattern: b}}", "budget: {max_tokens: 100}"), "b: " + ofKind("supervisor", "budget: {max_seconds: 61, max_tokens: 101}")},
			"61 | patterns.b.budget.max_seconds: 61 is more than the 60 of patterns.a, which calls it; write at most 60\n101 | patterns.b.budget.max_tokens: 101 is more than the 100 of patterns.a, which calls it; write at most 100"},
		"switched off":    {[]string{routes("a", "{r: {pattern: b}}", ""), "b: " + ofKind("supervisor", "enabled: false")}, "b | patterns.a.routes.r.pattern: b is not enabled; enable it, or remove the route"},
		"of four tools":   {[]string{routes("a", "{r: {pattern: b}}", ""), "b: " + ofKind("planning", "")}, "b | patterns.a.routes.r.pattern: b is of kind planning, which is four tools; name a pattern of another kind"},
		"a built-in's":    {[]string{"plan_status: " + ofKind("supervisor", "")}, "plan_status | patterns.plan_status: also a tool of this server; write another name"},
		"two of one name": {[]string{"b: " + ofKind("planning", ""), "b_execute: " + ofKind("supervisor", "")}, "b_execute | patterns.b_execute: its tool b_execute is also a tool of patterns.b; write another name"},
		"too long for four": {[]string{strings.Repeat("b", 55) + ": " + ofKind("planning", "")},
			"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb | patterns.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: 55 characters, and the names of its tools end with _decompose; write a name of at most 54"},
		"an unseen character": {[]string{`a: {kind: supervisor, title: "T\u202E", description: D., tools: [find]}`}, `"T\u202E" | patterns.a.title: the character U+202E, which is invisible or changes the reading direction; remove it`},
		"a line in a title":   {[]string{`a: {kind: supervisor, title: "T\nU", description: D., tools: [find]}`}, `"T\nU" | patterns.a.title: the character U+000A, which is invisible or changes the reading direction; remove it`},
		"a bell":              {[]string{`a: {kind: supervisor, title: T, description: "D\a", tools: [find]}`}, `"D\a" | patterns.a.description: the character U+0007, which is invisible or changes the reading direction; remove it`},
		"101 characters":      {[]string{"a: {kind: supervisor, title: " + strings.Repeat("件", 101) + ", description: D., tools: [find]}"}, "件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件件 | patterns.a.title: got 101 characters; write at most 100"},
		"a simulated person": {[]string{routes("a", "{r: {pattern: b}}", "approver: {kind: simulated}"), "b: " + ofKindOver("supervisor", "tools: [pay]", "policy: all")},
			"simulated | patterns.a.approver.kind: simulated, but pay is a real tool of effect write; write inbox or reject"},
		"unknown role":   {[]string{td("llm: {role: smal}")}, "smal | patterns.a.llm.role: no role smal in llm.models; declare it there"},
		"format":         {[]string{td("llm: {response_format: json}")}, `json | patterns.a.llm.response_format: got "json"; write json_object, json_schema or auto`},
		"repairs":        {[]string{td("llm: {repair_turns: 4}")}, "4 | patterns.a.llm.repair_turns: got 4; write a whole number from 0 to 3"},
		"no price":       {[]string{td("budget: {max_cost_usd: 0.5}")}, "0.5 | patterns.a.budget.max_cost_usd: no price for model gpt-4.1-mini; write price: {input_usd, output_usd} beside it in llm.models"},
		"finalize":       {[]string{td("finalize: never")}, `never | patterns.a.finalize: got "never"; write auto, true or false`},
		"no final of it": {[]string{"a: " + ofKind("supervisor", "finalize: true")}, "finalize | patterns.a.finalize: a key of kind task_decomposition, orchestrator, routing or planning, but this pattern is of kind supervisor; remove it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := ownFile(tt.patterns...)
			loaded, _, err := loadText(t, file)
			if err == nil {
				t.Fatalf("Load(%s) loaded %+v, want %s", file, loaded.Patterns[len(settings.BuiltinPatterns):], tt.want)
			}
			if got := placedWords(t, file, err); got != tt.want {
				t.Errorf("Load(%s)\n got %s\nwant %s", file, got, tt.want)
			}
		})
	}
}

// placedWords are the faults of a file, each a line with the word that stands at its place before it.
func placedWords(t *testing.T, file string, err error) string {
	t.Helper()
	faults, ok := errors.AsType[*yamldoc.Error](err)
	if !ok {
		t.Fatalf("Load = %v, want faults", err)
	}
	var lines []string
	for _, f := range faults.Faults {
		rest := []rune(strings.Split(file, "\n")[f.Line-1])[f.Column-1:]
		word := strings.TrimLeft(string(rest), "{[")
		if end := strings.IndexAny(word, ":,}] "); end > 0 {
			word = word[:end]
		}
		opened := len(rest) - len([]rune(strings.TrimLeft(string(rest), "{[")))
		text := f.String()
		lines = append(lines, string(rest[:opened])+word+" | "+text[strings.Index(text, f.Path):])
	}
	return strings.Join(lines, "\n")
}
