package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
)

var planRules = gateway.PlanRules{Min: 3, Max: 6, Allowed: []string{"get_manager_profile", "fetch_sales_data", "fetch_refund_data"}}

// steps are n good steps.
func steps(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"s%d","title":"Step %d","tool":"fetch_sales_data","args":{"month":"2026-04"}}`, i+1, i+1)
	}
	return list
}

// planOf is a plan of these steps, and of good ones up to three.
func planOf(first ...string) string {
	list := append(first, steps(3)[min(len(first), 3):]...)
	return `{"kind":"plan","steps":[` + strings.Join(list, ",") + `]}`
}

func TestParsePlanRefuses(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  []string
	}{
		"prose":                 {"Here is the plan", []string{"invalid_plan:non_json", " non_json"}},
		"empty":                 {"", []string{"invalid_plan:non_json", " non_json"}},
		"fenced":                {"```json\n" + planOf() + "\n```", []string{"invalid_plan:non_json", " non_json"}},
		"byte order mark":       {"\ufeff" + planOf(), []string{"invalid_plan:non_json", " non_json"}},
		"two documents":         {planOf() + "{}", []string{"invalid_plan:non_json", " non_json"}},
		"repeated member":       {`{"kind":"plan","steps":[{"id":"a","tool":"x","tool":"y"}]}`, []string{"invalid_plan:non_json", "/steps/0/tool non_json"}},
		"long integer":          {`{"kind":"plan","steps":9007199254740992}`, []string{"invalid_plan:non_json", "/steps non_json"}},
		"not a number":          {`{"kind":"plan","steps":NaN}`, []string{"invalid_plan:non_json", "/steps non_json"}},
		"lone surrogate":        {`{"kind":"\ud800"}`, []string{"invalid_plan:non_json", "/kind non_json"}},
		"null":                  {"null", []string{"invalid_plan:not_object", " not_object"}},
		"list":                  {"[" + planOf() + "]", []string{"invalid_plan:not_object", " not_object"}},
		"text holding a plan":   {quote(planOf()), []string{"invalid_plan:not_object", " not_object"}},
		"empty object":          {"{}", []string{"invalid_plan:bad_kind", `/kind bad_kind /kind="plan"`, "/steps missing_steps"}},
		"kind null":             {`{"kind":null,"steps":[]}`, []string{"invalid_plan:bad_kind", `/kind bad_kind /kind="plan"`, "/steps missing_steps"}},
		"kind number":           {`{"kind":1}`, []string{"invalid_plan:bad_kind", "/kind bad_kind", "/steps missing_steps"}},
		"kind in capitals":      {`{"kind":"Plan"}`, []string{"invalid_plan:bad_kind", `/kind bad_kind ?plan /kind="plan"`, "/steps missing_steps"}},
		"kind padded":           {`{"kind":" plan"}`, []string{"invalid_plan:bad_kind", `/kind bad_kind ?plan /kind="plan"`, "/steps missing_steps"}},
		"kind misspelt":         {`{"kind":"plann"}`, []string{"invalid_plan:bad_kind", `/kind bad_kind ?plan /kind="plan"`, "/steps missing_steps"}},
		"kind two letters off":  {`{"kind":"plants"}`, []string{"invalid_plan:bad_kind", "/kind bad_kind", "/steps missing_steps"}},
		"kind invalid":          {`{"kind":"invalid","raw":"x"}`, []string{"invalid_plan:bad_kind", "/kind bad_kind", "/raw extra_keys", "/steps missing_steps"}},
		"key kind in capitals":  {`{"Kind":"plan","steps":[]}`, []string{"invalid_plan:bad_kind", `/kind bad_kind /kind="plan"`, "/Kind extra_keys ?kind /kind</Kind", "/steps missing_steps"}},
		"extra keys":            {`{"kind":"plan","b":1,"a/b":2,"steps":null}`, []string{"invalid_plan:extra_keys", "/a~1b extra_keys", "/b extra_keys", "/steps missing_steps"}},
		"steps misspelt":        {`{"kind":"plan","step":[]}`, []string{"invalid_plan:extra_keys", "/step extra_keys ?steps /steps</step", "/steps missing_steps"}},
		"steps misspelt twice":  {`{"kind":"plan","step":[],"Steps":[]}`, []string{"invalid_plan:extra_keys", "/Steps extra_keys", "/step extra_keys", "/steps missing_steps"}},
		"steps an object":       {`{"kind":"plan","steps":{}}`, []string{"invalid_plan:missing_steps", "/steps missing_steps"}},
		"no step":               {`{"kind":"plan","steps":[]}`, []string{"invalid_plan:missing_steps", "/steps missing_steps"}},
		"too few":               {`{"kind":"plan","steps":[1,2]}`, []string{"invalid_plan:min_steps", "/steps min_steps"}},
		"too many":              {`{"kind":"plan","steps":[1,2,3,4,5,6,7]}`, []string{"invalid_plan:max_steps", "/steps max_steps"}},
		"extra key, then count": {`{"kind":"plan","steps":[1,2],"x":0}`, []string{"invalid_plan:extra_keys", "/x extra_keys", "/steps min_steps"}},
		"steps of other types":  {planOf("null", `"s"`, "[]"), []string{"invalid_plan:step_1_not_object", "/steps/0 step_1_not_object", "/steps/1 step_2_not_object", "/steps/2 step_3_not_object"}},
		"everything wrong in one step": {planOf(`{"id":7,"title":" ","args":[],"x":1}`), []string{"invalid_plan:step_1_extra_keys",
			"/steps/0/x step_1_extra_keys", `/steps/0/id step_1_missing_id /steps/0/id="7"`, "/steps/0/title step_1_missing_title",
			"/steps/0/tool step_1_missing_tool", "/steps/0/args step_1_bad_args"}},
		"nothing in a step": {planOf("{}"), []string{"invalid_plan:step_1_missing_id",
			"/steps/0/id step_1_missing_id", "/steps/0/title step_1_missing_title", "/steps/0/tool step_1_missing_tool"}},
		"id false, title a number": {planOf(`{"id":false,"title":1.50,"tool":"fetch_sales_data"}`), []string{"invalid_plan:step_1_missing_id",
			`/steps/0/id step_1_missing_id /steps/0/id="false"`, `/steps/0/title step_1_missing_title /steps/0/title="1.5"`}},
		"id a number that another has": {planOf(`{"id":2,"title":"t","tool":"fetch_sales_data"}`, `{"id":"2","title":"t","tool":"fetch_sales_data"}`),
			[]string{"invalid_plan:step_1_missing_id", `/steps/0/id step_1_missing_id /steps/0/id="2_2"`}},
		"equal after strip": {planOf(`{"id":"a","title":"t","tool":"fetch_sales_data"}`, `{"id":"\u00a0a\u001c","title":"t","tool":"fetch_sales_data"}`, `{"id":"a_2","title":"t","tool":"fetch_sales_data"}`),
			[]string{"invalid_plan:duplicate_step_id", `/steps/1/id duplicate_step_id /steps/1/id="a_3"`}},
		"duplicate before its tool": {planOf(steps(1)[0], `{"id":"s1","title":"","tool":"","args":1}`), []string{"invalid_plan:duplicate_step_id",
			`/steps/1/id duplicate_step_id /steps/1/id="s1_2"`, "/steps/1/title step_2_missing_title", "/steps/1/tool step_2_missing_tool", "/steps/1/args step_2_bad_args"}},
		"first step first": {planOf(`{"id":"a","title":"t","tool":"x"}`, "1"), []string{"invalid_plan:tool_not_allowed:x",
			"/steps/0/tool tool_not_allowed:x", "/steps/1 step_2_not_object"}},
		"tool not allowed, before its args": {planOf(`{"id":"a","title":"t","tool":" drop table ","args":""}`), []string{"invalid_plan:tool_not_allowed:drop table",
			"/steps/0/tool tool_not_allowed:drop table", "/steps/0/args step_1_bad_args"}},
		"tool misspelt": {planOf(`{"id":"a","title":"t","tool":"fetch_sale_data"}`), []string{"invalid_plan:tool_not_allowed:fetch_sale_data",
			`/steps/0/tool tool_not_allowed:fetch_sale_data ?fetch_sales_data /steps/0/tool="fetch_sales_data"`}},
		"tool in capitals": {planOf(`{"id":"a","title":"t","tool":"FETCH_SALES_DATA"}`), []string{"invalid_plan:tool_not_allowed:FETCH_SALES_DATA",
			`/steps/0/tool tool_not_allowed:FETCH_SALES_DATA ?fetch_sales_data /steps/0/tool="fetch_sales_data"`}},
		"tool a list": {planOf(`{"id":"a","title":"t","tool":["fetch_sales_data"]}`), []string{"invalid_plan:step_1_missing_tool", "/steps/0/tool step_1_missing_tool"}},
		"args a text": {planOf(`{"id":"a","title":"t","tool":"fetch_sales_data","args":"{}"}`), []string{"invalid_plan:step_1_bad_args", "/steps/0/args step_1_bad_args /steps/0/args={}"}},
		"member misspelt": {planOf(`{"id":"a","Title":"t","tool":"fetch_sales_data"}`), []string{"invalid_plan:step_1_extra_keys",
			"/steps/0/Title step_1_extra_keys ?title /steps/0/title</steps/0/Title", "/steps/0/title step_1_missing_title"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, refusal := gateway.ParsePlan(document.ReadReply(tt.reply), planRules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParsePlan(%s), -want +got:\n%s", tt.reply, diff)
			}
			if plan.Steps != nil || plan.Filled != nil {
				t.Errorf("ParsePlan(%s) refused and gave %v", tt.reply, plan)
			}
		})
	}
}

func TestParsePlanAccepts(t *testing.T) {
	reply := `{"kind":"plan","steps":[
		{"id":"\u2003s1\u001f","title":"\ufeffFirst\t","tool":" fetch_sales_data\u0085","args":{"month":" 2026-04 "}},
		{"id":"s2","title":"Second","tool":"get_manager_profile","args":null},
		{"id":"S1","title":"Third","tool":"get_manager_profile"}]}`
	want := []gateway.Step{ // U+FEFF is no white space; arguments stay as they came
		{ID: "s1", Title: "\ufeffFirst", Tool: "fetch_sales_data", Args: map[string]any{"month": " 2026-04 "}},
		{ID: "s2", Title: "Second", Tool: "get_manager_profile", Args: map[string]any{}},
		{ID: "S1", Title: "Third", Tool: "get_manager_profile", Args: map[string]any{}},
	}
	plan, refusal := gateway.ParsePlan(document.ReadReply(reply), planRules)
	if refusal != nil {
		t.Fatalf("ParsePlan: %v %v", refusal, lines(refusal.Problems))
	}
	if diff := cmp.Diff(want, plan.Steps); diff != "" {
		t.Errorf("ParsePlan, -want +got:\n%s", diff)
	}
	if plan.Filled != nil {
		t.Errorf("ParsePlan of a model's reply filled %v", plan.Filled)
	}
	for n := range 9 {
		doc := `{"kind":"plan","steps":[` + strings.Join(steps(n), ",") + `]}`
		_, refusal := gateway.ParsePlan(document.ReadReply(doc), planRules)
		if ok := n >= 3 && n <= 6; ok != (refusal == nil) {
			t.Errorf("ParsePlan of %d steps: %v", n, refusal)
		}
	}
}

func TestParsePlanBlankTexts(t *testing.T) {
	for _, r := range blanks {
		step := fmt.Sprintf(`{"id":%[1]s,"title":%[1]s,"tool":%[1]s}`, quote(string(r)+" "+string(r)))
		_, refusal := gateway.ParsePlan(document.ReadReply(planOf(step)), planRules)
		want := []string{"invalid_plan:step_1_missing_id", "/steps/0/id step_1_missing_id", "/steps/0/title step_1_missing_title", "/steps/0/tool step_1_missing_tool"}
		if diff := cmp.Diff(want, verdict(refusal)); diff != "" {
			t.Errorf("a step of %U alone, -want +got:\n%s", r, diff)
		}
	}
	for _, r := range []rune{0x200b, 0xfeff, 0x180e, 0x1b, 0x2060} {
		step := fmt.Sprintf(`{"id":%[1]s,"title":%[1]s,"tool":"fetch_sales_data"}`, quote(string(r)))
		if _, refusal := gateway.ParsePlan(document.ReadReply(planOf(step)), planRules); refusal != nil {
			t.Errorf("%U, which is no white space, as id and title: %v", r, refusal)
		}
	}
}

func TestParsePlanOfACaller(t *testing.T) {
	tests := map[string]struct {
		value  string
		want   []string
		filled string
	}{
		"kind left out":    {`{"steps":[` + strings.Join(steps(3), ",") + `]}`, nil, `[{"pointer":"/it/kind","value":"plan"}]`},
		"nothing left out": {planOf(), nil, `null`},
		"kind null":        {strings.Replace(planOf(), `"plan"`, "null", 1), []string{"invalid_plan:bad_kind", `/it/kind bad_kind /it/kind="plan"`}, `null`},
		"pointers":         {`{"steps":[1,{"x":1},{}]}`, []string{"invalid_plan:step_1_not_object", "/it/steps/0 step_1_not_object", "/it/steps/1/x step_2_extra_keys", "/it/steps/1/id step_2_missing_id", "/it/steps/1/title step_2_missing_title", "/it/steps/1/tool step_2_missing_tool", "/it/steps/2/id step_3_missing_id", "/it/steps/2/title step_3_missing_title", "/it/steps/2/tool step_3_missing_tool"}, `null`},
		"number":           {"42", []string{"invalid_plan:not_object", "/it not_object"}, `null`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, refusal := gateway.ParsePlan(byCaller(t, tt.value), planRules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParsePlan(%s), -want +got:\n%s", tt.value, diff)
			}
			if got := compact(plan.Filled); got != tt.filled {
				t.Errorf("ParsePlan(%s) filled %s, want %s", tt.value, got, tt.filled)
			}
		})
	}
}

func TestZeroPlanRulesAllowNothing(t *testing.T) {
	for _, reply := range []string{planOf(), `{"kind":"plan","steps":[]}`, "{}", "x"} {
		if plan, refusal := gateway.ParsePlan(document.ReadReply(reply), gateway.PlanRules{}); refusal == nil {
			t.Errorf("ParsePlan(%s) under no rules accepted %v", reply, plan)
		}
	}
	if _, refusal := gateway.ParsePlan(document.Intent{}, planRules); refusal == nil {
		t.Error("ParsePlan accepted the zero Intent")
	}
	_, refusal := gateway.ParsePlan(document.ReadReply(planOf()), gateway.PlanRules{Min: 1, Max: 3})
	want := []string{"invalid_plan:tool_not_allowed:fetch_sales_data", "/steps/0/tool tool_not_allowed:fetch_sales_data",
		"/steps/1/tool tool_not_allowed:fetch_sales_data", "/steps/2/tool tool_not_allowed:fetch_sales_data"}
	if diff := cmp.Diff(want, verdict(refusal)); diff != "" {
		t.Errorf("ParsePlan without an allowlist, -want +got:\n%s", diff)
	}
}
