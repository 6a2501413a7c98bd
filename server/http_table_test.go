package server

import (
	"fmt"
	"testing"
	"time"
)

// Principals who flood the table make way for each other, not who has the one session that was idle longest of all.
func TestFloodedSessions(t *testing.T) {
	table := newSessions(Limits{Sessions: 5, SessionsEach: 3}, time.Hour, func(string) {})
	begin := func(principal, id string) {
		if !table.reserve(principal) {
			t.Fatalf("no place for %s of %s", id, principal)
		}
		table.bind(id, principal, "2025-11-25")
	}
	begin("victim", "first")
	for i := range 20 {
		begin(fmt.Sprint("flood", i%2), fmt.Sprint(i))
		if s, _ := table.enter("first", "victim", ""); s == nil {
			t.Fatalf("the victim's only session is gone after %d others", i+1)
		} else {
			s.busy = 0 // left, and still idle longest
		}
	}
}
