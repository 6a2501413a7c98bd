package assembly

import (
	"strings"
	"testing"

	"patterngate/ijson"
)

// What is wrong with models by role is said with its place (spec/config.md section 3).
func TestModelRoleFaults(t *testing.T) {
	roles := func(list string) string { return "version: 1\nllm: {models: {" + list + "}}\n" }
	priced := func(list, pattern string) string {
		return "version: 1\nllm: {models: {" + list + "}}\npatterns: {route_ticket: {budget: {max_cost_usd: 1}" + pattern + "}}\n"
	}
	const price = "price: {input_usd: 1, output_usd: 2}"
	tests := map[string]struct{ file, want string }{
		"unknown fallback":  {roles("plan: {fallback: smal}, small: {model: s}"), "smal | llm.models.plan.fallback: no role smal in llm.models; did you mean small?"},
		"a loop":            {roles("plan: {fallback: final}, final: {fallback: plan}"), "final | llm.models.plan.fallback: a loop: plan -> final -> plan; end it with a role that has no fallback\nplan | llm.models.final.fallback: a loop: final -> plan -> final; end it with a role that has no fallback"},
		"three steps":       {roles("plan: {fallback: a}, a: {fallback: b}, b: {fallback: c}, c: {model: m}"), "a | llm.models.plan.fallback: 3 steps: plan -> a -> b -> c; use at most 2"},
		"half a price":      {roles("plan: {price: {input_usd: 1}}"), "{input_usd | llm.models.plan.price.output_usd: missing; write what a million output tokens cost"},
		"a key in words":    {roles("plan: {api_key: sk-hunter2}"), `sk-hunter2 | llm.models.plan.api_key: a secret in plain text; write {secret: "env:OPENAI_API_KEY"}`},
		"a negative price":  {roles("plan: {price: {input_usd: -1, output_usd: 1}}"), "-1 | llm.models.plan.price.input_usd: got -1; write an amount in USD from 0 on"},
		"a role's name":     {roles("Plan: {model: m}"), "Plan | llm.models.Plan: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"no role of all":    {"version: 1\nllm: {role: big}\n", "big | llm.role: no role big in llm.models; declare it there"},
		"priced in part":    {priced("plan: {"+price+"}", ""), ""}, // final is the same model
		"another's model":   {priced("plan: {"+price+"}, final: {model: large}", ""), "1 | patterns.route_ticket.budget.max_cost_usd: no price for model large; write price: {input_usd, output_usd} beside it in llm.models"},
		"a fallback's":      {priced("plan: {"+price+", fallback: far}, far: {base_url: 'http://127.0.0.1:9/v1'}", ""), "1 | patterns.route_ticket.budget.max_cost_usd: no price for model gpt-4.1-mini; write price: {input_usd, output_usd} beside it in llm.models"},
		"the pattern's own": {priced("plan: {"+price+"}", ", llm: {model: other}"), "1 | patterns.route_ticket.budget.max_cost_usd: no price for model other; write price: {input_usd, output_usd} beside it in llm.models"},
		"by the rules":      {priced("plan: {model: m}", ", llm: {provider: rules}"), ""},
		"no server":         {"version: 1\npatterns: {route_ticket: {llm: {provider: openai}}}\n", "openai | patterns.route_ticket.llm.provider: openai needs OPENAI_API_KEY or llm.base_url"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadText(t, tt.file)
			switch {
			case err == nil && tt.want == "":
			case err == nil:
				t.Errorf("Load(%s) loaded, want %s", tt.file, tt.want)
			default:
				if got := placedWords(t, tt.file, err); got != tt.want {
					t.Errorf("Load(%s)\n got %s\nwant %s", tt.file, got, tt.want)
				}
			}
		})
	}
}

// A role that no question goes to is told.
func TestUnaskedRole(t *testing.T) {
	_, warnings, err := loadText(t, "version: 1\nllm: {models: {plan: {fallback: far}, far: {model: m}, lone: {model: m}}}\n")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "llm.models.lone: no pattern uses this role") {
		t.Errorf("Load = %v, warnings %v", err, warnings)
	}
}

// What is in a state file chooses no secret and no server for one: a key of a role is sent only where this process's own
// configuration sends it.
func TestSnapshotKeysOfRoles(t *testing.T) {
	file := func(url, key string) string {
		return "version: 1\nllm: {base_url: 'http://127.0.0.1:1/v1', models: {big: {base_url: '" + url + "', api_key: {secret: 'env:" + key + "'}, model: b}}, role: big}\n"
	}
	loaded, _, err := loadText(t, file("http://127.0.0.1:2/v1", "BIG_KEY"), "BIG_KEY=abcdefgh")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reloaded(loaded, "BIG_KEY=abcdefgh"); err != nil || again.Hash() != loaded.Hash() {
		t.Errorf("its own snapshot does not load: %v", err)
	}
	for name, other := range map[string]string{
		"another server": file("http://127.0.0.1:3/v1", "BIG_KEY"), "another secret": file("http://127.0.0.1:2/v1", "HOME"), "none": "version: 1\n",
	} {
		own, _, err := loadText(t, other, "BIG_KEY=abcdefgh", "HOME=/root")
		if err != nil {
			t.Fatal(err)
		}
		if c, err := configOfSnapshot(loaded.Hash(), loaded.Snapshot(), snapshotKeys{own: own.LLM}, []string{"BIG_KEY=abcdefgh"}); err == nil {
			t.Errorf("%s: the snapshot of another loads with the key of %+v", name, c.LLM.Models)
		}
	}
	if text := string(loaded.Snapshot()); strings.Contains(text, "abcdefgh") {
		t.Errorf("the snapshot holds the key: %s", text)
	}
	if v, _ := ijson.DecodeCanonical(loaded.Snapshot()); v == nil {
		t.Error("the snapshot is not canonical")
	}
}

