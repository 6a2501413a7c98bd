package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

// callers is a plan of subtasks of the caller's own, none of which needs another.
func callers(n int, description string) map[string]any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"id": fmt.Sprintf("s%02d", i), "description": description, "tool": "caller"}
	}
	return map[string]any{"subtasks": list}
}

// What a run waits for may be longer than a result may be, and still every subtask stands on some page; the advice of
// plan_status stays its own.
func TestRowsOfAPlanThatWaits(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	waiting, _, _ := c.planned("plan_execute", map[string]any{"plan": callers(30, strings.Repeat("d", 3900))})
	want(t, waiting, "/status", `"waiting"`)
	var seen []string
	for arguments := map[string]any{"plan_id": waiting["plan_id"], "include_details": true}; ; {
		page, text, _ := c.planned("plan_status", arguments)
		fits(t, page, text)
		want(t, page, "/next", `{"action":"done"}`, "/subtasks_omitted", "null")
		if !strings.HasPrefix(text, "OK success | plan_status") {
			t.Errorf("the state of a plan that waits begins %.40q, want OK success", text)
		}
		rows, _ := page["subtasks"].([]any)
		for _, row := range rows {
			seen = append(seen, row.(map[string]any)["id"].(string))
		}
		cursor, more := page["next_cursor"]
		if !more || len(rows) == 0 {
			break
		}
		arguments["cursor"] = cursor
	}
	if len(seen) != 30 || !slices.IsSorted(seen) {
		t.Errorf("the pages hold %v, want 30 subtasks in order", seen)
	}
}

// One observation of a run that waits for much leaves no more room to the rest than any result has.
func TestStepOfAPlanThatWaits(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	waiting, _, _ := c.planned("plan_execute", map[string]any{"plan": callers(30, strings.Repeat("d", 3900))})
	done := map[string]any{"s00": map[string]any{"status": "completed", "result": "seven"}}
	c.planned("plan_execute", map[string]any{"plan_id": waiting["plan_id"], "results": done})
	step, text, _ := c.planned(arguments.StatusTool, map[string]any{"run_id": waiting["run_id"], "step": "s00"})
	fits(t, step, text)
	want(t, step, "/status", `"waiting"`, "/step/observation", `"seven"`)
}

// What the caller made of a subtask is shown in full by its id, also when the run has ended.
func TestOwnResultInFull(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	long := strings.Repeat("0123456789", 2000)
	waiting, _, _ := c.planned("plan_execute", map[string]any{"plan": callers(2, "Do it.")})
	for _, done := range []string{"s00", "s01"} {
		results := map[string]any{done: map[string]any{"status": "completed", "result": long}}
		c.planned("plan_execute", map[string]any{"plan_id": waiting["plan_id"], "results": results})
		step, _, _ := c.planned(arguments.StatusTool, map[string]any{"run_id": waiting["run_id"], "step": "s00"})
		want(t, step, "/step/row/subtask_id", `"s00"`, "/step/observation", mustJSON(long))
	}
}

// A plan's changes may be longer than a result may be, and still every subtask stands on some page.
func TestRowsOfAPlanOftenChanged(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	many := func(name string) map[string]any {
		plan := callers(100, name)
		for i, s := range plan["subtasks"].([]any) {
			s.(map[string]any)["id"] = fmt.Sprintf("%s%02d%s", name, i, strings.Repeat("x", 60))
		}
		return plan
	}
	made, _, _ := c.planned("plan_decompose", map[string]any{"goal": "g", "max_subtasks": 100, "plan": many("a")})
	for _, name := range []string{"b", "c"} {
		changed, _, _ := c.planned("plan_replan", map[string]any{"plan_id": made["plan_id"], "plan": many(name)})
		want(t, changed, "/stop_reason", `"success"`)
	}
	seen := map[any]bool{}
	for arguments := map[string]any{"plan_id": made["plan_id"], "include_details": true, "limit": 100}; ; {
		page, text, _ := c.planned("plan_status", arguments)
		fits(t, page, text)
		want(t, page, "/subtasks_omitted", "null")
		for _, row := range page["subtasks"].([]any) {
			seen[row.(map[string]any)["id"]] = true
		}
		cursor, more := page["next_cursor"]
		if !more {
			break
		}
		arguments["cursor"] = cursor
	}
	if len(seen) != 100 {
		t.Errorf("the pages hold %d subtasks, want 100", len(seen))
	}
}

