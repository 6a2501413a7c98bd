package planning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

func TestParseSubtasksAccepts(t *testing.T) {
	args := object(t, `{"month":"2026-04"}`)
	tests := map[string]struct {
		rules, plan string
		want        planning.Document
	}{
		"defaults, null members, blanks at both ends": {"", `{"kind":"plan","goal":null,"subtasks":[
			{"id":" a ","description":" Do  a . ","tool":null,"args":null,"critical":null,"parent":null,"expect":null,"notes":null},
			{"id":"b","description":"b","dependencies":["a\u00a0"],"tool":" fetch_sales_data ","args":{"month":"2026-04"},"critical":true}]}`,
			planning.Document{Subtasks: []planning.Subtask{
				{ID: "a", Description: " Do  a . ", Dependencies: []string{}, Tool: "caller", Args: map[string]any{}},
				{ID: "b", Description: "b", Dependencies: []string{"a"}, Tool: "fetch_sales_data", Args: args, Critical: true}}}},
		"a model is the default where there is one": {"llm", subtasksOf(sub("a"), sub("b", `"tool":"model","args":{"x":1}`), sub("c", `"tool":"caller","expect":{}`)),
			planning.Document{Subtasks: []planning.Subtask{
				{ID: "a", Description: "Do a.", Dependencies: []string{}, Tool: "model", Args: map[string]any{}},
				{ID: "b", Description: "Do b.", Dependencies: []string{}, Tool: "model", Args: object(t, `{"x":1}`)},
				{ID: "c", Description: "Do c.", Dependencies: []string{}, Tool: "caller", Args: map[string]any{}, Expect: map[string]any{}}}}},
		"a goal": {"execute", `{"kind":"plan","goal":" x ","subtasks":[` + sub("a") + `]}`, planning.Document{Goal: " x ", Subtasks: []planning.Subtask{
			{ID: "a", Description: "Do a.", Dependencies: []string{}, Tool: "caller", Args: map[string]any{}}}}},
		"the end": {"round", `{"kind":"plan","planning_complete":true,"subtasks":[]}`, planning.Document{Complete: true, Subtasks: []planning.Subtask{}}},
		"a replan": {"replan", `{"kind":"plan","adjustment_rationale":"why","subtasks":[` + sub("n", deps("k"), sales) + `]}`, planning.Document{Rationale: "why", Subtasks: []planning.Subtask{
			{ID: "n", Description: "Do n.", Dependencies: []string{"k"}, Tool: "fetch_sales_data", Args: args}}}},
		"a tree": {"hierarchical", subtasksOf(sub("a"), sub("b", `"parent":" a "`)), planning.Document{Subtasks: []planning.Subtask{
			{ID: "a", Description: "Do a.", Dependencies: []string{}, Tool: "caller", Args: map[string]any{}},
			{ID: "b", Description: "Do b.", Dependencies: []string{}, Tool: "caller", Args: map[string]any{}, Parent: "a"}}}},
	}
	for name, tt := range tests {
		got, refusal := planning.ParseSubtasks(document.ReadReply(tt.plan), planRulesOf(t, tt.rules))
		if refusal != nil {
			t.Errorf("%s: %v", name, verdict(refusal))
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
}

// A caller may leave the kind out, and is told where in the call something is wrong.
func TestParseSubtasksOfACaller(t *testing.T) {
	rules := subtaskRules(t)
	doc, refusal := planning.ParseSubtasks(document.FromCaller(decoded(t, `{"subtasks":[`+sub("a")+`]}`), "/plan"), rules)
	if refusal != nil || !slices.Equal(doc.Filled, []document.Filled{{Pointer: "/plan/kind", Value: "plan"}}) {
		t.Errorf("ParseSubtasks = %+v, %v, want the kind filled", doc, refusal)
	}
	for name, tt := range map[string]struct {
		in   document.Intent
		want []string
		raw  string
	}{
		"an object": {document.FromCaller(decoded(t, `{"subtasks":[`+sub("a", deps("b"))+`]}`), "/plan"),
			[]string{"invalid_plan:unknown_dependency:a:b", "/plan/subtasks/0/dependencies/0 unknown_dependency:a:b"}, `{"subtasks":[` + sub("a", deps("b")) + `]}`},
		"JSON as a text": {document.FromText("\n "+subtasksOf(sub("a", deps("b"))), "/plan"),
			[]string{"invalid_plan:unknown_dependency:a:b", "/plan/subtasks/0/dependencies/0 unknown_dependency:a:b"}, subtasksOf(sub("a", deps("b")))},
		"broken JSON":  {document.FromText(`{"kind":"plan","subtasks":[1,]}`, "/plan"), []string{"invalid_plan:non_json", "/plan/subtasks non_json"}, `{"kind":"invalid","raw":"{\"kind\":\"plan\",\"subtasks\":[1,]}"}`},
		"a list":       {document.FromText("[]", "/plan"), []string{"invalid_plan:not_object", "/plan not_object"}, "[]"},
		"no checklist": {document.FromText("Do it.", "/plan"), []string{"invalid_plan:non_json", "/plan non_json"}, `{"kind":"invalid","raw":"Do it."}`},
		"no text":      {document.FromText("", "/plan"), []string{"invalid_plan:non_json", "/plan non_json"}, `{"kind":"invalid","raw":""}`},
		"a long item":  {document.FromText("- [ ] a\n- [ ] "+strings.Repeat("x", 4001), "/plan"), []string{"invalid_plan:subtask_2_bad_description", "/plan/subtasks/1/description subtask_2_bad_description"}, ""},
	} {
		_, refusal := planning.ParseSubtasks(tt.in, rules)
		if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		if tt.raw != "" && !ijson.Equal(tt.in.Raw(), decoded(t, tt.raw)) {
			t.Errorf("%s: Raw = %s, want %s", name, compact(tt.in.Raw()), tt.raw)
		}
	}
}

func TestChecklists(t *testing.T) {
	for name, tt := range map[string]struct{ text, want, done string }{
		"bullets": {"- [ ] a\n* [ ] b\n+ [ ] c", "item_1: a|item_2: b|item_3: c", ""},
		"numbers": {"1. [ ] a\n2) [ ] b\n7. [ ] c", "item_1: a|item_2: b<item_1|item_3: c<item_2", ""},
		"mixed":   {"- [ ] a\n1. [ ] b\n* [ ] c\n\t2. [ ] d", "item_1: a|item_2: b<item_1|item_3: c|item_4: d<item_3", ""},
		"done":    {"- [x] a\n- [X] b\n- [ ] c", "item_1: a|item_2: b|item_3: c", "item_1 item_2"},
		"around":  {"# To do\r\n\r\n  -   [ ]  a b \t\r\ntext\n- b\n-[ ] c\n- [] d\n- [ ]e\n- [ ]\n- [y] f\n10.[ ] g\nx. [ ] h\n> - [ ] i", "item_1: a b", ""},
	} {
		doc, refusal := planning.ParseSubtasks(document.FromText(tt.text, "/plan"), subtaskRules(t))
		if refusal != nil {
			t.Errorf("%s: %v", name, verdict(refusal))
			continue
		}
		var words []string
		for _, s := range doc.Subtasks {
			word := s.ID + ": " + s.Description
			if len(s.Dependencies) > 0 {
				word += "<" + strings.Join(s.Dependencies, ",")
			}
			words = append(words, word)
			if s.Tool != planning.CallerExecutor || s.Args == nil || s.Dependencies == nil {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if got := strings.Join(words, "|"); got != tt.want || strings.Join(doc.Done, " ") != tt.done || !doc.Checklist || doc.Filled != nil {
			t.Errorf("%s: %s, done %v, checklist %v, filled %v; want %s, done %s", name, got, doc.Done, doc.Checklist, doc.Filled, tt.want, tt.done)
		}
	}
}

func TestStrategyOf(t *testing.T) {
	for text, want := range map[string]planning.Strategy{
		subtasksOf(sub("a"), sub("b", `"parent":"a"`)): planning.Hierarchical, subtasksOf(sub("a", `"parent":null`)): planning.Flat,
		"- [ ] a": planning.Flat, "[1]": planning.Flat, `{"subtasks":[1]}`: planning.Flat, "{": planning.Flat,
	} {
		if got := planning.StrategyOf(document.FromText(text, "/plan")); got != want {
			t.Errorf("StrategyOf(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestFitsExpect(t *testing.T) {
	tests := map[string]struct {
		expect, value string
		want          []string
	}{
		"anything":        {`null`, `{"a":1}`, nil},
		"fits":            {`{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1}}}`, `{"n":3,"x":1}`, nil},
		"another type":    {`{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1}}}`, `{"n":"3"}`, []string{"/n"}},
		"too small":       {`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`, `{"n":0}`, []string{"/n"}},
		"missing":         {`{"required":["n","m"]}`, `{}`, []string{"/m", "/n"}},
		"null":            {`{"type":"object"}`, `null`, []string{""}},
		"by definition":   {`{"$defs":{"t":{"type":"string"}},"type":"array","items":{"$ref":"#/$defs/t"}}`, `["a",1]`, []string{"/1"}},
		"no schema":       {`{"type":"x"}`, `1`, []string{""}},
		"far too much":    {`{"type":"string","pattern":"^(a{900}){1}$"}`, `"` + strings.Repeat("a", 60<<10) + `"`, []string{""}},
		"too many checks": {`{"items":{"allOf":[` + strings.Repeat("false,", 1299) + `false]}}`, "[" + strings.Repeat("1,", 8999) + "1]", []string{""}},
		"a large one":     {`{"items":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`, "[" + strings.Repeat(`{"n":1},`, 8000) + `{"n":"1"}]`, []string{"/8000/n"}},
	}
	for name, tt := range tests {
		var got []string
		for _, p := range planning.FitsExpect(decoded(t, tt.expect), decoded(t, tt.value)) {
			got = append(got, string(p.Pointer))
			if p.Want == "" {
				t.Errorf("%s: %+v does not say what would have been right", name, p)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: FitsExpect(%s, %.40s), -want +got:\n%s", name, tt.expect, tt.value, diff)
		}
	}
}

// A schema from outside must not make judging dear, nor load anything.
func TestExpectIsBounded(t *testing.T) {
	doubling := []string{`"x0":{"type":"string"}`}
	for i := 1; i < 40; i++ {
		ref := `{"$ref":"#/$defs/x` + string(ijson.Canonical(float64(i-1))) + `"}`
		doubling = append(doubling, `"x`+string(ijson.Canonical(float64(i)))+`":{"allOf":[`+ref+`,`+ref+`]}`)
	}
	for name, tt := range map[string]struct {
		expect string
		ok     bool
	}{
		"small":             {`{"type":"object"}`, true},
		"own definitions":   {`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/x","$defs":{"t":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/t"},"b":{"$ref":"#/$defs/t"}}}`, true},
		"a property $ref":   {`{"properties":{"$ref":{"type":"string"},"pattern":{"type":"string"}}}`, true},
		"a pattern":         {`{"pattern":"^[0-9]{4}-[0-9]{2}$"}`, true},
		"a file":            {`{"$ref":"file:///etc/passwd"}`, false},
		"another schema":    {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, false},
		"a circle":          {`{"properties":{"a":{"$ref":"#"}}}`, false},
		"nothing there":     {`{"$ref":"#/$defs/x"}`, false},
		"doubling":          {`{"$ref":"#/$defs/x39","$defs":{` + strings.Join(doubling, ",") + `}}`, false},
		"a dynamic one":     {`{"$dynamicRef":"#x"}`, false},
		"a base inside":     {`{"items":{"$id":"https://example.com/y"}}`, false},
		"a pattern's count": {`{"pattern":"` + strings.Repeat("a{1000}", 10) + `"}`, false},
		"a long pattern":    {`{"pattern":"` + strings.Repeat("a", 300) + `"}`, false},
		"no pattern":        {`{"pattern":"("}`, false},
		"patterns of names": {`{"patternProperties":{"a{1000}b{1000}c{1000}d{1000}":{}}}`, false},
		"too large":         {`{"description":"` + strings.Repeat("x", 17<<10) + `"}`, false},
		"true":              {`true`, false},
		"a list":            {`[]`, false},
	} {
		_, refusal := planning.ParseSubtasks(document.ReadReply(subtasksOf(sub("a", `"expect":`+tt.expect))), subtaskRules(t))
		if (refusal == nil) != tt.ok || refusal != nil && refusal.Reason != "invalid_plan:subtask_1_bad_expect" {
			t.Errorf("%s: ParseSubtasks with expect %.80s = %v, want it taken: %v", name, tt.expect, refusal, tt.ok)
		}
	}
}

// However much is wrong, a result shows little of it, and says how much there was.
func TestHostileSubtasksAreBounded(t *testing.T) {
	for name, plan := range hostilePlans(20) {
		rules := subtaskRules(t)
		rules.Max, rules.MaxDepth, rules.Strategy = 100_000, 100_000, planning.Hierarchical
		_, refusal := planning.ParseSubtasks(document.ReadReply(plan), rules)
		if refusal == nil || len(refusal.Problems) > 51 {
			t.Errorf("%s: refusal %v", name, refusal)
			continue
		}
		if size := len(ijson.Canonical(shown(refusal.Problems))); size > 64<<10 {
			t.Errorf("%s: %d bytes of problems", name, size)
		}
	}
}

func shown(problems []document.Problem) any {
	list := make([]any, len(problems))
	for i, p := range problems {
		list[i] = p.Value()
	}
	return list
}

// A call may want fewer subtasks than a plan must have: then both are said, the least first.
func TestParseSubtasksCounts(t *testing.T) {
	for n, want := range map[int][]string{
		1: {"invalid_plan:min_subtasks", "/subtasks min_subtasks"},
		2: nil,
		3: {"invalid_plan:max_subtasks", "/subtasks max_subtasks"},
	} {
		rules := subtaskRules(t)
		rules.Min, rules.Max = 2, 2
		if diff := cmp.Diff(want, parsed(rules, n)); diff != "" {
			t.Errorf("%d of 2, -want +got:\n%s", n, diff)
		}
	}
	rules := subtaskRules(t)
	rules.Min, rules.Max = 5, 3
	if diff := cmp.Diff([]string{"invalid_plan:min_subtasks", "/subtasks min_subtasks", "/subtasks max_subtasks"}, parsed(rules, 4)); diff != "" {
		t.Errorf("4 of at least 5 and at most 3, -want +got:\n%s", diff)
	}
}

// parsed is the verdict on a plan of n subtasks.
func parsed(rules planning.Rules, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = sub("s" + string(rune('a'+i)))
	}
	_, refusal := planning.ParseSubtasks(document.ReadReply(subtasksOf(rows...)), rules)
	return verdict(refusal)
}

// A tool of the catalog that is called as an executor is does not stand for it.
func TestParseSubtasksKnowsExecutors(t *testing.T) {
	rules := subtaskRules(t)
	rules.Allowed = []string{"model", "caller"}
	_, refusal := planning.ParseSubtasks(document.ReadReply(subtasksOf(sub("a", `"tool":"model"`))), rules)
	if refusal == nil || refusal.Reason != "invalid_plan:executor_not_allowed:model" {
		t.Errorf("ParseSubtasks = %v, want it refused: no model is configured", refusal)
	}
}
