package server

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/transport"
)

// A real connection is of this user; one that another user made is refused, whatever it asks.
func TestForeignUser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system has no table of sockets")
	}
	h := listening(t, serving(t), func(c *transport.HTTPConfig) { c.OwnSocket = nil })
	if a := h.connect(true, nil).call(1, td, goodCall, ""); a.status != 200 {
		t.Errorf("the user who started it: status %d: %s", a.status, a.body)
	}
	stranger := listening(t, serving(t), func(c *transport.HTTPConfig) {
		c.OwnSocket = func(netip.AddrPort, netip.AddrPort) bool { return false }
	})
	for name, a := range map[string]reply{
		"a call":    stranger.post(modernHead(callMethod, td), modernCall(1, td, goodCall)),
		"an answer": stranger.do("GET", "/healthz", nil, ""),
		"any page":  stranger.do("GET", "/", nil, ""),
	} {
		if _, message := a.errorOf(t); a.status != 403 || !strings.Contains(message, "set http.token_file") {
			t.Errorf("%s of another user: status %d: %s", name, a.status, a.body)
		}
	}
}
