package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/patterns/llm/llmtest"
)

// malformedReply is a reply that is no good plan.
type malformedReply struct {
	reply  any
	reason string
	at     string // pointer into the reply; "" is none or all of it, * is where its text breaks
}

// malformed are replies to the request for a plan that are no good plan, each with its reason. A reason without a colon is
// the model's fault. They are made when they are asked for: every process of these tests would make them.
var malformed = sync.OnceValue(func() map[string]malformedReply {
	return map[string]malformedReply{
		"empty":                     {"", "llm_empty", ""},
		"blank":                     {" \n\t ", "llm_empty", ""},
		"null content":              {llmtest.NullContent(), "llm_empty", ""},
		"no choices":                {llmtest.NoChoices(), "llm_error:no_choices", ""},
		"null":                      {"null", "not_object", ""},
		"prose":                     {"First I would look at the sales, then at the refunds.", "non_json", "*"},
		"list":                      {`[{"id":"a","description":"A."}]`, "not_object", ""},
		"scalar":                    {"7", "not_object", ""},
		"text":                      {`"a plan"`, "not_object", ""},
		"two objects":               {`{"kind":"plan","subtasks":[]} {"kind":"plan","subtasks":[]}`, "non_json", "*"},
		"prose with braces":         {`Use {curly} ones: {"kind":"plan","subtasks":[{"id":"a","description":"A."}]}`, "non_json", "*"},
		"fence in prose":            {"Here:\n```json\n{\"kind\":\"plan\",\"subtasks\":[{\"id\":\"a\",\"description\":\"A.\"}]}\n```", "non_json", "*"},
		"fence inside a string":     {"{\"kind\":\"plan\",\"subtasks\":[{\"id\":\"a\",\"description\":\"```json\\n{}\\n```\",\"tool\":7}]}", "subtask_1_bad_tool", "/subtasks/0/tool"},
		"equal members":             {`{"kind":"plan","kind":"plan","subtasks":[{"id":"a","description":"A."}]}`, "non_json", "*"},
		"cut off":                   {`{"kind":"plan","subtasks":[{"id":"a","descr`, "non_json", "*"},
		"another kind":              {`{"kind":"tool","subtasks":[]}`, "bad_kind", "/kind"},
		"no kind":                   {`{"subtasks":[{"id":"a","description":"A."}]}`, "bad_kind", "/kind"},
		"no subtasks":               {`{"kind":"plan"}`, "missing_subtasks", "/subtasks"},
		"subtasks null":             {`{"kind":"plan","subtasks":null}`, "missing_subtasks", "/subtasks"},
		"subtasks as object":        {`{"kind":"plan","subtasks":{"a":{"description":"A."}}}`, "missing_subtasks", "/subtasks"},
		"no subtask":                {`{"kind":"plan","subtasks":[]}`, "empty", "/subtasks"},
		"subtasks as strings":       {`{"kind":"plan","subtasks":["do a","do b"]}`, "subtask_1_not_object", "/subtasks/0"},
		"subtask null":              {`{"kind":"plan","subtasks":[{"id":"a","description":"A."},null]}`, "subtask_2_not_object", "/subtasks/1"},
		"dependencies null":         {`{"kind":"plan","subtasks":[{"id":"a","description":"A.","dependencies":null}]}`, "subtask_1_bad_dependencies", "/subtasks/0/dependencies"},
		"dependencies as string":    {`{"kind":"plan","subtasks":[{"id":"a","description":"A."},{"id":"b","description":"B.","dependencies":"a"}]}`, "subtask_2_bad_dependencies", "/subtasks/1/dependencies"},
		"dependencies as numbers":   {`{"kind":"plan","subtasks":[{"id":"1","description":"A."},{"id":"2","description":"B.","dependencies":[1]}]}`, "subtask_2_bad_dependencies", "/subtasks/1/dependencies"},
		"empty id":                  {`{"kind":"plan","subtasks":[{"id":"","description":"A."}]}`, "subtask_1_missing_id", "/subtasks/0/id"},
		"number as id":              {`{"kind":"plan","subtasks":[{"id":1,"description":"A."}]}`, "subtask_1_bad_id", "/subtasks/0/id"},
		"missing id beside its own": {`{"kind":"plan","subtasks":[{"description":"A."},{"id":"subtask_1","description":"B."}]}`, "subtask_1_missing_id", "/subtasks/0/id"},
		"id with blanks":            {`{"kind":"plan","subtasks":[{"id":"do a","description":"A."}]}`, "subtask_1_bad_id", "/subtasks/0/id"},
		"no description":            {`{"kind":"plan","subtasks":[{"id":"a"}]}`, "subtask_1_missing_description", "/subtasks/0/description"},
		"extra key":                 {`{"kind":"plan","subtasks":[{"id":"a","description":"A."}],"notes":"x"}`, "extra_keys", "/notes"},
		"extra key of a subtask":    {`{"kind":"plan","subtasks":[{"id":"a","description":"A.","status":"completed"}]}`, "subtask_1_extra_keys", "/subtasks/0/status"},
		"nested subtasks":           {`{"kind":"plan","subtasks":[{"id":"a","description":"A.","subtasks":[]}]}`, "subtask_1_extra_keys", "/subtasks/0/subtasks"},
		"planning_complete of flat": {`{"kind":"plan","subtasks":[{"id":"a","description":"A."}],"planning_complete":true}`, "extra_keys", "/planning_complete"},
		"10 MB":                     {llmtest.Huge(10 << 20), "llm_error:", ""},
		"10 MB of blanks":           {strings.Repeat(" ", 10<<20), "llm_error:", ""},
		"not UTF-8":                 {llmtest.Raw(200, "application/json", "{\"choices\":[{\"message\":{\"content\":\"{\xff}\"}}]}"), "llm_error:", ""},
		"refused":                   {llmtest.Refusal("no"), "llm_error:", ""},
		"deep":                      {`{"kind":"plan","subtasks":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "non_json", "*"},
	}
})

// Every malformed reply ends with a reason of its own, never with the text of a fault of ours, and leaves no plan behind.
func TestPlanningCase13(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	s := planServer(t, "", m)
	var names []string
	for name := range malformed() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "10 MB") {
				inCI(t, "it is a tenth of a second of work")
			}
			tt := malformed()[name]
			m.mu.Lock()
			m.plans = []llmtest.Reply{replyOf(tt.reply)}
			m.mu.Unlock()
			a := s.call("decompose", "goal", "Review April")
			a.t = t
			invalid := !strings.HasPrefix(tt.reason, "llm_")
			switch {
			case invalid:
				a.wants("/stop_reason", fmt.Sprintf("%q", "invalid_plan:"+tt.reason), "/problems/0/reason", fmt.Sprintf("%q", tt.reason), "/phase", `"plan"`)
				if at := a.string("/problems/0/pointer"); at != tt.at && tt.at != "*" {
					t.Errorf("the problem is at %q, want %q", at, tt.at)
				}
				if a.at("/raw_plan") == "null" && tt.reply != "null" {
					t.Errorf("no raw_plan: %s", a.text)
				}
			case !strings.HasPrefix(a.reason(), tt.reason):
				t.Errorf("got %s, want %s: %s", a.reason(), tt.reason, a.text)
			}
			a.wants("/status", `"stopped"`, "/plan_id", "null", "/revision", "null", "/plan", "null")
			if a.isError {
				t.Error("a stop is no error of the call")
			}
			for _, bad := range []string{"invalid character", "goroutine", "panic", "runtime error", "json:", "unexpected end", ".go:"} {
				if strings.Contains(a.text, bad) {
					t.Errorf("the text shows %q: %s", bad, a.text)
				}
			}
			if len(a.text) > 40<<10 {
				t.Errorf("the text has %d bytes", len(a.text))
			}
		})
	}
	s.call("status").wants("/plans", "[]")
}

// The same documents replace nothing of a plan that is there.
func TestPlanningCase13OfReplans(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	m.does("b", broken)
	s := planServer(t, "", m)
	id := s.decomposed(chain("a", "b", "c")...)
	s.call("execute", "plan_id", id)
	before := s.call("status", "plan_id", id, "include_details", true)
	for _, name := range []string{"prose", "list", "subtasks as object", "dependencies null", "extra key of a subtask", "no kind", "empty"} {
		tt := malformed()[name]
		m.mu.Lock()
		m.plans = []llmtest.Reply{replyOf(tt.reply)}
		m.mu.Unlock()
		want := "invalid_replan:" + tt.reason
		if strings.HasPrefix(tt.reason, "llm_") {
			want = tt.reason
		}
		a := s.call("replan", "plan_id", id).wants("/phase", `"replan"`, "/revision", "1", "/replan_count", "0")
		if !strings.HasPrefix(a.reason(), want) {
			t.Errorf("%s: %s, want %s", name, a.reason(), want)
		}
	}
	after := s.call("status", "plan_id", id, "include_details", true)
	for _, at := range []string{"/subtasks", "/revisions", "/revision", "/replan_count", "/plan_status"} {
		after.wants(at, before.at(at))
	}
}
