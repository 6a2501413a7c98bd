package local_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/reference"
)

// A run whose code or declaration is another one now is not carried on: it ends, and nothing of it is called or asked.
func TestChangedRunsStop(t *testing.T) {
	t.Parallel()
	steps := func(ns ...float64) patterns.Task {
		var list []any
		for _, n := range ns {
			list = append(list, object{"id": "s", "title": "Count", "tool": "count", "args": object{"n": n}})
		}
		for i, s := range list {
			s.(object)["id"] = string(rune('a' + i))
		}
		return patterns.Task{Goal: "count", Caller: patterns.Proposals("plan", object{"kind": "plan", "steps": list})}
	}
	tasks := func(ns ...float64) patterns.Task {
		var list []any
		for i, n := range ns {
			list = append(list, object{"id": string(rune('a' + i)), "worker": "count", "args": object{"n": n}})
		}
		return patterns.Task{Goal: "count", Caller: patterns.Proposals("plan", object{"kind": "plan", "tasks": list})}
	}
	for name, tt := range map[string]struct {
		kind   gateway.Kind
		was    patterns.Task
		change func(*patterns.Job)
		ends   string
	}{
		"nothing":                {gateway.TaskDecomposition, steps(1, 2, 3), func(*patterns.Job) {}, patterns.Success},
		"a limit alone":          {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Spec.Budget.MaxTime += time.Minute }, patterns.Success},
		"another input":          {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Task = steps(1, 7, 3) }, "replay_mismatch"},
		"an effect is gone":      {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Task = steps(1) }, "replay_mismatch"},
		"an effect more":         {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Task = steps(7, 1, 2, 3) }, "replay_mismatch"},
		"a model is asked first": {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Task.Caller = nil }, "replay_mismatch"},
		"another pattern":        {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Spec.Kind = gateway.Routing }, "replay_mismatch"},
		"no pattern":             {gateway.TaskDecomposition, steps(1, 2, 3), func(j *patterns.Job) { j.Spec.Kind = "none" }, "replay_mismatch"},
		"a branch: nothing":      {gateway.Orchestrator, tasks(1, 2, 3), func(*patterns.Job) {}, patterns.Success},
		"a branch: another task": {gateway.Orchestrator, tasks(1, 2, 3), func(j *patterns.Job) { j.Task = tasks(1, 7, 3) }, "replay_mismatch"},
		"a branch is gone":       {gateway.Orchestrator, tasks(1, 2, 3), func(j *patterns.Job) { j.Task = tasks(1) }, "replay_mismatch"},
	} {
		t.Run(name, func(t *testing.T) {
			path, source := newState(t), &begun{}
			id := interrupted(t, path, source, func(at func(context.Context, int) error) patterns.Job {
				job := newWorld(t, catalog.Read, at).job(t, 3)
				job.Spec.Kind, job.Task = tt.kind, tt.was
				if tt.kind == gateway.Orchestrator {
					job.Spec.Budget, job.Spec.Aggregate = gateway.DefaultBudget(tt.kind), reference.Operations
					job.Spec.Budget.TaskTimeout, job.Spec.Budget.MaxParallel = time.Minute, 1
				}
				return job
			}, 2)
			now := newWorld(t, catalog.Read, nil)
			job := source.jobs[0]
			job.Spec.Catalog = now.job(t, 3).Spec.Catalog
			model := &script{}
			job.Model = model
			tt.change(&job)
			source.jobs[0] = job
			p := openPort(t, path, source)
			s := p.until(t, id, patterns.Over)
			if r := s.Ended.Result; r.StopReason != tt.ends {
				t.Fatalf("it ended with %s, want %s", r.StopReason, tt.ends)
			}
			if calls := len(now.order); (calls > 0 || len(model.asked) > 0) && tt.ends == "replay_mismatch" {
				t.Errorf("%d calls and %d questions, want none", calls, len(model.asked))
			}
			p.intact(t, id)
			if ids := p.RunIDs(mine); !slices.Equal(ids, []string{id}) {
				t.Errorf("runs %q", ids)
			}
		})
	}
}

