package planning_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/gateway/stopreason"
)

var planningTools = []string{"get_manager_profile", "fetch_sales_data", "fetch_refund_data", "calculate_monthly_kpis", "detect_risk_signals"}

// subtaskRules are those of a flat plan with the demo's look-ups and no model.
func subtaskRules(t testing.TB) planning.Rules {
	return planning.Rules{
		Family: "invalid_plan", Strategy: planning.Flat, Min: 1, Max: 15, MaxDepth: 3, Catalog: demoCatalog(t), Allowed: planningTools,
	}
}

// planRulesOf are the rules of the strategies and verbs.
func planRulesOf(t testing.TB, what string) planning.Rules {
	r := subtaskRules(t)
	earlier := []planning.Subtask{
		{ID: "k", Description: "Do k.", Dependencies: []string{}, Tool: "calculate_monthly_kpis", Args: object(t, `{"month":"2026-04"}`)},
		{ID: "e", Description: "Do e.", Dependencies: []string{"k", "gone"}, Tool: "caller", Expect: object(t, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)},
	}
	switch what {
	case "", "flat":
	case "llm":
		r.LLM = true
	case "hierarchical":
		r.Strategy = planning.Hierarchical
	case "execute":
		r.TakesGoal = true
	case "round":
		r.Strategy, r.Round, r.TakesComplete, r.MayEnd, r.Min = planning.Iterative, 3, true, true, 0
		r.Earlier, r.Used = earlier, []string{"k", "e"}
	case "replan":
		r.Family, r.Min, r.TakesComplete, r.TakesRationale = "invalid_replan", 0, true, true
		r.Earlier, r.Used, r.Reused = earlier, []string{"k", "e", "gone", "b"}, true
		r.Removed = []planning.Subtask{{ID: "b", Description: "Do b.", Tool: "fetch_sales_data", Args: object(t, `{"month":"2026-04"}`)}, {ID: "gone", Description: "Do c.", Tool: "caller"}}
	default:
		t.Fatal(what)
	}
	return r
}

// sub is a subtask's row: an id and further members.
func sub(id string, members ...string) string {
	return `{"id":"` + id + `","description":"Do ` + id + `."` + strings.Join(append([]string{""}, members...), ",") + `}`
}

func subtasksOf(rows ...string) string {
	return `{"kind":"plan","subtasks":[` + strings.Join(rows, ",") + `]}`
}

// deps are the dependencies of a row.
func deps(ids ...string) string { return `"dependencies":["` + strings.Join(ids, `","`) + `"]` }

const (
	kpis  = `"tool":"calculate_monthly_kpis","args":{"month":"2026-04"}`
	sales = `"tool":"fetch_sales_data","args":{"month":"2026-04"}`
)

