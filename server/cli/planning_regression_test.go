package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"patterngate/patterns/llm/llmtest"
)

// The regression cases to demand (spec/planning-reference.md section 12), each by its number. Where they name no tools a, b
// and c are work of the model, c depends on b and b on a. docs/planning-tests.md lists them all.

// chain is a plan in which each subtask depends on the one before.
func chain(ids ...string) []map[string]any {
	var list []map[string]any
	for i, id := range ids {
		before := ""
		if i > 0 {
			before = ids[i-1]
		}
		list = append(list, subtask(id, before))
	}
	return list
}

// broken is a reply that is never tried again.
var broken = llmtest.Status(400)

// A replanner that uses the ids of removed subtasks again is refused, and nothing changes.
func TestPlanningCase02(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t, planOf(chain("a", "b", "c")...), planOf(subtask("b", "a"), subtask("c", "b")))
	m.does("b", broken)
	s := planServer(t, "", m)
	id := s.call("decompose", "goal", "Review April").plan()
	s.call("execute", "plan_id", id, "on_subtask_failure", "replan").
		is("invalid_replan:id_reused:b", "a:completed b:failed c:blocked").
		wants("/phase", `"replan"`, "/revision", "1", "/replan_count", "0", "/problems/0/pointer", `"/subtasks/0/id"`, "/problems/0/reason", `"id_reused:b"`,
			"/problems/1/reason", `"id_reused:c"`, "/resumable", "true", "/open", `["b","c"]`, "/raw_plan/subtasks/1/id", `"c"`)
	m.does("b", "mended")
	s.call("execute", "plan_id", id).is("success", "a:completed b:completed c:completed").ran("1:b:1 1:c:1")
}

// A replanner that has nothing to say does not turn a failure into success.
func TestPlanningCase03(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ reply, reason string }{
		"no subtask":       {`{"kind":"plan","subtasks":[]}`, "invalid_replan:empty"},
		"nothing":          {`{}`, "invalid_replan:bad_kind"},
		"no list":          {`{"kind":"plan"}`, "invalid_replan:missing_subtasks"},
		"it says complete": {`{"kind":"plan","subtasks":[],"planning_complete":true}`, "invalid_replan:empty"},
		"the same again":   {`{"kind":"plan","subtasks":[{"id":"d","description":"Do b.","dependencies":["a"]},{"id":"e","description":"Do c.","dependencies":["d"]}]}`, "invalid_replan:no_progress"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newPlanModel(t, planOf(chain("a", "b", "c")...), tt.reply)
			m.does("b", broken)
			s := planServer(t, "", m)
			id := s.call("decompose", "goal", "Review April").plan()
			s.call("execute", "plan_id", id, "on_subtask_failure", "replan").is(tt.reason, "a:completed b:failed c:blocked").
				wants("/status", `"stopped"`, "/phase", `"replan"`, "/revision", "1", "/replan_count", "0")
			s.call("status", "plan_id", id).wants("/last_stop_reason", fmt.Sprintf("%q", tt.reason), "/progress", "0.3333", "/failed", `["b"]`)
		})
	}
}

// A replanner that repeats a completed id is refused, and what is completed is never done again.
func TestPlanningCase04(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t, planOf(chain("a", "b", "c")...), planOf(subtask("a", ""), subtask("d", "a")), planOf(subtask("d", "a")))
	m.does("b", broken)
	s := planServer(t, "", m)
	id := s.call("decompose", "goal", "Review April").plan()
	s.call("execute", "plan_id", id, "on_subtask_failure", "replan").is("invalid_replan:id_reused:a", "a:completed b:failed c:blocked")
	s.call("execute", "plan_id", id, "on_subtask_failure", "replan").is("success", "a:completed d:completed | b:failed c:blocked")
	if got, want := m.requests(), "decompose, work a, work b, replan, work b, replan, work d"; got != want {
		t.Errorf("asked: %s; want %s", got, want)
	}
}

