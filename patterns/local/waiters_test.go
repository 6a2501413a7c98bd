package local

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A follower from the beginning waits until something changes, and gets the change.
func TestFollowFromNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiters{}
		_, from := w.follow(t.Context(), 0)
		wait, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if ids, next := w.follow(wait, from); len(ids) > 0 || next != from || time.Since(began) != time.Minute {
			t.Fatalf("follow(%d) = %v, %d after %s; want nothing for a minute", from, ids, next, time.Since(began))
		}
		w.announce("run_1")
		if ids, next := w.follow(t.Context(), from); len(ids) != 1 || ids[0] != "run_1" || next != from+1 {
			t.Errorf("follow(%d) = %v, %d; want run_1", from, ids, next)
		}
	})
}
