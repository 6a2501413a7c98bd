package transport

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// idleHost is a host without runs.
type idleHost struct{}

func (idleHost) Tools() []mcp.Tool                        { return nil }
func (idleHost) Going() int                               { return 0 }
func (idleHost) Waiting() int                             { return 0 }
func (idleHost) Fault(_ context.Context, err error) error { return err }

func (idleHost) Grace(landed <-chan struct{}) { await(landed, deadline) }

// site is an HTTP endpoint over a server whose only tool, "hold", says that it has begun and answers when it is let.
type site struct {
	t          testing.TB
	e          *endpoint
	address    string
	client     *http.Client
	begun, let chan struct{}
}

func newSite(t testing.TB, c HTTPConfig) *site {
	t.Helper()
	h := &site{t: t, begun: make(chan struct{}, 1), let: make(chan struct{}), client: &http.Client{Transport: &http.Transport{}}}
	served := mcpserver.NewMCPServer("bare", "1", mcpserver.WithToolCapabilities(true))
	served.AddTool(mcp.NewTool("hold"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		h.begun <- struct{}{}
		<-h.let
		return mcp.NewToolResultText("held"), nil
	})
	s := New(Config{MCP: served, Host: idleHost{}, Log: slog.New(slog.DiscardHandler), Principal: "local", Detached: context.Canceled})
	s.Limit(10)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Listen, h.address = l.Addr().String(), l.Addr().String()
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	h.e = s.newEndpoint(c)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.e.serve(ctx, l) }()
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

// request makes a request of a session; "" is none. Its response is still to be read.
func (h *site) request(ctx context.Context, method, session, body string) *http.Response {
	h.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.address+"/mcp", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	response, err := h.client.Do(r)
	if err != nil {
		h.t.Fatalf("%s: %v", method, err)
	}
	return response
}

// ask makes a request and returns the status and the head of its response, and the body.
func (h *site) ask(method, session, body string) (int, http.Header, string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	response := h.request(ctx, method, session, body)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// begin begins a session and returns its id.
func (h *site) begin() string {
	h.t.Helper()
	status, header, body := h.ask(http.MethodPost, "", helloExample)
	id := header.Get("Mcp-Session-Id")
	if status != http.StatusOK || id == "" {
		h.t.Fatalf("initialize: status %d, session %q: %s", status, id, body)
	}
	if !h.inUse(id) {
		h.t.Fatal("the new session is not there")
	}
	return id
}

// inUse reports whether there is a session of an id.
func (h *site) inUse(id string) bool {
	h.t.Helper()
	status, _, _ := h.ask(http.MethodPost, id, readyExample)
	return status == http.StatusAccepted
}

// came waits for an event.
func came(t testing.TB, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(deadline):
		t.Fatalf("%s: it did not happen", what)
	}
}
