package transport

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
)

// Loopback is what a listener for this OS user alone knows of its connections: whose they are, where the system tells, how
// many there are, and which took too long. [NewLoopback] makes one; it is safe for concurrent use.
type Loopback struct {
	late string
	own  func(remote, local netip.AddrPort) bool // nil: this system does not tell
	open connections
}

// NewLoopback returns a guard of at most so many connections at once. late is an HTTP answer, whole, for a client that took
// too long for the head of its request: net/http would say nothing.
func NewLoopback(most int, late string) *Loopback {
	l := &Loopback{late: late, open: connections{most: int64(most)}}
	if canCheckPeers {
		l.own = newPeers(os.Getuid()).own
	}
	return l
}

// Attach has a server's connections guarded: it is to serve the listener that is returned. It is called before.
func (l *Loopback) Attach(s *http.Server, from net.Listener) net.Listener {
	s.ConnContext, s.ConnState = withHTTPConn, l.open.changed
	return httpListener{from, l.late}
}

// Own reports whether a request comes from a program of this OS user, by its context. Where the system does not tell, all
// are taken for that.
func (l *Loopback) Own(ctx context.Context) bool {
	if l.own == nil {
		return true
	}
	c := httpConnOf(ctx)
	return c != nil && c.ofOwnUser(l.own)
}

// SameUser reports whether the other end of a loopback connection belongs to this OS user: of one that was accepted there,
// as long as it is open. Where the system does not tell, it is taken for that.
func SameUser(c net.Conn) bool {
	return !canCheckPeers || newPeers(os.Getuid()).own(addrPort(c.RemoteAddr()), addrPort(c.LocalAddr()))
}