// A subtask that is too long for any page is left out, and no other is with it.
func TestRowTooLongForAPage(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	plan := callers(3, "Do it.")
	plan["subtasks"].([]any)[1].(map[string]any)["args"] = map[string]any{"text": strings.Repeat("a", 40<<10)}
	made, _, _ := c.planned("plan_decompose", map[string]any{"goal": "g", "plan": plan})
	var seen []any
	omitted := 0.0
	arguments := map[string]any{"plan_id": made["plan_id"], "include_details": true}
	for turn := range 5 {
		page, text, _ := c.planned("plan_status", arguments)
		fits(t, page, text)
		for _, row := range page["subtasks"].([]any) {
			seen = append(seen, row.(map[string]any)["id"])
		}
		n, _ := page["subtasks_omitted"].(float64)
		omitted += n
		cursor, more := page["next_cursor"]
		if !more {
			break
		}
		if arguments["cursor"] = cursor; turn == 4 {
			t.Fatal("the pages have no end")
		}
	}
	if got := fmt.Sprint(seen); got != "[s00 s02]" || omitted != 1 {
		t.Errorf("the pages hold %s and leave out %v, want [s00 s02] and 1", got, omitted)
	}
}

// Who reads the text alone sees what subtasks returned, also those that an earlier run completed, and each once.
func TestResultsInTheText(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	first, _, _ := c.planned("plan_execute", map[string]any{"plan": callers(1, "Do it.")})
	done := map[string]any{"plan_id": first["plan_id"], "results": map[string]any{"s00": map[string]any{"status": "completed", "result": "seven"}}}
	_, now, _ := c.planned("plan_execute", done)
	_, later, _ := c.planned("plan_execute", map[string]any{"plan_id": first["plan_id"]})
	for name, text := range map[string]string{"the run": now, "the run after it": later} {
		if n := strings.Count(text, `-> "seven"`); n != 1 {
			t.Errorf("the text of %s says the result %d times, want once:\n%s", name, n, text)
		}
	}
}

// What a checklist has ticked off is done, also in the next round of a plan and in what replaces the rest of one.
func TestTickedOff(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	const list = "- [x] begun\n- [ ] go on"
	ticked := func(made map[string]any, at int) {
		t.Helper()
		row := func(i int, member string) string { return fmt.Sprintf("/plan/subtasks/%d/%s", i, member) }
		want(t, made, row(at, "status"), `"completed"`, row(at, "source"), `"caller"`, row(at+1, "status"), `"pending"`)
	}
	made, _, _ := c.planned("plan_decompose", map[string]any{"goal": "g", "plan": callers(1, "Do it.")})
	replanned, _, _ := c.planned("plan_replan", map[string]any{"plan_id": made["plan_id"], "plan": list})
	ticked(replanned, 0)

	made, _, _ = c.planned("plan_decompose", map[string]any{"goal": "g", "strategy": "iterative", "plan": callers(1, "Do it.")})
	done := map[string]any{"s00": map[string]any{"status": "completed"}}
	pending, _, _ := c.planned("plan_execute", map[string]any{"plan_id": made["plan_id"], "results": done})
	want(t, pending, "/stop_reason", `"iteration_pending"`)
	round, _, _ := c.planned("plan_decompose", map[string]any{"goal": "g", "parent_plan_id": made["plan_id"], "plan": list})
	ticked(round, 1)
}

// Results that do not fit the plan they come with are refused before it is stored: a caller that sends both again has one plan.
func TestResultsBesideAPlan(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	both := map[string]any{"plan": "- [ ] one", "results": map[string]any{"item_9": map[string]any{"status": "completed"}}}
	refused, text, isError := c.planned("plan_execute", both)
	want(t, refused, "/stop_reason", `"invalid_request:not_found:results"`, "/phase", `"request"`, "/problems/0/pointer", `"/results/item_9"`,
		"/plan_id", "null", "/summary", `"The call was refused for 1 problem. Nothing ran."`)
	if !isError {
		t.Errorf("the refusal is no error:\n%s", text)
	}
	stored, _, _ := c.planned("plan_status", map[string]any{})
	want(t, stored, "/plans", "[]")
	both["results"] = map[string]any{"item_1": map[string]any{"status": "completed"}}
	done, _, _ := c.planned("plan_execute", both)
	want(t, done, "/stop_reason", `"success"`)
}

