package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"patterngate/server/transport"
)

// tight is a time-out that tests wait for; what has to come in time comes at once.
const tight = 150 * time.Millisecond

// postHead is the head of a POST as text, up to what says how long its body is.
func (h *web) postHead(more string) string {
	text := "POST /mcp HTTP/1.1\r\nHost: " + h.address + "\r\n"
	for name, value := range modernHead(callMethod, td) {
		text += name + ": " + value + "\r\n"
	}
	return text + more + "\r\n\r\n"
}

// A body that is announced as too long is refused before any of it is sent, and the connection ends.
func TestBodyLimitBeforeReading(t *testing.T) {
	h := listening(t, serving(t), limiting(func(l *transport.Limits) { l.Linger = tight }))
	for name, more := range map[string]string{
		"announced":      fmt.Sprintf("Content-Length: %d", (4<<20)+1),
		"far beyond":     "Content-Length: 1000000000000",
		"asked for":      fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue", (4<<20)+1),
		"with a promise": fmt.Sprintf("Content-Length: %d\r\nConnection: keep-alive", (4<<20)+1),
	} {
		a, goesOn := h.raw(h.postHead(more))
		if _, message := a.errorOf(t); a.status != 413 || goesOn || message != "a request has at most 4194304 bytes" {
			t.Errorf("%s: status %d, the connection goes on: %v: %s", name, a.status, goesOn, a.body)
		}
	}
}

// A client that goes on sending a refused body gets the answer and an orderly end, not a connection reset under it.
func TestRefusedBodyIsTakenOffTheLine(t *testing.T) {
	const length = 900_000
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.BodyBytes = 200_000 }, limiting(func(l *transport.Limits) { l.Linger = patience }))
	c := h.dial()
	fmt.Fprint(c, h.postHead(fmt.Sprintf("Content-Length: %d", length)))
	in := bufio.NewReader(c)
	response, err := http.ReadResponse(in, nil)
	if err != nil || response.StatusCode != 413 || !response.Close {
		t.Fatalf("%v, %v; want status 413 and the end", response, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(tight))
	if _, err := in.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before the rest is sent: %v; want a connection that is open", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	if _, err := io.WriteString(c, strings.Repeat(" ", length)); err != nil {
		t.Errorf("sending the rest: %v", err)
	}
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the connection does not end in order: %v", err)
	}
}

// A body in chunks is read up to the limit, and no further.
func TestChunkedBodyLimit(t *testing.T) {
	t.Parallel()
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.BodyBytes = 100_000 })
	c := h.dial()
	sent := make(chan int64, 1)
	go func() {
		n, _ := io.WriteString(c, h.postHead("Transfer-Encoding: chunked"))
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 10_000, strings.Repeat(" ", 10_000))
		for range 10_000 { // a hundred megabytes, if they are taken
			m, err := io.WriteString(c, chunk)
			if n += m; err != nil {
				break
			}
		}
		sent <- int64(n)
	}()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != 413 || !response.Close {
		t.Fatalf("%v, %v; want status 413 and the end", response, err)
	}
	select {
	case n := <-sent:
		if n > 50<<20 { // what the machine's own buffers hold, and not all
			t.Errorf("%d bytes were taken", n)
		}
	case <-time.After(patience):
		t.Error("the connection does not end")
	}
}

// Bodies within the limit are taken, however they come.
func TestBodiesWithinLimit(t *testing.T) {
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.BodyBytes = 200_000 },
		limiting(func(l *transport.Limits) { l.Bodies = 1 })) // so that a body which counts as under way when it is not has the next one refused
	const firstRead = 4 << 10 // is read at once
	body := modernCall(1, td, goodCall)
	for _, length := range []int{len(body), firstRead - 1, firstRead, firstRead + 1, 2 * firstRead, 2*firstRead + 1, 50_000, 199_999, 200_000} {
		padded := body + strings.Repeat(" ", length-len(body))
		if a := h.post(modernHead(callMethod, td), padded); a.status != 200 {
			t.Errorf("%d bytes: status %d: %s", length, a.status, a.body)
		}
		chunked := h.postHead("Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", length, padded)
		if a, _ := h.raw(chunked); a.status != 200 {
			t.Errorf("%d bytes in a chunk: status %d: %s", length, a.status, a.body)
		}
	}
	for _, length := range []int{200_001, 300_000} {
		if a := h.post(modernHead(callMethod, td), body+strings.Repeat(" ", length-len(body))); a.status != 413 {
			t.Errorf("%d bytes: status %d", length, a.status)
		}
	}
	if a := h.post(modernHead(callMethod, td), body); a.status != 200 {
		t.Errorf("bytes count as under way when nothing is: status %d: %s", a.status, a.body)
	}
}