// configs makes jobs of the configurations that a process knows.
type configs map[string]patterns.Job

func (c configs) Job(b patterns.Begun) (patterns.Job, error) {
	job, ok := c[b.Config]
	if !ok {
		return job, &patterns.Lacking{Cause: "config_missing", Needs: []string{b.Config}}
	}
	return job, nil
}

// Two processes with configurations of their own share a file: each carries on what it can, and both say of the rest
// what is missing.
func TestTwoConfigurationsOnOneFile(t *testing.T) {
	path := newState(t)
	worlds, ids := map[string]*world{}, map[string][]string{}
	blocked := map[string]patterns.Job{}
	for _, config := range []string{"a", "b", "c"} {
		job := newWorld(t, catalog.Read, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }).job(t, 2)
		job.Config, job.Wait = config, -1
		blocked[config] = job
		worlds[config] = newWorld(t, catalog.Read, nil)
	}
	first := opened(t, path, nil)
	for _, config := range []string{"a", "b", "c", "a", "b", "c"} {
		ended, err := first.Start(t.Context(), blocked[config])
		if err != nil {
			t.Fatal(err)
		}
		ids[config] = append(ids[config], ended.RunID)
	}
	first.Close()
	ports := map[string]port{}
	for _, config := range []string{"a", "b"} {
		job := worlds[config].job(t, 2)
		job.Config = config
		e := opened(t, path, configs{config: job})
		e.Go()
		ports[config] = port{e, &begun{}}
	}
	for config, list := range ids {
		for _, id := range list {
			for who, p := range ports {
				if config != "c" {
					if s := ports[config].until(t, id, patterns.Over); !s.Ended.Result.OK() {
						t.Errorf("a run of %s ended with %s", config, s.Ended.Result.StopReason)
					}
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				s, ok := p.Wait(ctx, mine, id, patterns.Mark{State: patterns.Running})
				w := s.Ended.Waiting
				if !ok || ctx.Err() != nil || s.State != patterns.Parked || w == nil || w.Kind != patterns.ForRetry || w.Cause != "config_missing" || !slices.Equal(w.Needs, []string{"c"}) {
					t.Errorf("%s says of a run of c: %t, %s, %+v; want that it lacks c", who, ok, s.State, w)
				}
			}
		}
	}
	for config, w := range worlds {
		if want := map[string]int{"a": 4, "b": 4}[config]; len(w.order) != want {
			t.Errorf("%s: %d calls, want %d", config, len(w.order), want)
		}
	}
	third := opened(t, path, configs{"c": func() patterns.Job { j := worlds["c"].job(t, 2); j.Config = "c"; return j }()})
	third.Go()
	for _, id := range ids["c"] {
		if s := (port{third, nil}).until(t, id, patterns.Over); !s.Ended.Result.OK() {
			t.Errorf("with its configuration it ended with %s", s.Ended.Result.StopReason)
		}
		if s := ports["a"].until(t, id, patterns.Over); s.State != patterns.Over {
			t.Errorf("the first process does not see that it ended")
		}
	}
}

// However many runs lack something here, others are carried on.
func TestRunsThatLackSomethingHoldUpNobody(t *testing.T) {
	t.Parallel()
	path := newState(t)
	job := newWorld(t, catalog.Read, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }).job(t, 1)
	job.Wait = -1
	first := opened(t, path, nil)
	start := func(config string) string {
		job.Config = config
		ended, err := first.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		return ended.RunID
	}
	for range 260 { // more than are looked for at once
		start("missing")
	}
	id := start("present")
	first.Close()

	second := opened(t, path, configs{"present": newWorld(t, catalog.Read, nil).job(t, 1)})
	second.Go()
	if s := (port{second, nil}).until(t, id, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("it ended with %s", s.Ended.Result.StopReason)
	}
}

