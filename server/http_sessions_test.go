package server

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"patterngate/server/transport"
)

// twoTokens lets two principals in.
func twoTokens(t testing.TB) (change func(*transport.HTTPConfig), a, b head) {
	t.Helper()
	tokens, err := transport.ParseTokens([]byte("a: " + bearerA + "\nb: " + bearerB))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *transport.HTTPConfig) { c.Tokens = tokens }, head{"Authorization": "Bearer " + bearerA}, head{"Authorization": "Bearer " + bearerB}
}

// To another principal a session does not exist, whatever is done with it.
func TestForeignSession(t *testing.T) {
	change, a, b := twoTokens(t)
	h := listening(t, serving(t), change)
	own := h.connect(false, a)
	foreign := *own
	foreign.headers = b
	for name, answer := range map[string]reply{
		"call":         foreign.call(1, td, goodCall, ""),
		"notification": h.post(foreign.head("", ""), initialized),
		"an answer":    h.post(foreign.head("", ""), `{"jsonrpc":"2.0","id":1,"result":{}}`),
		"stream":       h.do("GET", "/mcp", foreign.head("", ""), ""),
		"end":          h.do("DELETE", "/mcp", foreign.head("", ""), ""),
	} {
		unknown := h.post(foreign.head("", "").with(head{"Mcp-Session-Id": "0123"}), initialized)
		if answer.status != 404 || unknown.status != 404 {
			t.Errorf("%s: status %d, and %d in an unknown session", name, answer.status, unknown.status)
		}
	}
	if answer := own.call(1, td, goodCall, ""); answer.status != 200 {
		t.Errorf("its own principal: status %d: %s", answer.status, answer.body)
	}
}

// A session that its client ended is gone, its stream too; a call under way ends as it would have.
func TestEndedSession(t *testing.T) {
	held := newHolding()
	h := listening(t, serving(t, held.with(t)))
	c := h.connect(false, nil)
	stream := h.open(c)
	answer, cancel := c.begin(1, td, holdCall, "")
	defer cancel()
	wait(t, held.begun, "the call begins")
	if a := h.do("DELETE", "/mcp", c.head("", ""), ""); a.status != 200 || a.body != "" {
		t.Errorf("DELETE: status %d: %s", a.status, a.body)
	}
	if text, err := io.ReadAll(stream); err != nil || len(text) > 0 {
		t.Errorf("its stream ended with %q, %v", text, err)
	}
	for name, a := range map[string]reply{
		"a call": c.call(2, td, holdCall, ""), "a stream": h.do("GET", "/mcp", c.head("", ""), ""), "an end": h.do("DELETE", "/mcp", c.head("", ""), ""),
	} {
		if a.status != 404 {
			t.Errorf("%s in it: status %d: %s", name, a.status, a.body)
		}
	}
	close(held.let)
	if r := got(t, answer).last().result(t); r.Structured["status"] != "ok" {
		t.Errorf("the call under way ended with %v", r)
	}
}

// open opens the stream of a client's session.
func (h *web) open(c *client) io.Reader {
	h.t.Helper()
	response, err := h.request(h.t.Context(), "GET", "/mcp", c.head("", ""), "")
	if err != nil || response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatalf("GET: %v, %v", response, err)
	}
	h.t.Cleanup(func() { response.Body.Close() })
	return response.Body
}

// What the server tells everybody reaches the stream of a session and a subscription.
func TestStreams(t *testing.T) {
	s := serving(t)
	h := listening(t, s)
	legacy := bufio.NewReader(h.open(h.connect(false, nil)))
	response, err := h.request(t.Context(), "POST", "/mcp", modernHead(listenMethod, ""), modernLine(5, listenMethod, `"notifications":{"toolsListChanged":true}`))
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("listen: %v, %v", response, err)
	}
	defer response.Body.Close()
	modern := bufio.NewReader(response.Body)
	if m := nextEvent(t, modern); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("listen was answered by %s", m.line)
	}
	s.mcp.SendNotificationToAllClients("notifications/tools/list_changed", nil)
	for name, stream := range map[string]*bufio.Reader{"2025-11-25": legacy, "2026-07-28": modern} {
		if m := nextEvent(t, stream); m.Method != "notifications/tools/list_changed" {
			t.Errorf("%s: %s", name, m.line)
		}
	}
}

// nextEvent is the next event of a stream.
func nextEvent(t *testing.T, stream *bufio.Reader) message {
	t.Helper()
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return parseMessage(strings.TrimSpace(data))
		}
	}
}