// A run that goes on names its plan, also the one that it stored itself.
func TestRunningNamesItsPlan(t *testing.T) {
	const run = "run_0123456789abcdef"
	own, given := patterns.PlanOf(run), "plan_00112233445566ff"
	for name, c := range map[string]struct{ args, phase, want string }{
		"named":             {`{"plan_id":"` + given + `"}`, patterns.PhaseExecute, given},
		"stored first":      {`{"plan":"- [ ] one"}`, patterns.PhaseExecute, own},
		"planned anew":      {`{"plan":"- [ ] one"}`, patterns.PhaseReplan, own},
		"summed up":         {`{"plan":"- [ ] one"}`, patterns.PhaseFinalize, own},
		"not yet looked at": {`{"plan":"- [ ] one"}`, patterns.PhasePlan, ""},
		"not yet begun":     {`{"plan":"- [ ] one"}`, "", ""},
	} {
		taken, problems := planTools(t, false)["plan_execute"].take([]byte(c.args), "local:1")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		e := outcome.Running(taken, patterns.Snapshot{RunID: run, Current: patterns.Current{Phase: c.phase}})
		if e.PlanID != c.want || strings.Contains(e.Summary, "Its plan is "+c.want+".") != (c.want != "") {
			t.Errorf("%s: plan_id %q, summary %q; want %q in both", name, e.PlanID, e.Summary, c.want)
		}
	}
}

// An argument that the waiting run was begun without is told so that the caller can send it.
func TestWhatAWaitingRunBeganWith(t *testing.T) {
	c := connect(t, serving(t, offersPlanning))
	first, _, _ := c.planned("plan_execute", map[string]any{"plan": callers(1, "Do it.")})
	refused, _, _ := c.planned("plan_execute", map[string]any{"plan_id": first["plan_id"], "max_steps": 3})
	want(t, refused, "/stop_reason", `"invalid_request:mismatch:max_steps"`, "/problems/0/want", `"the value that the waiting run started with, or nothing; it was null"`)
	taken, _, _ := c.planned("plan_execute", map[string]any{"plan_id": first["plan_id"], "max_steps": nil})
	want(t, taken, "/status", `"waiting"`)
}

// A plan that may not be carried out here: nothing ran, and the reader is told where it says why.
func TestPlanNotAllowedHere(t *testing.T) {
	taken, _ := planTools(t, false)["plan_execute"].take([]byte(`{"plan_id":"plan_1"}`), "local:1")
	e := outcome.Ended(taken, patterns.Ended{Result: patterns.Result{
		StopReason: "executor_denied:pay", Phase: patterns.PhaseExecute, Planned: &patterns.Planned{PlanID: "plan_1", Revision: 1},
	}})
	if !strings.HasSuffix(e.Summary, " Nothing ran.") || !strings.Contains(e.Next.Say, "The problems name") {
		t.Errorf("summary %q, say %q; want that nothing ran, and where it stands why", e.Summary, e.Next.Say)
	}
}

// One observation of a plan's run is shown in full by the id of its subtask, also where another tool was called with the same
// arguments.
func TestSubtaskInFull(t *testing.T) {
	big, other := strings.Repeat("0123456789", 2000), strings.Repeat("abcdefghij", 2000)
	tools := []string{"first", "second"}
	offered := offering(t, foreignRead(t, tools[0], map[string]any{"text": big}), foreignRead(t, tools[1], map[string]any{"text": other}))
	c := connect(t, serving(t, offered, offersPlanning, func(c *Config) {
		for i := range c.Patterns {
			if spec := &c.Patterns[i].Spec; spec.Plans != "" {
				spec.Tools, spec.Policy, spec.Execution = tools, tools, tools
			}
		}
	}))
	made, _, _ := c.planned("plan_execute", map[string]any{"plan": map[string]any{"subtasks": []any{
		map[string]any{"id": "a", "description": "Look", "tool": "first"}, map[string]any{"id": "b", "description": "Look", "tool": "second"},
	}}})
	want(t, made, "/status", `"ok"`)
	for id, text := range map[string]string{"a": big, "b": other} {
		seen, _, _ := c.planned(arguments.StatusTool, map[string]any{"run_id": made["run_id"], "step": id})
		want(t, seen, "/step/row/subtask_id", mustJSON(id), "/step/row/result", "null", "/step/observation/text", mustJSON(text))
	}
	none, _, _ := c.planned(arguments.StatusTool, map[string]any{"run_id": made["run_id"], "step": "1"})
	want(t, none, "/stop_reason", `"invalid_request:not_found:step"`)
}
