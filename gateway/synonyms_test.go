package gateway_test

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// TestMembersUnderOtherNames: a member under a name that other tools use is renamed with its value, and only where the right
// name is absent and the value fits. The caller decides about any other unknown member; nothing with a meaning is removed.
func TestMembersUnderOtherNames(t *testing.T) {
	step := func(members string) string {
		return `{"kind":"plan","steps":[{"id":"a","title":"A","tool":"fetch_sales_data","args":{}},{"id":"b","title":"B","tool":"fetch_sales_data","args":{}},` + members + `]}`
	}
	subtask := func(members string) string {
		return `{"kind":"plan","subtasks":[{"id":"a","description":"A."},{"id":"b","description":"B.",` + members + `}]}`
	}
	const decide = "decide"
	for name, tt := range map[string]struct{ kind, document, want string }{
		"depends_on":           {"subtasks", subtask(`"depends_on":["a"]`), `/subtasks/1/depends_on -> /subtasks/1/dependencies ["a"]`},
		"dependsOn, one id":    {"subtasks", subtask(`"dependsOn":"a"`), `/subtasks/1/dependsOn -> /subtasks/1/dependencies ["a"]`},
		"needs":                {"subtasks", subtask(`"needs":["a"]`), `/subtasks/1/needs -> /subtasks/1/dependencies ["a"]`},
		"after":                {"subtasks", subtask(`"after":["a"]`), `/subtasks/1/after -> /subtasks/1/dependencies ["a"]`},
		"both":                 {"subtasks", subtask(`"dependencies":[],"depends_on":["a"]`), `/subtasks/1/depends_on ` + decide},
		"two of them":          {"subtasks", subtask(`"needs":["a"],"after":["a"]`), `/subtasks/1/after ` + decide + "; /subtasks/1/needs " + decide},
		"no list of ids":       {"subtasks", subtask(`"depends_on":{"a":true}`), `/subtasks/1/depends_on ` + decide},
		"inputs":               {"subtasks", subtask(`"tool":"fetch_sales_data","inputs":{"month":"2026-04"}`), `/subtasks/1/inputs -> /subtasks/1/args {"month":"2026-04"}`},
		"inputs in words":      {"subtasks", subtask(`"inputs":"April"`), `/subtasks/1/inputs ` + decide},
		"function":             {"subtasks", subtask(`"function":"fetch_sales_data","args":{"month":"2026-04"}`), `/subtasks/1/function -> /subtasks/1/tool "fetch_sales_data"`},
		"a name that no tool":  {"subtasks", subtask(`"name":"Sales"`), `/subtasks/1/name ` + decide},
		"steps of a plan":      {"subtasks", `{"kind":"plan","steps":[{"id":"a","description":"A."}]}`, `/steps -> /subtasks [{"description":"A.","id":"a"}]; /subtasks`},
		"a timeout":            {"subtasks", subtask(`"timeout":5`), `/subtasks/1/timeout ` + decide},
		"empty":                {"subtasks", subtask(`"retries":null,"x":[]`), `/subtasks/1/x decide`},
		"arguments of a step":  {"steps", step(`{"id":"c","title":"C","tool":"fetch_sales_data","arguments":{"month":"2026-04"}}`), `/steps/2/arguments -> /steps/2/args {"month":"2026-04"}`},
		"params, in a text":    {"steps", step(`{"id":"c","title":"C","tool":"fetch_sales_data","params":"{\"month\":\"2026-04\"}"}`), `/steps/2/params -> /steps/2/args {"month":"2026-04"}`},
		"action of a step":     {"steps", step(`{"id":"c","title":"C","action":"fetch_sales_data"}`), `/steps/2/action -> /steps/2/tool "fetch_sales_data"; /steps/2/tool`},
		"name is the title":    {"steps", step(`{"id":"c","name":"C","tool":"fetch_sales_data"}`), `/steps/2/name -> /steps/2/title "C"; /steps/2/title`},
		"name is the tool":     {"steps", step(`{"id":"c","title":"C","name":"fetch_sales_data"}`), `/steps/2/name -> /steps/2/tool "fetch_sales_data"; /steps/2/tool`},
		"an order of steps":    {"steps", step(`{"id":"c","title":"C","tool":"fetch_sales_data","depends_on":["a"]}`), `/steps/2/depends_on ` + decide},
		"a condition":          {"steps", step(`{"id":"c","title":"C","tool":"fetch_sales_data","if":"sales fell"}`), `/steps/2/if ` + decide},
		"a thought":            {"steps", step(`{"id":"c","title":"C","tool":"fetch_sales_data","reasoning":"April first"}`), `/steps/2/reasoning removed`},
		"tool of a task":       {"tasks", `{"kind":"plan","tasks":[{"id":"a","tool":"sales_worker","args":{},"critical":true}]}`, `/tasks/0/tool -> /tasks/0/worker "sales_worker"`},
		"inputs of a task":     {"tasks", `{"kind":"plan","tasks":[{"id":"a","worker":"sales_worker","inputs":{"region":"US"},"critical":true}]}`, `/tasks/0/inputs -> /tasks/0/args {"region":"US"}`},
		"a near name":          {"tasks", `{"kind":"plan","tasks":[{"id":"a","workers":"sales_worker","args":{},"critical":true}]}`, `/tasks/0/workers -> /tasks/0/worker "sales_worker"`},
		"specialist":           {"route", `{"kind":"route","specialist":"billing_specialist","args":{"ticket":"t"}}`, `/specialist -> /target "billing_specialist"; /target`},
		"inputs of a route":    {"route", `{"kind":"route","target":"billing_specialist","inputs":{"ticket":"t"}}`, `/inputs -> /args {"ticket":"t"}; /args/ticket`},
		"tool of an action":    {"action", `{"kind":"tool","tool":"get_refund_context","args":{"user_id":42}}`, `/tool -> /name "get_refund_context"; /name`},
		"inputs of an action":  {"action", `{"kind":"tool","name":"get_refund_context","inputs":{"user_id":42}}`, `/inputs -> /args {"user_id":42}; /args/user_id`},
		"message of the final": {"action", `{"kind":"final","message":"Done."}`, `/message -> /answer "Done."; /answer`},
		"an unknown argument":  {"action", `{"kind":"tool","name":"get_refund_context","args":{"user_id":42,"deep":true}}`, `/args/deep ` + decide},
		"another type":         {"action", `{"kind":"tool","name":"get_refund_context","args":{"user_ids":[42]}}`, `/args/user_ids ` + decide + `; /args/user_id`},
		"the type in a text":   {"action", `{"kind":"tool","name":"get_refund_context","args":{"user_ids":"42"}}`, `/args/user_ids -> /args/user_id 42; /args/user_id`},
		"another currency":     {"action", `{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_aud":8}}`, `/args/amount_aud ` + decide + `; /args/amount_usd`},
		"another type, a plan": {"subtasks", subtask(`"tool":"fetch_sales_data","args":{"months":["2026-04"]}`), `/subtasks/1/args/months ` + decide + `; /subtasks/1/args/month`},
		"an id twice":          {"subtasks", subtask(`"tool":"fetch_sales_data","args":{"month":"2026-04"}},{"id":"a","description":"A again."`), ` -> /subtasks/2/id "a_2"`},
		"an id twice, named":   {"subtasks", subtask(`"dependencies":["a"]},{"id":"a","description":"A again."`), `/subtasks/2/id ` + decide},
		"named by needs":       {"subtasks", subtask(`"needs":"a"},{"id":"a","description":"A again."`), `/subtasks/1/needs -> /subtasks/1/dependencies ["a"]; /subtasks/2/id ` + decide},
		"another's number":     {"subtasks", `{"kind":"plan","subtasks":[{"id":"step1","description":"A."},{"id":"b","description":"B.","dependencies":["step2"]}]}`, `/subtasks/1/dependencies/0`},
		"another tool":         {"action", `{"kind":"tool","name":"get_refund_contexts","args":{"user_id":42}}`, ` -> /name "get_refund_context"`},
		"an amount aside":      {"action", `{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":8,"reason":"r"},"max":5}`, `/max ` + decide},
	} {
		t.Run(name, func(t *testing.T) {
			var refusal *document.Refusal
			switch in := document.ReadReply(tt.document); tt.kind {
			case "steps":
				_, refusal = gateway.ParsePlan(in, planRules)
			case "tasks":
				_, refusal = gateway.ParseTasks(in, gateway.TaskRules{Max: 4, Allowed: []string{"sales_worker"}})
			case "route":
				_, refusal = gateway.ParseRoute(in, routeRules)
			case "action":
				_, refusal = gateway.ParseAction(in, gateway.ActionRules{Allowed: []string{"get_refund_context", "issue_refund"}, Catalog: demoCatalog(t)})
			case "subtasks":
				_, refusal = planning.ParseSubtasks(in, planning.Rules{
					Family: "invalid_plan", Max: 15, Strategy: planning.Flat, Allowed: []string{"fetch_sales_data"}, Catalog: demoCatalog(t),
				})
			}
			if refusal == nil {
				t.Fatalf("%s is accepted, want it refused", tt.document)
			}
			var got []string
			for _, p := range refusal.Problems {
				row := string(p.Pointer)
				switch {
				case p.Fix != nil && p.Fix.Remove:
					row += " removed"
				case p.Fix != nil:
					row = string(p.Fix.From) + " -> " + string(p.Fix.At) + " " + string(ijson.Canonical(p.Fix.Value))
				case p.Choose != "":
					row += " " + decide
				}
				got = append(got, row)
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("%s gives\n%s\nwant\n%s", tt.document, strings.Join(got, "; "), tt.want)
			}
		})
	}
}

// TestTaskKeepsArgumentsUnderOtherName: a caller's arguments under another name are not taken for none.
func TestTaskKeepsArgumentsUnderOtherName(t *testing.T) {
	plan, err := ijson.Decode([]byte(`{"tasks":[{"id":"a","worker":"sales_worker","inputs":{"region":"EU"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	rules := gateway.TaskRules{Max: 4, Allowed: []string{"sales_worker"}, Fill: func(string) map[string]any { return map[string]any{"region": "US"} }}
	_, refusal := gateway.ParseTasks(document.FromCaller(plan, "/plan"), rules)
	if refusal == nil || refusal.Reason != "invalid_plan:missing_keys" || refusal.Problems[0].Fix == nil || refusal.Problems[0].Fix.From != "/plan/tasks/0/inputs" {
		t.Errorf("a task with inputs for args: got %+v, want missing_keys with the rename", refusal)
	}
}
