package local_test

import (
	"fmt"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// since is a policy that reads a window from a time on and approves.
type since struct{ from time.Time }

func (s since) Windows(string) []gateway.Window {
	return []gateway.Window{{Name: "all.since", Tools: []string{"count"}, Since: func(time.Time) time.Time { return s.from }}}
}

func (s since) Review(c gateway.Case) gateway.Verdict {
	seen, there := c.Windows["all.since"]
	if !there || seen.Err != nil {
		return gateway.Verdict{Reason: "policy_error:since"}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "seen"}
}

// BenchmarkWindow is a run of one call that is judged by a window, in a file of 100,000 calls of its tool: none of them in the window,
// or so many. Beside it the same without a window.
func BenchmarkWindow(b *testing.B) {
	const recorded, steps = 100_000, 1000
	e := openFile(b, newState(b), nil)
	defer e.Close()
	tool := counting(b, catalog.Read, nil)
	fill := func(n int) {
		for ; n > 0; n -= steps {
			succeed(b, e, stepsOf(b, tool, min(n, steps)))
		}
	}
	fill(recorded)
	from := time.Now()
	inside := 0
	for _, n := range []int{-1, 0, 100, 1000, 5000} {
		fill(n - inside)
		inside = max(inside, n)
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			job := stepsOf(b, counting(b, catalog.Write, nil), 1)
			if n >= 0 {
				job.Spec.Reviewer = since{from}
			}
			for b.Loop() {
				succeed(b, e, job)
			}
		})
	}
}
