package importer

import (
	"runtime"
	"sync/atomic"
	"testing"

	"patterngate/server/cli/console"
)

// Servers are told of one at a time, whether they start or cannot.
func TestInitTellsOneAtATime(t *testing.T) {
	servers := make([]Server, 100)
	for i := range servers {
		servers[i].problem = map[bool]string{true: "it is off"}[i%2 == 1]
	}
	var inside atomic.Int32
	told, together := 0, false
	(&Commands{Console: &console.Console{}}).startServers(t.Context(), servers, func(Server) {
		together = inside.Add(1) != 1 || together
		told++
		for range 100 {
			runtime.Gosched()
		}
		inside.Add(-1)
	})
	if told != len(servers) || together {
		t.Errorf("told of %d servers, two at once: %t; want %d, false", told, together, len(servers))
	}
}
