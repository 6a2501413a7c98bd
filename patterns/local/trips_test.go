package local_test

import (
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store"
	"patterngate/patterns/store/memory"
	"patterngate/patterns/store/sqlite"
)

// far is a store that is far away: each change takes a millisecond. It counts the changes of runs.
type far struct {
	store.Store
	changes atomic.Int64
}

func (f *far) goes(c *store.Change) {
	time.Sleep(time.Millisecond)
	if c.Run != 0 {
		f.changes.Add(1)
	}
}

func (f *far) Do(c *store.Change) error { f.goes(c); return f.Store.Do(c) }

func (f *far) Submit(c *store.Change) { f.goes(c); f.Store.Submit(c) }

func (f *far) Queue(c *store.Change) (help, hurry func()) { f.goes(c); return f.Store.Queue(c) }

// A run needs few changes of its store, as each may be a trip to another machine: one for the intent of each effect, one for the outcome of
// each write, and one for its end. The begin goes with the first intent, and the outcome of a read with what comes next.
func TestChangesOfARun(t *testing.T) {
	t.Parallel()
	var s service
	own := func(kind gateway.Kind, effect catalog.Effect, once string) patterns.Job {
		return s.ownJob(t, kind, func(tool *catalog.Tool) {
			if tool.Effect = effect; once != "" {
				tool.Once = func(map[string]any) (string, error) { return once, nil }
			}
		})
	}
	for name, tt := range map[string]struct {
		job  patterns.Job
		want int64
	}{
		"one read":             {own(gateway.Call, catalog.Read, ""), 2},
		"one write":            {own(gateway.Call, catalog.Write, ""), 3},
		"a business key":       {own(gateway.Call, catalog.Write, "key"), 3},
		"three reads":          {quick(t, 3), 4},
		"an orchestrator":      {own(gateway.Orchestrator, catalog.Write, ""), 3},
		"a route":              {own(gateway.Routing, catalog.Read, ""), 2},
		"a supervisor's write": {own(gateway.Supervisor, catalog.Write, ""), 3},
	} {
		for where, open := range map[string]func() (store.Store, error){
			"file":   func() (store.Store, error) { return sqlite.Open(newState(t), nil) },
			"memory": func() (store.Store, error) { return memory.New(memory.Limits{}), nil },
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				near, err := open()
				if err != nil {
					t.Fatal(err)
				}
				f := &far{Store: near}
				e, err := local.Open(local.Options{Store: f, Source: jobs{tt.job.Spec.Name: tt.job}, Config: "sha256:test", Snapshot: []byte("{}")})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(e.Close)
				ended, err := e.Start(t.Context(), tt.job)
				if err != nil || !ended.Result.OK() {
					t.Fatalf("%+v, %v", ended, err)
				}
				if n := f.changes.Load(); n != tt.want {
					t.Errorf("%d changes, want %d", n, tt.want)
				}
			})
		}
	}
}
