package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// parsed are the problems that the gate finds in a call's intent.
func parsed(c arguments.Call) []document.Problem {
	intent := document.FromCaller(c.Intents[c.IntentName()], ijson.Pointer("").Member(c.IntentName()))
	var refusal *document.Refusal
	b := c.Spec.Budget
	switch c.Spec.Kind {
	case gateway.TaskDecomposition:
		_, refusal = gateway.ParsePlan(intent, gateway.PlanRules{Min: b.MinPlanSteps, Max: b.MaxPlanSteps, Allowed: c.Spec.Policy})
	case gateway.Orchestrator:
		_, refusal = gateway.ParseTasks(intent, gateway.TaskRules{Max: b.MaxTasks, Allowed: c.Spec.Policy})
	case gateway.Routing:
		_, refusal = gateway.ParseRoute(intent, gateway.RouteRules{Allowed: c.Spec.Policy, Ticket: "x"})
	case gateway.Supervisor:
		var problems []document.Problem
		list, _ := c.Intents["actions"].([]any)
		for _, intent := range patterns.Proposals("actions", list) {
			if _, refusal := gateway.ParseAction(intent, gateway.ActionRules{Allowed: c.Spec.Policy, Catalog: c.Spec.Catalog}); refusal != nil {
				problems = append(problems, refusal.Problems...)
			}
		}
		return problems
	}
	if refusal == nil {
		return nil
	}
	return refusal.Problems
}

// right are intents without a fault, to be broken.
var right = map[gateway.Kind]string{
	gateway.TaskDecomposition: modelPlan,
	gateway.Orchestrator: `{"tasks":[{"id":"t1","worker":"sales_worker","args":{"region":"US"},"critical":true},
		{"id":"t2","worker":"payments_worker","args":{},"critical":false},{"id":"t3","worker":"inventory_worker","args":{}}]}`,
	gateway.Routing: `{"kind":"route","target":"billing_specialist","args":{"ticket":"refund"}}`,
	gateway.Supervisor: `[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},
		{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":80.5,"reason":"r"}},{"kind":"final","answer":"done"}]`,
}

// broken makes up to five faults in an intent: another type, another name, a member too many, one missing.
func broken(t *rapid.T, v any) any {
	for range rapid.IntRange(1, 5).Draw(t, "faults") {
		places := placesIn(v, "")
		if len(places) == 0 {
			return v
		}
		at := rapid.SampledFrom(places).Draw(t, "at")
		was, _ := at.In(v)
		switch rapid.SampledFrom([]string{"retype", "misspell", "rename", "more", "less", "odd"}).Draw(t, "how") {
		case "retype":
			v, _ = ijson.Set(v, at, retyped(was))
		case "misspell":
			if s, ok := was.(string); ok && len(s) > 2 {
				v, _ = ijson.Set(v, at, s[:len(s)-1])
			}
		case "rename":
			tokens := at.Tokens()
			name := strings.ToUpper(tokens[len(tokens)-1])
			if less, ok := ijson.Remove(v, at); ok && name != tokens[len(tokens)-1] {
				v, _ = ijson.Set(less, at.Parent().Member(name), was)
			}
		case "more":
			if _, ok := was.(map[string]any); ok {
				v, _ = ijson.Set(v, at.Member("note"), "n")
			}
		case "less":
			if less, ok := ijson.Remove(v, at); ok {
				v = less
			}
		case "odd":
			v, _ = ijson.Set(v, at, rapid.SampledFrom([]any{nil, "", 7.0, true, []any{}, map[string]any{}, "nobody"}).Draw(t, "odd"))
		}
	}
	return v
}

func retyped(v any) any {
	switch v := v.(type) {
	case string:
		return 42.0
	case float64, bool:
		return string(ijson.Canonical(v))
	}
	return v
}

// placesIn are all places below a value.
func placesIn(v any, at ijson.Pointer) []ijson.Pointer {
	var places []ijson.Pointer
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			places = append(append(places, at.Member(name)), placesIn(member, at.Member(name))...)
		}
	case []any:
		for i, element := range v {
			places = append(append(places, at.Index(i)), placesIn(element, at.Index(i))...)
		}
	}
	slices.Sort(places)
	return places
}

// TestRepairProperties: a repair changes what it lists and nothing else, its places to fill are there, and the repaired
// call has fewer faults.
func TestRepairProperties(t *testing.T) {
	for kind, intent := range right {
		spec := demoSpec(t, kind)
		whole, err := ijson.Decode([]byte(intent))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(string(kind), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := arguments.Call{Tool: spec.Name, Spec: spec, Proposes: true}
				v := broken(t, whole)
				c.Intents = map[string]any{c.IntentName(): v}
				c.Arguments = map[string]any{"goal": "x", c.IntentName(): v}
				if rapid.Bool().Draw(t, "as text") {
					c.IntentWas = map[string]bool{c.IntentName(): true}
					c.Arguments[c.IntentName()] = string(ijson.Canonical(v))
				}
				if problems := parsed(c); len(problems) > 0 {
					checkRepair(t, c, problems)
				}
			})
		})
	}
}

