package transport

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
)

// Loopback guards a listener that serves only this OS user. It knows who opened each connection, if the system can
// tell, how many connections are open, and which client was too slow. [NewLoopback] makes one. It is safe for
// concurrent use.
type Loopback struct {
	late string
	own  func(remote, local netip.AddrPort) bool // nil: this system cannot tell
	open connections
}

// NewLoopback returns a guard that allows at most that many open connections. late is a whole HTTP answer for a client
// that sends the head of its request too slowly; net/http would send none.
func NewLoopback(most int, late string) *Loopback {
	l := &Loopback{late: late, open: connections{most: int64(most)}}
	if canCheckPeers {
		l.own = newPeers(os.Getuid()).own
	}
	return l
}

// Attach makes the server s guard its connections. It returns the listener that s must serve in place of from. Call it
// before s serves.
func (l *Loopback) Attach(s *http.Server, from net.Listener) net.Listener {
	s.ConnContext, s.ConnState = withHTTPConn, l.open.changed
	return httpListener{from, l.late}
}

// Own reports whether the request of ctx comes from a program of this OS user. If the system cannot tell, every program
// counts as such.
func (l *Loopback) Own(ctx context.Context) bool {
	if l.own == nil {
		return true
	}
	c := httpConnOf(ctx)
	return c != nil && c.ofOwnUser(l.own)
}

// SameUser reports whether the other end of a loopback connection belongs to this OS user. c must be a connection that
// was accepted on this machine or dialed from it, and must still be open. If the system cannot tell, every peer counts
// as this user.
func SameUser(c net.Conn) bool {
	return !canCheckPeers || newPeers(os.Getuid()).own(addrPort(c.RemoteAddr()), addrPort(c.LocalAddr()))
}
