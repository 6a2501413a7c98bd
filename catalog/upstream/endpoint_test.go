//go:build unix

package upstream_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
)

// reach makes a server of an endpoint.
func reach(t testing.TB, e upstream.EndpointConfig, c upstream.ServerConfig) *upstream.Server {
	t.Helper()
	c.Name, c.Who, c.Endpoint = "there", me, &e
	s := upstream.NewServer(c)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// replaceable serves what it is given at the moment.
type replaceable struct {
	*httptest.Server
	now atomic.Pointer[http.Handler]
}

func serveReplaceable(t testing.TB, first http.Handler) *replaceable {
	t.Helper()
	r := &replaceable{}
	r.now.Store(&first)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { (*r.now.Load()).ServeHTTP(w, q) }))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

// mcpServer has a tool written, and those that are named.
func mcpServer(names ...string) *server.MCPServer {
	s := server.NewMCPServer("http", "1", server.WithToolCapabilities(true))
	for _, name := range append(names, "written") {
		s.AddTool(mcp.NewToolWithRawSchema(name, "Tests.", []byte(`{"type":"object"}`)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		})
	}
	return s
}

// Over HTTP a session that the server has forgotten is replaced without anybody noticing, in both eras; tools that change
// are listed again.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for name, options := range eraOptions {
		t.Run(name, func(t *testing.T) {
			told := make(chan string, 10)
			h := serveReplaceable(t, server.NewStreamableHTTPServer(mcpServer(), options...))
			s := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{Changed: func(string) { told <- "" }})
			for range 2 {
				if got := call(t, s, "written", map[string]any{"a": 1.0}); !reflect.DeepEqual(got, map[string]any{"a": 1.0}) {
					t.Errorf("got %v", got)
				}
			}
			next := mcpServer("more")
			var again http.Handler = server.NewStreamableHTTPServer(next, options...)
			h.now.Store(&again)
			h.CloseClientConnections()
			until(t, "a call goes to the new process", func() bool { // one on a connection that was just cut has no answer
				got, err := s.Call(within(t, long), "written", map[string]any{"a": 2.0}, nil)
				return err == nil && reflect.DeepEqual(got, map[string]any{"a": 2.0})
			})
			<-told // of the new server's tool
			until(t, "the stream of notifications stands", func() bool {
				next.AddTool(mcp.NewToolWithRawSchema("last", "Tests.", []byte(`{"type":"object"}`)), nil)
				next.DeleteTools("more")
				last, _ := s.Present("last")
				more, _ := s.Present("more") // it may have been listed in between
				return last.Tool() == "last" && more.Tool() != "more"
			})
			_, err := s.Call(within(t, long), "more", nil, nil)
			wantFault(t, err, catalog.NotSent, false)
		})
	}
}

