package patterns

import (
	"encoding/json"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// A replan stores the removed write only where its load said so. A record of an earlier build replays with the commit it had.
func TestReplanOfEarlierRecordStoresWhatItStored(t *testing.T) {
	stored := StoredPlan{
		ID: "plan_00000000000000aa", Strategy: planning.Flat, Revision: 1, Trace: []AttemptRow{}, Removed: []RemovedSubtask{},
		Revisions: []PlanRevision{{Revision: 1, Kind: "decompose", Added: []string{"a"}, Removed: []string{}}},
		Metadata:  PlanMetadata{MaxSubtasks: 5, MaxDepth: 3, MaxReplans: 2},
		Subtasks: []PlannedSubtask{{
			ID: "a", Description: "Pay.", Dependencies: []string{}, Tool: "pay", Args: map[string]any{"n": 3.0}, Status: SubtaskInDoubt, Once: "pg_1",
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
		"this build":       {Loaded(v, 1), 1},
		"an earlier build": {map[string]any{"plan": v, "version": 1.0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{clock: begun, script: map[string]Outcome{"load#1": {State: OK, Output: tt.loaded}}}
			r := Plan(&scripted{world: w, seen: map[string]int{}, at: begun}, Spec{Kind: gateway.Planning, Budget: gateway.DefaultBudget(gateway.Planning)}, Task{
				Plan:   &PlanCall{Verb: ReplanVerb, PlanID: stored.ID},
				Caller: []document.Intent{document.FromText(`{"kind":"plan","subtasks":[{"id":"b","description":"Ask.","dependencies":[],"tool":"caller","args":{}}]}`, "/plan")},
			})
			newest := w.effects[len(w.effects)-1]
			if newest.Name != string(CommitOp) {
				t.Fatalf("ended with %s after %v: %v", r.StopReason, w.keys, r.Problems)
			}
			var got StoredPlan
			if err := json.Unmarshal(newest.Plan.Content, &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Writes) != tt.want {
				t.Errorf("the commit has the writes %v, want %d", got.Writes, tt.want)
			}
		})
	}
}
