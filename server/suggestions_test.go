package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns/llm/offline"
)

// rightCall is a call without a fault, to be broken.
type rightCall struct {
	tool string
	args object
}

// rightCalls are calls of the tools of each pattern, and of the server's own.
func rightCalls() map[gateway.Kind][]rightCall {
	step := func(id, tool string, args object) object {
		return object{"id": id, "title": id, "tool": tool, "args": args}
	}
	subtask := func(id string, on ...any) object {
		return object{"id": id, "description": "Do " + id + ".", "tool": "fetch_sales_data", "args": object{"month": "2026-04"}, "dependencies": append([]any{}, on...), "critical": true}
	}
	day := object{"report_date": demo.ReportDate, "region": demo.Region}
	own := []rightCall{
		{"describe_catalog", object{"query": "sales", "limit": 5}}, {"list_runs", object{"limit": 5, "status": "ok"}},
		{"run_status", object{"run_id": "run_0123456789abcdef"}}, {"run_wait", object{"run_id": "run_0123456789abcdef", "max_wait_seconds": 0}},
		{"run_cancel", object{"run_id": "run_0123456789abcdef"}},
	}
	return map[gateway.Kind][]rightCall{
		td: append(own, rightCall{toolOf(td), with(td, object{"finalize": false, "plan": object{"kind": "plan", "steps": []any{
			step("a", "get_manager_profile", object{"manager_id": 42}), step("b", "fetch_sales_data", month), step("c", "fetch_refund_data", month)}}})}),
		or: {{toolOf(or), with(or, object{"finalize": false, "plan": object{"kind": "plan", "tasks": []any{
			object{"id": "t1", "worker": "sales_worker", "args": day, "critical": false}, object{"id": "t2", "worker": "inventory_worker", "args": day, "critical": false}}}})}},
		rt: {{toolOf(rt), with(rt, object{"finalize": false, "route": object{"kind": "route", "target": "billing_specialist", "args": object{"ticket": "refund"}}})}},
		sv: {{toolOf(sv), with(sv, object{"actions": []any{lookUp, object{"kind": "final", "answer": "Done."}}})}},
		pl: {
			{"plan_decompose", object{"goal": "g", "strategy": "flat", "max_subtasks": 10, "plan": object{"subtasks": []any{subtask("a"), subtask("b", "a")}}}},
			{"plan_execute", object{"finalize": false, "parallel": true, "plan": object{"subtasks": []any{subtask("a"), subtask("b", "a")}}}},
		},
	}
}

// strangeNames are names that members may be sent under: unknown ones and those that other tools use.
var strangeNames = []string{"foo", "note", "depends_on", "needs", "inputs", "params", "arguments", "name", "action", "function", "if", "timeout", "tool", "task"}

// faultyCall makes one or two faults anywhere in a call.
func faultyCall(t *rapid.T, args any) any {
	for range rapid.IntRange(1, 2).Draw(t, "faults") {
		places := valuesIn(args, "")
		if len(places) == 0 {
			return args
		}
		at := rapid.SampledFrom(places).Draw(t, "at")
		was, _ := at.In(args)
		switch rapid.SampledFrom([]string{"more", "more", "rename", "retype", "misspell", "less", "odd"}).Draw(t, "how") {
		case "more":
			holder, name := at, rapid.SampledFrom(strangeNames).Draw(t, "name")
			if _, isObject := was.(map[string]any); !isObject {
				holder = ""
			}
			args, _ = ijson.Set(args, holder.Member(name), rapid.SampledFrom([]any{1.0, "x", []any{"a"}, object{"month": "2026-04"}}).Draw(t, "value"))
		case "rename":
			if less, ok := ijson.Remove(args, at); ok {
				up := ijson.Pointer(string(at)[:strings.LastIndexByte(string(at), '/')])
				if renamed, ok := ijson.Set(less, up.Member(rapid.SampledFrom(strangeNames).Draw(t, "name")), was); ok {
					args = renamed
				}
			}
		case "retype":
			switch v := was.(type) {
			case string:
				args, _ = ijson.Set(args, at, 42.0)
			case float64, bool:
				args, _ = ijson.Set(args, at, fmt.Sprint(v))
			}
		case "misspell":
			if s, ok := was.(string); ok && len(s) > 2 {
				args, _ = ijson.Set(args, at, s[:len(s)-1])
			}
		case "less":
			args, _ = ijson.Remove(args, at)
		case "odd":
			args, _ = ijson.Set(args, at, rapid.SampledFrom([]any{nil, "", 7.5, true, []any{}, object{}, "nobody"}).Draw(t, "odd"))
		}
	}
	return args
}

// valuesIn are all places below a value, sorted.
func valuesIn(v any, at ijson.Pointer) []ijson.Pointer {
	var places []ijson.Pointer
	below := func(at ijson.Pointer, v any) { places = append(append(places, at), valuesIn(v, at)...) }
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			below(at.Member(name), member)
		}
	case []any:
		for i, element := range v {
			below(at.Index(i), element)
		}
	}
	slices.Sort(places)
	return places
}