// A body that ends before its length is no request.
func TestBodyCut(t *testing.T) {
	h := listening(t, serving(t))
	c := h.dial()
	fmt.Fprint(c, h.postHead("Content-Length: 1000")+modernCall(1, td, goodCall))
	_ = c.CloseWrite()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != 400 {
		t.Errorf("%v, %v; want status 400", response, err)
	}
}

// The head of a request that takes too long is told so, at the first request of a connection and at a later one. A
// connection that asks nothing is ended without a word.
func TestSlowHeaders(t *testing.T) {
	h := listening(t, serving(t), limiting(func(l *transport.Limits) { l.Header = tight }))
	a, goesOn := h.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	if _, message := a.errorOf(t); a.status != 408 || goesOn || !strings.Contains(message, "took too long") {
		t.Errorf("status %d, the connection goes on: %v: %s", a.status, goesOn, a.body)
	}
	c := h.dial()
	in := bufio.NewReader(c)
	for _, next := range []struct {
		text   string
		status int
	}{{"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200}, {"GET /healthz HTTP/1.1\r\n", 408}} {
		fmt.Fprint(c, next.text)
		response, err := http.ReadResponse(in, nil)
		if err != nil || response.StatusCode != next.status {
			t.Fatalf("%q: %v, %v; want status %d", next.text, response, err, next.status)
		}
		_, _ = io.Copy(io.Discard, response.Body)
	}
	if text, err := io.ReadAll(h.dial()); err != nil || len(text) > 0 {
		t.Errorf("a connection that asks nothing is told %q, %v", text, err)
	}
}

// So is a body, before and after the first of it came; and a refused one that is not sent holds nothing.
func TestSlowBody(t *testing.T) {
	h := listening(t, serving(t), limiting(func(l *transport.Limits) { l.Body = tight }))
	for _, begun := range []string{"", `{"jsonrpc"`} {
		a, goesOn := h.raw(h.postHead("Content-Length: 500") + begun)
		if _, message := a.errorOf(t); a.status != 408 || goesOn || message != "the body took longer than 150ms" {
			t.Errorf("after %q: status %d, the connection goes on: %v: %s", begun, a.status, goesOn, a.body)
		}
	}
	c := h.dial()
	fmt.Fprint(c, "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 500\r\n\r\n")
	if text, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 403 ") {
		t.Errorf("a refused request without its body: %.100q, %v", text, err)
	}
}

// A connection is not taken for slow because a call took long, or an answer was waited for.
func TestLongCallIsNotSlow(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		held := newHolding()
		h := listening(t, serving(t, held.with(t)), limiting(func(l *transport.Limits) {
			l.Header, l.Body, l.Stall = tight, tight, tight
		}))
		c := h.connect(modern, nil)
		answer, cancel := c.begin(1, td, holdCall, "")
		defer cancel()
		wait(t, held.begun, "the call begins")
		a, _ := h.raw("GET /healthz HTTP/1.1\r\n") // takes as long as a head may, and more than all other times
		if a.status != 408 {
			t.Errorf("status %d", a.status)
		}
		close(held.let)
		if r := got(t, answer).last().result(t); r.Structured["status"] != "ok" {
			t.Errorf("the call ended with %v", r)
		}
	})
}

// More connections than there may be are ended at once; those before them are served.
func TestConnectionLimit(t *testing.T) {
	h := listening(t, serving(t), limiting(func(l *transport.Limits) { l.Conns = 3 }))
	const ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	first := h.dial()
	for _, c := range []io.ReadWriter{first, h.dial(), h.dial(), first} {
		fmt.Fprint(c, ask)
		if response, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || response.StatusCode != 200 {
			t.Fatalf("a connection within the limit: %v, %v", response, err)
		}
	}
	if text, err := io.ReadAll(h.dial()); len(text) > 0 {
		t.Errorf("one beyond the limit is told %q, %v", text, err)
	}
	first.Close()
	for began := time.Now(); ; { // the server learns of the end in its own time
		c := h.dial()
		fmt.Fprint(c, ask)
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatal("a place that is free again is not given")
		}
	}
}

