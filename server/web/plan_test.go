package web

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

const aPlan = "plan_9f2c31d07ab4e856"

// sketch makes a plan as it stands of its rows: levels, counts and lists are taken from them.
func sketch(goal string, rows ...patterns.SubtaskRow) patterns.PlanView {
	v := patterns.PlanView{PlanID: aPlan, Revision: 1, Plan: patterns.ShownPlan{
		ID: aPlan, Goal: goal, Strategy: planning.Flat, Subtasks: rows,
		Metadata: patterns.PlanMetadata{CreatedAt: "2026-11-21T09:00:00Z", Source: "caller", MaxSubtasks: 15, MaxDepth: 3, MaxReplans: 2},
	}}
	before := make([][]int, len(rows)) // who runs before each row, by place
	at := map[string]int{}
	for i, row := range rows {
		at[row.ID] = i
	}
	for i, row := range rows {
		for _, id := range row.Dependencies {
			if from, known := at[id]; known {
				before[i] = append(before[i], from)
			}
		}
		if row.Parent != "" {
			parent := at[row.Parent]
			before[parent] = append(before[parent], i)
		}
	}
	for _, level := range inLevels(before) {
		var ids []string
		for _, i := range level {
			ids = append(ids, rows[i].ID)
		}
		v.Levels = append(v.Levels, ids)
	}
	v.Counts.Total = len(rows)
	for _, row := range rows {
		if row.Status == patterns.SubtaskCompleted {
			v.Counts.Completed++
		}
	}
	v.Progress = float64(v.Counts.Completed) / float64(max(1, len(rows)))
	return v
}

// inLevels puts each row below all rows that run before it.
func inLevels(before [][]int) [][]int {
	level := make([]int, len(before))
	for range before {
		for i, list := range before {
			for _, from := range list {
				level[i] = max(level[i], level[from]+1)
			}
		}
	}
	var levels [][]int
	for i, l := range level {
		for len(levels) <= l {
			levels = append(levels, nil)
		}
		levels[l] = append(levels[l], i)
	}
	return levels
}

// work is a run that has a plan.
func work(v patterns.PlanView, state patterns.RunState) patterns.PlanState {
	plan := patterns.StoredPlan{ID: aPlan, Goal: v.Plan.Goal, Strategy: v.Plan.Strategy, Revision: v.Revision, Metadata: v.Plan.Metadata}
	for _, row := range v.Plan.Subtasks {
		plan.Subtasks = append(plan.Subtasks, patterns.PlannedSubtask{ID: row.ID, Status: row.Status, Result: "ok"})
	}
	return patterns.PlanState{
		Plan: plan, Pattern: "plan", Principal: "local:1000", Holder: aRun, Verb: patterns.ExecuteVerb, State: state,
		Result: &patterns.Result{Planned: &patterns.Planned{PlanID: aPlan, Revision: v.Revision, View: &v, Stored: &plan}},
	}
}

func todo(id, tool string, status patterns.SubtaskStatus, dependencies ...string) patterns.SubtaskRow {
	return patterns.SubtaskRow{ID: id, Description: "Do " + id, Tool: tool, Status: status, Dependencies: dependencies}
}

