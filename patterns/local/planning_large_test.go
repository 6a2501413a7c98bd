package local_test

import (
	"strconv"
	"testing"
	"testing/synctest"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
)

// TestPlanningLarge: long chains and wide fans run through, in order and never more at once than allowed.
func TestPlanningLarge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		subtasks, slots int
		chain           bool
	}{
		"a chain of 5,000": {subtasks: 5000, slots: 4, chain: true},
		"a fan of 1,000":   {subtasks: 1000, slots: 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newOracleSession(t, 0)
				defer s.engine.Close()
				s.world.fates.bad = 0
				s.spec.Budget.MaxSubtasks, s.spec.Budget.MaxToolCalls = tt.subtasks, gateway.Unlimited
				s.spec.Budget.MaxTime = 100 * 24 * 3600 * 1e9
				doc := &revised{}
				for i := range tt.subtasks {
					id := "s" + strconv.Itoa(i)
					sub := &oracleSub{ID: id, Desc: "Do.", Tool: "r0", Args: object{"id": id}}
					if i > 0 && (tt.chain || i == tt.subtasks-1) {
						sub.Deps = []string{"s" + strconv.Itoa(i-1)}
					}
					doc.Subs = append(doc.Subs, sub)
				}
				call := patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: tt.slots, OnFailure: patterns.AbortOnFailure}
				ended := s.start(patterns.ExecuteVerb, s.verb(patterns.ExecuteVerb), patterns.Task{Plan: &call, Caller: []document.Intent{document.FromText(replyText(doc, ""), "/plan")}})
				if r := ended.Result; r.StopReason != patterns.Success || r.Planned.View.Counts.Completed != tt.subtasks {
					t.Errorf("it ended %s with %+v", r.StopReason, r.Planned.View.Counts)
				}
				if s.world.most > tt.slots {
					t.Errorf("%d at once, want at most %d", s.world.most, tt.slots)
				}
			})
		})
	}
}
