package upstream

import (
	"strconv"
	"testing"
)

// Calls that ended are heard for a while and then forgotten; one that goes on is not, whatever ends around it.
func TestListenersAreForgotten(t *testing.T) {
	var l listeners
	l.add("running", func(string) {})
	for i := range 10 * maxLate {
		token := strconv.Itoa(i)
		l.add(token, func(string) {})
		l.end(token)
		if l.of(token) == nil {
			t.Fatalf("call %d is forgotten as soon as it ended", i)
		}
	}
	if l.of("running") == nil {
		t.Error("a call that goes on is forgotten")
	}
	if n := len(l.tell); n > maxLate+1 || len(l.ended) > maxLate {
		t.Errorf("%d listeners and %d ended calls are kept, want at most %d and %d", n, len(l.ended), maxLate+1, maxLate)
	}
}
