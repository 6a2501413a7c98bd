package local_test

import (
	"context"
	"testing"

	"patterngate/patterns"
)

// asked is a model whose answers wait until they are let go.
type asked struct {
	entered chan struct{}
	open    chan struct{}
}

func (*asked) Name() string { return "asked" }

func (a *asked) Ask(ctx context.Context, _ patterns.Question) (patterns.Answer, error) {
	a.entered <- struct{}{}
	select {
	case <-a.open:
	case <-ctx.Done():
		return patterns.Answer{}, ctx.Err()
	}
	return patterns.Answer{Text: "done", Usage: patterns.Usage{Requests: 1}}, nil
}

// made has a plan made of subtasks, and returns its id.
func (p port) made(t *testing.T, subtasks ...string) string {
	t.Helper()
	r := p.planning(t, patterns.DecomposeVerb, decomposing(t, planText(subtasks...)), nil, 0).Result
	if r.StopReason != patterns.Success {
		t.Fatalf("decompose: %s", asJSON(t, r))
	}
	return r.Planned.PlanID
}

// planning carries out a verb of planning; wait as in [patterns.Job].
func (p port) planning(t *testing.T, verb patterns.PlanVerb, task patterns.Task, model patterns.Model, wait int) patterns.Ended {
	t.Helper()
	job := patterns.Job{Spec: planSpec(t, verb), Task: task, Model: model, Caller: patterns.Caller{Principal: mine}}
	if wait < 0 {
		job.Wait = -1
	}
	ended, err := p.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// Of two different executions of a plan at once one runs; the plan is shown as that one has it.
func TestPlanIsBusy(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, model := open(t), &asked{make(chan struct{}, 9), make(chan struct{})}
		id := e.made(t, subtaskText("a", "calculate_monthly_kpis", april), subtaskText("b", "model", nil, "a"))
		one := e.planning(t, patterns.ExecuteVerb, executing(id, nil), model, -1).RunID
		<-model.entered
		other := e.planning(t, patterns.ExecuteVerb, executing(id, func(c *patterns.PlanCall) { c.Concurrent = 2 }), model, 0).Result
		if other.StopReason != patterns.PlanBusy || other.Planned == nil || other.Planned.PlanID != id || other.Planned.Revision != 1 {
			t.Errorf("the other: %s", asJSON(t, other))
		}
		state, err := e.Plan(mine, "plan", id)
		if err != nil || state.Holder != one || state.Verb != patterns.ExecuteVerb || state.Result == nil || state.Result.Planned == nil || state.Result.Planned.View == nil {
			t.Fatalf("meanwhile it is %+v, %v", state, err)
		}
		if c := state.Result.Planned.View.Counts; c.Completed != 1 || c.InProgress != 1 || state.Plan.Subtasks[0].Status != patterns.SubtaskPending {
			t.Errorf("meanwhile it has %+v, stored %s", c, state.Plan.Subtasks[0].Status)
		}
		close(model.open)
		if s := e.until(t, one, patterns.Over); s.Ended.Result.StopReason != patterns.Success {
			t.Errorf("the one: %s", asJSON(t, s.Ended.Result))
		}
		if state, err := e.Plan(mine, "plan", id); err != nil || state.Holder != "" || state.Plan.Subtasks[1].Status != patterns.SubtaskCompleted {
			t.Errorf("then it is %+v, %v", state, err)
		}
	})
}

// An execution that waits for its caller ends when its plan is replanned.
func TestReplanOverAWaitingExecution(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := e.made(t, subtaskText("a", "calculate_monthly_kpis", april), subtaskText("b", "caller", nil, "a"))
		waiting := e.planning(t, patterns.ExecuteVerb, executing(id, nil), nil, 0)
		if waiting.Waiting == nil || len(waiting.Waiting.Ready) != 1 {
			t.Fatalf("it does not wait: %+v", waiting)
		}
		state, err := e.Plan(mine, "plan", id)
		if err != nil || state.State != patterns.Parked || state.Waiting == nil || len(state.Waiting.Ready) != 1 || state.Result == nil || state.Result.Planned.View.Counts.Completed != 1 {
			t.Errorf("waiting, it is %+v, %v", state, err)
		}
		task := decomposing(t, planText(subtaskText("c", "caller", nil, "a")))
		task.Plan = &patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: id}
		if r := e.planning(t, patterns.ReplanVerb, task, nil, 0).Result; r.StopReason != patterns.Success {
			t.Errorf("replan: %s", asJSON(t, r))
		}
		if s := e.until(t, waiting.RunID, patterns.Over); s.Ended.Result.StopReason != patterns.PlanConflict {
			t.Errorf("the execution: %s", asJSON(t, s.Ended.Result))
		}
		after, err := e.Plan(mine, "plan", id)
		if err != nil || after.Holder != "" || after.Plan.Revision != 2 || after.Plan.Subtasks[0].Status != patterns.SubtaskCompleted {
			t.Errorf("then it is %+v, %v", after, err)
		}
	})
}
