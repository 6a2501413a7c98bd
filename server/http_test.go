package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/transport"
)

// Every handshake that mcp-go knows, over HTTP.
func TestHTTPHandshakeEra(t *testing.T) {
	h := listening(t, serving(t))
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			a := h.post(plainHead, strings.Replace(initialize, "2025-11-25", version, 1))
			var result struct{ ProtocolVersion, Instructions string }
			if err := json.Unmarshal(a.last().Result, &result); err != nil || result.ProtocolVersion != version || result.Instructions == "" {
				t.Fatalf("initialize: %v: %s", err, a.body)
			}
			c := &client{h: h, session: a.header.Get("Mcp-Session-Id"), headers: head{"MCP-Protocol-Version": version}}
			if r := c.call(1, td, goodCall, "").last().result(t); r.Structured["status"] != "ok" || r.ResultType != "" {
				t.Errorf("a call ended with %v", r)
			}
			c.headers = head{"MCP-Protocol-Version": ""} // clients of 2025-03-26 do not send it
			if a := h.post(c.head("", ""), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); strings.Count(a.body, `"inputSchema"`) != 9 {
				t.Errorf("tools/list: status %d: %.300s", a.status, a.body)
			}
		})
	}
}

func TestHTTPStatelessEra(t *testing.T) {
	h := listening(t, serving(t))
	if a := h.post(modernHead("server/discover", ""), modernLine(1, "server/discover", "")); a.status != 200 || !strings.Contains(a.body, `"2026-07-28"`) {
		t.Errorf("server/discover: status %d: %s", a.status, a.body)
	}
	if a := h.post(modernHead("tools/list", ""), modernLine(2, "tools/list", "")); strings.Count(a.body, `"inputSchema"`) != 9 {
		t.Errorf("tools/list: status %d: %.300s", a.status, a.body)
	}
	c := h.connect(true, nil)
	a := c.call(3, td, goodCall, "")
	if r := a.last().result(t); r.Structured["status"] != "ok" || r.ResultType != "complete" || a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a call ended with %v, headers %v", r, a.header)
	}
	if r := c.call(4, td, `{}`, "").last().result(t); !r.IsError || r.Structured["stop_reason"] != "invalid_request:missing:goal" {
		t.Errorf("a call without a goal ended with %v", r)
	}
}

// Whatever is answered must not be kept or guessed at, and says by what it varies.
func TestHTTPHeaders(t *testing.T) {
	h := listening(t, serving(t))
	c := h.connect(false, nil)
	for name, a := range map[string]reply{
		"result":       c.call(1, td, goodCall, ""),
		"stream":       c.call(2, td, goodCall, `"progressToken":1`),
		"notification": h.post(c.head("", ""), initialized),
		"refusal":      h.post(plainHead, "{"),
		"no page":      h.do("GET", "/", nil, ""),
		"health":       h.do("GET", "/healthz", nil, ""),
		"preflight":    h.do("OPTIONS", "/mcp", nil, ""),
		"other host":   h.do("GET", "/mcp", head{"Host": "evil.example"}, ""),
	} {
		got := [3]string{a.header.Get("Cache-Control"), a.header.Get("X-Content-Type-Options"), a.header.Get("Vary")}
		if want := [3]string{"no-store", "nosniff", "Origin"}; got != want {
			t.Errorf("%s: Cache-Control, X-Content-Type-Options, Vary are %q, want %q", name, got, want)
		}
	}
}

func TestHealth(t *testing.T) {
	h := listening(t, serving(t))
	if a := h.do("GET", "/healthz", nil, ""); a.status != 200 || a.body != `{"status":"ok","version":"1.2.3"}`+"\n" {
		t.Errorf("GET /healthz: status %d: %s", a.status, a.body)
	}
	if a := h.do("HEAD", "/healthz", nil, ""); a.status != 200 || a.body != "" {
		t.Errorf("HEAD /healthz: status %d: %s", a.status, a.body)
	}
	if a := h.do("POST", "/healthz", plainHead, "{}"); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /healthz: status %d, Allow %q", a.status, a.header.Get("Allow"))
	}
}

// Without a progress token an answer is one JSON document of known length; with one it is a stream.
func TestHTTPAnswerForms(t *testing.T) {
	inBothEras(t, func(t *testing.T, modern bool) {
		c := listening(t, serving(t)).connect(modern, nil)
		a := c.call("a", td, goodCall, "")
		if a.header.Get("Content-Type") != "application/json" || a.header.Get("Content-Length") == "" || len(a.messages) != 1 {
			t.Errorf("without a token: headers %v and %d messages", a.header, len(a.messages))
		}
		a = c.call("b", td, goodCall, `"progressToken":"p"`)
		if a.header.Get("Content-Type") != "text/event-stream" || len(a.messages) < 2 || a.last().ID != "b" {
			t.Errorf("with a token: headers %v and %d messages, the last %s", a.header, len(a.messages), a.last().line)
		}
		c.headers = head{"Accept": "application/json"} // such a client gets no progress, and its answer all the same
		a = c.call("c", td, goodCall, `"progressToken":"p"`)
		if a.header.Get("Content-Type") != "application/json" || len(a.messages) != 1 || a.last().ID != "c" {
			t.Errorf("without taking a stream: headers %v and %d messages", a.header, len(a.messages))
		}
	})
}

