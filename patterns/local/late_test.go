package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// making is a source that does something whenever a job is made again.
type making struct {
	*begun
	first func()
}

func (m making) Job(of patterns.Begun) (patterns.Job, error) {
	m.first()
	return m.begun.Job(of)
}

// TestLateWhileContinued: what comes late of a call while the caller's answer is taken does not cost the caller its turn.
func TestLateWhileContinued(t *testing.T) {
	release := make(chan struct{})
	tool := counting(t, catalog.Read, func(context.Context) error { <-release; return nil })
	job := stepsOf(t, tool, 1)
	job.Principal, job.Arguments = mine, object{"job": 0.0}
	var e *local.Engine
	id, released := "", false
	source := making{&begun{jobs: []patterns.Job{job}}, func() {
		if id == "" || released {
			return
		}
		released = true
		close(release)
		for !isLate(t, e, id) {
		}
	}}
	e = opened(t, newState(t), source)
	e.Runs(func(run patterns.Run, _ patterns.Spec, _ patterns.Task) patterns.Result {
		callingWith(job, tool.Name, patterns.Effect{Timeout: time.Millisecond})(run, 1)
		patterns.Await(run, patterns.Effect{}, patterns.Waiting{Argument: "actions", Turn: 1})
		return patterns.Result{StopReason: patterns.Success}
	})
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Waiting == nil {
		t.Fatalf("Start gave %+v, %v; want a run that waits", ended, err)
	}
	id = ended.RunID
	ended, err = e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{}})
	if err != nil || ended.Result.StopReason != patterns.Success {
		t.Errorf("Continue gave %+v, %v; want the end", ended, err)
	}
	if !released {
		t.Error("nothing came late")
	}
}

func isLate(t testing.TB, e *local.Engine, id string) bool {
	t.Helper()
	events, err := e.Events(mine, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		if event.Kind == patterns.LateEvent {
			return true
		}
	}
	return false
}
