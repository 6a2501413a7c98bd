package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

func TestProblemsShowGotAndWant(t *testing.T) {
	reply := `{"kind":"plan","steps":[{"id":null,"title":7,"tool":"pay","args":[1]}]}`
	_, refusal := gateway.ParsePlan(document.ReadReply(reply), gateway.PlanRules{Min: 1, Max: 3, Allowed: []string{"look", "see"}})
	want := `[` +
		`{"pointer":"/steps/0/id","reason":"step_1_missing_id","got":null,"want":"a text that names it"},` +
		`{"pointer":"/steps/0/title","reason":"step_1_missing_title","got":7,"want":"a text"},` +
		`{"pointer":"/steps/0/tool","reason":"tool_not_allowed:pay","got":"pay","want":"one of look, see"},` +
		`{"pointer":"/steps/0/args","reason":"step_1_bad_args","got":[1],"want":"an object of arguments"}]`
	if got := compact(refusal.Problems); got != want {
		t.Errorf("ParsePlan(%s) shows\n%s, want\n%s", reply, got, want)
	}
	if refusal.Error() != refusal.Reason {
		t.Errorf("Error() = %q, want the stop reason %q", refusal.Error(), refusal.Reason)
	}
	_, refusal = gateway.ParsePlan(document.ReadReply(`{"kind":"plan","steps":[1]}`), planRules)
	if got, want := compact(refusal.Problems), `[{"pointer":"/steps","reason":"min_steps","got":[1],"want":"3 to 6 steps, not 1"}]`; got != want {
		t.Errorf("a count fault shows %s, want %s", got, want)
	}
	_, refusal = gateway.ParsePlan(document.ReadReply(`{"kind":"plan",`), planRules)
	if got, want := compact(refusal.Problems), `[{"pointer":"","reason":"non_json","want":"one JSON object; byte 15: ends too early"}]`; got != want {
		t.Errorf("half a document shows %s, want %s", got, want)
	}
	_, refusal = gateway.ParsePlan(document.ReadReply(`{"kind":"plan"}`), planRules)
	if got, want := compact(refusal.Problems), `[{"pointer":"/steps","reason":"missing_steps","want":"a list of 3 to 6 steps"}]`; got != want {
		t.Errorf("a missing member shows %s, want %s", got, want)
	}
}

func TestWantIsOneLineOfWholeNames(t *testing.T) {
	tests := map[string][]string{
		"none":       nil,
		"many":       strings.Fields(strings.Repeat("a_tool_with_a_name ", 40)),
		"just fits":  {strings.Repeat("a", 92), strings.Repeat("b", 98)},
		"just not":   {strings.Repeat("a", 92), strings.Repeat("b", 99)},
		"three":      {strings.Repeat("a", 92), strings.Repeat("b", 91), "cccccc"},
		"one huge":   {strings.Repeat("é", 300), "b"},
		"with lines": {"two\nlines", "\u2028"},
	}
	for name, allowed := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := gateway.ParseRoute(document.ReadReply(`{"kind":"route","args":{"ticket":"x"}}`), gateway.RouteRules{Allowed: allowed})
			want := refusal.Problems[0].Want
			if len(want) > 200 || strings.ContainsAny(want, "\n\u2028") || !utf8.ValidString(want) {
				t.Errorf("want is %d bytes: %q", len(want), want)
			}
			if name == "one huge" || name == "with lines" || name == "none" {
				return
			}
			shown, ended := strings.CutSuffix(strings.TrimPrefix(want, "one of "), ", ...")
			list := strings.Split(shown, ", ")
			if diff := cmp.Diff(allowed[:len(list)], list); diff != "" {
				t.Errorf("want %q names others than the first allowed:\n%s", want, diff)
			}
			if ended != (len(list) < len(allowed)) {
				t.Errorf("want %q shows %d of %d names", want, len(list), len(allowed))
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	for _, n := range []int{49, 50, 51, 1000} {
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf(`"x%04d":%d`, i, i)
		}
		_, refusal := gateway.ParsePlan(document.ReadReply(`{"kind":"plan",`+strings.Join(members, ",")+`}`), planRules)
		faults := n + 1 // and the missing steps
		want := min(faults, 50)
		if faults > 50 {
			want++
			last := compact(refusal.Problems[50])
			if wantLast := fmt.Sprintf(`{"pointer":"","reason":"more","got":%d,"want":""}`, faults-50); last != wantLast {
				t.Errorf("%d faults end with %s, want %s", faults, last, wantLast)
			}
		}
		if got := len(refusal.Problems); got != want {
			t.Errorf("%d faults are %d rows, want %d", faults, got, want)
		}
		if refusal.Reason != "invalid_plan:extra_keys" {
			t.Errorf("%d faults: stop reason %s", faults, refusal.Reason)
		}
	}
}

