package sqlite

import (
	"errors"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// What is late of an earlier life of a run does not let through what stands behind a change that this life was refused: the
// record would have a gap.
func TestLateChangeMendsNothing(t *testing.T) {
	j := fresh(t)
	begin(t, j, 7, 2)
	events := chain(7, 1, 2, nil)
	if err := j.Do(&store.Change{Run: 7, Epoch: 2, Events: events[:1], Chained: true, Steps: raw(func(*session) error { return errNo })}); !store.IsRefused(err) {
		t.Fatalf("the refused change was told %v", err)
	}
	if err := j.Do(&store.Change{Run: 7, Epoch: 1, Events: events[:1], Chained: true}); !errors.Is(err, store.ErrFenced) {
		t.Fatalf("the change of the earlier life was told %v, want %v", err, store.ErrFenced)
	}
	if err := j.Do(&store.Change{Run: 7, Epoch: 2, Events: events[1:], Chained: true}); !errors.Is(err, patterns.ErrJournal) {
		t.Errorf("what stands behind the refused change was told %v, want %v", err, patterns.ErrJournal)
	}
	if got := recordOf(t, j, 7); len(got) != 0 {
		t.Errorf("the record has %d events, want none", len(got))
	}
}
