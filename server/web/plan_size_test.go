package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns"
)

// Of a plan that is too large to be drawn the list is shown, of one that is larger still a part of it; the page says so and
// stays bounded.
func TestPlanBounds(t *testing.T) {
	const mostDrawn = 400 // subtasks
	long := strings.Repeat("\u202e<", 300)
	for name, test := range map[string]struct {
		n     int
		drawn bool
		shown int
		says  string
	}{
		"most":       {mostDrawn, true, mostDrawn, ""},
		"list alone": {mostDrawn + 1, false, mostDrawn + 1, "too many subtasks or dependencies to be drawn"},
		"too long":   {maxSubtasks + 3, false, maxSubtasks, "And 3 more subtasks. This page has no room for more."},
		"none":       {0, false, 0, "There is no subtask."},
	} {
		rows := make([]patterns.SubtaskRow, test.n)
		for i := range rows {
			rows[i] = todo(fmt.Sprintf("s%d", i), "look", patterns.SubtaskCompleted)
			rows[i].Description = long
		}
		s := newSite(t)
		s.plans[aPlan] = work(sketch("much", rows...), patterns.Running)
		page := s.get("/p/" + aPlan).Body.String()
		if got := strings.Count(page, `<article class="subtask"`); got != test.shown || strings.Contains(page, "<svg width") != test.drawn || !strings.Contains(page, test.says) {
			t.Errorf("%s: %d shown, drawn %v; want %d, %v and %q", name, got, strings.Contains(page, "<svg width"), test.shown, test.drawn, test.says)
		}
		if len(page) > 8<<20 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

// Results, inputs, attempts and revisions are cut, and the page says where.
func TestPlanCuts(t *testing.T) {
	rows := []patterns.SubtaskRow{todo("sink", "model", patterns.SubtaskCompleted)}
	var trace []any
	for i := range maxInputs + 5 {
		id := fmt.Sprintf("s%d", i)
		rows[0].Dependencies = append(rows[0].Dependencies, id)
		rows = append(rows, todo(id, "look", patterns.SubtaskCompleted))
	}
	for i := range maxAttempts + 2 {
		trace = append(trace, patterns.AttemptRow{Revision: 1, SubtaskID: "sink", Tool: "model", Attempt: i + 1})
	}
	state := work(sketch("much", rows...), patterns.Running)
	stored := state.Result.Planned.Stored
	for i := range stored.Subtasks {
		stored.Subtasks[i].Result = strings.Repeat("y", 5_000)
	}
	stored.Subtasks[0].Result, stored.Trace = strings.Repeat("x", 60_000), attemptsOf(trace)
	for i := range maxRevisions + 4 {
		stored.Revisions = append(stored.Revisions, patterns.PlanRevision{Revision: i + 1, Kind: "replan", Added: make([]string, maxIDsShown+1)})
	}
	s := newSite(t)
	s.plans[aPlan] = state
	page := mainOf(s.get("/p/" + aPlan).Body.String())
	for _, part := range []string{
		"Cut: the first 8,192 of 60,002 bytes are shown.", "Cut: the first 1,024 of 5,002 bytes are shown.", "And 5 more inputs.", "And 2 older attempts.", "And 4 before.", "and 1 more",
		"attempt 52 at revision 1",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
}

// Much that is named often, given on to many or nested deeply makes no huge page.
func TestPlanPageStaysSmall(t *testing.T) {
	deep := any(slices.Repeat([]any{1.0}, 4000))
	for range ijson.MaxDepth - 5 {
		deep = []any{deep}
	}
	for name, test := range map[string]struct {
		n      int
		change func(row *patterns.SubtaskRow, before []string)
	}{
		"blocked by many": {maxSubtasks, func(row *patterns.SubtaskRow, before []string) {
			row.Status, row.BlockedBy = patterns.SubtaskBlocked, before[:min(len(before), 150)]
		}},
		"given much": {maxSubtasks, func(row *patterns.SubtaskRow, before []string) { row.Dependencies = before[:min(len(before), 150)] }},
		"deep":       {100, func(row *patterns.SubtaskRow, _ []string) { row.Args = map[string]any{"a": deep} }},
	} {
		rows := make([]patterns.SubtaskRow, test.n)
		var before []string
		for i := range rows {
			rows[i] = todo(fmt.Sprintf("s%d%s", i, strings.Repeat("x", 59)), "look", patterns.SubtaskCompleted)
			test.change(&rows[i], before)
			before = append(before, rows[i].ID)
		}
		s := newSite(t)
		state := work(sketch("much", rows...), patterns.Running)
		for i := range state.Result.Planned.Stored.Subtasks {
			state.Result.Planned.Stored.Subtasks[i].Result = strings.Repeat("y", 5_000)
		}
		s.plans[aPlan] = state
		page := s.get("/p/" + aPlan).Body.String()
		if got := strings.Count(page, `<article class="subtask"`); len(page) > 8<<20 || got != test.n {
			t.Errorf("%s: %d bytes with %d subtasks, want at most 8 MiB with %d", name, len(page), got, test.n)
		}
	}
}