// plausible is what a reader fills in: for a dependency the id that the first subtask has by now, else what stands there in the right
// call, else what a place of that name takes.
func plausible(right, now any, at ijson.Pointer) any {
	if tokens := at.Tokens(); len(tokens) == 5 && tokens[3] == "dependencies" && tokens[2] != "0" {
		if id, ok := ijson.Pointer("/plan/subtasks/0/id").In(now); ok {
			return id
		}
	}
	if v, there := at.In(right); there {
		return v
	}
	tokens := at.Tokens()
	switch name := tokens[len(tokens)-1]; name {
	case "args":
		return object{}
	case "tool":
		return "fetch_sales_data"
	case "dependencies":
		return []any{}
	case "critical":
		return false
	default:
		return name + "_filled"
	}
}

// TestSuggestedCallsGetOn: a suggested call that is filled in is not refused for what it was offered for. Where no call is
// suggested, say names a place to decide.
func TestSuggestedCallsGetOn(t *testing.T) {
	for kind, list := range rightCalls() {
		t.Run(string(kind), func(t *testing.T) {
			var c *session
			if kind == pl {
				c = openPlanning(t, planRow{})
			} else {
				c = open(t, specOf(t, kind), offline.New(), time.Hour)
			}
			defer c.close()
			rapid.Check(t, func(t *rapid.T) {
				right := rapid.SampledFrom(list).Draw(t, "tool")
				whole, err := ijson.Of(right.args)
				if err != nil {
					t.Fatal(err)
				}
				sent, _ := faultyCall(t, whole).(map[string]any)
				checkSuggestion(t, c, right.tool, sent, whole)
			})
		})
	}
}

func checkSuggestion(t *rapid.T, c *session, tool string, sent, right any) {
	first := c.call(tool, sent.(object), false)
	next, _ := first.object["next"].(object)
	if next["action"] != "fix_and_retry" {
		return
	}
	wrong := placesOfProblems(first.object)
	suggested, given := next["arguments"].(object)
	if !given {
		say, _ := next["say"].(string)
		named := func(problem string) bool {
			at, _, _ := strings.Cut(problem, " ")
			return strings.Contains(say, at+": ")
		}
		if !slices.ContainsFunc(wrong, named) || next["fill"] != nil || next["changed"] != nil {
			t.Errorf("of %s: next is %s, want it to say what to decide of %v", ijson.Canonical(sent), ijson.Canonical(next), wrong)
		}
		return
	}
	filled := any(maps.Clone(suggested))
	fill, _ := next["fill"].([]any)
	for _, at := range fill {
		place := ijson.Pointer(at.(string))
		var ok bool
		if filled, ok = ijson.Set(filled, place, plausible(right, filled, place)); !ok || place == "" {
			t.Fatalf("of %s: no place %q in %s", ijson.Canonical(sent), place, ijson.Canonical(suggested))
		}
	}
	second := c.call(tool, filled.(object), false)
	if stop, _ := second.object["stop_reason"].(string); !strings.Contains(stop, "invalid_") && !strings.Contains(stop, "bad_args") {
		return
	}
	for _, problem := range placesOfProblems(second.object) {
		if slices.Contains(wrong, problem) {
			t.Errorf("%s\nis refused for %v; suggested and filled in\n%s\nis refused for %s again", ijson.Canonical(sent), wrong, ijson.Canonical(filled), problem)
		}
	}
}

// placesOfProblems are a result's problems, as pointer and reason.
func placesOfProblems(result object) []string {
	var list []string
	problems, _ := result["problems"].([]any)
	for _, p := range problems {
		list = append(list, fmt.Sprint(p.(object)["pointer"], " ", p.(object)["reason"]))
	}
	return list
}

// TestNearNamesThatMeanOtherThings: a near name is told, and no call is suggested that has it, where it may mean another thing or the
// value does not fit there.
func TestNearNamesThatMeanOtherThings(t *testing.T) {
	c := open(t, specOf(t, sv), offline.New(), time.Hour)
	defer c.close()
	final := object{"kind": "final", "answer": "Done."}
	for name, tt := range map[string]struct {
		tool string
		args object
		near string
	}{
		"a list":           {"get_refund_context", object{"user_ids": []any{42.0}}, "user_id"},
		"another currency": {"issue_refund", object{"user_id": 42, "amount_aud": 8}, "amount_usd"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.call(toolOf(sv), with(sv, object{"actions": []any{object{"kind": "tool", "name": tt.tool, "args": tt.args}, final}}), false).object
			next, _ := got["next"].(object)
			problems, _ := got["problems"].([]any)
			if first, _ := problems[0].(object); first["did_you_mean"] != tt.near || next["action"] != "fix_and_retry" || next["arguments"] != nil || next["say"] == nil {
				t.Errorf("of %s: problems %s, next %s; want did_you_mean %s and what to decide, without a call", ijson.Canonical(tt.args), ijson.Canonical(problems), ijson.Canonical(next), tt.near)
			}
		})
	}
}