// everyStatus is a plan with a subtask of each status, a run at work on it, one that ended before, a replan behind it.
func everyStatus() patterns.PlanState {
	pause := 1.05
	rows := []patterns.SubtaskRow{
		todo("kpis", "calculate_monthly_kpis", patterns.SubtaskCompleted),
		todo("churn", "get_churn", patterns.SubtaskFailed),
		todo("regions", "get_regions", patterns.SubtaskSkipped),
		todo("compare", "model", patterns.SubtaskRunning, "kpis"),
		todo("outlook", "model", patterns.SubtaskBlocked, "churn", "regions", "gone"),
		todo("refund", "issue_refund", patterns.SubtaskInDoubt, "kpis"),
		todo("note", "caller", patterns.SubtaskPending, "kpis"),
		todo("mail", "send_mail", patterns.SubtaskPending),
		todo("later", "caller", patterns.SubtaskPending, "note", "compare", "kpis"),
	}
	rows[0].Args, rows[0].Source, rows[0].Attempts = map[string]any{"month": "2026-04"}, "tool", 2
	rows[1].StopReason, rows[1].Critical = "executor_error:get_churn", true
	rows[4].BlockedBy, rows[4].Reason = []string{"churn", "regions"}, "dependency_failed"
	rows[6].Expect, rows[6].Args = map[string]any{"type": "object"}, map[string]any{"net": "$results.kpis./net_sales_usd"}
	v := sketch("April note", rows...)
	v.Revision, v.Ready, v.Waiting, v.Plan.Metadata.ReplanCount = 2, []string{"mail"}, []string{"note"}, 1
	v.Plan.Removed = []patterns.RemovedSubtask{{ID: "gone", Description: "An old step", Status: patterns.SubtaskFailed, StopReason: "caller_failed", Revision: 2}}
	state := work(v, patterns.Running)
	state.Result.Planned.Stored.Subtasks[0].Result = map[string]any{"net_sales_usd": 26825.0, "note": "<i>up</i>"}
	first := patterns.AttemptRow{Revision: 1, SubtaskID: "gone", Tool: "caller", Attempt: 1, StopReason: "caller_failed"}
	missed := patterns.AttemptRow{Revision: 2, SubtaskID: "kpis", Tool: "calculate_monthly_kpis", Attempt: 1, ArgsHash: "4ffe6467591e", StopReason: "subtask_timeout"}
	state.Result.Trace = []any{missed,
		patterns.AttemptRow{Revision: 2, SubtaskID: "kpis", Tool: "calculate_monthly_kpis", Attempt: 2, ArgsHash: "4ffe6467591e", OK: true, DelaySeconds: &pause},
		patterns.AttemptRow{Revision: 2, SubtaskID: "churn", Tool: "get_churn", Attempt: 1, StopReason: "executor_error:get_churn", Error: "no such customer",
			Problems:      []document.Problem{{Pointer: "/id", Reason: "type", Want: "a whole number"}},
			HumanApproval: &patterns.HumanApproval{Approved: true, By: "local:1000", Assurance: gateway.UserAssurance, Comment: "go on"}},
	}
	state.Result.Planned.Stored.Trace = append([]patterns.AttemptRow{first}, attemptsOf(state.Result.Trace)...) // as a run shows itself
	state.Result.Planned.Stored.Revisions = []patterns.PlanRevision{{Revision: 1, Kind: "decompose", Added: []string{"gone", "kpis"}}, {Revision: 2, Kind: "replan", Added: []string{"note"}, Removed: []string{"gone"}, Reason: "caller_failed", Rationale: "It was <b>wrong</b>"}}
	state.Plan.Last = &patterns.PlanRun{RunID: doneRun, Status: "stopped", StopReason: "subtask_failed:gone"}
	state.Result.Planned.Stored.Answered, state.Result.Planned.Stored.Answer = true, "Net sales rose.\nMore soon."
	return state
}

// attemptsOf are the rows of a run's trace.
func attemptsOf(trace []any) []patterns.AttemptRow {
	list := make([]patterns.AttemptRow, len(trace))
	for i, row := range trace {
		list[i] = row.(patterns.AttemptRow)
	}
	return list
}

func TestPlanPage(t *testing.T) {
	s := newSite(t)
	s.plans[aPlan] = everyStatus()
	page := mainOf(s.get("/p/" + aPlan).Body.String())
	for _, part := range []string{
		`<span class="state busy">running</span>`, `April note`, `>1 of 9 completed, 11.11 %<`, `/r/` + aRun, `executes it`, `/r/` + doneRun, `subtask_failed:gone`,
		`replanned 1 of 2 times`, `by the caller under <bdi>plan</bdi>`,
		`<a class="node good" href="#s-kpis" transform="translate(`, `<text class="does" x="10" y="40">Do kpis</text>`, `>calculate_monthly_kpis</text>`, `<a class="node busy" href="#s-compare" transform=`,
		`>in progress</text> <text class="by" x="10" y="74">the model</text>`, `after <a href="#s-kpis"><code>kpis</code></a></p>`, `>waits for the caller</text>`, `>ready</text>`, `>pending</text>`, `>blocked</text>`, `>in doubt</text>`,
		`<article class="subtask" id="s-kpis" aria-label="kpis">`, `executor_error:get_churn`, `a subtask before it failed`, `<dt>Blocked by</dt><dd><a href="#s-churn">`,
		`<a href="#s-gone"><code>gone</code></a>`, `Schema that the caller&#39;s result must fit`, `$results.kpis./net_sales_usd`, `Result of <a href="#s-kpis">`,
		`Result of the call`, `&lt;i&gt;up&lt;/i&gt;`, `after a pause of 1.05 s`, `failed (subtask_timeout)`, `It reported: no such customer`, `/id: type; want a whole number`,
		`Approved by local:1000, assurance user`, `Their comment: go on`, `<dt>Removed by</dt><dd>revision 2`, `Revision 2</strong>, replanned</p><p>Reason given: <code>caller_failed</code>`,
		`It was &lt;b&gt;wrong&lt;/b&gt;`, "Net sales rose.\nMore soon.", `1 of 9</meter>`, `<path class="edge" d="M`, `without it the plan fails`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in\n%s", part, page)
		}
	}
	for part, want := range map[string]int{"failed (subtask_timeout)": 1, `class="node `: 9, `failed (caller_failed)`: 1, `class="edge part"`: 0} {
		if got := strings.Count(page, part); got != want {
			t.Errorf("%d times %q, want %d", got, part, want)
		}
	}
}