// Long requests together are bounded; a single one may always be.
func TestBodiesTogether(t *testing.T) {
	held := newHolding()
	h := listening(t, serving(t, held.with(t)), limiting(func(l *transport.Limits) { l.Bodies = 10_000 }))
	c := h.connect(true, nil)
	long := c.line(1, td, holdCall, "") + strings.Repeat(" ", 20_000)
	answers := make(chan reply, 1)
	go func() { answers <- h.post(c.head(callMethod, td), long) }()
	wait(t, held.begun, "a long request is carried out")
	a := h.post(c.head(callMethod, td), c.line(2, td, holdCall, "")+strings.Repeat(" ", 5000))
	if code, message := a.errorOf(t); a.status != 503 || a.header.Get("Retry-After") != "1" || code != -32000 || !strings.Contains(message, "nothing ran") {
		t.Errorf("one more beside it: status %d: %s", a.status, a.body)
	}
	close(held.let)
	if a := got(t, answers); a.status != 200 {
		t.Errorf("the long request: status %d: %s", a.status, a.body)
	}
	if a := c.call(3, td, holdCall, ""); a.status != 200 {
		t.Errorf("a request after it: status %d: %s", a.status, a.body)
	}
}

// So is what they take in memory: texts that blow up when they are read are not read side by side.
func TestHeavyBodiesTogether(t *testing.T) {
	held := newHolding()
	h := listening(t, serving(t, held.with(t)), limiting(func(l *transport.Limits) { l.Weights = 100_000 }))
	c := h.connect(true, nil)
	heavy := strings.Repeat("[],", 2000)
	answers := make(chan reply, 1)
	go func() { answers <- h.post(c.head(callMethod, td), c.line(1, td, holdCall, `"more":[`+heavy+`0]`)) }()
	wait(t, held.begun, "a heavy request is carried out")
	a := h.post(c.head(callMethod, td), c.line(2, td, holdCall, `"more":[`+heavy+`0]`))
	if code, _ := a.errorOf(t); a.status != 503 || a.header.Get("Retry-After") != "1" || code != -32000 {
		t.Errorf("one more beside it: status %d: %s", a.status, a.body)
	}
	close(held.let)
	if a := got(t, answers); a.status != 200 {
		t.Errorf("the heavy request: status %d: %s", a.status, a.body)
	}
	if a := c.call(3, td, holdCall, ""); a.status != 200 {
		t.Errorf("a request after it: status %d: %s", a.status, a.body)
	}
}

// Thousands of requests of no use leave nothing behind.
func TestJunkLeavesMemoryFlat(t *testing.T) {
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.BodyBytes = 10_000 })
	c := h.connect(false, nil)
	good := callLine(1, td, `{}`)
	junk := []func() reply{
		func() reply { return h.post(plainHead, "{") },
		func() reply { return h.post(plainHead, "["+good+"]") },
		func() reply { return h.post(plainHead, good) },
		func() reply { return h.post(plainHead.with(head{"Mcp-Session-Id": "x"}), good) },
		func() reply { return h.post(plainHead.with(head{"Origin": "null"}), good) },
		func() reply { return h.post(plainHead.with(head{"Host": "evil.example"}), good) },
		func() reply { return h.post(c.head("", ""), callLine("x", "rm", `{}`)) },
		func() reply { return h.post(c.head("", ""), `{"jsonrpc":"2.0","id":1,"method":"burn"}`) },
		func() reply {
			return h.post(c.head("", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
		func() reply { return h.post(modernHead(callMethod, "rm"), modernCall(1, "rm", `{}`)) },
		func() reply { return h.post(modernHead("x", "y"), "{}") },
		func() reply { return h.post(plainHead, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`) },
		func() reply { return h.do("DELETE", "/mcp", head{"Mcp-Session-Id": "x"}, "") },
		func() reply {
			return h.do("GET", "/mcp", head{"Mcp-Session-Id": "x", "Accept": "text/event-stream"}, "")
		},
		func() reply { return h.do("PATCH", "/x", nil, "") },
	}
	run := func(n int) (uint64, int) {
		for i := range n {
			junk[i%len(junk)]()
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	n := 3000
	if os.Getenv("CI") != "" {
		n = 9000
	}
	before, goroutines := run(1000)
	after, more := run(n)
	if grown := int64(after) - int64(before); grown > 1<<20 || more > goroutines+5 {
		t.Errorf("after %d more the heap has grown by %d KiB, and there are %d goroutines where there were %d", n, grown>>10, more, goroutines)
	}
}
