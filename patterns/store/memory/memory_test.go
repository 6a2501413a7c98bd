package memory_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
	"patterngate/patterns/store/memory"
)

func begun(t testing.TB) *memory.Store {
	t.Helper()
	s := memory.New(memory.Limits{})
	t.Cleanup(s.Close)
	do(t, s, &store.Change{Steps: []store.Step{store.Begin{N: 1, Pattern: "p", Principal: "local:1", Began: 1, Owner: s.Owner().ID()}}})
	return s
}

func do(t testing.TB, s store.Store, c *store.Change) {
	t.Helper()
	if err := s.Do(c); err != nil {
		t.Fatal(err)
	}
}

func events(t testing.TB, s store.Store) (list []patterns.Event) {
	t.Helper()
	if err := s.View(func(r store.Reader) (err error) {
		list, err = r.Events(1)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// A refused change leaves nothing behind, whichever of its steps was done before.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	s := begun(t)
	plan := store.Plan{N: 9, Principal: "local:1", Version: 1, Sum: []byte{1}, Body: []byte("{}")}
	all := []store.Step{
		store.Begin{N: 2, Principal: "local:1", Owner: "o", Parent: 1, Configs: []store.Config{{Hash: "h", Body: []byte("{}")}}},
		store.AddQuestion{Approval: 5, Run: 1, Expires: 100}, store.TakeKey{Tool: "pay", Once: "o", Run: 1, Act: "a"}, store.AddPlan{Plan: plan},
		store.HoldPlan{N: 9, Run: 1}, store.SetSwitch{Switch: patterns.Switch{Tool: "pay"}}, store.UseAct{Nonce: "n"}, store.AddSignIn{Token: []byte("t"), Until: 9},
		store.SetSettled{Run: 1, Once: "o", State: patterns.OK}, store.AddHidden{N: 1, Values: []store.HiddenValue{{Hash: []byte("h"), Value: []byte("v")}}},
		store.AddReload{Signature: "s", Asked: true, Answer: &store.ReloadAnswer{Owner: "o"}}, store.AddEvent{N: 2, Event: patterns.Event{Seq: 1, Kind: patterns.NoteEvent, Body: json.RawMessage("{}")}},
		store.DropChildren{Parent: 1}, store.Seize{N: 1, Owner: "other"}, store.End{N: 1}, store.Bury{N: 1, RunID: "r"},
		store.RunIs{N: 7, State: "running"},
	}
	if err := s.Do(&store.Change{Steps: all}); !store.RefusedBy[store.RunIs](err) {
		t.Fatalf("%v, want a refusal by the last step", err)
	}
	err := s.View(func(r store.Reader) error {
		row, _ := r.Row(1)
		second, _ := r.Row(2)
		q, _ := r.Question(5)
		a, _ := r.Act("pay", "o")
		p, _ := r.Plan(9)
		switches, _ := r.Switches()
		settled, _ := r.SettledCall(1, "o")
		hidden, _ := r.Hidden(1)
		reloads, _ := r.NewestReload()
		answers, _ := r.ReloadAnswers(1)
		stones, _ := r.Tombstones()
		_, config, _ := r.Config("h")
		below, _ := r.Below(1)
		mine, _ := r.Owned(s.Owner().ID())
		ids, _ := r.IDs("local:1")
		if row == nil || row.State != "running" || row.Epoch != 1 || second != nil || q != nil || a != nil || p != nil || len(switches)+len(hidden)+len(answers)+len(stones)+len(below) > 0 ||
			settled.Attempt != "" || settled.State != "" || reloads != 0 || config || len(mine) != 1 || len(ids) != 1 {
			t.Errorf("something was kept: %+v %+v %+v %+v %+v", row, second, q, a, p)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	do(t, s, &store.Change{Steps: all[:len(all)-1]})
}

// Changes of many goroutines take effect, and readers see each of them whole.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := begun(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				key := store.TakeKey{Tool: "pay", Once: string(rune('a' + i%26)), Run: 1, Act: "a"}
				done := make(chan error, 1)
				help, _ := s.Queue(&store.Change{Steps: []store.Step{key}, Done: func(err error) { done <- err }})
				if help(); <-done != nil {
					t.Error("a change failed")
				}
				events(t, s)
			}
		})
	}
	all.Wait()
	if err := s.View(func(r store.Reader) error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