// A person who continues all that is ready also continues those that were too many at once.
func TestResumeCarriesOnAllThatIsReady(t *testing.T) {
	t.Parallel()
	const runs = 260
	path := newState(t)
	job := newWorld(t, catalog.Read, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }).job(t, 1)
	job.Wait = -1
	first := opened(t, path, nil)
	for range runs {
		if _, err := first.Start(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	first.Close()

	quick := newWorld(t, catalog.Read, nil).job(t, 1)
	list, err := opened(t, path, jobs{quick.Spec.Name: quick}).Operator().Resume(t.Context(), "")
	if err != nil || len(list) != runs {
		t.Fatalf("%d runs were carried on, %v; want %d", len(list), err, runs)
	}
	for _, s := range list {
		if s.State != patterns.Over || !s.Ended.Result.OK() {
			t.Fatalf("%s is %s with %s", s.RunID, s.State, s.Ended.Result.StopReason)
		}
	}
}

// A run that is taken from an engine which lives on is shown there as it goes on, and nothing of that engine's is written.
func TestSeizedRunIsNotHeld(t *testing.T) {
	path, source := newState(t), &begun{}
	e, g := openPort(t, path, source), newGate(t, catalog.Read)
	id := e.beginning(t, g.job(t, 2))
	<-g.entered
	operator := e.Operator()
	if err := operator.Seize(id, patterns.Note{By: mine}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	close(g.open)
	if s := e.until(t, id, patterns.Over); !s.Ended.Result.OK() {
		t.Errorf("it ended with %s", s.Ended.Result.StopReason)
	}
	e.intact(t, id)
	if err := operator.Seize(id, patterns.Note{By: mine}, gateway.SignedAct{}); !errors.Is(err, patterns.ErrNotTaken) {
		t.Errorf("seized after its end: %v, want ErrNotTaken", err)
	}
	if lives, outcomes, stuck := e.Held(); lives+outcomes+stuck != 0 {
		t.Errorf("%d lives, %d outcomes, %d stuck runs are held", lives, outcomes, stuck)
	}
	e.Close()
	if _, err := e.Start(t.Context(), quick(t, 1)); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("Start after Close: %v, want %v", err, patterns.ErrJournal)
	}
	if _, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id}); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("Continue after Close: %v, want %v", err, patterns.ErrJournal)
	}
	if _, ok := e.Wait(t.Context(), mine, id, patterns.Mark{State: patterns.Over}); ok {
		t.Error("Wait after Close shows a run")
	}
}

// Close hands over what runs, whatever its tools do, and returns.
func TestCloseDoesNotWaitForTools(t *testing.T) {
	path, source := newState(t), &begun{}
	e := openPort(t, path, source)
	block := make(chan struct{})
	w := newWorld(t, catalog.Read, func(context.Context, int) error { <-block; return nil }) // deaf until the end
	for range 8 {
		e.beginning(t, w.job(t, 1))
	}
	started := make(chan patterns.Ended)
	go func() {
		ended, _ := e.Start(context.Background(), w.job(t, 1))
		started <- ended
	}()
	e.Close()
	if ended := <-started; ended.Running == nil && ended.Waiting == nil && ended.RunID != "" {
		t.Errorf("a call at the close came to %+v", ended)
	}
	close(block)
	p := openPort(t, path, source)
	for _, id := range p.RunIDs(mine) {
		p.until(t, id, patterns.Over)
		p.intact(t, id)
	}
}

// Other processes write while runs go on here, and each time it is looked whether one was taken away.
func TestLookingForTakenRunsDisturbsNone(t *testing.T) {
	e := openPort(t, newState(t), &begun{})
	for range 5 {
		ended := make(chan patterns.Ended, 1)
		go func() {
			one, err := e.Start(t.Context(), quick(t, 6))
			if err != nil {
				t.Error(err)
			}
			ended <- one
		}()
		for done := false; !done; {
			e.Yield()
			select {
			case one := <-ended:
				if done = true; !one.Result.OK() {
					t.Errorf("it ended with %s", one.Result.StopReason)
				}
			default:
			}
		}
	}
}
