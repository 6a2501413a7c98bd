// Package storetest is the conformance suite of stores: what holds for package store's port holds for each store that passes it.
//
//	func TestStore(t *testing.T) { storetest.Run(t, func(t *testing.T) store.Store { ... }) }
//
// Read cases.go first: each case is a step, what was done before, and whether it holds.
package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Run runs the suite. open returns a new, empty store, which it closes with the test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("steps", func(t *testing.T) { steps(t, open) })
	t.Run("fence", func(t *testing.T) { fence(t, open(t)) })
	t.Run("all or nothing", func(t *testing.T) { allOrNothing(t, open(t)) })
	t.Run("nothing behind a refused change", func(t *testing.T) { chained(t, open(t)) })
	t.Run("equal calls", func(t *testing.T) { equalCalls(t, open) })
	t.Run("kill switches", func(t *testing.T) { killSwitches(t, open(t)) })
	t.Run("windows", func(t *testing.T) { windows(t, open(t)) })
	t.Run("order", func(t *testing.T) { order(t, open(t)) })
	t.Run("closed", func(t *testing.T) { closed(t, open(t)) })
}

// steps holds each step against its case.
func steps(t *testing.T, open func(t *testing.T) store.Store) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			must(t, s, beginRun(s, 1))
			for _, before := range c.before {
				must(t, s, before)
			}
			err := s.Do(&store.Change{Steps: []store.Step{c.step}})
			switch {
			case c.holds && err != nil:
				t.Errorf("%T was refused: %v", c.step, err)
			case !c.holds && !store.IsRefused(err):
				t.Errorf("%T holds (%v), want a refusal", c.step, err)
			}
			if !c.holds {
				if refused, _ := errors.AsType[*store.Refused](err); len(refused.Steps) != 1 || fmt.Sprintf("%T", refused.Steps[0]) != fmt.Sprintf("%T", c.step) {
					t.Errorf("it is refused by %v, want %T", refused.Steps, c.step)
				}
			}
			if c.then != nil {
				read(t, s, func(r store.Reader) error { return c.then(r) })
			}
		})
	}
}

// beginRun returns the step that begins a run of this process.
func beginRun(s store.Store, n int64) store.Step {
	return store.Begin{N: n, Pattern: "route_ticket", Kind: "routing", Principal: "local:1", Client: "test", Config: "sha256:test", Began: 1000 + n, Newest: 1000 + n, Owner: s.Owner().ID()}
}

func must(t *testing.T, s store.Store, list ...store.Step) {
	t.Helper()
	if err := s.Do(&store.Change{Steps: list}); err != nil {
		t.Fatalf("%T: %v", list[0], err)
	}
}

func read(t *testing.T, s store.Store, f func(store.Reader) error) {
	t.Helper()
	if err := s.View(f); err != nil {
		t.Error(err)
	}
}

// chain makes events of a run from one number on, behind a hash.
func chain(run, from int64, n int, before []byte) (events []patterns.Event) {
	for i := range int64(n) {
		e := patterns.Event{Seq: from + i, At: 2000 + from + i, Kind: patterns.NoteEvent, Body: []byte(`{"n":1}`)}
		e.Seal(journal.RunID(run), before)
		before = e.Hash
		events = append(events, e)
	}
	return events
}

// length is how many events a run has, and whether their chain holds.
func length(t *testing.T, s store.Store, run int64) (n int) {
	t.Helper()
	read(t, s, func(r store.Reader) error {
		events, err := r.Events(run)
		if n = len(events); err == nil && n > 0 {
			err = patterns.VerifyChain(journal.RunID(run), events, int64(n))
		}
		return err
	})
	return n
}

func fence(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	for name, c := range map[string]*store.Change{
		"an earlier owner": {Run: 1, Epoch: 7, Events: chain(1, 1, 1, nil)},
		"five events":      {Run: 1, Epoch: 7, Events: chain(1, 1, 5, nil)},
		"no run":           {Run: 2, Epoch: 1, Events: chain(2, 1, 1, nil)},
		"no event":         {Run: 1, Epoch: 7},
		"a step":           {Run: 1, Epoch: 7, Steps: []store.Step{store.Seize{N: 1}}},
		"under a switch":   {Run: 1, Epoch: 7, Events: chain(1, 1, 1, nil), Begins: []store.Begins{{Tool: "pay"}}},
	} {
		if err := s.Do(c); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v, want %v", name, err, store.ErrFenced)
		}
	}
	if n := length(t, s, 1); n != 0 {
		t.Errorf("%d events, want none", n)
	}
	if err := s.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 4, nil), Durable: true}); err != nil || length(t, s, 1) != 4 {
		t.Errorf("the owner: %v, %d events; want 4", err, length(t, s, 1))
	}
}