func checkRepair(t *rapid.T, c arguments.Call, problems []document.Problem) {
	before := ijson.Canonical(any(c.Arguments))
	r := c.Repaired(problems)
	if after := ijson.Canonical(any(c.Arguments)); string(after) != string(before) {
		t.Fatalf("the caller's call was changed:\n%s\n%s", before, after)
	}
	if r.Undecided { // there is no call to offer
		holds(t, outcome.Refused(c, problems).Next)
		return
	}
	if diff := cmp.Diff(redone(t, c, r), any(r.Arguments)); diff != "" {
		t.Fatalf("of %s\n%s\nwhat changed and fill list is not what was done (-listed +done):\n%s", before, asText(problems), diff)
	}
	holds(t, outcome.Refused(c, problems).Next)
	if len(r.Changed) == 0 {
		return
	}
	again := c
	again.Intents = map[string]any{c.IntentName(): r.Arguments[c.IntentName()]}
	left := parsed(again)
	for _, p := range left {
		if slices.ContainsFunc(r.Changed, func(row arguments.Change) bool { return row.Pointer == p.Pointer && row.To != nil }) && sameProblem(problems, p) {
			t.Errorf("%s is still wrong: %s", p.Pointer, p.Reason)
		}
	}
	// A fault of the document hides others, so that mending it may show more.
	hides := func(p document.Problem) bool {
		return len(p.Pointer.Tokens()) <= 2 || strings.HasSuffix(p.Reason, "not_object")
	}
	named := func(p document.Problem) bool { return p.DidYouMean != "" || p.Fix != nil && p.Fix.From != "" } // a tool's right name brings its arguments' faults to light
	if !slices.ContainsFunc(problems, hides) && !slices.ContainsFunc(problems, named) && len(left) >= len(problems) {
		t.Errorf("%d faults before the repair, %d after:\n%s\n%s\n%s", len(problems), len(left), before, asText(problems), asText(left))
	}
}

// sameProblem looks for a fault of what stood there; of what came there by its right name, nobody knew before.
func sameProblem(list []document.Problem, p document.Problem) bool {
	return slices.ContainsFunc(list, func(q document.Problem) bool {
		return q.Pointer == p.Pointer && q.Reason == p.Reason && q.Got != nil
	})
}

// redone makes the listed changes in the caller's call, and puts at the places to fill what stands there now.
func redone(t *rapid.T, c arguments.Call, r arguments.Repair) any {
	root := any(map[string]any{})
	for name, v := range c.Arguments {
		root, _ = ijson.Set(root, ijson.Pointer("").Member(name), v)
	}
	if text, ok := c.Arguments[c.IntentName()].(string); ok && len(r.Changed)+len(r.Fill) > 0 {
		if _, still := r.Arguments[c.IntentName()].(string); !still {
			v, err := ijson.Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			root, _ = ijson.Set(root, ijson.Pointer("").Member(c.IntentName()), v)
		}
	}
	ok := true
	var moved any // a long value is shown by its beginning: it is the one that stood under the misspelt name
	for _, row := range r.Changed {
		if row.To == nil {
			moved, _ = row.Pointer.In(root)
			root, ok = ijson.Remove(root, row.Pointer)
		} else if strings.Contains(string(row.To), `"truncated":true`) {
			root, ok = ijson.Set(root, row.Pointer, moved)
		} else {
			root, ok = ijson.Set(root, row.Pointer, valueOf(t, row.To))
		}
		if !ok {
			t.Fatalf("change at %s does not fit %s", row.Pointer, ijson.Canonical(root))
		}
	}
	for _, at := range r.Fill {
		for i := range at.Tokens() { // a skeleton may need the object around it
			up := at
			for range len(at.Tokens()) - 1 - i {
				up = up.Parent()
			}
			v, _ := up.In(r.Arguments)
			if was, there := up.In(root); there && was != nil && up != at {
				continue
			}
			root, _ = ijson.Set(root, up, v)
		}
	}
	return root
}

