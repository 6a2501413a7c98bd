package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"patterngate/catalog/upstream"
)

var me = upstream.Identity{Name: "test", Version: "1"}

// httpServer is a server over HTTP that keeps what it was asked.
type httpServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string      // method and Authorization of each request
	over  chan struct{} // closed when the call of hangs was cancelled
}

// eraOptions are servers that speak one era only, or both.
var eraOptions = map[string][]server.StreamableHTTPOption{
	"both":      nil,
	"handshake": {server.WithStateful(true), server.WithStreamableHTTPProtocolVersions(mcp.LegacyProtocolVersions()...)},
}

func serveHTTP(t *testing.T, options ...server.StreamableHTTPOption) *httpServer {
	t.Helper()
	h := &httpServer{over: make(chan struct{})}
	s := server.NewMCPServer("http", "1", server.WithPaginationLimit(2))
	add := func(name string, do server.ToolHandlerFunc) {
		s.AddTool(mcp.NewToolWithRawSchema(name, "Tests.", []byte(`{"type":"object"}`)), do)
	}
	add("written", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
	})
	add("hangs", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "total": 3,
		})
		if err != nil {
			return nil, err
		}
		<-ctx.Done()
		close(h.over)
		return nil, ctx.Err()
	})
	for _, name := range []string{"a", "b", "c"} {
		add(name, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name), nil
		})
	}
	mcpHandler := server.NewStreamableHTTPServer(s, options...)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, r.Method+" "+r.Header.Get("Authorization"))
		h.mu.Unlock()
		mcpHandler.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *httpServer) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

func dial(t *testing.T, address, token string) (*upstream.Client, error) {
	t.Helper()
	e, err := upstream.ParseEndpoint(address, token)
	if err != nil {
		t.Fatal(err)
	}
	return upstream.Dial(t.Context(), e, me)
}

// Over HTTP a client lists, calls and sends the token with every request, with and without a handshake.
func TestHTTP(t *testing.T) {
	for name, options := range eraOptions {
		t.Run(name, func(t *testing.T) {
			h := serveHTTP(t, options...)
			c, err := dial(t, h.URL, "secret")
			if err != nil {
				t.Fatal(err)
			}
			tools, err := c.Tools(t.Context())
			if err != nil || len(tools) != 5 {
				t.Errorf("Tools() = %d tools, %v; want 5, from all pages", len(tools), err)
			}
			const args = `{"n":1e20,"n":12345678901234567890,"s":"\ud800"}`
			result, err := c.CallRaw(t.Context(), "written", []byte(args), nil)
			if err != nil || result.Text() != args {
				t.Errorf("the server got %s, %v; want %s", result.Text(), err, args)
			}
			_, err = c.CallRaw(t.Context(), "absent", []byte(`{}`), nil)
			if refused, ok := errors.AsType[*upstream.RPCError](err); !ok || !refused.InvalidParams() || !strings.Contains(refused.Message, "absent") {
				t.Errorf("a tool that is not there: %v, want invalid params that name it", err)
			}
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			asked := h.requests()
			for _, request := range asked {
				if !strings.HasSuffix(request, " Bearer secret") {
					t.Errorf("a request without the token: %q", request)
				}
			}
			if ended := slices.Contains(asked, "DELETE Bearer secret"); ended != (name == "handshake") {
				t.Errorf("the session was ended: %v, want that of a server that has one: %q", ended, asked)
			}
		})
	}
}

// A call that is given up is cancelled at the server in each era, and control comes back.
func TestHTTPGivenUp(t *testing.T) {
	for name, options := range eraOptions {
		t.Run(name, func(t *testing.T) {
			h := serveHTTP(t, options...)
			c, err := dial(t, h.URL, "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			line := make(chan string, 1)
			_, err = c.CallRaw(ctx, "hangs", []byte(`{}`), func(l string) {
				line <- l
				cancel()
			})
			if got := <-line; got != "1 of 3" || !errors.Is(err, context.Canceled) {
				t.Errorf("progress %q and %v, want 1 of 3 and %v", got, err, context.Canceled)
			}
			select {
			case <-h.over:
			case <-t.Context().Done():
			}
		})
	}
}

// What HTTP refuses is told by status and in the server's own words.
func TestHTTPRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"no token":       {401, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no token"}}`, "401 Unauthorized: no token"},
		"foreign host":   {403, "host not allowed\nmore", "403 Forbidden: host not allowed"},
		"no endpoint":    {404, "<html><body>Not here</body></html>", "404 Not Found"},
		"busy":           {503, "", "503 Service Unavailable"},
		"other JSON":     {500, `{"detail":"x"}`, "500 Internal Server Error"},
		"long and bytes": {400, "\xff" + strings.Repeat("é", 400), "400 Bad Request: \ufffd" + strings.Repeat("é", 148)},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer s.Close()
			_, err := dial(t, s.URL, "")
			refused, ok := errors.AsType[*upstream.StatusError](err)
			if !ok || refused.Status != tt.status || refused.Error() != tt.want {
				t.Errorf("Dial = %v, want status %d: %q", err, tt.status, tt.want)
			}
		})
	}
}

