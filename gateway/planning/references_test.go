package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// What a reference may be is known of the plan alone.
func TestParseSubtasksJudgesReferences(t *testing.T) {
	first := sub("k", kpis)
	wants := `"expect":{"type":"object","properties":{"n":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`
	tests := map[string]struct {
		rules string
		rows  []string
		want  []string
	}{
		"whole, member, index, escaped": {"", []string{first, sub("s", sales, deps("k")), sub("r", deps("s"),
			`"args":{"a":"$results.s","b":["$results.k./net_sales_usd",{"c":"$results.s./daily_sales/0/day"}],"d":"$$results.zz","$results.":"$results","e":" $results.zz"}`)}, nil},
		"undeclared":              {"", []string{first, sub("r", `"args":{"x":"$results.k./orders"}`)}, []string{"invalid_plan:bad_reference:r", "/subtasks/1/args/x bad_reference:r"}},
		"forward":                 {"", []string{sub("a", `"args":{"x":"$results.b"}`), sub("b", deps("a"))}, []string{"invalid_plan:bad_reference:a", "/subtasks/0/args/x bad_reference:a"}},
		"its own":                 {"", []string{sub("a", `"args":{"x":"$results.a"}`)}, []string{"invalid_plan:bad_reference:a", "/subtasks/0/args/x bad_reference:a"}},
		"unknown":                 {"", []string{sub("a", `"args":{"x":"$results.zz"}`)}, []string{"invalid_plan:bad_reference:a", "/subtasks/0/args/x bad_reference:a"}},
		"syntax":                  {"", []string{sub("a"), sub("b", deps("a"), `"args":{"x":["$results.","$results.A","$results.a/x","$results.a.x","$results.a..","$results.a./~2","$results.a ","$results.a./ok"]}`)}, bad("b", "/subtasks/1/args/x/", 0, 1, 2, 3, 4, 5, 6)},
		"the empty pointer":       {"", []string{first, sub("b", deps("k"), `"args":{"x":["$results.k.",{"c":"$results.k."}]}`)}, nil},
		"of no dependency":        {"", []string{first, sub("b", `"args":{"x":"$results.k."}`)}, []string{"invalid_plan:bad_reference:b", "/subtasks/1/args/x bad_reference:b"}},
		"the whole, of no type":   {"", []string{first, sub("b", deps("k"), `"tool":"fetch_sales_data","args":{"month":"$results.k."}`)}, []string{"invalid_plan:bad_args:b", "/subtasks/1/args/month bad_args:b"}},
		"a member it cannot have": {"", []string{first, sub("b", deps("k"), `"args":{"x":["$results.k./nope","$results.k./orders/0","$results.k./orders"]}`)}, bad("b", "/subtasks/1/args/x/", 0, 1)},
		"an index that is none":   {"", []string{sub("s", sales), sub("b", deps("s"), `"args":{"x":["$results.s./daily_sales/-","$results.s./daily_sales/01","$results.s./daily_sales/99"]}`)}, bad("b", "/subtasks/1/args/x/", 0, 1)},
		"what a caller is to say": {"", []string{sub("c", wants), sub("b", deps("c"), `"args":{"x":["$results.c./m","$results.c./l/0/x","$results.c./l/0","$results.c./n"]}`)}, bad("b", "/subtasks/1/args/x/", 0, 1)},
		"a caller says anything":  {"", []string{sub("c"), sub("b", deps("c"), `"args":{"x":"$results.c./m/0/-"}`)}, nil},
		"a model gives a text":    {"llm", []string{sub("m"), sub("b", deps("m"), `"args":{"x":["$results.m","$results.m./a"]}`)}, bad("b", "/subtasks/1/args/x/", 1)},
		"type known, wrong":       {"", []string{first, sub("b", deps("k"), `"tool":"fetch_sales_data","args":{"month":"$results.k./orders"}`)}, []string{"invalid_plan:bad_args:b", "/subtasks/1/args/month bad_args:b"}},
		"type known, right":       {"", []string{first, sub("b", deps("k"), `"tool":"fetch_sales_data","args":{"month":"$results.k./month"}`)}, nil},
		"type not known":          {"", []string{sub("c"), sub("b", deps("c"), `"tool":"get_manager_profile","args":{"manager_id":"$results.c"}`)}, nil},
		"type of what is expected": {"", []string{sub("c", wants), sub("b", deps("c"), `"tool":"get_manager_profile","args":{"manager_id":"$results.c./l"}`),
			sub("d", deps("c"), `"tool":"get_manager_profile","args":{"manager_id":"$results.c./n"}`)}, []string{"invalid_plan:bad_args:b", "/subtasks/1/args/manager_id bad_args:b"}},
		"an argument that is none": {"", []string{sub("c"), sub("b", deps("c"), `"tool":"get_manager_profile","args":{"manager_id":1,"x":"$results.c"}`)}, []string{"invalid_plan:bad_args:b", "/subtasks/1/args/x bad_args:b"}},
		"a text that is escaped":   {"", []string{sub("b", `"tool":"get_manager_profile","args":{"manager_id":"$$1"}`)}, []string{"invalid_plan:bad_args:b", "/subtasks/0/args/manager_id bad_args:b"}},
		"child, grandchild and what the parent waits for": {"hierarchical", []string{sub("q"), sub("p", deps("q"), `"args":{"x":["$results.c","$results.d","$results.q"]}`),
			sub("c", `"parent":"p"`), sub("d", `"parent":"c"`, `"args":{"x":["$results.q","$results.c"]}`)}, bad("d", "/subtasks/3/args/x/", 1)},
		"earlier rounds": {"round", []string{sub("n", deps("e"), `"args":{"x":["$results.k./orders","$results.e./n","$results.e./m","$results.gone"]}`)}, bad("n", "/subtasks/0/args/x/", 2, 3)},
		"by way of one that is left out": {"", []string{first, sub("b", deps("k"), `"critical":1`), sub("c", deps("b"), `"args":{"x":"$results.k"}`)},
			[]string{"invalid_plan:subtask_2_bad_critical", "/subtasks/1/critical subtask_2_bad_critical"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := planning.ParseSubtasks(document.ReadReply(subtasksOf(tt.rows...)), planRulesOf(t, tt.rules))
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// bad is the verdict on references of one subtask in a list.
func bad(id, at string, entries ...int) []string {
	list := []string{"invalid_plan:bad_reference:" + id}
	for _, k := range entries {
		list = append(list, fmt.Sprintf("%s%d bad_reference:%s", at, k, id))
	}
	return list
}

func TestResolve(t *testing.T) {
	results := object(t, `{"k":{"n":26825.5,"s":"text","l":[1,{"a/b":null}],"o":{}},"m":"a text","z":null}`)
	result := func(id string) (any, bool) { v, ok := results[id]; return v, ok }
	for name, tt := range map[string]struct{ args, want, bad string }{
		"types":          {`{"a":"$results.k./n","b":["$results.k./s",{"c":"$results.k./l/0"}],"d":"$results.k./o","e":"$results.m","f":7}`, `{"a":26825.5,"b":["text",{"c":1}],"d":{},"e":"a text","f":7}`, ""},
		"escapes":        {`{"a":"$$results.k","b":"$$","c":"$$$","d":"$","e":"x$$y","$$f":1}`, `{"a":"$results.k","b":"$","c":"$$","d":"$","e":"x$$y","$$f":1}`, ""},
		"null":           {`{"a":"$results.z","b":"$results.k./l/1/a~1b"}`, `{"a":null,"b":null}`, ""},
		"nothing":        {`{}`, `{}`, ""},
		"empty pointer":  {`{"a":"$results.k.","b":["$results.m."]}`, `{"a":{"l":[1,{"a/b":null}],"n":26825.5,"o":{},"s":"text"},"b":["a text"]}`, ""},
		"not inside":     {`{"a":"net $results.k./n"}`, `{"a":"net $results.k./n"}`, ""},
		"no such member": {`{"a":1,"b":"$results.k./x"}`, "", "$results.k./x"},
		"first by place": {`{"b":"$results.k./x","a":["$results.k./y"]}`, "", "$results.k./y"},
		"no result":      {`{"a":"$results.q"}`, "", "$results.q"},
		"after the last": {`{"a":"$results.k./l/-"}`, "", "$results.k./l/-"},
		"into null":      {`{"a":"$results.z./x"}`, "", "$results.z./x"},
		"bad syntax":     {`{"a":"$results.k.n"}`, "", "$results.k.n"},
	} {
		args := object(t, tt.args)
		got, bad := planning.Resolve(args, result)
		if tt.bad != "" && got != nil || bad != tt.bad || tt.bad == "" && !ijson.Equal(got, decoded(t, tt.want)) {
			t.Errorf("%s: Resolve(%s) = %s, %q, want %s, %q", name, tt.args, compact(got), bad, tt.want, tt.bad)
		}
		if !ijson.Equal(args, decoded(t, tt.args)) {
			t.Errorf("%s: Resolve changed the arguments to %s", name, compact(args))
		}
	}
}

// A few references to a large result must not make arguments of any size.
func TestResolveIsBounded(t *testing.T) {
	large, list := strings.Repeat("x", 64<<10), make([]any, 10_000)
	for i := range list {
		list[i] = "$results.a"
	}
	if got, bad := planning.Resolve(map[string]any{"x": list}, func(string) (any, bool) { return large, true }); got != nil || bad != "$results.a" {
		t.Errorf("Resolve = %d members, %q, want it refused", len(got), bad)
	}
}

func TestHasReferences(t *testing.T) {
	for args, want := range map[string]bool{
		`{}`: false, `{"a":"x"}`: false, `{"a":"$results"}`: false, `{"$results.a":1}`: false, `{"a":[{"b":"$results.k"}]}`: true, `{"a":"$$"}`: true, `{"a":" $results.k"}`: false,
	} {
		if got := planning.HasReferences(object(t, args)); got != want {
			t.Errorf("HasReferences(%s) = %v", args, got)
		}
	}
}
