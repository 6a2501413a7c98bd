package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns/llm/llmtest"
)

// A tree that is deeper than allowed is refused.
func TestPlanningCase14(t *testing.T) {
	t.Parallel()
	deep := []map[string]any{subtask("d1", "")}
	for i := 2; i <= 5; i++ {
		deep = append(deep, subtask(fmt.Sprint("d", i), "", "parent", fmt.Sprint("d", i-1)))
	}
	m := newPlanModel(t, planOf(deep...), planOf(deep...))
	s := planServer(t, "", m)
	s.call("decompose", "goal", "Review April", "strategy", "hierarchical", "max_depth", 1).
		wants("/stop_reason", `"invalid_plan:max_depth"`, "/problems/0/pointer", `"/subtasks/1/parent"`, "/plan_id", "null", "/raw_plan/subtasks/4/id", `"d5"`)
	s.call("decompose", "goal", "Review April", "strategy", "hierarchical", "max_depth", 4).wants("/stop_reason", `"invalid_plan:max_depth"`, "/problems/0/pointer", `"/subtasks/4/parent"`)
	s.call("decompose", "goal", "Review April", "strategy", "hierarchical", "max_depth", 5, "plan", planOf(deep...)).
		wants("/stop_reason", `"success"`, "/plan/subtasks/4/depth", "5", "/levels", `[["d5"],["d4"],["d3"],["d2"],["d1"]]`)
	s.call("status").wants("/plans/1", "null")
}

// A plan with more subtasks than allowed is refused whole, not cut.
func TestPlanningCase15(t *testing.T) {
	t.Parallel()
	s := planServer(t, "", newPlanModel(t, planOf(chain("a", "b", "c")...)))
	s.call("decompose", "goal", "Review April", "max_subtasks", 2).
		wants("/stop_reason", `"invalid_plan:max_subtasks"`, "/problems/0/pointer", `"/subtasks"`, "/plan", "null", "/raw_plan/subtasks/2/id", `"c"`)
	s.call("status").wants("/plans", "[]")
}

// Limits below their least value are refused before the model is asked.
func TestPlanningCase16(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	s := planServer(t, "", m)
	id := s.decomposed(chain("a", "b")...)
	for name, least := range map[string]int{
		"decompose max_subtasks": 1, "decompose max_depth": 1, "decompose max_wait_seconds": 0,
		"execute max_concurrent": 1, "execute max_steps": 1, "execute max_retries": 0, "execute retry_delay_seconds": 0, "execute expected_revision": 0,
		"replan expected_revision": 0, "replan max_wait_seconds": 0, "status limit": 1,
	} {
		verb, argument, _ := strings.Cut(name, " ")
		given := []any{"plan_id", id}
		if verb == "decompose" {
			given = []any{"goal", "Review April"}
		}
		for _, value := range []any{least - 1, -7, -0.5} {
			a := s.call(verb, append(given, argument, value)...)
			want := "invalid_request:limit:" + argument
			if value == -0.5 && !strings.HasSuffix(argument, "_seconds") {
				want = "invalid_request:type:" + argument
			}
			if a.reason() != want || !a.isError {
				t.Errorf("%s %v: %s, isError %v, want %s", name, value, a.reason(), a.isError, want)
			}
			a.wants("/phase", `"request"`, "/problems/0/pointer", fmt.Sprintf("%q", "/"+argument))
		}
	}
	if got := m.requests(); got != "" {
		t.Errorf("asked: %s", got)
	}
	s.call("status", "plan_id", id).wants("/last_run", "null", "/revision", "1")
}

