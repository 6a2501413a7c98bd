package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A real client has a goal taken apart, carried out in parallel, is killed in the middle together with the server's work,
// comes back, sees where it stands at every moment, plans again after a failure and ends well. Over both transports and
// eras.
func TestPlanningSession(t *testing.T) {
	processes(t)
	for name, tt := range map[string]struct {
		overHTTP bool
		era      string
	}{
		"stdio 2025-11-25": {false, eraHandshake},
		"stdio 2026-07-28": {false, eraStateless},
		"http 2025-11-25":  {true, eraHandshake},
		"http 2026-07-28":  {true, eraStateless},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			april := members("month", "2026-04")
			m := newPlanModel(t, planOf(
				subtask("view", ""),
				subtask("kpis", "", "tool", "calculate_monthly_kpis", "args", april),
				subtask("who", "kpis risk", "tool", "get_manager_profile", "args", members("manager_id", 99)),
				subtask("risk", "", "tool", "detect_risk_signals", "args", april),
				subtask("note", "who view", "tool", "caller", "expect", members("type", "string")),
			), planOf(
				subtask("anna", "", "tool", "get_manager_profile", "args", members("manager_id", 42)),
				subtask("note_2", "anna view", "tool", "caller", "expect", members("type", "string")),
			))
			letGo := m.holds("view")
			s := planProcess(t, "", "", m)
			s.overHTTP, s.era = tt.overHTTP, tt.era
			s.serve()

			made := s.call("decompose", "goal", "Review April and tell Anna").wants("/status", `"ok"`, "/levels", `[["view","kpis","risk"],["who"],["note"]]`, "/plan/metadata/source", `"model"`)
			id := made.plan()
			told := m.watches()
			asked := []any{"plan_id", id, "expected_revision", 1, "parallel", true}
			s.begin("execute", asked...)
			if what := next(t, told); what != "work view" {
				t.Fatalf("the model is asked to %s", what)
			}
			s.until(id, "/running", `["view"]`).wants("/plan_status/completed", "2", "/failed", `["who"]`, "/blocked", `["note"]`, "/last_run/status", `"running"`, "/in_doubt", "[]")

			s.again()
			if what := next(t, told); what != "work view" {
				t.Errorf("after the restart the model is asked to %s", what)
			}
			s.call("status", "plan_id", id).wants("/running", `["view"]`, "/failed", `["who"]`, "/plan_status/completed", "2", "/revision", "1")
			answer := s.begin("execute", asked...)
			letGo()
			failed := (<-answer).is("subtask_failed:who", "view:completed kpis:completed who:failed risk:completed note:blocked").
				wants("/joined", "true", "/next/tool", `"plan_replan"`, "/next/arguments/failed_subtask", `"who"`, "/open", `["who","note"]`)
			failed.ran("1:view:1 1:kpis:1 1:risk:1 1:who:1!")

			s.call("replan", "plan_id", id, "expected_revision", 1, "failed_subtask", "who", "reason", "nobody has that number").
				is("success", "view:completed kpis:completed risk:completed anna:pending note_2:pending | who:failed note:blocked").
				wants("/revision", "2", "/preserved", `["view","kpis","risk"]`)
			waits := s.call("execute", "plan_id", id, "expected_revision", 2).wants("/status", `"waiting"`, "/waiting", `["note_2"]`, "/waiting_for/ready/0/inputs/view", `"by view"`)
			s.call("status", "plan_id", id).wants("/waiting", `["note_2"]`, "/waiting_for/kind", `"caller"`, "/progress", "0.8")
			s.again()
			s.call("status", "plan_id", id).wants("/waiting", `["note_2"]`)
			done := s.call("execute", "plan_id", id, "results", members("note_2", members("status", "completed", "result", "Dear Anna"))).
				is("success", "view:completed kpis:completed risk:completed anna:completed note_2:completed | who:failed note:blocked").
				wants("/run_id", waits.at("/run_id"), "/progress", "1", "/subtask_results/note_2", `"Dear Anna"`, "/replan_count", "1")
			done.ran("2:anna:1 2:note_2:1")
			s.call("status", "plan_id", id, "include_trace", true).ran("1:view:1 1:kpis:1 1:risk:1 1:who:1! 2:anna:1 2:note_2:1").wants("/last_stop_reason", `"success"`)
			s.call("execute", "plan_id", id, "expected_revision", 2).wants("/stop_reason", `"plan_complete"`)
			for tool, n := range s.effects() {
				if want := map[string]int{"get_manager_profile": 2}[tool]; n != max(want, 1) {
					t.Errorf("%s was called %d times", tool, n)
				}
			}
		})
	}
}

// TestPlanningCaller plays an agent that works a checklist of ten items and reads one channel only: what it says of the
// plan and of the work to do, it knows from there.
func TestPlanningCaller(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(planAnswer) map[string]any{
		"structuredContent": func(a planAnswer) map[string]any { return a.fields },
		"text":              planText,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := planServer(t, "", nil)
			var list strings.Builder
			for i := range 10 {
				fmt.Fprintf(&list, "%s item %d of the list\n", []string{"- [ ]", fmt.Sprintf("%d. [ ]", i)}[i%2], i+1)
			}
			worked := map[string]string{}
			a := s.call("decompose", "goal", "Work the list", "plan", list.String())
			for turn := 0; ; turn++ {
				said := read(a)
				next, _ := said["next"].(map[string]any)
				if next["action"] != "call" {
					if next["action"] != "answer_user" {
						t.Errorf("at the end next is %v", next)
					}
					break
				}
				if turn > 30 {
					t.Fatal("no end")
				}
				arguments, _ := next["arguments"].(map[string]any)
				if waiting, is := said["waiting_for"].(map[string]any); is {
					arguments["results"] = workedOn(t, waiting, worked)
				}
				var pairs []any
				for name, v := range arguments {
					pairs = append(pairs, name, v)
				}
				tool, _ := next["tool"].(string)
				a = s.call(strings.TrimPrefix(tool, "plan_"), pairs...)
			}
			if len(worked) != 10 {
				t.Errorf("worked on %d items: %v", len(worked), worked)
			}
			a.wants("/stop_reason", `"success"`, "/progress", "1", "/subtask_results/item_10/did", `"item 10 of the list"`)
		})
	}
}

// workedOn does what waits for the caller.
func workedOn(t *testing.T, waiting map[string]any, worked map[string]string) map[string]any {
	t.Helper()
	results := map[string]any{}
	ready, _ := waiting["ready"].([]any)
	if waiting["kind"] != "caller" || len(ready) == 0 {
		t.Fatalf("it waits for %v", waiting)
	}
	for _, v := range ready {
		item, _ := v.(map[string]any)
		id, _ := item["id"].(string)
		description, _ := item["description"].(string)
		if worked[id] != "" || description == "" {
			t.Errorf("%s is to be done: %v", id, item)
		}
		worked[id] = description
		results[id] = members("status", "completed", "result", members("did", description))
	}
	return results
}

// planText reads the text channel as an agent does that has no other: the lines of what is next and what is waited for.
func planText(a planAnswer) map[string]any {
	o := map[string]any{}
	for line := range strings.Lines(a.text) {
		for word, name := range map[string]string{"NEXT ": "next", "WAITING_FOR ": "waiting_for"} {
			if rest, is := strings.CutPrefix(line, word); is {
				var v any
				if err := json.Unmarshal([]byte(rest), &v); err != nil {
					a.t.Errorf("%s: %v: %s", word, err, rest)
				}
				o[name] = v
			}
		}
	}
	return o
}
