package server

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/outcome"
)

// Of a refused reply that is {}, [] or null it is said what was answered, and not that nothing was.
func TestHollowReplies(t *testing.T) {
	kinds := map[gateway.Kind]string{
		gateway.TaskDecomposition: `{"goal":"x"}`, gateway.Routing: `{"ticket":"x"}`, gateway.Supervisor: `{"goal":"x"}`,
		gateway.Orchestrator: `{"goal":"x","region":"US","report_date":"2026-02-26"}`,
	}
	for kind, arguments := range kinds {
		for _, reply := range []string{"{}", "[]", "null", `{"kind":"x"}`} {
			c, ended := sent{kind: kind, arguments: arguments, replies: []string{reply}}.carriedOut(t)
			e := outcome.Ended(c, ended)
			if said := strings.Contains(e.Summary, " It was empty: "+reply+"."); e.Status != "stopped" || said != (len(reply) < 5) {
				t.Errorf("%s, %s: %s", kind, reply, e.Summary)
			}
		}
	}
	c, ended := sent{
		kind: gateway.TaskDecomposition, arguments: `{"goal":"x"}`, change: func(s *patterns.Spec) { s.RepairTurns = 1 }, replies: []string{"[]", "{}"},
	}.carriedOut(t)
	if e := outcome.Ended(c, ended); !strings.Contains(e.Summary, " It was empty: {}. The problems of each reply are listed.") {
		t.Errorf("after a repair turn: %s", e.Summary)
	}
}
