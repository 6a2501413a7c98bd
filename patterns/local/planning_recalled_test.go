package local_test

import (
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// capsOwn reviews calls of own: the sum of n over all that counts must not exceed 4.
func capsOwn(c gateway.Case) gateway.Verdict {
	sum, _ := c.Args["n"].(float64)
	for _, e := range c.Effects {
		if n, _ := e.Args["n"].(float64); e.Tool == "own" && e.Counts() {
			sum += n
		}
	}
	if sum > 4 {
		return gateway.Verdict{Decision: gateway.Block, Reason: "cap"}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
}

// A write that may have happened counts for a cap in later runs of the plan, also where a replan removed its subtask.
func TestRemovedDoubtCountsForCaps(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(own *catalog.Tool)
		first     turns
		onFailure patterns.FailureStrategy
		status    patterns.SubtaskStatus // of the write, after its run
		replans   int
		paid      int // calls that acted, besides the one in doubt
	}{
		"in doubt, removed":       {nil, turns{faults(catalog.NoAnswer, false, errGone)}, patterns.AbortOnFailure, patterns.SubtaskInDoubt, 1, 0},
		"in doubt, removed twice": {nil, turns{faults(catalog.NoAnswer, false, errGone)}, patterns.AbortOnFailure, patterns.SubtaskInDoubt, 2, 0},
		"declined, removed":       {nil, turns{faults(catalog.Declined, false, errGone)}, patterns.AbortOnFailure, patterns.SubtaskFailed, 1, 1},
		"timed out, removed":      {repeatable, turns{hangs}, patterns.AbortOnFailure, patterns.SubtaskFailed, 1, 0},
		"timed out, skipped":      {repeatable, turns{hangs}, patterns.SkipOnFailure, patterns.SubtaskSkipped, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{turns: tt.first}
				job := s.ownJob(t, gateway.Planning, func(own *catalog.Tool) {
					if own.Effect = catalog.Write; tt.change != nil {
						tt.change(own)
					}
				})
				job.Spec.Reviewer, job.Spec.Budget.SubtaskTimeout = gateway.ReviewerFunc(capsOwn), 5*time.Second
				job.Task.Plan.OnFailure, job.Task.Plan.MaxSteps = tt.onFailure, 1
				job.Task.Caller = []document.Intent{document.FromText(planText(
					subtaskText("a", "own", object{"n": 3.0}), subtaskText("b", "own", object{"n": 2.0})), "/plan")}
				e := &local.Engine{}
				defer e.Close()
				r := planned(t, e, job.Spec, job.Task, nil).Result
				if got := r.Planned.View.Plan.Subtasks[0].Status; got != tt.status {
					t.Fatalf("the write is %s after %s, want %s", got, r.StopReason, tt.status)
				}
				for i := range tt.replans {
					call := patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: r.Planned.PlanID}
					id := string(rune('c' + i))
					task := patterns.Task{Plan: &call, Caller: []document.Intent{document.FromText(planText(subtaskText(id, "own", object{"n": 2.0 + float64(i)})), "/plan")}}
					if again := planned(t, e, job.Spec, task, nil).Result; again.StopReason != patterns.Success {
						t.Fatalf("the replan ended with %s: %s", again.StopReason, asJSON(t, again))
					}
				}
				r = planned(t, e, job.Spec, executing(r.Planned.PlanID, nil), nil).Result
				if s.calls() != 1+tt.paid {
					t.Errorf("ended with %s after %d calls, want %d: %s", r.StopReason, s.calls(), 1+tt.paid, asJSON(t, r))
				}
				if reason := endOf(r); tt.paid == 0 && reason != "policy_block:cap" {
					t.Errorf("the next write ended with %s, want the cap", reason)
				}
			})
		})
	}
}

func repeatable(own *catalog.Tool) { own.Idempotent = true }
