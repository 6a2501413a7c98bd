package gateway_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

const stateAnswer = `{"state": {"type": "string", "enum": ["open", "sent"]}, "text": {"type": "string"}, "count": {"type": "integer", "optional": true}}`

func answerSchema(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	s, _, faults := catalog.CompileArguments(json.RawMessage(text))
	if s == nil {
		t.Fatalf("%s: %v", text, faults)
	}
	return s
}

// TestParseAnswer holds what a final answer may be that must fit a schema, and what is said of one that does not.
func TestParseAnswer(t *testing.T) {
	tests := map[string]struct {
		text     string
		reason   string
		problems []string // pointer reason
	}{
		"fits":              {` {"state":"sent","text":"ok","count":2} `, "", nil},
		"without optional":  {`{"text":"ok","state":"open"}`, "", nil},
		"a text":            {"It was sent.", "invalid_answer:non_json", []string{" non_json"}},
		"fenced":            {"```json\n{}\n```", "invalid_answer:non_json", []string{" non_json"}},
		"two documents":     {`{"state":"sent","text":"ok"}{}`, "invalid_answer:non_json", []string{" non_json"}},
		"a member twice":    {`{"state":"sent","state":"open","text":"ok"}`, "invalid_answer:non_json", []string{"/state non_json"}},
		"too deep":          {strings.Repeat("[", 200) + strings.Repeat("]", 200), "invalid_answer:non_json", nil},
		"NaN":               {`{"state":"sent","text":"ok","count":NaN}`, "invalid_answer:non_json", nil},
		"a list":            {`["sent"]`, "invalid_answer:bad_schema", []string{" bad_schema"}},
		"null":              {`null`, "invalid_answer:bad_schema", []string{" bad_schema"}},
		"all faults":        {`{"state":"lost","txt":"x","count":"2"}`, "invalid_answer:bad_schema", []string{"/txt bad_schema text", "/text bad_schema", "/count bad_schema", "/state bad_schema"}},
		"a fraction":        {`{"state":"sent","text":"ok","count":2.5}`, "invalid_answer:bad_schema", []string{"/count bad_schema"}},
		"longer than 16 KB": {`{"state":"sent","text":"` + strings.Repeat("x", gateway.MaxAnswer) + `"}`, "invalid_answer:bad_schema", []string{" bad_schema"}},
	}
	schema := answerSchema(t, stateAnswer)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, refusal := gateway.ParseAnswer(tt.text, schema)
			if tt.reason == "" {
				want, err := ijson.Decode([]byte(tt.text))
				if err != nil || refusal != nil || !reflect.DeepEqual(v, want) {
					t.Fatalf("ParseAnswer(%s) = %v, %v, want %v (%v)", tt.text, v, refusal, want, err)
				}
				return
			}
			if refusal == nil || refusal.Reason != tt.reason || v != nil {
				t.Fatalf("ParseAnswer(%s) = %v, %v, want %s", tt.text, v, refusal, tt.reason)
			}
			if _, known := stopreason.Lookup(refusal.Reason); !known {
				t.Errorf("%s is no stop reason", refusal.Reason)
			}
			var got []string
			for _, p := range refusal.Problems {
				got = append(got, strings.TrimSuffix(string(p.Pointer)+" "+p.Reason+" "+p.DidYouMean, " "))
				if p.Want == "" || len(p.Want) > 200 || len(p.Got) > 300 {
					t.Errorf("problem %+v", p)
				}
			}
			if tt.problems != nil && !reflect.DeepEqual(got, tt.problems) {
				t.Errorf("problems %q, want %q", got, tt.problems)
			}
		})
	}
}