// What permits more of patterns and models is told, and what permits less is not (spec/config.md section 8).
func TestPatternsLoosen(t *testing.T) {
	worker := func(workers, more string) string {
		return ownFile("a: "+ofKindOver("orchestrator", "workers: {"+workers+"}", more), "b: "+ofKind("supervisor", ""))
	}
	plain := func(more string) string { return ownFile("a: " + ofKind("supervisor", more)) }
	routes := func(reroute string) string {
		return ownFile("a: " + ofKindOver("routing", "routes: {r: {tool: find"+reroute+"}}", ""))
	}
	models := func(list string) string {
		return ownFileOf("version: 1\nllm: {"+list+"}", "policies: {}", "a: "+ofKind("supervisor", ""))
	}
	tests := map[string]struct{ was, is, want, back string }{
		"a worker":           {worker("x: {tool: find}", ""), worker("x: {tool: find}, y: {pattern: b}", ""), "patterns.a.allow.execution: \"y\" added; patterns.a.allow.policy: \"y\" added; patterns.a.workers: y added", ""},
		"another tool":       {worker("x: {tool: find}", ""), worker("x: {pattern: b}", ""), "patterns.a.workers: x calls another tool", "patterns.a.workers: x calls another tool"},
		"words":              {worker("x: {tool: find}", ""), worker("x: {tool: find, description: D.}", ""), "", ""},
		"critical":           {worker("x: {tool: find}", "critical: [x]"), worker("x: {tool: find}", ""), `patterns.a.critical: "x" removed`, ""},
		"health":             {worker("x: {tool: find}", `aggregate: {health: [{is: red, when: "size(failed) > 0"}]}`), worker("x: {tool: find}", `aggregate: {health: [{is: red, when: "size(failed) > 1"}]}`), "patterns.a.aggregate: changed", "patterns.a.aggregate: changed"},
		"reroute":            {routes(""), routes(`, reroute: result.status == "open"`), "patterns.a.routes: reroute of r changed", "patterns.a.routes: reroute of r changed"},
		"answer":             {plain(""), plain("answer: {x: {type: string}}"), "", "patterns.a.answer: changed"},
		"input":              {plain(""), plain("input: {x: {type: string}}"), "patterns.a.input: changed", "patterns.a.input: changed"},
		"cost":               {plain("budget: {max_cost_usd: 1}, llm: {provider: rules}"), plain("budget: {max_cost_usd: 2}, llm: {provider: rules}"), "patterns.a.budget.max_cost_usd: raised from 1 to 2", ""},
		"no cost":            {plain("budget: {max_cost_usd: 1}, llm: {provider: rules}"), plain("llm: {provider: rules}"), "patterns.a.budget.max_cost_usd: no limit any more; it was 1", ""},
		"calls of a tool":    {plain("budget: {max_calls_per_tool: 1}"), plain(""), "patterns.a.budget.max_calls_per_tool: no limit any more; it was 1", ""},
		"same calls":         {plain("budget: {max_same_call: 1}"), plain("budget: {max_same_call: 2}"), "patterns.a.budget.max_same_call: raised from 1 to 2", ""},
		"same calls at all":  {plain("budget: {max_same_call: 1}"), plain(""), "patterns.a.budget.max_same_call: changed", "patterns.a.budget.max_same_call: changed"},
		"one tool":           {plain("budget: {per_tool: {find: {max_calls: 1}}}"), plain(""), "patterns.a.budget.per_tool: changed", "patterns.a.budget.per_tool: changed"},
		"the pattern's role": {ownFileOf("version: 1\nllm: {models: {x: {model: m}}}", "policies: {}", "a: "+ofKind("supervisor", "llm: {role: x}")), models("models: {x: {model: m}}"), "patterns.a.llm: changed", "patterns.a.llm: changed"},
		"a price":            {models("models: {plan: {model: m}}"), models("models: {plan: {model: m, price: {input_usd: 1, output_usd: 1}}}"), "llm.models: changed", "llm.models: changed"},
		"a model":            {models("model: m"), models("model: n"), "llm.model: changed", "llm.model: changed"},
		"a title":            {plain(""), strings.Replace(plain(""), "title: T", "title: U", 1), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			was, is := judgedText(t, tt.was), judgedText(t, tt.is)
			if got := strings.Join(loosens(was, is), "; "); got != tt.want {
				t.Errorf("loosens %q, want %q", got, tt.want)
			}
			if got := strings.Join(loosens(is, was), "; "); got != tt.back {
				t.Errorf("and back %q, want %q", got, tt.back)
			}
		})
	}
}