func allOrNothing(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	refuses := store.KeyDone{Tool: "pay", Once: "x", Run: 1, Act: "a"}
	c := &store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil), Steps: []store.Step{
		beginRun(s, 2), store.AddConfigs{{Hash: "sha256:a", Body: []byte("{}")}}, refuses, store.Seize{N: 1},
	}}
	if err := s.Do(c); !store.RefusedBy[store.KeyDone](err) {
		t.Errorf("%v, want a refusal by its third step", err)
	}
	read(t, s, func(r store.Reader) error {
		second, err := r.Row(2)
		_, found, errConfig := r.Config("sha256:a")
		first, errRow := r.Row(1)
		if second != nil || found || first == nil || first.State != "running" {
			t.Errorf("something of a refused change was kept: %v, %t, %+v", second, found, first)
		}
		return errors.Join(err, errConfig, errRow)
	})
	if n := length(t, s, 1); n != 0 {
		t.Errorf("%d events, want none", n)
	}
}

func chained(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	refuses := store.KeyDone{Tool: "pay", Once: "x", Run: 1, Act: "a"}
	events := chain(1, 1, 2, nil)
	if err := s.Do(&store.Change{Run: 1, Epoch: 1, Events: events[:1], Chained: true, Steps: []store.Step{refuses}}); !store.IsRefused(err) {
		t.Fatalf("%v, want a refusal", err)
	}
	if err := s.Do(&store.Change{Run: 1, Epoch: 1, Events: events[1:], Chained: true}); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("what is sealed behind it: %v, want %v", err, patterns.ErrJournal)
	}
	must(t, s, store.Seize{N: 1}, store.Take{N: 1, Epoch: 2, State: "ready", Owner: s.Owner().ID()})
	if err := s.Do(&store.Change{Run: 1, Epoch: 3, Events: events[:1], Chained: true}); err != nil {
		t.Errorf("under the next epoch: %v", err)
	}
	if err := s.Do(&store.Change{Run: 1, Events: events[:1]}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an event that is there: %v, want %v", err, store.ErrConflict)
	}
}

func killSwitches(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1), store.SetSwitch{Switch: patterns.Switch{Tool: "pay", By: "local:1"}})
	seq := int64(0)
	var head []byte
	for name, tt := range map[string]struct {
		begins store.Begins
		want   bool // it is refused
	}{
		"another tool":     {store.Begins{Tool: "look", Patterns: []string{"p"}}, false},
		"the tool":         {store.Begins{Tool: "pay", Patterns: []string{"p"}}, true},
		"a look-up of it":  {store.Begins{Tool: "pay", LooksUp: true}, true},
		"no tool":          {store.Begins{Patterns: []string{"p"}}, false},
		"a run of another": {store.Begins{Tool: "ask", Starts: "p"}, false},
	} {
		events := chain(1, seq+1, 1, head)
		err := s.Do(&store.Change{Run: 1, Epoch: 1, Events: events, Begins: []store.Begins{tt.begins}})
		refused, is := errors.AsType[*store.Refused](err)
		if tt.want != is || is && !refused.Stopped || !is && err != nil {
			t.Errorf("%s: %v, want refused %t", name, err, tt.want)
		}
		if err == nil {
			seq, head = seq+1, events[0].Hash
		}
	}
	must(t, s, store.ClearSwitch{Tool: "pay"})
	if err := s.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, seq+1, 1, head), Begins: []store.Begins{{Tool: "pay"}}}); err != nil {
		t.Errorf("without the switch: %v", err)
	}
}

func windows(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	looked := 0
	holds := func(yes bool) store.Step {
		return store.WindowHolds{Judge: func(c store.Calls) (bool, error) {
			looked++
			settled, err := c.SettledCall(1, "k")
			return yes && settled.State == patterns.OK, err
		}}
	}
	must(t, s, store.SetSettled{Run: 1, Once: "k", State: patterns.OK, Attempt: "pay#1"}, holds(true))
	if err := s.Do(&store.Change{Steps: []store.Step{holds(false)}}); !store.RefusedBy[store.WindowHolds](err) {
		t.Errorf("%v, want a refusal", err)
	}
	own := errors.New("own")
	fails := store.WindowHolds{Judge: func(store.Calls) (bool, error) { return true, fmt.Errorf("%w: %w", patterns.ErrJournal, own) }}
	if err := s.Do(&store.Change{Steps: []store.Step{fails}}); !errors.Is(err, own) || store.IsRefused(err) {
		t.Errorf("%v, want its own error", err)
	}
	panics := store.WindowHolds{Judge: func(store.Calls) (bool, error) { panic("boom") }}
	if err := s.Do(&store.Change{Steps: []store.Step{panics}}); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("a panic: %v, want %v", err, patterns.ErrJournal)
	}
	if looked != 2 {
		t.Errorf("looked %d times, want 2", looked)
	}
}

