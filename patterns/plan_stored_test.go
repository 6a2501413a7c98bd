package patterns

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// What was done stays known of a plan, however much its subtasks returned and its attempts went wrong.
func TestHugePlanIsStored(t *testing.T) {
	wrong := make([]document.Problem, 10)
	for i := range wrong {
		wrong[i] = document.Problem{Reason: "executor_bad_args:pay", Want: strings.Repeat("w", 100)}
	}
	plan := StoredPlan{ID: "plan_00000000000000aa", Strategy: planning.Flat, Revision: 1, Revisions: []PlanRevision{{Revision: 1, Kind: "decompose"}}}
	for i := range 380 {
		plan.Subtasks = append(plan.Subtasks, PlannedSubtask{
			ID: fmt.Sprint("s", i), Description: "Do it.", Tool: "pay", Status: SubtaskCompleted, Source: "tool",
			Result: map[string]any{"text": strings.Repeat("x", 60<<10)},
		})
	}
	for range maxPlanTrace + 1 {
		plan.Trace = append(plan.Trace, AttemptRow{Revision: 1, SubtaskID: "s0", Tool: "pay", Attempt: 1, StopReason: "executor_bad_args:pay", Problems: wrong})
	}
	encoded := plan.Encode()
	if len(encoded) > MaxPlanBytes {
		t.Fatalf("it is stored in %d bytes, want at most %d", len(encoded), MaxPlanBytes)
	}
	v, err := ijson.DecodeCanonical(encoded)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadPlan(v)
	if err != nil || !read.completed() || len(read.Trace) != maxPlanTrace {
		t.Fatalf("ReadPlan(Encode()) has %d attempts, completed %v; %v", len(read.Trace), read.completed(), err)
	}
	if read.Trace[0].Problems != nil {
		t.Error("it was not too long")
	}
}