// Neither token nor arguments follow a redirect to another origin; at the same one a redirect that repeats the request
// is followed.
func TestHTTPRedirects(t *testing.T) {
	target := serveHTTP(t)
	for name, tt := range map[string]struct {
		status int
		to     func(self string) string
		want   string // of the error; empty: it works
	}{
		"same origin":              {307, func(self string) string { return self + "/mcp" }, ""},
		"another port":             {307, func(string) string { return target.URL }, "another origin"},
		"another scheme":           {308, func(self string) string { return strings.Replace(self, "http:", "https:", 1) }, "another origin"},
		"a GET instead":            {302, func(self string) string { return self + "/mcp" }, "drops the request"},
		"round and round":          {307, func(self string) string { return self }, "more than 5 times"},
		"another name of the host": {307, func(self string) string { return strings.Replace(self, "127.0.0.1", "localhost", 1) }, "another origin"},
	} {
		t.Run(name, func(t *testing.T) {
			behind := server.NewStreamableHTTPServer(server.NewMCPServer("behind", "1"))
			var self *httptest.Server
			mux := http.NewServeMux()
			mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, tt.to(self.URL), tt.status) })
			mux.Handle("/mcp", behind)
			self = httptest.NewServer(mux)
			defer self.Close()
			c, err := dial(t, self.URL, "secret")
			switch {
			case err == nil && tt.want == "":
				_ = c.Close()
			case err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want):
				t.Errorf("Dial = %v, want %q", err, tt.want)
			}
		})
	}
	if asked := target.requests(); len(asked) > 0 {
		t.Errorf("the other origin was asked: %q", asked)
	}
}

// A server that never stops is not listened to for ever.
func TestHTTPEndless(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ kind, line, want string }{
		"one JSON answer": {"application/json", strings.Repeat("x", 1<<16), "a message of more than"},
		"one event":       {"text/event-stream", strings.Repeat("x", 1<<16), "a message of more than"},
		"many events":     {"text/event-stream", "data: " + strings.Repeat("x", 1<<16) + "\n\n", "answer is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				_, _ = io.WriteString(w, `"`)
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, tt.line); err != nil {
						return
					}
				}
			}))
			defer s.Close()
			if _, err := dial(t, s.URL, ""); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Dial = %v, want %q", err, tt.want)
			}
		})
	}
}

// A URL is that of a server; a token is never shown on the way or in an error, nor printed.
func TestParseEndpoint(t *testing.T) {
	for name, tt := range map[string]struct{ url, token, want string }{
		"loopback":           {"http://127.0.0.1:8765/mcp", "s3cr3t", ""},
		"loopback by name":   {"http://LOCALHOST/mcp", "s3cr3t", ""},
		"loopback, IPv6":     {"http://[::1]:1/mcp", "s3cr3t", ""},
		"TLS":                {"https://gate.example.com/mcp", "s3cr3t", ""},
		"plain, no token":    {"http://gate.example.com/mcp", "", ""},
		"plain":              {"http://gate.example.com/mcp", "s3cr3t", "use https"},
		"looks like this":    {"http://127.0.0.1.example.com/mcp", "s3cr3t", "use https"},
		"localhost of other": {"http://localhost.example.com/mcp", "s3cr3t", "use https"},
		"no scheme":          {"127.0.0.1:8765/mcp", "", "is not the URL of a server"},
		"name and port":      {"localhost:8765/mcp", "", "is not the URL of a server"},
		"another scheme":     {"ftp://127.0.0.1/mcp", "", "is not the URL of a server"},
		"no host":            {"http:///mcp", "", "is not the URL of a server"},
		"empty":              {"", "", "is not the URL of a server"},
		"a user":             {"https://me:s3cr3t@gate.example.com/mcp", "", "has a user"},
		"a blank":            {"https://gate.example.com/mcp", "s3cr3t \n", "at byte 6"},
		"a line more":        {"https://gate.example.com/mcp", "s3cr3t\r\nX-Evil: 1", "at byte 6"},
		"beyond ASCII":       {"https://gate.example.com/mcp", "s3cr3té", "at byte 6"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := upstream.ParseEndpoint(tt.url, tt.token)
			switch {
			case err == nil && tt.want != "", err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("ParseEndpoint(%q) = %v, want %q", tt.url, err, tt.want)
			}
			if printed := fmt.Sprintf("%v %+v %#v %v", e, e, e, err); strings.Contains(printed, "s3cr3t") {
				t.Errorf("the token is printed: %s", printed)
			}
		})
	}
	if _, err := upstream.Dial(t.Context(), upstream.Endpoint{}, me); err == nil {
		t.Error("the zero endpoint was dialled")
	}
}
