package kinds

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// What was done stays known of a plan, however much its subtasks returned and its attempts went wrong.
func TestHugePlanIsStored(t *testing.T) {
	wrong := make([]document.Problem, 10)
	for i := range wrong {
		wrong[i] = document.Problem{Reason: "executor_bad_args:pay", Want: strings.Repeat("w", 100)}
	}
	plan := patterns.StoredPlan{ID: "plan_00000000000000aa", Strategy: planning.Flat, Revision: 1, Revisions: []patterns.PlanRevision{{Revision: 1, Kind: "decompose"}}}
	for i := range 380 {
		plan.Subtasks = append(plan.Subtasks, patterns.PlannedSubtask{
			ID: fmt.Sprint("s", i), Description: "Do it.", Tool: "pay", Status: patterns.SubtaskCompleted, Source: "tool",
			Result: map[string]any{"text": strings.Repeat("x", 60<<10)},
		})
	}
	for range patterns.MaxPlanTrace + 1 {
		plan.Trace = append(plan.Trace, patterns.AttemptRow{Revision: 1, SubtaskID: "s0", Tool: "pay", Attempt: 1, StopReason: "executor_bad_args:pay", Problems: wrong})
	}
	encoded := plan.Encode()
	if len(encoded) > patterns.MaxPlanBytes {
		t.Fatalf("it is stored in %d bytes, want at most %d", len(encoded), patterns.MaxPlanBytes)
	}
	v, err := ijson.DecodeCanonical(encoded)
	if err != nil {
		t.Fatal(err)
	}
	read, err := patterns.ReadPlan(v)
	if err != nil || !read.Completed() || len(read.Trace) != patterns.MaxPlanTrace {
		t.Fatalf("ReadPlan(Encode()) has %d attempts, completed %v; %v", len(read.Trace), read.Completed(), err)
	}
	if read.Trace[0].Problems != nil {
		t.Error("it was not too long")
	}
}