// A principal that has all its sessions loses the one that was idle longest; when all are in use there is no new one.
func TestSessionBounds(t *testing.T) {
	change, a, b := twoTokens(t)
	held := newHolding()
	h := listening(t, serving(t, held.with(t)), change, limiting(func(l *transport.Limits) { l.Sessions, l.SessionsEach = 3, 2 }))
	inUse := func(c *client) bool { return h.post(c.head("", ""), initialized).status == 202 }
	first, second := h.connect(false, a), h.connect(false, a)
	inUse(first) // the second was idle longer now
	third := h.connect(false, a)
	if !inUse(first) || inUse(second) || !inUse(third) {
		t.Errorf("of three sessions of two the first lives: %v, the second: %v, the third: %v; want all but the second", inUse(first), inUse(second), inUse(third))
	}
	other := h.connect(false, b)
	h.connect(false, b) // all three are taken: the one that was idle longest of all makes way
	if inUse(first) || !inUse(third) || !inUse(other) {
		t.Errorf("of four sessions of three the oldest lives: %v, the others: %v, %v", inUse(first), inUse(third), inUse(other))
	}

	_, cancel := third.begin(1, td, holdCall, "")
	defer cancel()
	wait(t, held.begun, "a call in one session")
	h.open(h.connect(false, a))
	answer := h.post(plainHead.with(a), initialize)
	if code, message := answer.errorOf(t); answer.status != 503 || answer.header.Get("Retry-After") != "1" || code != -32000 || !strings.Contains(message, "too many sessions") {
		t.Errorf("a session more than can be in use: status %d: %s", answer.status, answer.body)
	}
	close(held.let)
}

// Ids of requests under way are not used again in their session; in another they may be.
func TestHTTPIDsInUse(t *testing.T) {
	held := newHolding()
	h := listening(t, serving(t, held.with(t)))
	c := h.connect(false, nil)
	answer, cancel := c.begin(7, td, holdCall, "")
	defer cancel()
	wait(t, held.begun, "the call begins")
	a := c.call(7, td, holdCall, "")
	if code, message := a.errorOf(t); a.status != 400 || code != -32600 || a.last().ID != nil || !strings.Contains(message, "not answered yet") {
		t.Errorf("the id again: status %d: %s", a.status, a.body)
	}
	if a := h.post(c.head("", ""), `{"jsonrpc":"2.0","id":"7","method":"ping"}`); a.status != 200 || a.last().ID != "7" {
		t.Errorf("a text of the same digits: status %d: %s", a.status, a.body)
	}
	other, cancelOther := h.connect(false, nil).begin(7, td, heldCall("other"), "")
	defer cancelOther()
	wait(t, held.begun, "a call of the same id in another session")
	close(held.let)
	for _, answers := range []<-chan reply{answer, other} {
		if r := got(t, answers).last().result(t); r.Structured["status"] != "ok" {
			t.Errorf("a call ended with %v", r)
		}
	}
	if r := c.call(7, td, holdCall, "").last().result(t); r.Structured["status"] != "ok" {
		t.Errorf("the id after its answer: %v", r)
	}
}

// Streams are bounded, for a principal and in all, and a place is free when one ends.
func TestStreamBounds(t *testing.T) {
	change, a, b := twoTokens(t)
	h := listening(t, serving(t), change, limiting(func(l *transport.Limits) { l.Streams, l.StreamsEach = 2, 1 }))
	c := h.connect(false, a)
	stream := h.open(c)
	refused := func(name string, answer reply) {
		t.Helper()
		if code, _ := answer.errorOf(t); answer.status != 503 || code != -32000 || answer.header.Get("Retry-After") != "1" {
			t.Errorf("%s: status %d: %s", name, answer.status, answer.body)
		}
	}
	listen := func(headers head) reply {
		return h.post(modernHead(listenMethod, "").with(headers), modernLine(1, listenMethod, `"notifications":{"toolsListChanged":true}`))
	}
	refused("a second stream", h.do("GET", "/mcp", c.head("", ""), ""))
	refused("a subscription beside it", listen(a))
	h.open(h.connect(false, b))
	if a := h.do("DELETE", "/mcp", c.head("", ""), ""); a.status != 200 {
		t.Fatalf("DELETE: status %d", a.status)
	}
	_, _ = io.ReadAll(stream)
	refused("a subscription of another that has one", listen(b))
	if answer := h.post(modernHead(listenMethod, "").with(a), modernLine(1, listenMethod, `"notifications":{}`)); answer.status != 200 {
		t.Errorf("a subscription to nothing when a place is free: status %d: %s", answer.status, answer.body)
	}
	long := modernLine(1, listenMethod, `"notifications":{"resourceSubscriptions":["`+strings.Repeat("x", (8<<10))+`"]}`)
	if answer := h.post(modernHead(listenMethod, "").with(a), long); answer.status != 400 || answer.code() != -32602 {
		t.Errorf("a long subscription: status %d: %s", answer.status, answer.body)
	}
}