// What is at work on a plan, how that stands, and what the page listens to.
func TestPlanHolders(t *testing.T) {
	v := sketch("x", todo("a", "model", patterns.SubtaskCompleted))
	for name, test := range map[string]struct {
		change      func(*patterns.PlanState)
		says, watch string
	}{
		"running":    {func(*patterns.PlanState) {}, "executes it", aPlan + " " + aRun},
		"replanned":  {func(s *patterns.PlanState) { s.Verb = patterns.ReplanVerb }, "replans it", aPlan + " " + aRun},
		"next round": {func(s *patterns.PlanState) { s.Verb = patterns.DecomposeVerb }, "plans its next steps", aPlan + " " + aRun},
		"waits for the caller": {func(s *patterns.PlanState) {
			s.State, s.Waiting = patterns.Parked, &patterns.Waiting{Kind: patterns.ForCaller}
		}, "executes it. Waits for its caller", aPlan + " " + aRun},
		"waits for a person": {func(s *patterns.PlanState) {
			s.State, s.Waiting = patterns.Parked, &patterns.Waiting{Kind: patterns.ForApproval, Approval: anAsked}
		}, `Waits for a decision: <a href="/a/` + anAsked + `">`, aPlan + " " + aRun},
		"no approval of ours": {func(s *patterns.PlanState) {
			s.State, s.Waiting = patterns.Parked, &patterns.Waiting{Kind: patterns.ForApproval, Approval: "javascript:1"}
		}, "Waits for a decision</dd>", aPlan + " " + aRun},
		"no run of ours": {func(s *patterns.PlanState) { s.Holder = "../x" }, "<code>../x</code>", aPlan},
		"ended":          {func(s *patterns.PlanState) { s.State = patterns.Over }, "ended without giving it back", aPlan + " " + aRun},
		"at rest":        {func(s *patterns.PlanState) { s.Holder, s.State, s.Verb = "", "", "" }, "all completed", aPlan},
		"never begun": {func(s *patterns.PlanState) {
			s.Holder, s.State, s.Verb = "", "", ""
			view := sketch("x", todo("a", "model", patterns.SubtaskPending))
			s.Result.Planned.View = &view
		}, "not executed yet", aPlan},
		"stopped": {func(s *patterns.PlanState) {
			s.Holder, s.Plan.Last = "", &patterns.PlanRun{RunID: "javascript:1", Status: "stopped", StopReason: "max_steps"}
			view := sketch("x", todo("a", "model", patterns.SubtaskPending))
			s.Result.Planned.View = &view
		}, `<code>javascript:1</code> <span class="state bad">stopped</span> <code>max_steps</code><br>`, aPlan},
		"no end": {func(s *patterns.PlanState) { s.Result.Planned.View.Plan.Metadata.MaxReplans = -1 }, "replanned 0 times", aPlan + " " + aRun},
		"a round": {func(s *patterns.PlanState) {
			done := true
			m := &s.Result.Planned.View.Plan.Metadata
			m.Iteration, m.MaxIterations, m.PlanningComplete = 3, 10, &done
		}, "round 3 of 10, the last one", aPlan + " " + aRun},
	} {
		s := newSite(t)
		view := v
		state := work(view, patterns.Running)
		test.change(&state)
		s.plans[aPlan] = state
		page := s.get("/p/" + aPlan).Body.String()
		if !strings.Contains(page, test.says) || !strings.Contains(page, `data-watch="`+test.watch+`"`) {
			t.Errorf("%s: no %q that listens to %s in\n%s", name, test.says, test.watch, mainOf(page))
		}
	}
}