func TestCapProblemsCountsWhatWasLeftOutBefore(t *testing.T) {
	members := make([]string, 120)
	for i := range members {
		members[i] = fmt.Sprintf(`"x%04d":%d`, i, i)
	}
	_, refusal := gateway.ParseRoute(document.ReadReply(`{"kind":"route","target":"billing_specialist","args":{"ticket":"t"},`+strings.Join(members, ",")+`}`), routeRules)
	one := refusal.Problems // 50 rows and "more 70"
	two := append(append([]document.Problem{}, one...), one[:3]...)
	tests := map[string]struct {
		list []document.Problem
		rows int
		more string
	}{
		"none":               {nil, 0, ""},
		"few":                {one[:3], 3, ""},
		"fifty":              {one[:50], 50, ""},
		"bounded before":     {one, 51, "70"},
		"more after a bound": {two, 51, "73"},
		"bounds together":    {append(append([]document.Problem{}, one...), one...), 51, "190"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := document.CapProblems(tt.list)
			if len(got) != tt.rows {
				t.Fatalf("CapProblems(%d rows) = %d rows, want %d", len(tt.list), len(got), tt.rows)
			}
			if tt.more != "" && (got[tt.rows-1].Reason != "more" || string(got[tt.rows-1].Got) != tt.more) {
				t.Errorf("CapProblems ends with %s, want more %s", compact(got[tt.rows-1]), tt.more)
			}
		})
	}
}

func TestOutsidersNamesAreCut(t *testing.T) {
	long := strings.Repeat("é", 5000) // 10,000 bytes
	cut := long[:4096]
	rules := actionRules(t)
	_, plan := gateway.ParsePlan(document.ReadReply(planOf(`{"id":"a","title":"t","tool":"`+long+`"}`)), planRules)
	_, tasks := gateway.ParseTasks(document.ReadReply(tasksOf(`{"id":"a","worker":"`+long+`","args":{},"critical":true}`)), taskRules)
	_, route := gateway.ParseRoute(document.ReadReply(`{"kind":"route","target":"`+long+`","args":{"ticket":"t"}}`), routeRules)
	_, action := gateway.ParseAction(document.ReadReply(`{"kind":"tool","name":"`+long+`"}`), rules)
	for want, got := range map[string]*document.Refusal{
		"invalid_plan:tool_not_allowed:" + cut: plan, "invalid_plan:worker_not_allowed:" + cut: tasks,
		"invalid_route:route_not_allowed:" + cut: route, "invalid_action:unknown_tool:" + cut: action,
	} {
		if got.Reason != want {
			t.Errorf("the stop reason has %d bytes, want %d: %.60s", len(got.Reason), len(want), got.Reason)
		}
		_, reason, _ := strings.Cut(want, ":")
		if got.Problems[0].Reason != reason {
			t.Errorf("the problem's reason has %d bytes, want the stop reason's %d", len(got.Problems[0].Reason), len(reason))
		}
	}
	if got, want := gateway.ToolFamily.Reason("denied", long), "tool_denied:"+cut; got != want {
		t.Errorf("Reason(denied, long) has %d bytes, want %d", len(got), len(want))
	}
}

func TestPointersAreBounded(t *testing.T) {
	name := strings.Repeat("n", 1200)
	tests := map[string]struct {
		reply string
		want  ijson.Pointer
	}{
		"an endless name at the top": {`{"kind":"route","` + name + `":1}`, ""},
		"deep inside":                {`{"kind":"route","a":{"b":{"` + name + `":[1,{"c":1,"c":2}]}}}`, "/a/b"},
		"long, but bearable":         {`{"kind":"route","` + name[:1000] + `":1}`, ijson.Pointer("/" + name[:1000])},
	}
	for testName, tt := range tests {
		t.Run(testName, func(t *testing.T) {
			_, refusal := gateway.ParseRoute(document.ReadReply(tt.reply), routeRules)
			if got := refusal.Problems[0].Pointer; got != tt.want {
				t.Errorf("the pointer is %d bytes %.40s, want %.40s", len(got), got, tt.want)
			}
		})
	}
}