// answering answers a call by hand and everything else by a real server.
func answering(t testing.TB, do http.HandlerFunc, options ...server.StreamableHTTPOption) *replaceable {
	t.Helper()
	real := server.NewStreamableHTTPServer(mcpServer(), options...)
	return serveReplaceable(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"tools/call"`) {
			do(w, r)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		real.ServeHTTP(w, r)
	}))
}

// What HTTP answers is told by what is known of the call then.
func TestEndpointFaults(t *testing.T) {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	body := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		}
	}
	cut := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, `data: {"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	for name, tt := range map[string]struct {
		do    http.HandlerFunc
		kind  catalog.FaultKind
		again bool
		after time.Duration
	}{
		"429":                 {status(429), catalog.Declined, true, 0},
		"429, later":          {status(429, "Retry-After", "7"), catalog.Declined, true, 7 * time.Second},
		"503":                 {status(503), catalog.NoAnswer, true, 0},
		"503, later":          {status(503, "Retry-After", "1"), catalog.NoAnswer, true, time.Second},
		"503, much later":     {status(503, "Retry-After", "999999999"), catalog.NoAnswer, true, time.Hour},
		"503, nonsense":       {status(503, "Retry-After", "-1"), catalog.NoAnswer, true, 0},
		"500":                 {status(500), catalog.NoAnswer, true, 0},
		"408":                 {status(408), catalog.TimedOut, true, 0},
		"408, later":          {status(408, "Retry-After", "3"), catalog.TimedOut, true, 3 * time.Second},
		"400":                 {status(400), catalog.Declined, false, 0},
		"401":                 {status(401), catalog.Declined, false, 0},
		"404":                 {status(404), catalog.Declined, false, 0},
		"redirect elsewhere":  {status(307, "Location", "http://192.0.2.1/"), catalog.NoAnswer, false, 0},
		"connection lost":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, catalog.NoAnswer, true, 0},
		"cut":                 {cut("application/json"), catalog.Unreadable, false, 0},
		"stream cut":          {cut("text/event-stream"), catalog.NoAnswer, true, 0},
		"no JSON":             {body("application/json", "<html>"), catalog.Unreadable, false, 0},
		"another type":        {body("text/html", "<html>"), catalog.Unreadable, false, 0},
		"nothing":             {status(202), catalog.Unreadable, false, 0},
		"too long":            {body("application/json", `{"x":"`+strings.Repeat("x", 9<<20)), catalog.Unreadable, false, 0},
		"too long, a stream":  {body("text/event-stream", strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\""+strings.Repeat("x", 1<<20)+"\"}\n\n", 20)), catalog.Unreadable, false, 0},
		"no result":           {body("application/json", `{"jsonrpc":"2.0","id":"x","result":7}`), catalog.Unreadable, false, 0},
		"neither":             {body("application/json", `{"jsonrpc":"2.0","id":"x"}`), catalog.Unreadable, false, 0},
		"an error":            {body("application/json", `{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"no"}}`), catalog.Declined, false, 0},
		"an unknown tool":     {body("application/json", `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}`), catalog.Declined, false, 0},
		"it broke inside":     {body("application/json", `{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"panic recovered in pay tool handler"}}`), catalog.NoAnswer, true, 0},
		"its own time-out":    {body("application/json", `{"jsonrpc":"2.0","id":"x","error":{"code":-32001,"message":"request timed out"}}`), catalog.NoAnswer, true, 0},
		"its own code":        {body("application/json", `{"jsonrpc":"2.0","id":"x","error":{"code":7,"message":"half done"}}`), catalog.NoAnswer, true, 0},
		"input is wanted":     {body("application/json", `{"jsonrpc":"2.0","id":"x","result":{"resultType":"input_required"}}`), catalog.Unreadable, false, 0},
		"a number beyond all": {body("application/json", `{"jsonrpc":"2.0","id":"x","result":{"structuredContent":{"n":1e999}}}`), catalog.Unreadable, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := answering(t, tt.do)
			s := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{})
			_, err := s.Call(within(t, long), "written", nil, nil)
			wantFault(t, err, tt.kind, tt.again)
			if fault, ok := errors.AsType[*catalog.Fault](err); ok && fault.After != tt.after {
				t.Errorf("After = %v, want %v", fault.After, tt.after)
			}
		})
	}
}

// A slow server is cut off by the call's own time; one that nobody hears of is not sent to.
func TestEndpointGone(t *testing.T) {
	h := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{})
	if err := s.Ensure(within(t, long)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Call(within(t, 100*time.Millisecond), "written", nil, nil)
	wantFault(t, err, catalog.TimedOut, true)
	_ = h.Listener.Close()
	h.CloseClientConnections()
	until(t, "the end is noticed", func() bool { // the first call may still find a connection that was just cut
		_, err := s.Call(within(t, long), "written", nil, nil)
		fault, ok := errors.AsType[*catalog.Fault](err)
		return ok && fault.Kind == catalog.NotSent && fault.Again
	})
}

