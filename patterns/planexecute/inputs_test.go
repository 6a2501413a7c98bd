package planexecute

import (
	"reflect"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// standing is a run in which nothing happens.
type standing struct{ patterns.Run }

func (standing) ID() string     { return "run_0000000000000001" }
func (standing) Now() time.Time { return time.Unix(0, 0) }

// TestInputsOfPlans holds that a stored plan is worked on with the inputs that it was made with.
func TestInputsOfPlans(t *testing.T) {
	t.Parallel()
	inputs := patterns.Inputs{"region": "EU"}
	stored := patterns.StoredPlan{Input: inputs, Goal: "go"}
	p := &planLog{Log: step.Begin(standing{}, patterns.Spec{Kind: gateway.Planning}, patterns.Task{Plan: &patterns.PlanCall{}}, gateway.Config{})}
	p.take(stored)
	q, stop := p.Completed(patterns.PhaseExecute, patterns.Question{Ask: patterns.AskWork, Payload: map[string]any{}})
	if stop != nil || !reflect.DeepEqual(q.Payload["input"], map[string]any(inputs)) {
		t.Errorf("the question has the inputs %v", q.Payload["input"])
	}
	round := patterns.Task{Goal: "go", Inputs: patterns.Inputs{"region": "US"}, Plan: &patterns.PlanCall{}}
	if problems := judgeRound(round, stored); len(problems) == 0 || problems[0].Reason != "mismatch:region" {
		t.Errorf("another input in the next round: %+v", problems)
	}
}
