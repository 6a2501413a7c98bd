package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
)

// gated answers when its gate is open.
type gated struct {
	patterns.Model
	gate chan struct{}
}

func (g gated) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	select {
	case <-g.gate:
		return g.Model.Ask(ctx, q)
	case <-ctx.Done():
		return patterns.Answer{}, ctx.Err()
	}
}

// An engine that carries on nothing by itself, as a command's, carries on the run that its call joins: without that the
// same call, sent again after a crash, would wait for nobody.
func TestJoinedRunIsCarriedOn(t *testing.T) {
	run := runs["route"]
	for name, alive := range map[string]bool{"its process is gone": false, "its process goes on": true} {
		t.Run(name, func(t *testing.T) {
			path := newState(t)
			job := patterns.Job{
				Spec: spec(t, run.kind, 0.05), Task: run.task, Model: &steady{replies: run.replies}, Caller: patterns.Caller{Principal: "local:1"}, Joining: patterns.Joining{Equal: "the same"},
			}
			first := opened(t, path, jobs{job.Spec.Name: job})
			ctx, cut := context.WithCancelCause(t.Context())
			begun, gate := job, make(chan struct{})
			begun.Model = gated{job.Model, gate}
			begun.Progress = func(patterns.Progress) { cut(patterns.ErrDetached) }
			left, err := first.Start(ctx, begun)
			if err != nil || left.Running == nil {
				t.Fatalf("Start() of a call that is cut = %+v, %v, want a run that goes on", left, err)
			}
			if !alive {
				first.Close()
			}
			close(gate)
			ended, err := opened(t, path, jobs{job.Spec.Name: job}).Start(t.Context(), job)
			if err != nil || ended.RunID != left.RunID || !ended.Joined || ended.Running != nil || !ended.Result.OK() {
				t.Errorf("Start() of the same call = %+v, %v, want the end of %s, joined", ended, err, left.RunID)
			}
			if ended.Phase == "" {
				t.Error("the run that was joined ended in no phase")
			}
		})
	}
}

// A call that was begun is not answered: not to who looks from another process, and not where the run is carried on.
func TestBegunCallIsNotAnswered(t *testing.T) {
	path, g, source := newState(t), newGate(t, catalog.Read), &begun{}
	first, later := port{opened(t, path, source), source}, port{opened(t, path, source), source}
	id := first.beginning(t, g.job(t, 2))
	shows := func(who string, e port) {
		<-g.entered
		if s, ok := e.Run(mine, id); !ok || s.State != patterns.Running || s.Current.Done != 0 || s.Current.Total != 2 {
			t.Errorf("%s (%t, %s): %+v, want 0 of 2 calls answered", who, ok, s.State, s.Current)
		}
	}
	shows("from another process", later)
	first.Close()
	later.Go()
	shows("carried on", later)
	close(g.open)
	later.until(t, id, patterns.Over)
}

// Who follows all runs hears of what another process does, too where nothing here carries runs on: a page that a command serves.
func TestChangedElsewhere(t *testing.T) {
	run := runs["route"]
	path := newState(t)
	job := patterns.Job{Spec: spec(t, run.kind, 0.05), Task: run.task, Model: &steady{replies: run.replies}, Caller: patterns.Caller{Principal: "local:1"}}
	owner := opened(t, path, jobs{job.Spec.Name: job}).Operator()
	_, since := owner.Changed(t.Context(), 0)
	if _, err := opened(t, path, jobs{job.Spec.Name: job}).Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	patient, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if ids, _ := owner.Changed(patient, since); len(ids) == 0 {
		t.Error("nothing has changed, although another engine over the file has made a run")
	}
}