// What was skipped stays as a tombstone when a later failure is replanned, and what is completed keeps its result.
func TestPlanningCase05(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t, planOf(subtask("d", "b")))
	m.does("a", broken)
	m.does("c", broken)
	s := planServer(t, "", m)
	id := s.decomposed(subtask("a", ""), subtask("b", ""), subtask("c", "b"))
	s.call("execute", "plan_id", id, "on_subtask_failure", "skip", "max_steps", 2).is("max_steps", "a:skipped b:completed c:pending")
	s.call("execute", "plan_id", id).is("subtask_failed:c", "a:skipped b:completed c:failed").ran("1:c:1!").wants("/open", `["a","c"]`)
	s.call("replan", "plan_id", id, "reason", "c cannot be done").is("success", "b:completed d:pending | a:skipped c:failed").
		wants("/preserved", `["b"]`, "/added", `["d"]`, "/removed", `["a","c"]`, "/plan/removed/0/revision", "2", "/plan_status/removed", "2", "/plan_status/total", "2")
	s.call("execute", "plan_id", id).is("success", "b:completed d:completed | a:skipped c:failed").wants("/subtask_results", `{"b":"by b","d":"by d"}`)
	if got := m.last("work d").user["inputs"]; fmt.Sprint(got) != "map[b:by b]" {
		t.Errorf("d is worked on with %v", got)
	}
	if got := m.times("work b"); got != 1 {
		t.Errorf("b was done %d times", got)
	}
}

// What depends on a skipped subtask is blocked and never called; nothing done is no success.
func TestPlanningCase06(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	m.does("b", broken)
	s := planServer(t, "", m)
	id := s.decomposed(chain("a", "b", "c", "d")...)
	s.call("execute", "plan_id", id, "on_subtask_failure", "skip").is("success_partial", "a:completed b:skipped c:blocked d:blocked").
		wants("/plan/subtasks/2/blocked_by", `["b"]`, "/plan/subtasks/2/reason", `"dependency_skipped"`, "/plan/subtasks/3/blocked_by", `["b"]`)
	if m.times("work c")+m.times("work d") > 0 {
		t.Errorf("asked: %s", m.requests())
	}
	m.does("a", broken)
	all := s.decomposed(subtask("a", ""), subtask("b", ""))
	s.call("execute", "plan_id", all, "on_subtask_failure", "skip").is("subtask_failed:a", "a:skipped b:skipped").wants("/status", `"stopped"`)
	none := s.decomposed(chain("a", "b", "c")...)
	s.call("execute", "plan_id", none, "on_subtask_failure", "skip").is("subtask_failed:a", "a:skipped b:blocked c:blocked").
		wants("/plan_status/completed", "0", "/progress", "0", "/subtask_results", "{}")
}

// A sibling that runs when another fails is let finish and recorded; nothing is left in progress.
func TestPlanningCase07(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	m.does("b", broken)
	letGo := m.holds("s")
	s := planServer(t, "", m)
	id := s.decomposed(subtask("s", ""), subtask("b", ""), subtask("c", "s"))
	answer := s.begin("execute", "plan_id", id, "parallel", true)
	s.until(id, "/failed", `["b"]`).wants("/running", `["s"]`, "/plan_status/in_progress", "1")
	letGo()
	(<-answer).is("subtask_failed:b", "s:completed b:failed c:pending").ran("1:s:1 1:b:1!").
		wants("/running", "[]", "/plan_status/in_progress", "0", "/subtask_results", `{"s":"by s"}`, "/history/0/subtask_id", `"s"`)
	if m.times("work c") > 0 {
		t.Error("c was begun after b failed")
	}
}

// until asks for a plan's status until a place holds this; each look is the next event.
func (c *planClient) until(plan, pointer, want string) planAnswer {
	c.t.Helper()
	for end := time.Now().Add(planPatience); time.Now().Before(end); {
		if a := c.call("status", "plan_id", plan); a.at(pointer) == want {
			return a
		}
	}
	c.t.Fatalf("%s never becomes %s: %s", pointer, want, c.call("status", "plan_id", plan).text)
	return planAnswer{}
}