// The run's line in the log says who asked, by which client and era.
func TestHTTPLog(t *testing.T) {
	tokens, err := transport.ParseTokens([]byte("ci: 0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	const bearer = "Bearer 0123456789abcdef0123456789abcdef"
	for name, tt := range map[string]struct {
		modern    bool
		tokens    transport.Tokens
		headers   head
		principal string
		client    string
	}{
		"2025-11-25":         {false, transport.Tokens{}, nil, localPrincipal(), "legacy/1"},
		"2026-07-28":         {true, transport.Tokens{}, nil, localPrincipal(), "modern/2"},
		"2025-11-25, tokens": {false, tokens, head{"Authorization": bearer}, "token:ci", "legacy/1"},
		"2026-07-28, tokens": {true, tokens, head{"Authorization": bearer}, "token:ci", "modern/2"},
	} {
		t.Run(name, func(t *testing.T) {
			var log logBuffer
			h := listening(t, serving(t, logging(&log)), func(c *transport.HTTPConfig) { c.Tokens = tt.tokens })
			h.connect(tt.modern, tt.headers).call(1, td, goodCall, "")
			h.stop()
			runs, began, ended := log.lines(t, "run ended"), log.lines(t, "serving"), log.lines(t, "stopping")
			if len(runs) != 1 || len(began) != 1 || len(ended) != 1 {
				t.Fatalf("the log: %s", log.String())
			}
			got := map[string]any{"principal": runs[0]["principal"], "client": runs[0]["client"], "era": runs[0]["era"]}
			want := map[string]any{"principal": tt.principal, "client": tt.client, "era": name[:10]}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("run ended (-want +got):\n%s", diff)
			}
			if began[0]["transport"] != "http" || began[0]["address"] != h.address || began[0]["tools"] != 9.0 {
				t.Errorf("serving: %v, want transport http, address %s, 9 tools", began[0], h.address)
			}
			if ended[0]["running"] != 0.0 || ended[0]["waiting"] != 0.0 {
				t.Errorf("stopping: %v", ended[0])
			}
			if strings.Contains(log.String(), bearer[7:]) {
				t.Error("the log holds a token")
			}
		})
	}
}

// An address that others can reach is not served without tokens, nor is what cannot be had.
func TestListenHTTPRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tt := range map[string]struct {
		config transport.HTTPConfig
		want   string
	}{
		"nothing":         {transport.HTTPConfig{}, `listen "": want host:port`},
		"no port":         {transport.HTTPConfig{Listen: "127.0.0.1"}, `listen "127.0.0.1": want host:port`},
		"all addresses":   {transport.HTTPConfig{Listen: "0.0.0.0:0"}, "listen 0.0.0.0:0 is not loopback: tokens are needed"},
		"no host":         {transport.HTTPConfig{Listen: ":0"}, "listen :0 is not loopback: tokens are needed"},
		"every IPv6":      {transport.HTTPConfig{Listen: "[::]:0"}, "listen [::]:0 is not loopback: tokens are needed"},
		"a wild origin":   {transport.HTTPConfig{Listen: "127.0.0.1:0", Origins: []string{"*"}}, `origin "*": want scheme://host`},
		"the null origin": {transport.HTTPConfig{Listen: "127.0.0.1:0", Origins: []string{"null"}}, `origin "null": want scheme://host`},
		"a host":          {transport.HTTPConfig{Listen: "127.0.0.1:0", Hosts: []string{"http://x"}}, `host "http://x": want a name or address`},
		"below nothing":   {transport.HTTPConfig{Listen: "127.0.0.1:0", BodyBytes: -1}, "want numbers above 0"},
		"taken":           {transport.HTTPConfig{Listen: taken.Addr().String()}, "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // what is served after all ends at once
			if err := serving(t).ListenHTTP(ctx, tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ListenHTTP(%+v): %v, want %s", tt.config, err, tt.want)
			}
		})
	}
}

// The address is told when it is open, and the server ends with its context.
func TestListenHTTP(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not tell who asks over loopback")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var health *http.Response
	var err error
	asked := make(chan struct{})
	served := serving(t).ListenHTTP(ctx, transport.HTTPConfig{Listen: "localhost:0", Bound: func(a net.Addr) {
		go func() {
			defer close(asked)
			defer cancel()
			health, err = http.Get("http://" + a.String() + "/healthz")
		}()
	}})
	wait(t, asked, "the health is told")
	if served != nil || err != nil || health.StatusCode != 200 {
		t.Errorf("ListenHTTP: %v; GET /healthz: %v, %v", served, health, err)
	}
	if err := serving(t).ListenHTTP(ctx, transport.HTTPConfig{Listen: "127.0.0.1:0"}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("ListenHTTP with a context that ended: %v", err)
	}
}