func valueOf(t *rapid.T, text json.RawMessage) any {
	v, err := ijson.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func asText(problems []document.Problem) string {
	e := envelope.Envelope{Problems: problems}
	return string(e.AppendText(nil))
}

// TestRepairOfRequests is about the call's own arguments, which the check of the request judges.
func TestRepairOfRequests(t *testing.T) {
	unknown := func(name, mean string) document.Problem {
		return document.Problem{Pointer: ijson.Pointer("").Member(name), Reason: "unknown_field:" + name, Got: document.Got(1.0), DidYouMean: mean}
	}
	for name, c := range map[string]struct {
		arguments string
		problems  []document.Problem
		want      string // arguments
		changed   string
		fill      string
	}{
		"a misspelt argument gets its name": {
			`{"gaol":"x"}`, []document.Problem{unknown("gaol", "goal"), {Pointer: "/goal", Reason: "missing:goal"}},
			`{"goal":"x"}`, `[{"pointer":"/gaol","from":"x"},{"pointer":"/goal","to":"x"}]`, `[]`,
		},
		"what is missing gets a blank": {
			`{"finalize":null}`, []document.Problem{{Pointer: "/goal", Reason: "missing:goal"}}, `{"finalize":null,"goal":""}`, `[]`, `["/goal"]`,
		},
		"null is nothing": {
			`{"goal":null}`, []document.Problem{{Pointer: "/goal", Reason: "missing:goal"}}, `{"goal":""}`, `[]`, `["/goal"]`,
		},
		"just another type": {
			`{"goal":42}`, []document.Problem{{Pointer: "/goal", Reason: "type:goal", Fix: document.Retype("string", "/goal", 42.0)}},
			`{"goal":"42"}`, `[{"pointer":"/goal","from":42,"to":"42"}]`, `[]`,
		},
		"a plan that is no plan gives way to a skeleton": {
			`{"goal":"x","plan":7}`, []document.Problem{{Pointer: "/plan", Reason: "type:plan", Got: document.Got(7.0)}},
			`{"goal":"x","plan":{"steps":[{"args":{},"id":"step_1","title":"","tool":""}]}}`, `[]`, `["/plan"]`,
		},
		"a fault inside a text that cannot be read": {
			`{"goal":"x","plan":"{\"steps\":[],\"steps\":[]}"}`, []document.Problem{{Pointer: "/plan/steps", Reason: "type:plan"}},
			`{"goal":"x","plan":{"steps":[{"args":{},"id":"step_1","title":"","tool":""}]}}`, `[]`, `["/plan"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := ijson.Decode([]byte(c.arguments))
			if err != nil {
				t.Fatal(err)
			}
			args, _ := v.(map[string]any)
			sent := arguments.Call{Tool: "t", Spec: patterns.Spec{Kind: gateway.TaskDecomposition}, Arguments: args}
			n := outcome.Refused(sent, c.problems).Next
			got, err := envelope.AppendJSON(nil, n)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"action":"fix_and_retry","tool":"t","arguments":%s,"changed":%s,"fill":%s}`, c.want, c.changed, c.fill)
			if string(got) != want {
				t.Errorf("next\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestNoCallIsSuggestedThatKeepsAnUnknownArgument: such a call fails for ever, and one without the argument means something else.
func TestNoCallIsSuggestedThatKeepsAnUnknownArgument(t *testing.T) {
	for name, tt := range map[string]struct{ arguments, want string }{
		"unknown": {`{"goal":"x","foo":1}`, `{"action":"fix_and_retry","tool":"run_task_decomposition","say":"Fix these arguments, then call again: ` +
			`/foo: remove it or use a known name (one of goal, plan, finalize, max_wait_seconds, idempotency_key, dry_run)."}`},
		"misspelt twice":  {`{"goal":"x","goall":"y"}`, `"say":"Fix these arguments, then call again: /goall: `},
		"a number beyond": {`{"goal":"x","amount":1e400}`, `{"action":"fix_and_retry","tool":"run_task_decomposition","say":"Fix these arguments, then call again: /amount: must be finite numbers, and integers from -9007199254740991`},
		"misspelt":        {`{"goall":"x","finalize":"false"}`, `"arguments":{"finalize":false,"goal":"x"},"changed":[{"pointer":"/goall","from":"x"},{"pointer":"/goal","to":"x"},{"pointer":"/finalize","from":"false","to":false}],"fill":[]}`},
		"a synonym":       {`{"objective":"x"}`, `"arguments":{"goal":"x"},"changed":[{"pointer":"/objective","from":"x"},{"pointer":"/goal","to":"x"}],"fill":[]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serving(t)
			c, problems := toolNamed(t, s, "run_task_decomposition").take(json.RawMessage(tt.arguments), "local:0")
			got, err := envelope.AppendJSON(nil, outcome.Refused(c, problems).Next)
			if err != nil || !strings.Contains(string(got), tt.want) {
				t.Errorf("%s: next is %s (%v), want %s", tt.arguments, got, err, tt.want)
			}
		})
	}
}

// TestNextLeavesOutLargeArguments: what changed and the places to fill stay.
func TestNextLeavesOutLargeArguments(t *testing.T) {
	sent := arguments.Call{Tool: "t", Spec: patterns.Spec{Kind: gateway.TaskDecomposition}, Arguments: map[string]any{"goal": strings.Repeat("x", 9<<10), "finalize": "true"}}
	n := outcome.Refused(sent, []document.Problem{
		{Pointer: "/finalize", Reason: "type:finalize", Fix: &document.Fix{At: "/finalize", Value: true}}, {Pointer: "/plan/steps", Reason: "x"},
	}).Next
	if n.Arguments != nil || len(n.Changed) != 1 || len(n.Fill) != 1 {
		t.Errorf("got arguments %v, changed %v, fill %v; want none, one and one", n.Arguments != nil, n.Changed, n.Fill)
	}
	unread := outcome.Refused(arguments.Call{Tool: "t"}, []document.Problem{{Reason: "type:arguments"}}).Next
	if unread.Fill != nil || unread.Arguments != nil || !strings.Contains(unread.Say, "the arguments") {
		t.Errorf("of a call that cannot be read: got %+v, want no arguments and what to decide", unread)
	}
}
