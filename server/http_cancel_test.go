package server

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/server/arguments"
)

func cancelLine(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// A cancellation names a request by its id, which others use too. It counts in the session it came in, and nowhere
// else: not for another session, another principal or the era without sessions.
func TestCrossTenantCancel(t *testing.T) {
	change, a, b := twoTokens(t)
	inBothEras(t, func(t *testing.T, modern bool) {
		held := newHolding()
		h := listening(t, serving(t, held.with(t)), change)
		victim := h.connect(modern, a)
		answer, cancel := victim.begin(7, td, holdCall, "")
		defer cancel()
		wait(t, held.begun, "the call begins")
		modernCancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{` + modernMeta + `,"requestId":7}}`
		foreign := *victim
		foreign.headers = b
		tries := map[string]struct {
			c    *client
			line string
			want int
		}{
			"its own principal without a session": {h.connect(true, a), modernCancel, 202},
			"another one without a session":       {h.connect(true, b), modernCancel, 202},
			"another session":                     {h.connect(false, a), cancelLine("7"), 202},
			"another principal's session":         {h.connect(false, b), cancelLine("7"), 202},
		}
		if !modern {
			tries["another principal in this session"] = struct {
				c    *client
				line string
				want int
			}{&foreign, cancelLine("7"), 404}
		}
		for name, try := range tries {
			if got := h.post(try.c.head("notifications/cancelled", ""), try.line).status; got != try.want {
				t.Errorf("%s: status %d, want %d", name, got, try.want)
			}
		}
		select {
		case <-held.gone:
			t.Error("the call was cancelled")
		default:
		}
		close(held.let)
		if r := got(t, answer).last().result(t); r.Structured["status"] != "ok" {
			t.Errorf("the call ended with %v", r)
		}
	})
}

// In its own session a call is cancelled by its id, a number or a text, and answered.
func TestCancelWithinSession(t *testing.T) {
	held := newHolding()
	h := listening(t, serving(t, held.with(t)))
	c := h.connect(false, nil)
	for _, id := range []any{7, "7", "a\"b", 1.5} {
		answer, cancel := c.begin(id, td, holdCall, "")
		defer cancel()
		wait(t, held.begun, "the call begins")
		for _, other := range []string{`8`, `"8"`, `null`, `{}`} {
			if a := h.post(c.head("", ""), cancelLine(other)); a.status != 202 {
				t.Errorf("cancelling %s: status %d: %s", other, a.status, a.body)
			}
		}
		if a := h.post(c.head("", ""), cancelLine(mustJSON(id))); a.status != 202 || a.body != "" {
			t.Errorf("cancelling %v: status %d: %s", id, a.status, a.body)
		}
		wait(t, held.gone, fmt.Sprintf("call %v is cancelled", id))
		if a := got(t, answer); a.status != 200 || a.last().result(t).Structured["stop_reason"] != "cancelled" {
			t.Errorf("call %v was answered by status %d: %s", id, a.status, a.body)
		}
	}
}

// A client that goes away leaves its run behind, in both eras, with and without a stream.
func TestClosedConnectionDetaches(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		for name, meta := range map[string]string{"document": "", "stream": `"progressToken":1`} {
			t.Run(name, func(t *testing.T) {
				var log logBuffer
				held := newHolding()
				s := serving(t, held.with(t), logging(&log))
				h := listening(t, s)
				leaving := h.connect(modern, nil)
				_, leave := leaving.begin(1, td, heldCall("leaving"), meta)
				wait(t, held.begun, "the call begins")
				leave()
				until(t, "the call is over", func() bool { return s.transports.Running() == 0 })
				close(held.let)
				id := s.config.Engine.RunIDs(s.principal)[0]
				r := h.connect(modern, nil).call(2, arguments.WaitTool, fmt.Sprintf(`{"run_id":%q}`, id), "").last().result(t)
				if r.Structured["status"] != "ok" || r.Structured["run_id"] != id {
					t.Errorf("the run that was left ended with %v", r)
				}
				until(t, "its end is logged", func() bool { return len(log.lines(t, "run ended")) > 0 }) // who waits is told first
				h.stop()
				if runs := log.lines(t, "run ended"); len(runs) != 1 || runs[0]["status"] != "ok" {
					t.Errorf("the log: %v", runs)
				}
			})
		}
	})
}

// More calls than may be under way are refused, and nothing runs; the place of one that ended is free.
func TestBusy(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		var log logBuffer
		held := newHolding()
		h := listening(t, serving(t, held.with(t), logging(&log), func(c *Config) { c.ConcurrentRuns = 2 }))
		c := h.connect(modern, nil)
		first, cancel := c.begin(1, td, holdCall, "")
		defer cancel()
		second, cancel2 := c.begin(2, td, heldCall(2), "")
		defer cancel2()
		wait(t, held.begun, "one call begins")
		wait(t, held.begun, "another call begins")
		a := c.call("more", td, heldCall("more"), "")
		code, message := a.errorOf(t)
		if a.status != 503 || a.header.Get("Retry-After") != "1" || code != -32000 || a.last().ID != "more" || !strings.HasPrefix(message, "busy: ") || !strings.HasSuffix(message, "; nothing ran") {
			t.Errorf("a third call: status %d, headers %v: %s", a.status, a.header, a.body)
		}
		list := `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{}}`
		if modern {
			list = modernLine(9, "tools/list", "")
		}
		if a := h.post(c.head("tools/list", ""), list); a.status != 200 {
			t.Errorf("another request meanwhile: status %d: %s", a.status, a.body)
		}
		close(held.let)
		for _, answers := range []<-chan reply{first, second} {
			if r := got(t, answers).last().result(t); r.Structured["status"] != "ok" {
				t.Errorf("a call ended with %v", r)
			}
		}
		if r := c.call(3, td, holdCall, "").last().result(t); r.Structured["status"] != "ok" {
			t.Errorf("a call after them ended with %v", r)
		}
		h.stop()
		if runs := log.lines(t, "run ended"); len(runs) != 3 {
			t.Errorf("%d runs, want 3", len(runs))
		}
	})
}

// The same over stdio, where the refusal is a line; and none may run where none is allowed.
func TestBusyOverStdio(t *testing.T) {
	held := newHolding()
	s := serving(t, held.with(t), func(c *Config) { c.ConcurrentRuns = 1 })
	c := connect(t, s)
	c.send(callLine(1, td, holdCall))
	wait(t, held.begun, "the call begins")
	c.send(callLine("more", td, heldCall("more")))
	if m := c.next(); m.ID != "more" || m.Error == nil || m.Error.Code != -32000 || !strings.HasPrefix(m.Error.Message, "busy: 1 calls") {
		t.Errorf("a second call was answered by %s", m.line)
	}
	close(held.let)
	if m := c.next(); m.ID != 1.0 || m.result(t).Structured["status"] != "ok" {
		t.Errorf("the call ended with %s", m.line)
	}
	if r := c.call(td, holdCall).result(t); r.Structured["status"] != "ok" {
		t.Errorf("a call after it ended with %v", r)
	}
	none := connect(t, serving(t, func(c *Config) { c.ConcurrentRuns = -1 }))
	if m := none.call(td, goodCall); m.Error == nil || m.Error.Code != -32000 {
		t.Errorf("where none may run a call was answered by %s", m.line)
	}
}

// Calls whose client is gone give their places back, also over stdio where they are never answered.
func TestSlotsComeBack(t *testing.T) {
	held := newHolding()
	held.deaf = true
	defer close(held.let)
	s := serving(t, held.with(t), func(c *Config) { c.Grace = -1 })
	c := connect(t, s)
	for i := range 10 {
		c.send(callLine(i, td, heldCall(i)))
		wait(t, held.begun, "a call begins")
	}
	c.in.Close()
	_ = c.ended()
	if n := s.transports.Running(); n != 0 {
		t.Errorf("%d places are taken after the end", n)
	}
}
