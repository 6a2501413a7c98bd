package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/progress"
	"patterngate/server/transport"
)

// At the end running calls have their grace; nothing new begins, and new callers get an error that says so.
func TestShutdownWaitsForCalls(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		var log logBuffer
		held := newHolding()
		h := listening(t, serving(t, held.with(t), logging(&log), func(c *Config) { c.Grace = 2 * patience }))
		c := h.connect(modern, nil)
		answer, cancel := c.begin(1, td, holdCall, "")
		defer cancel()
		wait(t, held.begun, "the call begins")
		open := h.dial() // a connection from before
		in := bufio.NewReader(open)
		ask := func(text string) reply {
			t.Helper()
			if _, err := io.WriteString(open, text); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			return readReply(response, string(body))
		}
		const health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
		ask(health)
		h.cancel()
		until(t, "the health is told", func() bool { return ask(health).status == 503 })
		if a := ask(health); a.body != `{"status":"stopping","version":"1.2.3"}`+"\n" {
			t.Errorf("the health: %s", a.body)
		}
		text := "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
		for name, value := range c.head(callMethod, td) {
			if value != "" {
				text += name + ": " + value + "\r\n"
			}
		}
		line := c.line(2, td, holdCall, "")
		a := ask(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", text, len(line), line))
		if code, message := a.errorOf(t); a.status != 503 || code != -32000 || a.header.Get("Retry-After") != "1" || message != "busy: the server is stopping; nothing ran" {
			t.Errorf("a new call: status %d: %s", a.status, a.body)
		}
		if c, err := net.Dial("tcp", h.address); err == nil {
			c.Close()
			t.Error("connections are still taken")
		}
		close(held.let)
		if r := got(t, answer).last().result(t); r.Structured["status"] != "ok" {
			t.Errorf("the running call ended with %v", r)
		}
		h.ended()
		if lines := log.lines(t, "stopping"); len(lines) != 1 || lines[0]["running"] != 1.0 {
			t.Errorf("the log: %v", lines)
		}
		if runs := log.lines(t, "run ended"); len(runs) != 1 {
			t.Errorf("%d runs, want 1", len(runs))
		}
	})
}

// until tries until something holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(began) > patience {
			t.Fatalf("%s: it did not happen", what)
		}
	}
}

// What goes on after the grace does so without its call, which is answered so; a tool that does not care is left behind.
func TestShutdownGraceIsOver(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		for name, deaf := range map[string]bool{"tool that listens": false, "tool that does not": true} {
			t.Run(name, func(t *testing.T) {
				held := newHolding()
				held.deaf = deaf
				defer close(held.let)
				h := listening(t, serving(t, held.with(t), func(c *Config) { c.Grace = -1 }))
				c := h.connect(modern, nil)
				document, cancel := c.begin("x", td, holdCall, "")
				defer cancel()
				stream, cancel2 := c.begin("y", td, heldCall("y"), `"progressToken":1`)
				defer cancel2()
				wait(t, held.begun, "one call begins")
				wait(t, held.begun, "another call begins")
				h.stop()
				for id, answer := range map[string]<-chan reply{"x": document, "y": stream} {
					if a := got(t, answer); a.status != 200 || a.last().ID != id || a.last().result(t).Structured["status"] != "running" {
						t.Errorf("the call was answered by status %d: %s", a.status, a.body)
					}
				}
			})
		}
	})
}

