package local_test

import (
	"context"
	"errors"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Another scheduler drives a run by Advance alone: it rests while a person is asked, goes on when they have decided, and is over then.
func TestAdvance(t *testing.T) {
	t.Parallel()
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	id := q.Question.Run
	advance := func(what string) local.Rest {
		t.Helper()
		rest, err := e.Advance(t.Context(), id)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return rest
	}
	if rest := advance("asked"); rest.Over || rest.Waiting != patterns.ForApproval || !rest.WakeAt.Equal(q.Question.Expires) {
		t.Errorf("asked: it rests as %+v, want for approval until %v", rest, q.Question.Expires)
	}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	if rest := advance("decided"); !rest.Over || rest.Waiting != "" || !rest.WakeAt.IsZero() {
		t.Errorf("decided: it rests as %+v, want over", rest)
	}
	if s, ok := e.Run("local:1", id); !ok || refunded(s.Ended.Result) != 1200 {
		t.Errorf("it ended as %+v", s.Ended.Result)
	}
	if rest := advance("over"); !rest.Over || rest.Waiting != "" || !rest.WakeAt.IsZero() {
		t.Errorf("over: it rests as %+v, want over", rest)
	}
}

func TestAdvanceIsRefused(t *testing.T) {
	t.Parallel()
	path, job := newState(t), inbox(t, "")
	source := jobs{job.Spec.Name: job}
	e := opened(t, path, source)
	q := waits(t, e, job)
	for id, want := range map[string]error{"run_0000000000000001": patterns.ErrNoRun, "run_1": patterns.ErrNoRun} {
		if _, err := e.Advance(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Advance(%s): %v, want %v", id, err, want)
		}
	}
	if _, err := (&local.Engine{}).Advance(t.Context(), q.Question.Run); !errors.Is(err, patterns.ErrNoRun) {
		t.Errorf("in memory: %v, want %v", err, patterns.ErrNoRun)
	}
	delete(source, job.Spec.Name) // what the run needs is not here any more
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	if rest, err := e.Advance(t.Context(), q.Question.Run); err != nil || rest.Waiting != patterns.ForRetry || rest.Over {
		t.Errorf("without its tools it rests as %+v, %v, want for retry", rest, err)
	}
}

// An Advance that is cut hands its run over: the next one carries it on at once.
func TestAdvanceIsCut(t *testing.T) {
	t.Parallel()
	path, g := newState(t), newGate(t, catalog.Read)
	job := g.job(t, 2)
	source := configs{"": job, "sha256:test": job}
	first := opened(t, path, source)
	job.Config, job.Wait = "sha256:test", -1
	ended, err := first.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	first.Close() // hands it over
	e := opened(t, path, source)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.entered
		cancel()
	}()
	if rest, err := e.Advance(ctx, ended.RunID); !errors.Is(err, context.Canceled) {
		t.Fatalf("cut: %+v, %v, want %v", rest, err, context.Canceled)
	}
	close(g.open)
	if rest, err := e.Advance(t.Context(), ended.RunID); err != nil || !rest.Over {
		t.Errorf("then: %+v, %v, want over", rest, err)
	}
	if s, ok := e.Run(mine, ended.RunID); !ok || !s.Ended.Result.OK() || s.Ended.Calls != 2 {
		t.Errorf("it ended with %s after %d calls", s.Ended.Result.StopReason, s.Ended.Calls)
	}
}

// An Advance that is cut leaves a run alone that a call of this process carries on.
func TestAdvanceLeavesACallsRun(t *testing.T) {
	t.Parallel()
	path, g := newState(t), newGate(t, catalog.Read)
	job := g.job(t, 1)
	e := opened(t, path, configs{"": job, "sha256:test": job})
	job.Config, job.Wait = "sha256:test", -1
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	cut := make(chan error, 1)
	go func() {
		_, err := e.Advance(ctx, ended.RunID)
		cut <- err
	}()
	cancel()
	if err := <-cut; !errors.Is(err, context.Canceled) {
		t.Errorf("the cut Advance gave %v, want %v", err, context.Canceled)
	}
	close(g.open)
	rest, err := e.Advance(t.Context(), ended.RunID)
	if s, ok := e.Run(mine, ended.RunID); err != nil || !rest.Over || !ok || !s.Ended.Result.OK() || s.Ended.Calls != 1 {
		t.Errorf("then it rests as %+v, %v, ended with %s", rest, err, s.Ended.Result.StopReason)
	}
}
