package kinds

import (
	"encoding/json"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/planexecute"
)

// A replan stores the removed write only where its load said so. A record of an earlier build replays with the commit it had.
func TestReplanOfEarlierRecordStoresWhatItStored(t *testing.T) {
	stored := patterns.StoredPlan{
		ID: "plan_00000000000000aa", Strategy: planning.Flat, Revision: 1, Trace: []patterns.AttemptRow{}, Removed: []patterns.RemovedSubtask{},
		Revisions: []patterns.PlanRevision{{Revision: 1, Kind: "decompose", Added: []string{"a"}, Removed: []string{}}},
		Metadata:  patterns.PlanMetadata{MaxSubtasks: 5, MaxDepth: 3, MaxReplans: 2},
		Subtasks: []patterns.PlannedSubtask{{
			ID: "a", Description: "Pay.", Dependencies: []string{}, Tool: "pay", Args: map[string]any{"n": 3.0}, Status: patterns.SubtaskInDoubt, Once: "pg_1",
		}},
	}
	v, err := ijson.DecodeCanonical(stored.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		loaded map[string]any
		want   int // writes in the commit
	}{
		"this build":       {patterns.Loaded(v, 1), 1},
		"an earlier build": {map[string]any{"plan": v, "version": 1.0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{clock: begun, script: map[string]patterns.Outcome{"load#1": {State: patterns.OK, Output: tt.loaded}}}
			r := planexecute.Plan(&scripted{world: w, seen: map[string]int{}, at: begun}, patterns.Spec{Kind: gateway.Planning, Budget: gateway.DefaultBudget(gateway.Planning)}, patterns.Task{
				Plan:   &patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: stored.ID},
				Caller: []document.Intent{document.FromText(`{"kind":"plan","subtasks":[{"id":"b","description":"Ask.","dependencies":[],"tool":"caller","args":{}}]}`, "/plan")},
			})
			newest := w.effects[len(w.effects)-1]
			if newest.Name != string(patterns.CommitOp) {
				t.Fatalf("ended with %s after %v: %v", r.StopReason, w.keys, r.Problems)
			}
			var got patterns.StoredPlan
			if err := json.Unmarshal(newest.Act.(patterns.PlanAct).Step.Content, &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Writes) != tt.want {
				t.Errorf("the commit has the writes %v, want %d", got.Writes, tt.want)
			}
		})
	}
}
