package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
)

// printf ... | server: all that was asked is answered, also by a last line without its end.
func TestDrainEOF(t *testing.T) {
	var in strings.Builder
	in.WriteString(initialize + "\n" + initialized + "\n")
	for i := 1; i < 40; i++ {
		in.WriteString(callLine(i, td, goodCall) + "\n")
	}
	in.WriteString(callLine("last", td, goodCall))
	var out strings.Builder
	if err := serving(t).ServeStdio(t.Context(), strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	answered := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		m := parseMessage(line)
		answered[fmt.Sprint(m.ID)] = true
		if m.ID != 0.0 && m.result(t).Structured["status"] != "ok" {
			t.Errorf("answer %s", line)
		}
	}
	if len(answered) != 41 || !answered["last"] {
		t.Errorf("%d answers, want 41: %v", len(answered), answered)
	}
}

// holding is a tool that holds every call until it is let go or its context ends.
type holding struct {
	begun chan struct{} // one for each call
	gone  chan struct{} // one for each call whose context ended
	let   chan struct{} // closed: calls end
	deaf  bool          // its context counts for nothing
}

func newHolding() *holding {
	return &holding{begun: make(chan struct{}, 5000), gone: make(chan struct{}, 5000), let: make(chan struct{})}
}

func (h *holding) tool(t testing.TB) catalog.Tool {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Tool{Name: "hold", Effect: catalog.Read, Simulated: true, Input: input, Do: func(ctx context.Context, _ catalog.Call) (any, error) {
		h.begun <- struct{}{}
		done := ctx.Done()
		if h.deaf {
			done = nil
		}
		select {
		case <-h.let:
			return map[string]any{"held": true}, nil
		case <-done:
			h.gone <- struct{}{}
			return nil, ctx.Err()
		}
	}}
}

// with makes the tool the only one of task decomposition.
func (h *holding) with(t testing.TB) func(*Config) {
	t.Helper()
	p := builtins(t, h.tool(t))[0]
	p.Spec.Policy = []string{"hold"}
	p.Spec.Execution = p.Spec.Policy
	p.Spec.Budget.MinPlanSteps = 1
	return func(c *Config) { c.Patterns = []Pattern{p} }
}

const holdCall = `{"goal":"x","plan":{"steps":[{"id":"a","title":"Hold","tool":"hold","args":{}}]}}`

// heldCall is such a call that is equal to no other.
func heldCall(key any) string {
	return strings.Replace(holdCall, `{`, fmt.Sprintf(`{"idempotency_key":"%v",`, key), 1)
}

// wait waits for an event that must come.
func wait(t testing.TB, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		t.Fatalf("%s: it did not happen", what)
	}
}

func noTool(context.Context, catalog.Call) (any, error) { return nil, errors.New("not to be called") }

// At the end of the input a running call gets its grace: it ends well if it ends within.
func TestGraceAtEOF(t *testing.T) {
	h := newHolding()
	c := connect(t, serving(t, h.with(t)))
	c.send(callLine(1, td, holdCall))
	wait(t, h.begun, "the call begins")
	c.in.Close()
	close(h.let)
	if r := c.next().result(t); r.Structured["status"] != "ok" {
		t.Errorf("the running call ended with %v", r)
	}
	if err := c.ended(); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// What does not end within its grace goes on without its call, and the server ends even where a tool does not care.
func TestGraceIsOver(t *testing.T) {
	for name, deaf := range map[string]bool{"tool that listens": false, "tool that does not": true} {
		t.Run(name, func(t *testing.T) {
			h := newHolding()
			h.deaf = deaf
			defer close(h.let)
			c := connect(t, serving(t, h.with(t), func(c *Config) { c.Grace = time.Millisecond }))
			c.send(callLine(1, td, holdCall))
			wait(t, h.begun, "the call begins")
			c.in.Close()
			if err := c.ended(); err != nil {
				t.Errorf("ServeStdio: %v", err)
			}
			if m, ok := <-c.lines; !ok || m.result(t).Structured["status"] != "running" || m.result(t).Structured["run_id"] == nil {
				t.Errorf("the running call was answered by %q", m.line)
			}
		})
	}
}

// A server that is told to stop takes nothing new and lets what runs end.
func TestStop(t *testing.T) {
	h := newHolding()
	var log logBuffer
	c := connect(t, serving(t, h.with(t), logging(&log)))
	c.send(callLine(1, td, holdCall))
	wait(t, h.begun, "the call begins")
	c.cancel()
	for len(log.lines(t, "stopping")) == 0 {
		runtime.Gosched()
	}
	if running := log.lines(t, "stopping")[0]["running"]; running != 1.0 {
		t.Errorf("stopping with %v running, want 1", running)
	}
	c.send(callLine(2, td, heldCall(2)))
	if m := c.next(); m.ID != 2.0 || m.Error == nil || m.Error.Code != -32000 {
		t.Errorf("a call after the stop was answered by %s", m.line)
	}
	close(h.let)
	if r := c.next().result(t); r.Structured["status"] != "ok" {
		t.Errorf("the running call ended with %v", r)
	}
	if err := c.ended(); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// A cancellation ends its run and no other.
func TestCancelRunning(t *testing.T) {
	for name, id := range map[string]any{"number": 7, "text": "seven \"7\""} {
		t.Run(name, func(t *testing.T) {
			h := newHolding()
			c := connect(t, serving(t, h.with(t)))
			c.send(callLine(id, td, holdCall), callLine("other", td, heldCall("other")))
			wait(t, h.begun, "a call begins")
			wait(t, h.begun, "the other begins")
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + mustJSON(id) + `,"reason":"x"}}`)
			wait(t, h.gone, "the tool learns of it")
			if m := c.next(); mustJSON(m.ID) != mustJSON(id) || m.result(t).Structured["stop_reason"] != "cancelled" {
				t.Errorf("the cancelled call was answered by %s", m.line)
			}
			close(h.let)
			if m := c.next(); m.ID != "other" || m.result(t).Structured["status"] != "ok" {
				t.Errorf("the other call was answered by %s", m.line)
			}
			if len(h.gone) > 0 {
				t.Error("the other call was cancelled too")
			}
		})
	}
}

// A call that waits for a worker can be cancelled as well: its tool is never called.
func TestCancelQueued(t *testing.T) {
	h := newHolding()
	var log logBuffer
	c := connect(t, serving(t, h.with(t), logging(&log)))
	for i := range workers {
		c.send(callLine(i, td, heldCall(i)))
	}
	for range workers {
		wait(t, h.begun, "the workers are busy")
	}
	c.send(callLine("queued", td, heldCall("queued")),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"queued"}}`,
		`{"jsonrpc":"2.0","id":"after","method":"tools/list"}`)
	if m := c.next(); m.ID != "after" {
		t.Fatalf("while the workers are busy, tools/list was answered by %s", m.line)
	}
	close(h.let)
	for range workers + 1 {
		if m := c.next(); (m.ID == "queued") != (m.Error != nil) {
			t.Errorf("answer %s", m.line)
		}
	}
	if len(h.begun) > 0 || len(log.lines(t, "run ended")) != workers {
		t.Errorf("the cancelled call ran: %d tools called, %d runs", len(h.begun), len(log.lines(t, "run ended")))
	}
}
