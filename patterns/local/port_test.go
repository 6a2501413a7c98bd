package local_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// port is an engine that a test uses as its callers do, and what its runs were begun with.
type port struct {
	*local.Engine
	begun *begun
}

// begun makes the jobs of a test's runs again, as a process may that did not begin them.
type begun struct {
	mu   sync.Mutex
	jobs []patterns.Job
}

func (b *begun) Job(of patterns.Begun) (patterns.Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := of.Arguments["job"].(float64)
	if !ok || int(at) >= len(b.jobs) {
		return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{of.Config}}
	}
	job := b.jobs[int(at)]
	job.Principal, job.Client, job.Progress = of.Principal, of.Client, nil
	return job, nil
}

// add makes a job one that is made again: the engine may ask for jobs at any time.
func (b *begun) add(job patterns.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, job)
}

// Start is the engine's. The job has the arguments by which it is found again.
func (p port) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	p.begun.mu.Lock()
	if job.Arguments == nil {
		job.Arguments = object{"job": float64(len(p.begun.jobs))}
		p.begun.jobs = append(p.begun.jobs, job)
	}
	p.begun.mu.Unlock()
	return p.Engine.Start(ctx, job)
}

// opener makes an engine that ends with the test.
type opener func(t testing.TB, change ...func(*local.Engine)) port

var openers = map[string]opener{
	"memory": func(t testing.TB, change ...func(*local.Engine)) port {
		e := &local.Engine{}
		for _, f := range change {
			f(e)
		}
		t.Cleanup(e.Close)
		return port{e, &begun{}}
	},
	"file": func(t testing.TB, change ...func(*local.Engine)) port {
		return openPort(t, newState(t), &begun{}, change...)
	},
}

// openPort is an engine over a state file.
func openPort(t testing.TB, path string, source *begun, change ...func(*local.Engine)) port {
	t.Helper()
	e := opened(t, path, source)
	for _, f := range change {
		f(e)
	}
	e.Go()
	return port{e, source}
}

// onBoth runs a test with runs in memory and with runs in a state file.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	for name, open := range openers {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// mine is the principal of these tests.
const mine = "local:1"

// gate is a tool whose calls wait until it is opened.
type gate struct {
	entered chan struct{} // one for each call
	open    chan struct{}
	tool    catalog.Tool
}

func newGate(t testing.TB, effect catalog.Effect) *gate {
	g := &gate{entered: make(chan struct{}, 1000), open: make(chan struct{})}
	g.tool = counting(t, effect, func(ctx context.Context) error {
		g.entered <- struct{}{}
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return g
}

// job is a run of n calls of the gate's tool.
func (g *gate) job(t testing.TB, n int) patterns.Job {
	job := stepsOf(t, g.tool, n)
	job.Principal = mine
	return job
}

// quick is a run of n calls that take no time.
func quick(t testing.TB, n int) patterns.Job {
	job := stepsOf(t, counting(t, catalog.Read, nil), n)
	job.Principal = mine
	return job
}

// beginning starts a run and does not wait for it.
func (p port) beginning(t testing.TB, job patterns.Job) string {
	t.Helper()
	job.Wait = -1
	ended, err := p.Start(t.Context(), job)
	if err != nil || ended.Running == nil || ended.RunID == "" {
		t.Fatalf("Start without waiting gave %+v, %v; want a running run", ended, err)
	}
	return ended.RunID
}

// until waits until a run is in a state.
func (p port) until(t testing.TB, id string, state patterns.RunState) patterns.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, ok := p.Run(mine, id)
	for ok && s.State != state && ctx.Err() == nil {
		s, ok = p.Wait(ctx, mine, id, s.Mark())
	}
	if !ok || s.State != state {
		t.Fatalf("run %s: known %t, %s %+v; want it %s", id, ok, s.State, s.Ended, state)
	}
	return s
}

// intact checks a run's record: whole, in order, with an intent before and at most one outcome after each act.
func (p port) intact(t testing.TB, id string) []patterns.Event {
	t.Helper()
	events, err := p.Events(mine, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := patterns.VerifyChain(id, events, int64(len(events))); err != nil {
		t.Errorf("the record of %s: %v", id, err)
	}
	if p.File() {
		events, kept, err := p.Operator().Kept(id)
		if err == nil {
			err = patterns.VerifyRow(kept, events)
		}
		if err != nil {
			t.Errorf("the row of %s: %v", id, err)
		}
	}
	intents, outcomes := map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Kind {
		case patterns.IntentEvent:
			intents[e.Key]++
		case patterns.OutcomeEvent:
			outcomes[e.Key]++
		}
		if intents[e.Key] > 1 || outcomes[e.Key] > 1 {
			t.Errorf("%s of %s: %d intents, %d outcomes", e.Key, id, intents[e.Key], outcomes[e.Key])
		}
	}
	return events
}

// childTest lets a process that a test starts use what tests use.
type childTest struct{ testing.TB }

func (childTest) Helper()        {}
func (childTest) Fatal(a ...any) { panic(a) }
