package server

import (
	"strings"
	"testing"

	"patterngate/server/transport"
)

// Without a token, or with a wrong one, the answer is what RFC 6750 wants, before anything is read.
func TestBearer(t *testing.T) {
	tokens, err := transport.ParseTokens([]byte("ci: " + bearerA + "\nlaptop: " + bearerB))
	if err != nil {
		t.Fatal(err)
	}
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.Tokens = tokens })
	missing, wrong := `Bearer realm="patterngate"`, `Bearer realm="patterngate", error="invalid_token"`
	for value, want := range map[string]string{
		"Bearer " + bearerA: "", "bearer " + bearerB: "", "BEARER  " + bearerA: "",
		"": missing, "Basic dTpw": missing, "Basic " + bearerA: missing, bearerA: missing,
		"Bearer": wrong, "Bearer ": wrong, "Bearer " + bearerA + "x": wrong, "Bearer " + bearerA[:31]: wrong, "Bearer ci": wrong, "Bearer ci: " + bearerA: wrong,
		"Bearer " + strings.Repeat("x", 10_000): wrong, "Bearer " + bearerA + " " + bearerB: wrong, "Bearer " + bearerA + "," + bearerB: wrong,
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			headers := modernHead(callMethod, td).with(head{"Authorization": value})
			body := modernCall(1, td, goodCall)
			if method != "POST" {
				headers, body = head{"Authorization": value, "Mcp-Session-Id": "x"}, ""
			}
			a := h.do(method, "/mcp", headers, body)
			if got := a.header.Get("WWW-Authenticate"); got != want || (a.status == 401) != (want != "") {
				t.Errorf("%s with %.60q: status %d, WWW-Authenticate %q, want %q: %s", method, value, a.status, got, want, a.body)
			}
		}
	}
	ask := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
	if _, goesOn := h.raw(ask + "\r\n"); goesOn {
		t.Error("a stranger's connection goes on")
	}
	own := strings.Replace(ask, "/healthz", "/mcp", 1) + "Authorization: Bearer " + bearerA + "\r\n\r\n"
	if _, goesOn := h.raw(own); !goesOn {
		t.Error("the connection of who has a token ends")
	}
	twice := "Authorization: Bearer " + bearerA + "\r\n"
	if a, _ := h.raw("GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + twice + twice + "\r\n"); a.status != 401 || a.header.Get("WWW-Authenticate") != wrong {
		t.Errorf("two tokens: status %d", a.status)
	}
	if a := h.do("GET", "/healthz", nil, ""); a.status != 200 {
		t.Errorf("the health is not told: status %d", a.status)
	}
}