// FuzzAnswer reads any answer: it never panics, and what it takes fits the schema and is bounded.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"state":"sent","text":"ok"}`, `{"state":1}`, "x", `{"state":"sent","text":"ok","count":1e400}`, "[[[[", `{"\ud800":1}`} {
		f.Add(seed)
	}
	schema := answerSchema(f, stateAnswer)
	f.Fuzz(func(t *testing.T, text string) {
		v, refusal := gateway.ParseAnswer(text, schema)
		switch {
		case refusal != nil && (v != nil || len(refusal.Problems) == 0 || !strings.HasPrefix(refusal.Reason, "invalid_answer:")):
			t.Fatalf("%q: %v, %+v", text, v, refusal)
		case refusal == nil && (len(schema.Check(v)) > 0 || len(ijson.Canonical(v)) > gateway.MaxAnswer):
			t.Fatalf("%q: %v", text, v)
		}
	})
}

// TestFinalOfSchema holds how the closing action of a pattern is read that declares what its answer is.
func TestFinalOfSchema(t *testing.T) {
	rules := gateway.ActionRules{Final: answerSchema(t, stateAnswer)}
	for name, tt := range map[string]struct{ action, want, problem string }{
		"an object":         {`{"kind":"final","answer":{"text":"ok","state":"open"}}`, `{"state":"open","text":"ok"}`, ""},
		"its text":          {`{"kind":"final","answer":"{\"text\":\"ok\",\"state\":\"open\"}"}`, `{"state":"open","text":"ok"}`, ""},
		"a text":            {`{"kind":"final","answer":"It is open."}`, "invalid_answer:non_json", "/actions/0/answer"},
		"another member":    {`{"kind":"final","answer":{"text":"ok","state":"opn"}}`, "invalid_answer:bad_schema", "/actions/0/answer/state"},
		"none":              {`{"kind":"final"}`, "invalid_action:bad_final_answer", "/actions/0/answer"},
		"blank":             {`{"kind":"final","answer":" "}`, "invalid_action:bad_final_answer", "/actions/0/answer"},
		"a number":          {`{"kind":"final","answer":1}`, "invalid_action:bad_final_answer", "/actions/0/answer"},
		"more, and no JSON": {`{"kind":"final","answer":"x","note":1}`, "invalid_action:extra_keys_final", "/actions/0/note"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := ijson.Decode([]byte(tt.action))
			if err != nil {
				t.Fatal(err)
			}
			action, refusal := gateway.ParseAction(document.FromCaller(v, "/actions/0"), rules)
			if tt.problem == "" {
				if refusal != nil || !action.Final || action.Answer != tt.want {
					t.Errorf("ParseAction = %+v, %v, want %s", action, refusal, tt.want)
				}
				return
			}
			if refusal == nil || refusal.Reason != tt.want || string(refusal.Problems[0].Pointer) != tt.problem {
				t.Errorf("ParseAction = %+v, %+v, want %s at %s", action, refusal, tt.want, tt.problem)
			}
		})
	}
}