// What may not be called, or does not exist, is refused before anything runs.
func TestPlanningCase18(t *testing.T) {
	t.Parallel()
	april := members("month", "2026-04")
	s := planServer(t, `"tools":["calculate_monthly_kpis","detect_risk_signals","nope"],"allow":{"execution":["calculate_monthly_kpis","nope"]}`, newPlanModel(t))
	s.call("decompose", "goal", "Pay", "plan", planOf(subtask("a", "", "tool", "calculate_monthly_kpis", "args", april), subtask("b", "a", "tool", "issue_refund", "args", members("user_id", 42)))).
		wants("/stop_reason", `"invalid_plan:executor_not_allowed:issue_refund"`, "/problems/0/pointer", `"/plan/subtasks/1/tool"`, "/plan_id", "null")
	denied := s.call("decompose", "goal", "Look", "plan", planOf(subtask("a", "", "tool", "calculate_monthly_kpis", "args", april), subtask("b", "a", "tool", "detect_risk_signals", "args", april)))
	s.call("execute", "plan_id", denied.plan()).is("executor_denied:detect_risk_signals", "a:pending b:pending").ran("").
		wants("/problems/0/pointer", `"/plan/subtasks/1/tool"`, "/phase", `"execute"`, "/budget/max_tool_calls/used", "0")
	missing := s.call("decompose", "goal", "Look", "plan", planOf(subtask("a", "", "tool", "calculate_monthly_kpis", "args", april), subtask("b", "a", "tool", "nope")))
	s.call("execute", "plan_id", missing.plan()).is("executor_missing:nope", "a:pending b:pending").ran("").wants("/problems/0/pointer", `"/plan/subtasks/1/tool"`, "/budget/max_tool_calls/used", "0")
}

// Two plans with the same ids know nothing of each other.
func TestPlanningCase21(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t, planOf(subtask("n", "a")), planOf(subtask("n", "a")), planOf(subtask("o", "a")))
	m.does("a", "of the first", "of the second")
	m.does("b", broken)
	s := planServer(t, "", m)
	first, second := s.decomposed(chain("a", "b")...), s.decomposed(chain("a", "b")...)
	s.call("execute", "plan_id", first).is("subtask_failed:b", "a:completed b:failed").wants("/subtask_results", `{"a":"of the first"}`)
	s.call("status", "plan_id", second).wants("/plan_status/completed", "0", "/last_run", "null")
	s.call("replan", "plan_id", first).wants("/replan_count", "1", "/revision", "2")
	s.call("execute", "plan_id", second).is("subtask_failed:b", "a:completed b:failed").wants("/subtask_results", `{"a":"of the second"}`, "/replan_count", "0", "/revision", "1")
	s.call("replan", "plan_id", second).wants("/replan_count", "1")
	s.call("execute", "plan_id", second).wants("/stop_reason", `"success"`)
	if got := m.last("work n").user["inputs"]; fmt.Sprint(got) != "map[a:of the second]" {
		t.Errorf("n of the second plan is worked on with %v", got)
	}
	s.call("replan", "plan_id", first, "reason", "again").wants("/replan_count", "2", "/revision", "3")
	s.call("replan", "plan_id", first).wants("/stop_reason", `"max_replans"`, "/revision", "3")
	s.call("status", "plan_id", second).wants("/replan_count", "1", "/progress", "1")
}

// Retries come later and later; a sibling that is ready does not wait for them; what will not get better is not tried again.
func TestPlanningCase22(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	busy := llmtest.Status(503)
	m.does("a", busy, busy, busy, "done")
	m.does("p", broken)
	s := planServer(t, "", m)
	told := m.watches()
	id := s.decomposed(subtask("a", ""), subtask("b", ""), subtask("c", "b"))
	a := s.call("execute", "plan_id", id, "on_subtask_failure", "retry", "max_retries", 3, "retry_delay_seconds", 0.02).
		is("success", "a:completed b:completed c:completed").ran("1:a:1! 1:a:2! 1:a:3! 1:a:4 1:b:1 1:c:1")
	for i, want := range []float64{0, 0.02, 0.04, 0.08} {
		v, _ := ijson.Pointer(fmt.Sprintf("/trace/%d/delay_seconds", i)).In(a.fields)
		got, _ := v.(float64)
		if got < want || got > want*1.1+1e-9 {
			t.Errorf("attempt %d came after %v s, want %v and up to 10 %% more", i+1, v, want)
		}
	}
	// c comes while a waits or, where b took longer than that, after a's next attempt: it is of the second level.
	order := []string{next(t, told), next(t, told)}
	if got := strings.Join(order, ", "); got != "work a, work b" {
		t.Errorf("asked first: %s; want a, and b while it waits", got)
	}
	permanent := s.decomposed(subtask("p", ""))
	s.call("execute", "plan_id", permanent, "on_subtask_failure", "retry", "max_retries", 3).is("subtask_failed:p", "p:failed").ran("1:p:1!")
}