func order(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	events := chain(1, 1, 60, nil)
	var told []int64
	done := make(chan struct{})
	for i := range events {
		c := &store.Change{Run: 1, Epoch: 1, Events: events[i : i+1], Done: func(err error) {
			if err != nil {
				t.Error(err)
			}
			if told = append(told, events[i].Seq); len(told) == len(events) {
				close(done)
			}
		}}
		if i%2 == 0 {
			s.Submit(c)
			continue
		}
		if help, hurry := s.Queue(c); i%3 == 0 {
			help()
		} else {
			hurry()
		}
	}
	<-done
	if !slices.IsSorted(told) || length(t, s, 1) != len(events) {
		t.Errorf("told %v, want all in the order of submission", told)
	}
}

func closed(t *testing.T, s store.Store) {
	must(t, s, beginRun(s, 1))
	s.Close()
	s.Close()
	if err := s.Do(&store.Change{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Do: %v, want %v", err, store.ErrClosed)
	}
	told := error(nil)
	if help, hurry := s.Queue(&store.Change{Done: func(err error) { told = err }}); help != nil || hurry != nil || !errors.Is(told, store.ErrClosed) {
		t.Errorf("Queue told %v, want %v", told, store.ErrClosed)
	}
	if err := s.View(func(store.Reader) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("View: %v, want %v", err, store.ErrClosed)
	}
}

// equalCalls holds which calls join an earlier run.
func equalCalls(t *testing.T, open func(t *testing.T) store.Store) {
	ended := store.End{N: 1, Ended: 5000, Status: "ok", StopReason: "success"}
	plan := store.Plan{N: 9, Principal: "local:1", Pattern: "plan", Version: 1, Revision: 1, Created: 1, Changed: 1, Sum: []byte{1}, Body: []byte("{}")}
	for name, tt := range map[string]struct {
		before []store.Step
		change func(*store.Equal)
		joined int64
		reused bool
	}{
		"it goes on":                   {nil, nil, 1, false},
		"it has ended":                 {[]store.Step{ended}, nil, 1, false},
		"long ago":                     {[]store.Step{ended}, func(e *store.Equal) { e.Since = 6000 }, 0, false},
		"and was delivered":            {[]store.Step{ended, store.Deliver{N: 1, Principal: "local:1"}}, nil, 0, false},
		"another request":              {nil, func(e *store.Equal) { e.Request = []byte{7} }, 0, false},
		"by its key":                   {[]store.Step{ended, store.Deliver{N: 1, Principal: "local:1"}}, func(e *store.Equal) { e.ByKey, e.Since = true, 6000 }, 1, false},
		"by its key, other arguments":  {nil, func(e *store.Equal) { e.ByKey, e.Args = true, []byte{7} }, 0, true},
		"its plan is as it was":        {[]store.Step{store.AddPlan{Plan: plan}, ended}, func(e *store.Equal) { e.Plan = 9 }, 1, false},
		"its plan has changed":         {[]store.Step{store.AddPlan{Plan: plan}, store.SetPlan{Plan: changedAt(plan, 7000)}, ended}, func(e *store.Equal) { e.Plan = 9 }, 0, false},
		"it stopped for its plan":      {[]store.Step{store.AddPlan{Plan: plan}, store.End{N: 1, Ended: 5000, Status: "stopped", StopReason: "plan_busy"}}, func(e *store.Equal) { e.Plan = 9 }, 0, false},
		"cancelled, and lost its plan": {[]store.Step{store.AddPlan{Plan: plan}, store.Recall{N: 1}}, func(e *store.Equal) { e.Plan = 9 }, 0, false},
		"no such plan":                 {nil, func(e *store.Equal) { e.Plan = 8 }, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			equal := store.Equal{Request: []byte{1}, Args: []byte{2}, Since: 4000, Outdated: []string{"plan_busy"}}
			first := beginRun(s, 1).(store.Begin)
			first.Equal = &store.Equal{Request: equal.Request, Args: equal.Args}
			must(t, s, first)
			for _, before := range tt.before {
				must(t, s, before)
			}
			if tt.change != nil {
				tt.change(&equal)
			}
			second := beginRun(s, 2).(store.Begin)
			second.Equal = &equal
			err := s.Do(&store.Change{Run: 2, Steps: []store.Step{second}})
			refused, is := errors.AsType[*store.Refused](err)
			if is != (tt.joined != 0 || tt.reused) || is && refused.Joined != tt.joined || !is && err != nil {
				t.Errorf("%v, want joined %d, reused %t", err, tt.joined, tt.reused)
			}
		})
	}
}

func changedAt(p store.Plan, at int64) store.Plan {
	p.Changed = at
	return p
}