func TestPlanStatuses(t *testing.T) {
	for name, test := range map[string]struct {
		method, path string
		fault        error
		status       int
		says         string
	}{
		"plan":     {"GET", "/p/" + aPlan, nil, 200, "Where the plan is"},
		"head":     {"HEAD", "/p/" + aPlan, nil, 200, ""},
		"post":     {"POST", "/p/" + aPlan, nil, 405, "takes only GET, HEAD"},
		"unknown":  {"GET", "/p/plan_0000000000000000", nil, 404, "no such plan"},
		"no id":    {"GET", "/p/run_00000000000000a1", nil, 404, "no such plan"},
		"no plan":  {"GET", "/p/", nil, 404, "no such page"},
		"a path":   {"GET", "/p/..%2f..%2fetc", nil, 404, ""},
		"corrupt":  {"GET", "/p/" + aPlan, fmt.Errorf("/home/x: %w", patterns.ErrPlanCorrupt), 500, "Other plans are not affected"},
		"no state": {"GET", "/p/" + aPlan, errors.New("/home/x"), 503, "cannot be read at the moment"},
	} {
		s := newSite(t)
		s.plans[aPlan], s.fault = everyStatus(), test.fault
		w := s.ask1(test.method, test.path, nil)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || strings.Contains(w.Body.String(), "/home/x") {
			t.Errorf("%s: %s %s = %d, want %d with %q\n%s", name, test.method, test.path, w.Code, test.status, test.says, mainOf(w.Body.String()))
		}
	}
}

var nodeOf = regexp.MustCompile(`<a class="node [^"]*" href="#([^"]*)"`)

// Every node leads to a section that is there, and so does every other link within the page.
func TestPlanAnchors(t *testing.T) {
	s := newSite(t)
	s.plans[aPlan] = everyStatus()
	page := s.get("/p/" + aPlan).Body.String()
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+m[1]+`"`) {
			t.Errorf("a link to #%s, which is not there", m[1])
		}
	}
	if n := len(nodeOf.FindAllString(page, -1)); n != 9 {
		t.Errorf("%d nodes, want 9", n)
	}
	checkLabels(t, "plan", page)
	checkHeadings(t, "plan", page)
}

// A stored result that was kept in part says so; one that is null is a result.
func TestPlanStoredResults(t *testing.T) {
	state := work(sketch("x", todo("a", "look", patterns.SubtaskCompleted), todo("b", "caller", patterns.SubtaskCompleted), todo("c", "look", patterns.SubtaskPending), todo("d", "model", patterns.SubtaskCompleted), todo("e", "look", patterns.SubtaskCompleted)), patterns.Parked)
	state.Plan.Subtasks[0].Result, state.Plan.Subtasks[0].Bytes = map[string]any{"truncated": true}, 70_000
	state.Plan.Subtasks[1].Result, state.Plan.Subtasks[2].Result = nil, "never shown"
	state.Plan.Subtasks[3].Bytes, state.Plan.Subtasks[4].Result, state.Plan.Subtasks[4].Bytes = 80_000, map[string]any{"n": 1.0}, 90_000 // d: the beginning of a text; e: whole
	state.Result.Planned.Stored = nil                                                                                                    // of a run that shows no more
	s := newSite(t)
	s.plans[aPlan] = state
	page := mainOf(s.get("/p/" + aPlan).Body.String())
	if !strings.Contains(page, "Cut: of 70,000 bytes only the beginning was kept.") || !strings.Contains(page, "Cut: of 80,000 bytes") || strings.Contains(page, "90,000") || !strings.Contains(page, "<pre>null</pre>") || strings.Contains(page, "never shown") {
		t.Errorf("results are shown wrongly:\n%s", page)
	}
}

