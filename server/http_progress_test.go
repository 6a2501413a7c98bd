package server

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/server/transport"
)

// The last line about a run arrives before its answer, each time, in order and on the call's own stream; also where
// many calls of one session run at once.
func TestHTTPProgressArrives(t *testing.T) {
	const n = 200
	inBothEras(t, func(t *testing.T, modern bool) {
		c := listening(t, serving(t)).connect(modern, nil)
		var arrived atomic.Int64
		next := make(chan int)
		done := make(chan struct{})
		for range 8 {
			go func() {
				for i := range next {
					a := c.call(i, td, goodCall, fmt.Sprintf(`"progressToken":"t%d"`, i))
					if err := wholeProgress(a, i); err != nil {
						t.Errorf("call %d: %v", i, err)
						continue
					}
					arrived.Add(1)
				}
				done <- struct{}{}
			}()
		}
		for i := range n {
			next <- i
		}
		close(next)
		for range 8 {
			wait(t, done, "all calls end")
		}
		if got := arrived.Load(); got != n {
			t.Errorf("the last progress of %d of %d calls arrived", got, n)
		}
	})
}

func wholeProgress(a reply, id int) error {
	notes := a.messages[:max(len(a.messages)-1, 0)]
	if len(notes) == 0 || a.last().ID != float64(id) {
		return fmt.Errorf("%d notifications before %s", len(notes), a.last().line)
	}
	for i, m := range notes {
		if m.Method != "notifications/progress" || m.Params["progressToken"] != fmt.Sprint("t", id) || m.Params["progress"] != float64(i+1) {
			return fmt.Errorf("notification %d: %s", i, m.line)
		}
	}
	last := notes[len(notes)-1]
	if last.Params["message"] != "execute: done" || last.Params["total"] != float64(len(notes)) {
		return fmt.Errorf("the last of %d: %s", len(notes), last.line)
	}
	return nil
}

// A line goes out when it is told, not with the answer.
func TestHTTPProgressWhileRunning(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		held := newHolding()
		h := listening(t, serving(t, held.with(t)))
		c := h.connect(modern, nil)
		response, err := h.request(t.Context(), "POST", "/mcp", c.head(callMethod, td), c.line(1, td, holdCall, `"progressToken":5`))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		stream := newEvents(response.Body)
		for m := nextEvent(t, stream); m.Params["message"] != "execute: step 1 of 1, hold"; m = nextEvent(t, stream) {
			if m.Method != "notifications/progress" {
				t.Fatalf("before the step: %s", m.line)
			}
		}
		close(held.let)
		if m := nextEvent(t, stream); m.Params["message"] != "execute: done" {
			t.Errorf("at the end: %s", m.line)
		}
		if r := nextEvent(t, stream).result(t); r.Structured["status"] != "ok" {
			t.Errorf("the call ended with %v", r)
		}
	})
}

// An answer waits a moment for its last notification to be read, and never where there was none.
func TestSettleOnlyAfterProgress(t *testing.T) {
	c := listening(t, serving(t), limiting(func(l *transport.Limits) { l.Settle = 2 * patience })).connect(true, nil)
	for _, arguments := range []string{goodCall, `{}`} {
		if a := c.call(1, td, arguments, ""); a.status != 200 {
			t.Errorf("%s: status %d", arguments, a.status)
		}
	}
	if a := c.call(1, td, `{}`, `"progressToken":1`); a.status != 200 || len(a.messages) != 1 {
		t.Errorf("a call that told nothing: status %d, %d messages", a.status, len(a.messages))
	}
	c = listening(t, serving(t), limiting(func(l *transport.Limits) { l.Settle = 30 * time.Millisecond })).connect(true, nil)
	began := time.Now()
	if a := c.call(1, td, goodCall, `"progressToken":1`); !strings.Contains(a.body, "execute: done") || time.Since(began) < 30*time.Millisecond {
		t.Errorf("after %v: %s", time.Since(began), a.body)
	}
}