// A slot is given on as soon as it is free: c begins while a, which began before b, still runs; never more than two run.
func TestPlanningCase23(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	letA, letC := m.holds("a"), m.holds("c")
	s := planServer(t, "", m)
	told := m.watches()
	id := s.decomposed(subtask("a", ""), subtask("b", ""), subtask("c", "b"), subtask("d", ""))
	answer := s.begin("execute", "plan_id", id, "parallel", true, "max_concurrent", 2)
	began := map[string]bool{next(t, told): true, next(t, told): true}
	if !began["work a"] || !began["work b"] {
		t.Errorf("first began %v", began)
	}
	if got := next(t, told); got != "work d" {
		t.Errorf("behind b began %s, want d: of the first level", got)
	}
	if got := next(t, told); got != "work c" {
		t.Errorf("then began %s, want c, although a still runs", got)
	}
	s.call("status", "plan_id", id).wants("/running", `["a","c"]`, "/plan_status/in_progress", "2", "/plan_status/completed", "2")
	letC()
	s.until(id, "/running", `["a"]`)
	letA()
	(<-answer).is("success", "a:completed b:completed c:completed d:completed").ran("1:a:1 1:b:1 1:d:1 1:c:1")
}

// The time is over while a subtask runs: what is done is kept, what ran is pending again, and another call goes on.
func TestPlanningCase24(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	m.does("b", llmtest.Silence(), "done")
	s := planServer(t, `"budget":{"max_seconds":1.5}`, m)
	id := s.decomposed(chain("a", "b", "c")...)
	s.call("execute", "plan_id", id).is("max_seconds", "a:completed b:pending c:pending").ran("1:a:1 1:b:1!").
		wants("/resumable", "true", "/subtask_results", `{"a":"by a"}`, "/next/tool", `"plan_execute"`)
	s.call("execute", "plan_id", id).is("success", "a:completed b:completed c:completed").ran("1:b:1 1:c:1")
}

// The same plan twice comes to the same, in whatever order its subtasks end.
func TestPlanningCase26(t *testing.T) {
	t.Parallel()
	var results []planAnswer
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}} {
		m := newPlanModel(t)
		letGo := map[string]func(){}
		for _, id := range order {
			letGo[id] = m.holds(id)
		}
		s := planServer(t, "", m)
		plan := s.decomposed(subtask("a", ""), subtask("b", ""), subtask("c", ""), subtask("d", "a c"), subtask("e", "b"))
		answer := s.begin("execute", "plan_id", plan, "parallel", true)
		s.until(plan, "/running", `["a","b","c"]`)
		for i, id := range order {
			letGo[id]()
			if i < len(order)-1 {
				s.until(plan, "/running", string(ijson.Canonical(plain(slices.Sorted(slices.Values(order[i+1:]))))))
			}
		}
		results = append(results, (<-answer).wants("/stop_reason", `"success"`))
	}
	for _, at := range []string{"/levels", "/history", "/trace", "/subtask_results", "/plan/subtasks", "/plan_status", "/budget/max_llm_calls"} {
		if a, b := results[0].at(at), results[1].at(at); a != b {
			t.Errorf("%s differs:\n%s\n%s", at, a, b)
		}
	}
}