// Nothing that outsiders write becomes part of the page, in the drawing no more than elsewhere; ids that are none of ours and that
// come twice neither.
func TestHostilePlan(t *testing.T) {
	ours := tagNames(hostilePlan(t, "plain").get("/p/" + aPlan).Body.String())
	for tag := range tagNames(hostilePlan(t, "two\nlines, <none>").get("/p/" + aPlan).Body.String()) {
		ours[tag] = true
	}
	for name, payload := range payloads {
		w := hostilePlan(t, payload).get("/p/" + aPlan)
		page := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", name, w.Code)
		}
		for tag := range tagNames(page) {
			if !ours[tag] {
				t.Errorf("%s: the page has %.200s", name, tag)
			}
		}
		checkHarmless(t, name, page)
		checkLabels(t, name, page)
		if len(page) > 6<<20 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

// hostilePlan is a site with a plan in which every text is the payload.
func hostilePlan(t *testing.T, payload string) *site {
	t.Helper()
	s := newSite(t)
	status := patterns.SubtaskStatus(payload)
	row := patterns.SubtaskRow{
		ID: payload, Description: payload, Tool: payload, Status: status, Dependencies: []string{"kpis", payload + "2"}, Args: map[string]any{payload: payload}, Expect: payload,
		Source: payload, StopReason: payload, BlockedBy: []string{payload, "kpis"}, Reason: payload, Parent: payload + "2", Critical: true,
	}
	other, done := row, row
	other.ID, other.Parent, other.Dependencies = payload+"2", "", []string{"kpis"}
	done.ID, done.Parent, done.Dependencies, done.Status = "kpis", "", nil, patterns.SubtaskCompleted
	v := sketch(payload, done, row, other)
	v.Plan.Strategy, v.Plan.Metadata.Source, v.Plan.Metadata.CreatedAt = planning.Strategy(payload), payload, payload
	v.Plan.Removed = []patterns.RemovedSubtask{{ID: payload + "3", Description: payload, Status: status, StopReason: payload}, {ID: payload, Description: payload}}
	state := work(v, patterns.RunState(payload))
	state.Pattern, state.Principal, state.Holder, state.Verb = payload, payload, payload, patterns.PlanVerb(payload)
	state.Waiting = &patterns.Waiting{Kind: patterns.WaitingKind(payload), Approval: payload}
	attempt := patterns.AttemptRow{SubtaskID: payload, Tool: payload, ArgsHash: payload, StopReason: payload, Error: payload,
		Problems:      []document.Problem{{Pointer: "/", Reason: payload, Want: payload}},
		HumanApproval: &patterns.HumanApproval{By: payload, Assurance: gateway.Assurance(payload), Comment: payload, KeyID: payload}}
	stored := state.Result.Planned.Stored
	stored.Trace, stored.Subtasks[0].Result = []patterns.AttemptRow{attempt}, strings.ToValidUTF8(payload, "?")
	stored.Revisions = []patterns.PlanRevision{{Kind: payload, Added: []string{payload, "kpis"}, Removed: []string{payload + "3"}, Reason: payload, Rationale: payload}}
	state.Plan.Last = &patterns.PlanRun{RunID: payload, Status: payload, StopReason: payload}
	stored.Answered, stored.Answer = true, payload
	s.plans[aPlan] = state
	return s
}

// The page of a planning run leads to the plan and from each attempt to its subtask.
func TestPlanningRun(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.add(0, patterns.StartEvent, "", `{"run_id":"`+aRun+`","pattern":"plan_execute","pattern_kind":"planning","principal":"local:1000","arguments":{"plan_id":"`+aPlan+`"}}`)
	plan := func(name, more string) string {
		return `{"effect_kind":"plan","name":"` + name + `","input":{"plan_id":"` + aPlan + `"` + more + `}}`
	}
	h.effect(0.1, 0.2, "load#1", plan("load", `,"claim":true`), `{"state":"ok","output":{"plan":{"goal":"x"},"version":1}}`)
	h.effect(0.3, 0.4, "kpis#1/look#1", tool("look", "read", `{"a":1}`), `{"state":"failed","reason":"timeout"}`)
	h.effect(0.4, 0.9, "retry#1/sleep#1", `{"effect_kind":"timer","name":"sleep","input":null}`, `{"state":"ok"}`)
	h.effect(0.9, 1.2, "kpis#2/look#1", tool("look", "read", `{"a":1}`), `{"state":"ok","output":{}}`)
	h.effect(0.9, 1.3, "<b>#1/work#1", `{"effect_kind":"model","name":"work","input":{}}`, `{"state":"ok","output":"x"}`)
	h.effect(1.4, 1.5, "commit#1", plan("commit", `,"revision":2,"keep":false`), `{"state":"ok"}`)
	h.add(2, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"model":"gpt","llm_calls":1}}`)
	s.records[aRun] = h.events
	page := mainOf(s.get("/r/" + aRun).Body.String())
	for _, part := range []string{
		`<dt>Plan</dt><dd><a href="/p/` + aPlan + `">`, `<a href="/p/` + aPlan + `#s-kpis"><code>kpis#1</code></a>`, `<code>kpis#2</code></a>`, `<code>retry#1</code> `, `<code>&lt;b&gt;#1</code> `,
		"attempt 2", "Claimed " + aPlan, "Stored the progress of " + aPlan + ", revision 2, and released it", "Asked the model for the result of a subtask", "The plan at that time",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in\n%s", part, page)
		}
	}
	if n := strings.Count(page, "#s-"); n != 2 {
		t.Errorf("%d links to subtasks, want 2", n)
	}
	if page := mainOf(s.get("/r/" + aRun + "/receipt").Body.String()); !strings.Contains(page, "Proposed by</dt><dd>the stored plan<") || !strings.Contains(page, "<code>look</code>") {
		t.Errorf("the receipt does not name the plan as what proposed, or no call:\n%s", page)
	}
}