// TestGoalOfAPattern holds that a route or worker which begins a run of its own is given the run's goal where nobody says another.
func TestGoalOfAPattern(t *testing.T) {
	goal := func(name string) map[string]any {
		if name == "desk" {
			return map[string]any{"request": "money back"}
		}
		return nil
	}
	inputs := func(name string) map[string]any {
		if name == "desk" {
			return map[string]any{"region": "EU"}
		}
		return nil
	}
	routes := gateway.RouteRules{Allowed: []string{"desk", "look"}, Takes: func(string) bool { return false }, Fill: inputs, Goal: goal}
	tasks := gateway.TaskRules{Max: 3, Allowed: []string{"desk", "look"}, Fill: inputs, Goal: goal, Critical: []string{"look"}}
	read := func(text string, caller bool) document.Intent {
		if !caller {
			return document.ReadReply(text)
		}
		v, err := ijson.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return document.FromCaller(v, "/route")
	}
	for name, tt := range map[string]struct {
		route  string
		caller bool
		args   map[string]any
		filled int
	}{
		"a model's":              {`{"kind":"route","target":"desk","args":{}}`, false, map[string]any{"request": "money back"}, 0},
		"a model's own words":    {`{"kind":"route","target":"desk","args":{"request":"x"}}`, false, map[string]any{"request": "x"}, 0},
		"a caller's":             {`{"target":"desk"}`, true, map[string]any{"request": "money back", "region": "EU"}, 3},
		"a caller's own":         {`{"kind":"route","target":"desk","args":{"region":"US","request":"x"}}`, true, map[string]any{"request": "x", "region": "US"}, 0},
		"another takes no goal":  {`{"kind":"route","target":"look","args":{"id":1}}`, true, map[string]any{"id": 1.0}, 0},
		"a ticket is no concern": {`{"kind":"route","target":"look","args":{}}`, false, map[string]any{}, 0},
	} {
		route, refusal := gateway.ParseRoute(read(tt.route, tt.caller), routes)
		if refusal != nil || !reflect.DeepEqual(route.Args, tt.args) || len(route.Filled) != tt.filled {
			t.Errorf("%s: ParseRoute = %+v, %v, want %v and %d filled", name, route, refusal, tt.args, tt.filled)
		}
	}
	for name, tt := range map[string]struct {
		plan     string
		caller   bool
		args     map[string]any
		critical bool
	}{
		"a model's":             {`{"kind":"plan","tasks":[{"id":"a","worker":"desk","args":{},"critical":false}]}`, false, map[string]any{"request": "money back"}, false},
		"a caller's":            {`{"tasks":[{"id":"a","worker":"desk"}]}`, true, map[string]any{"request": "money back", "region": "EU"}, false},
		"critical all the same": {`{"kind":"plan","tasks":[{"id":"a","worker":"look","args":{},"critical":false}]}`, false, map[string]any{}, true},
	} {
		plan, refusal := gateway.ParseTasks(read(tt.plan, tt.caller), tasks)
		if refusal != nil || !reflect.DeepEqual(plan.Tasks[0].Args, tt.args) || plan.Tasks[0].Critical != tt.critical {
			t.Errorf("%s: ParseTasks = %+v, %v, want %v, critical %t", name, plan, refusal, tt.args, tt.critical)
		}
	}
	plan, refusal := gateway.ParseTasks(read(`{"tasks":[{"id":"a","worker":"look","args":{}}]}`, true), tasks)
	if refusal != nil || len(plan.Filled) != 2 || plan.Filled[1].Value != true {
		t.Errorf("what a caller leaves out of a critical task: %+v, %v", plan.Filled, refusal)
	}
}

// TestLoopsUnderAName holds that a tool is one tool, whatever a pattern calls it.
func TestLoopsUnderAName(t *testing.T) {
	tool := func(name string) catalog.Tool {
		return catalog.Tool{Name: name, Of: "look", Description: "Looks.", Effect: catalog.Read, Input: answerSchema(t, `{"id": {"type": "integer"}}`),
			Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }}
	}
	view, err := catalog.New(tool("one"), tool("two"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		budget gateway.Budget
		split  bool
		want   string
	}{
		"same call":           {only(func(b *gateway.Budget) { b.MaxSameCall = 1 }), true, "loop_detected:signature_repeat"},
		"same call, no words": {only(func(b *gateway.Budget) { b.MaxSameCall = 1 }), false, "loop_detected"},
		"calls of a tool":     {only(func(b *gateway.Budget) { b.MaxCallsPerTool = 1 }), false, "loop_detected:per_tool_limit"},
	} {
		g := gateway.NewGate(gateway.Config{Catalog: view, Execution: view.Names(), Budget: tt.budget, SplitLoops: tt.split, Family: gateway.WorkerFamily})
		if _, stop := g.Admit(gateway.Proposal{Tool: "one", Args: map[string]any{"id": 1.0}}); stop != nil {
			t.Fatalf("%s: %v", name, stop)
		}
		if _, stop := g.Admit(gateway.Proposal{Tool: "two", Args: map[string]any{"id": 1.0}}); stop == nil || stop.Reason != tt.want {
			t.Errorf("%s: %v, want %s", name, stop, tt.want)
		}
	}
}

// only is a budget without limits but these.
func only(change func(*gateway.Budget)) gateway.Budget {
	b := gateway.NoBudget()
	change(&b)
	return b
}