// Streams, which last as long as their clients like, end at once and do not hold the end up.
func TestShutdownEndsListenStreams(t *testing.T) {
	h := listening(t, serving(t, func(c *Config) { c.Grace = 2 * patience }))
	legacy := h.open(h.connect(false, nil))
	response, err := h.request(t.Context(), "POST", "/mcp", modernHead(listenMethod, ""), modernLine(5, listenMethod, `"notifications":{"toolsListChanged":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	modern := bufio.NewReader(response.Body)
	nextEvent(t, modern)
	h.cancel()
	for name, stream := range map[string]io.Reader{"2025-11-25": legacy, "2026-07-28": modern} {
		if text, err := io.ReadAll(stream); err != nil || strings.TrimSpace(string(text)) != "" {
			t.Errorf("%s: the stream ended with %q, %v", name, text, err)
		}
	}
	h.ended()
}

// An idle connection does not hold the end up, nor does one whose client asks nothing.
func TestShutdownWithOpenConnections(t *testing.T) {
	h := listening(t, serving(t, func(c *Config) { c.Grace = 2 * patience }))
	c := h.dial()
	fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	h.dial()
	half := h.dial()
	fmt.Fprint(half, "GET /healthz HTTP/1.1\r\n")
	h.stop()
}

// hugeAnswer is a tool whose answer no buffer of the machine holds.
func hugeAnswer(s *Server) {
	text := strings.Repeat("x", 8<<20)
	s.mcp.AddTool(mcp.NewTool("huge"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if s.progressOf(ctx, req.Params.Meta) != nil {
			s.notify(ctx, progress.Note{Token: "p", Value: 1, Message: "begun"})
		}
		return mcp.NewToolResultText(text), nil
	})
}

// A client that does not read its answer is dropped, and nobody else waits for it.
func TestClientThatDoesNotRead(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		for name, meta := range map[string]string{"document": "", "stream": `"progressToken":"p"`} {
			t.Run(name, func(t *testing.T) {
				s := serving(t, func(c *Config) { c.Grace = 2 * patience })
				hugeAnswer(s)
				h := listening(t, s, limiting(func(l *transport.Limits) { l.Stall = 50 * time.Millisecond }))
				c := h.connect(modern, nil)
				deaf := h.dial()
				_ = deaf.SetReadBuffer(16 << 10)
				text := "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
				for name, value := range c.head(callMethod, "huge") {
					if value != "" {
						text += name + ": " + value + "\r\n"
					}
				}
				line := c.line(1, "huge", `{}`, meta)
				fmt.Fprintf(deaf, "%sContent-Length: %d\r\n\r\n%s", text, len(line), line)
				until(t, "the answer is written", func() bool { return s.transports.Running() > 0 })
				if r := h.connect(modern, nil).call(2, td, goodCall, "").last().result(t); r.Structured["status"] != "ok" {
					t.Errorf("a call beside it ended with %v", r)
				}
				h.stop() // within patience, which is less than the grace: the deaf one was dropped
				if n, err := io.Copy(io.Discard, deaf); n >= 8<<20 {
					t.Errorf("all %d bytes got out (%v)", n, err)
				}
			})
		}
	})
}

// Nor does a stream of notifications wait for such a client.
func TestStreamThatIsNotRead(t *testing.T) {
	s := serving(t, func(c *Config) { c.Grace = 2 * patience })
	h := listening(t, s, limiting(func(l *transport.Limits) { l.Stall, l.Streams = 50*time.Millisecond, 1 }))
	c, other := h.connect(false, nil), h.connect(false, nil)
	deaf := h.dial()
	_ = deaf.SetReadBuffer(16 << 10)
	text := "GET /mcp HTTP/1.1\r\nHost: localhost\r\n"
	for name, value := range c.head("", "") {
		text += name + ": " + value + "\r\n"
	}
	fmt.Fprint(deaf, text+"\r\n")
	if _, err := deaf.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	big := map[string]any{"text": strings.Repeat("x", 1<<20)}
	until(t, "the stream ends", func() bool {
		s.mcp.SendNotificationToAllClients("notifications/big", big)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, err := h.request(ctx, http.MethodGet, "/mcp", other.head("", ""), "")
		if err != nil { // it had the place, and did not read fast enough either
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK // there is room for one stream
	})
	if r := h.connect(false, nil).call(1, td, goodCall, "").last().result(t); r.Structured["status"] != "ok" {
		t.Errorf("a call of another client ended with %v", r)
	}
}
