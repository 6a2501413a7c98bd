package kinds

import (
	"testing"

	"patterngate/patterns"
)

// A run may be looked at whenever an effect of its is under way (see world.shows): also while another plan is stored that is
// longer than the one before, and once the plan is lost.
func TestPlanIsShownAtEachEffect(t *testing.T) {
	longer := `{"kind":"plan","subtasks":[{"id":"b","description":"b","tool":"look","args":{"n":2},"dependencies":[]},` +
		`{"id":"c","description":"c","tool":"look","args":{"n":3},"dependencies":["b"]}]}`
	lost := patterns.Outcome{State: patterns.Failed, Reason: patterns.PlanConflict}
	for name, c := range map[string]struct {
		stores patterns.Outcome // of the new plan; none: it is stored
		reason string
	}{
		"stored": {patterns.Outcome{}, patterns.Success},
		"lost":   {lost, patterns.PlanConflict},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{script: map[string]patterns.Outcome{
				"a#1/look#1": {State: patterns.Failed, Reason: patterns.ReasonToolError}, "replan#1": {State: patterns.OK, Output: longer},
			}}
			if c.stores.State != "" {
				w.script["commit#1"] = c.stores
			}
			s := approvedSpec(t, patterns.RequireNone, patterns.RejectApprover)
			s.LLM, s.Budget.MaxReplans = true, 1
			task := carriesOut(subtask("a", "look", map[string]any{"n": 1.0}))
			task.Plan.OnFailure = patterns.ReplanOnFailure
			r, _ := w.run(t, s, task)
			if r.StopReason != c.reason {
				t.Fatalf("ended %s after %v, want %s: %+v", r.StopReason, w.keys, c.reason, r.Problems)
			}
			if w.shows(); r.StopReason == patterns.Success && w.shows().Planned.View.Counts.Completed != 2 {
				t.Errorf("it shows %+v", w.shows().Planned.View.Counts)
			}
		})
	}
}
