package local_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/local"
	"patterngate/patterns/store"
	"patterngate/patterns/store/sqlite"
)

// between is a store in which something happens between what the engine reads and what it writes.
type between struct {
	store.Store
	looks   atomic.Int64                           // at business keys
	looked  func(n int64)                          // before each of them
	read    func(run int64, before patterns.Event) // after the record of a run was read
	refused func(tell func())                      // instead of telling a run that it may not begin
}

func (b *between) View(f func(store.Reader) error) error {
	return b.Store.View(func(r store.Reader) error { return f(reading{r, b}) })
}

type reading struct {
	store.Reader
	b *between
}

func (r reading) Act(tool, once string) (*store.Act, error) {
	if n := r.b.looks.Add(1); r.b.looked != nil {
		r.b.looked(n)
	}
	return r.Reader.Act(tool, once)
}

func (r reading) Events(n int64) ([]patterns.Event, error) {
	events, err := r.Reader.Events(n)
	if r.b.read != nil && len(events) > 0 {
		r.b.read(n, events[len(events)-1])
	}
	return events, err
}

func (b *between) Queue(c *store.Change) (help, hurry func()) {
	if done := c.Done; done != nil && b.refused != nil {
		c.Done = func(err error) {
			if store.RefusedBy[store.Begin](err) {
				b.refused(func() { done(err) })
				return
			}
			done(err)
		}
	}
	return b.Store.Queue(c)
}

func openBetween(t *testing.T, path string, source patterns.Source) (*local.Engine, *between) {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &between{Store: s}
	e, err := local.Open(local.Options{Store: b, Source: source, Config: "sha256:test", Snapshot: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, b
}

// Whenever another run takes the business key of a call that is about to begin, the run says so: nothing is sent, and no fault is told.
func TestKeyTakenBetweenLookAndIntent(t *testing.T) {
	t.Parallel()
	for at := int64(1); at <= 6; at++ {
		s := &service{}
		job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) {
			own.Effect = catalog.Write
			own.Once = func(map[string]any) (string, error) { return "order-7", nil }
		})
		e, b := openBetween(t, newState(t), jobs{job.Spec.Name: job})
		b.looked = func(n int64) {
			if n != at {
				return
			}
			taken := store.TakeKey{Tool: "own", Once: "order-7", Args: []byte("x"), Run: 99, Act: "a", Effect: "a"}
			if err := b.Store.Do(&store.Change{Steps: []store.Step{taken}}); err != nil {
				t.Error(err)
			}
		}
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Errorf("taken before look %d: Start gave %v, want a run", at, err)
		}
		if b.looks.Load() >= at && s.calls() != 0 && ended.Result.StopReason != "" && !ended.Result.OK() {
			t.Errorf("taken before look %d: sent %d times, %s", at, s.calls(), ended.Result.StopReason)
		}
	}
}

// A result that was delivered is not given once more to an equal call, also when the store learns of the delivery just after it refused
// the call.
func TestDeliveredWhileAnEqualCallIsRefused(t *testing.T) {
	t.Parallel()
	job := quick(t, 1)
	job.Equal = "a"
	e, b := openBetween(t, newState(t), jobs{job.Spec.Name: job})
	first, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	b.refused = func(tell func()) {
		b.refused = nil
		go func() {
			e.Deliver()
			tell()
		}()
	}
	e.Delivered(mine, first.RunID)
	if again, err := e.Start(t.Context(), job); err != nil || again.Joined || again.RunID == first.RunID {
		t.Errorf("it joined %t (%s), %v; want a run of its own", again.Joined, again.RunID, err)
	}
}

// A run that is cancelled and lacks something here is ended by the process that takes it.
func TestCanceledAndLacking(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(e *local.Engine, id string) error{
		"advance": func(e *local.Engine, id string) error {
			rest, err := e.Advance(t.Context(), id)
			if err == nil && !rest.Over {
				t.Errorf("it rests as %+v, want over", rest)
			}
			return err
		},
		"resume": func(e *local.Engine, _ string) error { _, err := e.Operator().Resume(t.Context(), ""); return err },
	} {
		path, job := newState(t), inbox(t, "")
		source := jobs{job.Spec.Name: job}
		e := opened(t, path, source)
		q := waits(t, e, job)
		delete(source, job.Spec.Name)
		e.CancelRestingOnly(t, q.Question.Run)
		if err := take(e, q.Question.Run); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s, ok := e.Run("local:1", q.Question.Run); !ok || s.State != patterns.Over {
			t.Errorf("%s: then it stands as %v", name, s.State)
		}
	}
}

// An intent that a kill switch of another program refuses is no end of Advance: the run is replayed, and then knows of the switch.
func TestAdvanceWithARefusedIntent(t *testing.T) {
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
	first.Close()
	e, other := opened(t, path, source), opened(t, path, source)
	go func() {
		<-g.entered
		if err := other.KillSwitch(true, patterns.Switch{Reason: "x", By: "y"}, gateway.SignedAct{}); err != nil {
			t.Error(err)
		}
		close(g.open)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		rest, err := e.Advance(ctx, ended.RunID)
		if err != nil {
			t.Fatalf("Advance: %+v, %v", rest, err)
		}
		if rest.Over {
			break
		}
	}
	if s, ok := e.Run(mine, ended.RunID); !ok || s.Ended.Result.StopReason != "kill_switch" {
		t.Errorf("it ended with %s, want kill_switch", s.Ended.Result.StopReason)
	}
}

// A run is seized also from an owner that records something each time when the operator has read its record.
func TestSeizeFromABusyOwner(t *testing.T) {
	t.Parallel()
	path, g := newState(t), newGate(t, catalog.Read)
	defer close(g.open)
	job := g.job(t, 2)
	job.Config, job.Wait = "sha256:test", -1
	source := configs{"": job, "sha256:test": job}
	owner := opened(t, path, source)
	ended, err := owner.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	e, b := openBetween(t, path, source)
	b.read = func(run int64, before patterns.Event) { // as its owner would
		next := patterns.Event{Seq: before.Seq + 1, At: before.At, Kind: patterns.NoteEvent, Body: []byte(`{}`)}
		next.Seal(journal.RunID(run), before.Hash)
		_ = b.Store.Do(&store.Change{Run: run, Epoch: 1, Events: []patterns.Event{next}}) // refused once the run is seized
	}
	if err := e.Operator().Seize(ended.RunID, patterns.Note{By: "op"}, gateway.SignedAct{}); err != nil {
		t.Fatalf("Seize: %v", err)
	}
	events, _, err := e.Operator().Record(ended.RunID)
	if err != nil || len(events) == 0 {
		t.Fatal(err)
	}
	if last := events[len(events)-1]; last.Kind != patterns.NoteEvent || patterns.VerifyChain(ended.RunID, events, 0) != nil || !strings.Contains(string(last.Body), "seize") {
		t.Errorf("the last event is %s, want the note of the seizure", last.Body)
	}
}