// Headers go with every request, their secrets are read again after a 401, and the request is repeated once.
func TestEndpointSecrets(t *testing.T) {
	var asked atomic.Int64
	behind := server.NewStreamableHTTPServer(mcpServer())
	h := serveReplaceable(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer second-key" {
			asked.Add(1)
		}
		if r.Header.Get("Authorization") != "Bearer second-key" || r.Header.Get("X-Team") != "blue" {
			http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	headers := func(s catalog.Secret) []upstream.Header {
		return []upstream.Header{{Name: "Authorization", Prefix: "Bearer ", Secret: s}, {Name: "X-Team", Text: "blue"}}
	}
	replaced := &secret{texts: []string{"first-key", "second-key"}}
	s := reach(t, upstream.EndpointConfig{URL: h.URL, Headers: headers(replaced)}, upstream.ServerConfig{})
	call(t, s, "written", nil)
	if replaced.forgotten != 1 || replaced.reads != 2 {
		t.Errorf("forgotten %d times, read %d times; want once and twice", replaced.forgotten, replaced.reads)
	}
	asked.Store(0)
	wrong := &secret{texts: []string{"wrong-key"}}
	s = reach(t, upstream.EndpointConfig{URL: h.URL, Headers: headers(wrong)}, upstream.ServerConfig{})
	_, err := s.Call(within(t, long), "written", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	if text := fmt.Sprint(err); strings.Contains(text, "wrong-key") || !strings.Contains(text, "401 Unauthorized: who are you, Bearer ***") {
		t.Errorf("the error says %s", text)
	}
	if n := asked.Load(); n != 4 { // discover and initialize, each repeated once
		t.Errorf("%d requests, want 4", n)
	}
	s = reach(t, upstream.EndpointConfig{URL: h.URL, Headers: headers(&secret{err: errors.New("env:T is not set")})}, upstream.ServerConfig{})
	asked.Store(0)
	_, err = s.Call(within(t, long), "written", nil, nil)
	if wantFault(t, err, catalog.NotSent, false); !strings.Contains(err.Error(), "header Authorization: env:T is not set") || asked.Load() != 0 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// Addresses are judged when they are dialled, whatever name stands in the URL, and no proxy is asked.
func TestEndpointAddresses(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1")
	t.Setenv("http_proxy", "http://192.0.2.1:1")
	h := serveReplaceable(t, server.NewStreamableHTTPServer(mcpServer()))
	_, port, err := net.SplitHostPort(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		t.Run(host, func(t *testing.T) {
			var seen atomic.Pointer[netip.Addr]
			refuse := func(a netip.Addr) error {
				if a.Is4() {
					seen.Store(&a)
				}
				return fmt.Errorf("%v is private", a)
			}
			s := reach(t, upstream.EndpointConfig{URL: "http://" + host + ":" + port, Judge: refuse}, upstream.ServerConfig{})
			_, err := s.Call(within(t, long), "written", nil, nil)
			wantFault(t, err, catalog.NotSent, false)
			if a := seen.Load(); a == nil || a.String() != "127.0.0.1" || !strings.Contains(err.Error(), "is private") {
				t.Errorf("judged was %v: %v", a, err)
			}
		})
	}
	s := reach(t, upstream.EndpointConfig{URL: h.URL, Judge: func(netip.Addr) error { return nil }}, upstream.ServerConfig{})
	call(t, s, "written", nil)
}

// Certificates are those of the config.
func TestEndpointRoots(t *testing.T) {
	h := httptest.NewTLSServer(server.NewStreamableHTTPServer(mcpServer()))
	t.Cleanup(h.Close)
	roots := x509.NewCertPool()
	roots.AddCert(h.Certificate())
	call(t, reach(t, upstream.EndpointConfig{URL: h.URL, Roots: roots}, upstream.ServerConfig{}), "written", nil)
	_, err := reach(t, upstream.EndpointConfig{URL: h.URL}, upstream.ServerConfig{}).Call(within(t, long), "written", nil, nil)
	wantFault(t, err, catalog.NotSent, false)
	_, err = reach(t, upstream.EndpointConfig{URL: "https://me:s3cr3t@%"}, upstream.ServerConfig{}).Call(within(t, long), "written", nil, nil)
	if wantFault(t, err, catalog.NotSent, false); strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("the error says %v", err)
	}
}