func TestParseSubtasksRefuses(t *testing.T) {
	good := sub("a")
	tests := map[string]struct {
		rules, plan string
		want        []string
	}{
		"prose":              {"", "I would first look.", []string{"invalid_plan:non_json", " non_json"}},
		"fenced":             {"", "```json\n" + subtasksOf(good) + "\n```", []string{"invalid_plan:non_json", " non_json"}},
		"two objects":        {"", subtasksOf(good) + subtasksOf(good), []string{"invalid_plan:non_json", " non_json"}},
		"null":               {"", "null", []string{"invalid_plan:not_object", " not_object"}},
		"list":               {"", "[" + good + "]", []string{"invalid_plan:not_object", " not_object"}},
		"kind ends it":       {"", `{"kind":"Plan","x":1}`, []string{"invalid_plan:bad_kind", `/kind bad_kind ?plan /kind="plan"`}},
		"no kind ends it":    {"", `{"subtasks":7,"x":1}`, []string{"invalid_plan:bad_kind", `/kind bad_kind /kind="plan"`}},
		"extra, then none":   {"", `{"kind":"plan","steps":[]}`, []string{"invalid_plan:extra_keys", "/steps extra_keys /subtasks</steps", "/subtasks missing_subtasks"}},
		"subtasks misspelt":  {"", `{"kind":"plan","subtask":[]}`, []string{"invalid_plan:extra_keys", "/subtask extra_keys ?subtasks /subtasks</subtask", "/subtasks missing_subtasks"}},
		"subtasks null":      {"", `{"kind":"plan","subtasks":null}`, []string{"invalid_plan:missing_subtasks", "/subtasks missing_subtasks"}},
		"subtasks an object": {"", `{"kind":"plan","subtasks":{}}`, []string{"invalid_plan:missing_subtasks", "/subtasks missing_subtasks"}},
		"empty":              {"", subtasksOf(), []string{"invalid_plan:empty", "/subtasks empty"}},
		"goal, complete and rationale elsewhere": {"", `{"kind":"plan","goal":"x","planning_complete":true,"adjustment_rationale":"y","subtasks":[` + good + `]}`, []string{
			"invalid_plan:extra_keys", "/adjustment_rationale extra_keys", "/goal extra_keys", "/planning_complete extra_keys"}},
		"goal of another type":  {"execute", `{"kind":"plan","goal":1,"subtasks":[` + good + `]}`, []string{"invalid_plan:extra_keys", `/goal extra_keys /goal="1"`}},
		"complete a text":       {"round", `{"kind":"plan","planning_complete":"true","subtasks":[` + good + `]}`, []string{"invalid_plan:extra_keys", "/planning_complete extra_keys /planning_complete=true"}},
		"too many, faulty ones": {"", subtasksOf(strings.Split(strings.Repeat("1,", 15)+"1", ",")...), []string{"invalid_plan:max_subtasks", "/subtasks max_subtasks"}},
		"a row that is none":    {"", subtasksOf("1", good), []string{"invalid_plan:subtask_1_not_object", "/subtasks/0 subtask_1_not_object"}},
		"everything wrong in one": {"", subtasksOf(good, `{"x":0,"id":"A","description":" ","dependencies":null,"tool":7,"args":[],"critical":"true","parent":"a","expect":1}`), []string{
			"invalid_plan:subtask_2_extra_keys", "/subtasks/1/parent subtask_2_extra_keys", "/subtasks/1/x subtask_2_extra_keys",
			"/subtasks/1/id subtask_2_bad_id", "/subtasks/1/description subtask_2_missing_description", "/subtasks/1/dependencies subtask_2_bad_dependencies",
			"/subtasks/1/tool subtask_2_bad_tool", "/subtasks/1/args subtask_2_bad_args", "/subtasks/1/critical subtask_2_bad_critical /subtasks/1/critical=true", "/subtasks/1/expect subtask_2_bad_expect"}},
		"nothing in one":          {"", subtasksOf("{}"), []string{"invalid_plan:subtask_1_missing_id", "/subtasks/0/id subtask_1_missing_id", "/subtasks/0/description subtask_1_missing_description"}},
		"id blank":                {"", subtasksOf(sub(" ")), []string{"invalid_plan:subtask_1_missing_id", "/subtasks/0/id subtask_1_missing_id"}},
		"id null":                 {"", subtasksOf(`{"id":null,"description":"x"}`), []string{"invalid_plan:subtask_1_missing_id", "/subtasks/0/id subtask_1_missing_id"}},
		"id a number":             {"", subtasksOf(`{"id":1,"description":"x"}`, sub("1")), []string{"invalid_plan:subtask_1_bad_id", `/subtasks/0/id subtask_1_bad_id /subtasks/0/id="1_2"`}},
		"id too long":             {"", subtasksOf(sub(strings.Repeat("a", 65))), []string{"invalid_plan:subtask_1_bad_id", "/subtasks/0/id subtask_1_bad_id"}},
		"id with a dot":           {"", subtasksOf(sub("a.b")), []string{"invalid_plan:subtask_1_bad_id", "/subtasks/0/id subtask_1_bad_id"}},
		"id begins with a dash":   {"", subtasksOf(sub("-a")), []string{"invalid_plan:subtask_1_bad_id", "/subtasks/0/id subtask_1_bad_id"}},
		"description too long":    {"", subtasksOf(`{"id":"a","description":"` + strings.Repeat("ä", 4001) + `"}`), []string{"invalid_plan:subtask_1_bad_description", "/subtasks/0/description subtask_1_bad_description"}},
		"dependencies a text":     {"", subtasksOf(sub("a"), sub("b", `"dependencies":"a"`)), []string{"invalid_plan:subtask_2_bad_dependencies", "/subtasks/1/dependencies subtask_2_bad_dependencies"}},
		"dependencies numbers":    {"", subtasksOf(sub("1"), sub("b", `"dependencies":[1]`)), []string{"invalid_plan:subtask_2_bad_dependencies", "/subtasks/1/dependencies subtask_2_bad_dependencies"}},
		"dependencies repeated":   {"", subtasksOf(sub("a"), sub("b", deps("a", " a"))), []string{"invalid_plan:subtask_2_bad_dependencies", "/subtasks/1/dependencies subtask_2_bad_dependencies"}},
		"dependency blank":        {"", subtasksOf(sub("b", deps(" "))), []string{"invalid_plan:subtask_1_bad_dependencies", "/subtasks/0/dependencies subtask_1_bad_dependencies"}},
		"expect, but a tool":      {"", subtasksOf(sub("a", kpis, `"expect":{}`)), []string{"invalid_plan:subtask_1_bad_expect", "/subtasks/0/expect subtask_1_bad_expect"}},
		"expect, but a model":     {"llm", subtasksOf(sub("a", `"expect":{}`)), []string{"invalid_plan:subtask_1_bad_expect", "/subtasks/0/expect subtask_1_bad_expect"}},
		"expect no schema":        {"", subtasksOf(sub("a", `"expect":{"type":"text"}`)), []string{"invalid_plan:subtask_1_bad_expect", "/subtasks/0/expect subtask_1_bad_expect"}},
		"expect from outside":     {"", subtasksOf(sub("a", `"expect":{"$ref":"https://example.com/s"}`)), []string{"invalid_plan:subtask_1_bad_expect", "/subtasks/0/expect subtask_1_bad_expect"}},
		"duplicate after a strip": {"", subtasksOf(sub("a"), sub(" a "), sub("a_2")), []string{"invalid_plan:duplicate_id:a", `/subtasks/1/id duplicate_id:a /subtasks/1/id="a_3"`}},
		"left out, but known": {"", subtasksOf(`{"id":"a","description":"","dependencies":["zz"]}`, sub("b", deps("a")), sub("a"), sub("c", deps("a"), `"tool":"rm"`)), []string{
			"invalid_plan:subtask_1_missing_description", "/subtasks/0/description subtask_1_missing_description", "/subtasks/2/id duplicate_id:a", "/subtasks/3/tool executor_not_allowed:rm"}},
		"unknown":           {"", subtasksOf(sub("first"), sub("b", deps("frist", "x"))), []string{"invalid_plan:unknown_dependency:b:frist", "/subtasks/1/dependencies/0 unknown_dependency:b:frist", "/subtasks/1/dependencies/1 unknown_dependency:b:x"}},
		"unknown, near":     {"", subtasksOf(sub("collect"), sub("b", deps("Collect"))), []string{"invalid_plan:unknown_dependency:b:Collect", `/subtasks/1/dependencies/0 unknown_dependency:b:Collect ?collect /subtasks/1/dependencies/0="collect"`}},
		"itself, no cycle":  {"", subtasksOf(sub("a"), sub("b", deps("a", "b"))), []string{"invalid_plan:self_dependency:b", "/subtasks/1/dependencies/1 self_dependency:b"}},
		"cycle before tool": {"", subtasksOf(sub("a", deps("b"), `"tool":"rm_rf"`), sub("b", deps("a"), sales)), []string{"invalid_plan:cycle_detected", "/subtasks/0/dependencies cycle_detected", "/subtasks/0/tool executor_not_allowed:rm_rf"}},
		"model, but none":   {"", subtasksOf(sub("a", `"tool":"model"`)), []string{"invalid_plan:executor_not_allowed:model", "/subtasks/0/tool executor_not_allowed:model"}},
		"tool misspelt":     {"", subtasksOf(sub("a", `"tool":"fetch_sale_data"`)), []string{"invalid_plan:executor_not_allowed:fetch_sale_data", `/subtasks/0/tool executor_not_allowed:fetch_sale_data ?fetch_sales_data /subtasks/0/tool="fetch_sales_data"`}},
		"arguments": {"", subtasksOf(sub("a", `"tool":"get_manager_profile","args":{"manager_id":"42"}`), sub("b", `"tool":"fetch_sales_data","args":{"mont":1}`)), []string{
			"invalid_plan:bad_args:a", "/subtasks/0/args/manager_id bad_args:a /subtasks/0/args/manager_id=42", "/subtasks/1/args/mont bad_args:b ?month /subtasks/1/args/month</subtasks/1/args/mont", "/subtasks/1/args/month bad_args:b"}},
		"reuse in a round":  {"round", subtasksOf(sub("k"), sub("n", deps("k", "gone"))), []string{"invalid_plan:duplicate_id:k", "/subtasks/0/id duplicate_id:k", "/subtasks/1/dependencies/1 unknown_dependency:n:gone"}},
		"four in a round":   {"round", subtasksOf("1", "1", "1", "1"), []string{"invalid_plan:max_subtasks", "/subtasks max_subtasks"}},
		"round not the end": {"round", `{"kind":"plan","planning_complete":false,"subtasks":[]}`, []string{"invalid_plan:empty", "/subtasks empty"}},
		"reuse in a replan": {"replan", subtasksOf(sub("x"), sub("x"), sub("gone", deps("b")), sub("y", deps("b"))), []string{"invalid_replan:id_reused:gone",
			"/subtasks/2/id id_reused:gone", `/subtasks/1/id duplicate_id:x /subtasks/1/id="x_2"`, "/subtasks/3/dependencies/0 unknown_dependency:y:b"}},
		"empty replan": {"replan", `{"kind":"plan","planning_complete":true,"subtasks":[]}`, []string{"invalid_replan:empty", "/subtasks empty"}},
		"no progress": {"replan", subtasksOf(`{"id":"n1","description":"Do c."}`, `{"id":"n2","description":"Do b.","dependencies":["n1"],`+sales+`}`), []string{
			"invalid_replan:no_progress", "/subtasks no_progress"}},
		"parents unknown":  {"hierarchical", subtasksOf(sub("a"), sub("b", `"parent":"zz"`), sub("c", `"parent":" "`)), []string{"invalid_plan:subtask_3_bad_parent", "/subtasks/2/parent subtask_3_bad_parent", "/subtasks/1/parent unknown_parent:b:zz"}},
		"parents in loops": {"hierarchical", subtasksOf(sub("a", `"parent":"b"`), sub("b", `"parent":"a"`)), []string{"invalid_plan:cycle_detected", "/subtasks/0/parent cycle_detected"}},
		"its own parent":   {"hierarchical", subtasksOf(sub("r"), sub("a", `"parent":"a"`)), []string{"invalid_plan:cycle_detected", "/subtasks/1/parent cycle_detected"}},
		"after its parent": {"hierarchical", subtasksOf(sub("r"), sub("a", `"parent":"r"`, deps("r"))), []string{"invalid_plan:cycle_detected", "/subtasks/0/dependencies cycle_detected"}},
		"inherited cycle":  {"hierarchical", subtasksOf(sub("r", deps("d")), sub("a", `"parent":"r"`), sub("d", deps("a"))), []string{"invalid_plan:cycle_detected", "/subtasks/1/parent cycle_detected"}},
		"too deep": {"hierarchical", subtasksOf(sub("a"), sub("b", `"parent":"a"`), sub("c", `"parent":"b"`), sub("d", `"parent":"c"`), sub("e", `"parent":"d"`)), []string{
			"invalid_plan:max_depth", "/subtasks/3/parent max_depth"}},
		"a parent that has run": {"replan", subtasksOf(sub("a", `"parent":"k"`)), []string{"invalid_replan:subtask_1_extra_keys", "/subtasks/0/parent subtask_1_extra_keys"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := planning.ParseSubtasks(document.ReadReply(tt.plan), planRulesOf(t, tt.rules))
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseSubtasks(%s), -want +got:\n%s", tt.plan, diff)
			}
			if refusal == nil {
				return
			}
			if _, known := stopreason.Lookup(refusal.Reason); !known {
				t.Errorf("%s is no row of the registry", refusal.Reason)
			}
		})
	}
}