// Each run has its own retries.
func TestPlanningCase09(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t)
	busy := llmtest.Status(429)
	m.does("b", busy, busy, busy, busy, busy, "at last")
	s := planServer(t, "", m)
	id := s.decomposed(chain("a", "b", "c")...)
	retries := []any{"plan_id", id, "on_subtask_failure", "retry", "max_retries", 2, "retry_delay_seconds", 0}
	s.call("execute", retries...).is("max_retries:b", "a:completed b:failed c:blocked").ran("1:a:1 1:b:1! 1:b:2! 1:b:3!").
		wants("/plan/subtasks/1/stop_reason", `"llm_error:rate_limit"`, "/plan/subtasks/1/attempts", "3")
	s.call("execute", retries...).is("success", "a:completed b:completed c:completed").ran("1:b:1! 1:b:2! 1:b:3 1:c:1").
		wants("/subtask_results/b", `"at last"`, "/history/0/attempts", "3")
}

// Two that fail at the same time are replanned once; what finishes beside them keeps its result.
func TestPlanningCase11(t *testing.T) {
	t.Parallel()
	m := newPlanModel(t, planOf(subtask("n", "u")))
	m.does("b", broken)
	m.does("s", broken)
	letGo := m.holds("u")
	s := planServer(t, "", m)
	id := s.decomposed(subtask("b", ""), subtask("s", ""), subtask("u", ""), subtask("v", "u b"))
	answer := s.begin("execute", "plan_id", id, "parallel", true, "on_subtask_failure", "replan")
	s.until(id, "/failed", `["b","s"]`).wants("/running", `["u"]`)
	if m.times("replan") > 0 {
		t.Error("replanned while a subtask runs")
	}
	letGo()
	(<-answer).is("success", "u:completed n:completed | b:failed s:failed v:blocked").wants("/replan_count", "1", "/revision", "2").
		ran("1:b:1! 1:s:1! 1:u:1 2:n:1")
	if m.times("replan") != 1 || m.times("work u") != 1 {
		t.Errorf("asked: %s; want one replan and u once", m.requests())
	}
	asked := m.last("replan").user
	if got := fmt.Sprint(asked["failed_subtask"], asked["completed"]); got != "b[map[description:Do u. id:u result:by u]]" {
		t.Errorf("the replanner is told %s", got)
	}
}

// Faults of the graph are told apart, a long chain is no trouble, and subtasks run in plan order, not in that of their names.
func TestPlanningCase12(t *testing.T) {
	t.Parallel()
	s := planServer(t, `"budget":{"max_subtasks":10000,"max_tool_calls":0}`, newPlanModel(t))
	long := make([]string, 5000)
	for i := range long {
		long[i] = fmt.Sprint("n", i)
	}
	for name, tt := range map[string]struct {
		plan   []map[string]any
		reason string
		cycle  string
	}{
		"duplicate":  {append(chain("a", "b"), subtask("a", "")), "duplicate_id:a", "null"},
		"itself":     {[]map[string]any{subtask("a", "a")}, "self_dependency:a", "null"},
		"unknown":    {[]map[string]any{subtask("a", "z")}, "unknown_dependency:a:z", "null"},
		"three":      {[]map[string]any{subtask("a", "c"), subtask("b", "a"), subtask("c", "b")}, "cycle_detected", `["a","b","c","a"]`},
		"many":       {append(chain(long...), subtask("x", "y"), subtask("y", "x")), "cycle_detected", `["x","y","x"]`},
		"long chain": {chain(long...), "", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			if len(tt.plan) >= len(long) {
				inCI(t, "it has 5,000 subtasks")
			}
			a := s.call("decompose", "goal", "Review April", "plan", planOf(tt.plan...), "max_subtasks", 6000, "dry_run", true)
			want := `"success"`
			if tt.reason != "" {
				want = fmt.Sprintf("%q", "invalid_plan:"+tt.reason)
			}
			a.t = t
			a.wants("/stop_reason", want, "/details/cycle", tt.cycle)
		})
	}
	var twelve []map[string]any
	for i := range 12 {
		twelve = append(twelve, subtask(fmt.Sprint("subtask_", i+1), ""))
	}
	id := s.decomposed(twelve...)
	a := s.call("execute", "plan_id", id).wants("/stop_reason", `"success"`)
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("1:subtask_%d:1", i+1))
	}
	a.ran(strings.Join(want, " "))
	if got := a.at("/history/11/subtask_id"); got != `"subtask_12"` {
		t.Errorf("the last of the history is %s", got)
	}
}
