package server

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/outcome"
)

// After repair turns a result lists the problems of each refused reply, the newest first: its first problem is the stop reason. A
// reply that is an empty object was refused for what it lacks; it is not said that the model answered nothing.
func TestRepairTurnsListEachReplysProblems(t *testing.T) {
	c, ended := sent{
		kind: gateway.TaskDecomposition, arguments: `{"goal":"x"}`, change: func(s *patterns.Spec) { s.RepairTurns = 2 },
		replies: []string{strings.Replace(modelPlan, "fetch_sales_data", "fetch_sale_data", 1), "{}", `{"kind":"plan","steps":[]}`},
	}.carriedOut(t)
	e := outcome.Ended(c, ended)
	if e.StopReason != "invalid_plan:missing_steps" || !strings.HasPrefix(e.Summary, "The model's plan was refused 3 times in phase plan, the last time for 1 problem.") {
		t.Errorf("stopped with %s: %s", e.StopReason, e.Summary)
	}
	turn, seen := 3, map[string]bool{}
	for _, p := range e.Problems {
		if p.Turn > turn || p.Turn < 1 {
			t.Errorf("a problem of reply %d stands behind one of reply %d", p.Turn, turn)
		}
		turn = p.Turn
		seen[fmt.Sprint(p.Turn, " ", p.Reason)] = true
	}
	if turn != 1 || !seen["1 tool_not_allowed:fetch_sale_data"] || !seen["2 bad_kind"] || !seen["3 missing_steps"] {
		t.Errorf("problems by reply: %v", seen)
	}
	_, text, err := e.Present(limit)
	if err != nil {
		t.Fatal(err)
	}
	if text += "\n"; !strings.Contains(text, "; reply 1\n") || !strings.Contains(text, "; reply 3\n") || strings.Contains(text, "answered nothing") {
		t.Errorf("the text does not tell the replies apart:\n%s", text)
	}
	c, ended = sent{kind: gateway.TaskDecomposition, arguments: `{"goal":"x"}`, replies: []string{"{}"}}.carriedOut(t)
	if e := outcome.Ended(c, ended); len(e.Problems) == 0 || e.Problems[0].Turn != 0 {
		t.Errorf("problems of the only reply: %+v", e.Problems)
	}
}