// The cycle is the shortest one through the earliest subtask on any.
func TestParseSubtasksNamesACycle(t *testing.T) {
	for name, tt := range map[string]struct{ rules, plan, want string }{
		"three":              {"", subtasksOf(sub("x"), sub("a", deps("c")), sub("b", deps("a")), sub("c", deps("b", "x"))), "a b c a"},
		"short before long":  {"", subtasksOf(sub("a", deps("b", "d")), sub("b", deps("c")), sub("c", deps("a")), sub("d", deps("a"))), "a d a"},
		"earliest, not near": {"", subtasksOf(sub("z", deps("a")), sub("a", deps("b")), sub("b", deps("c")), sub("c", deps("a")), sub("d", deps("e")), sub("e", deps("d"))), "a c b a"},
		"parents":            {"hierarchical", subtasksOf(sub("r"), sub("a", `"parent":"b"`), sub("b", `"parent":"a"`)), "a b a"},
		"its own parent":     {"hierarchical", subtasksOf(sub("a", `"parent":"a"`)), "a a"},
		"child and parent":   {"hierarchical", subtasksOf(sub("r"), sub("a", `"parent":"r"`, deps("r"))), "r a r"},
		"by inheritance":     {"hierarchical", subtasksOf(sub("g", deps("d")), sub("r", `"parent":"g"`), sub("a", `"parent":"r"`), sub("d", deps("a"))), "a d a"},
	} {
		_, refusal := planning.ParseSubtasks(document.ReadReply(tt.plan), planRulesOf(t, tt.rules))
		if refusal == nil || strings.Join(refusal.Cycle, " ") != tt.want {
			t.Errorf("%s: ParseSubtasks(%s) = %+v, want the cycle %s", name, tt.plan, refusal, tt.want)
		}
	}
}
