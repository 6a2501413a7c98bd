package server

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"patterngate/server/transport"
)

// A name that is not this server's could have been pointed here by any page (DNS rebinding).
func TestForgedHost(t *testing.T) {
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.Hosts = []string{"Gate.example", "other.example:8443"} })
	_, port, _ := net.SplitHostPort(h.address)
	for host, want := range map[string]int{
		h.address: 200, "localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:9": 200, "[::1]:" + port: 200, "[::1]": 200,
		"gate.example": 200, "gate.EXAMPLE:80": 200, "other.example:8443": 200,
		"other.example": 403, "other.example:844": 403, "evil.example": 403, "evil.example:" + port: 403, "localhost.evil.example": 403,
		"127.0.0.1.evil.example:" + port: 403, "localhost.": 403, "127.0.0.2:" + port: 403, "0.0.0.0:" + port: 403, "[::]": 403, "::1": 403,
		"localhost:1:2": 403, "2130706433": 403,
	} {
		for _, path := range []string{"/healthz", "/mcp"} {
			a := h.do("GET", path, head{"Host": host}, "")
			if forbidden := a.status == 403; forbidden != (want == 403) {
				t.Errorf("GET %s of %q: status %d: %s", path, host, a.status, a.body)
			}
		}
	}
	for name, text := range map[string]string{
		"none in HTTP/1.0": "GET /healthz HTTP/1.0\r\n\r\n",
		"empty":            "GET /healthz HTTP/1.1\r\nHost: \r\n\r\n",
		"an absolute form": "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		if a, _ := h.raw(text); a.status != 403 {
			t.Errorf("%s: status %d", name, a.status)
		}
	}
}

// Only pages that are named, or this server's own, may ask; null hides who does.
func TestForgedOrigin(t *testing.T) {
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.Origins = []string{"https://app.example", "vscode-webview://abc"} })
	c := h.connect(true, nil)
	for origin, want := range map[string]int{
		"https://app.example": 200, "vscode-webview://abc": 200, "http://" + h.address: 200, "https://" + h.address: 200,
		"http://app.example": 403, "https://app.example:444": 403, "https://app.example.evil": 403, "https://evil.example": 403,
		"https://APP.example": 403, "null": 403, "*": 403, "file://": 403, "http://localhost:3000": 403, "http://127.0.0.1": 403, h.address: 403,
		"ftp://" + h.address: 403, "http://" + h.address + "/": 403, "http://localhost": 403,
	} {
		c.headers = head{"Origin": origin}
		a := c.call(1, td, goodCall, "")
		if a.status != want {
			t.Errorf("from %s: status %d, want %d: %s", origin, a.status, want, a.body)
		}
		allowed, wanted := a.header.Get("Access-Control-Allow-Origin"), origin
		if want == 403 {
			wanted = ""
		}
		if allowed != wanted {
			t.Errorf("from %s: Access-Control-Allow-Origin %q, want %q", origin, allowed, wanted)
		}
	}
	for name, lines := range map[string]string{"empty": "Origin:\r\n", "twice": "Origin: https://app.example\r\nOrigin: https://app.example\r\n"} {
		if a, _ := h.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n"); a.status != 403 {
			t.Errorf("origin %s: status %d", name, a.status)
		}
	}
}

// A browser asks before it lets a page ask; it needs no token for that, and learns what it may send and read.
func TestPreflight(t *testing.T) {
	tokens, err := transport.ParseTokens([]byte("ci: 0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.Origins, c.Tokens = []string{"https://app.example"}, tokens })
	ask := head{"Origin": "https://app.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type, mcp-name"}
	want := http.Header{
		"Access-Control-Allow-Origin":  {"https://app.example"},
		"Access-Control-Allow-Methods": {"POST, GET, DELETE, OPTIONS"},
		"Access-Control-Allow-Headers": {"Authorization, Accept, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"},

		"Access-Control-Expose-Headers": {"Mcp-Session-Id, WWW-Authenticate"},
	}
	check := func(a reply, status int) {
		t.Helper()
		if a.status != status {
			t.Errorf("status %d, want %d: %s", a.status, status, a.body)
		}
		for name, values := range want {
			if a.header.Get(name) != values[0] {
				t.Errorf("%s: %q, want %q", name, a.header.Get(name), values[0])
			}
		}
	}
	check(h.do("OPTIONS", "/mcp", ask, ""), 204)
	check(h.post(modernHead(callMethod, td).with(head{"Origin": "https://app.example"}), modernCall(1, td, goodCall)), 401)
	a := h.do("OPTIONS", "/mcp", ask.with(head{"Origin": "https://evil.example"}), "")
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("a page that may not ask is told %s", name)
		}
	}
	if a.status != 403 {
		t.Errorf("its preflight has status %d", a.status)
	}
	if a := h.do("OPTIONS", "/mcp", nil, ""); a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("no page: status %d, headers %v", a.status, a.header)
	}
}
