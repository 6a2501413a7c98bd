package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// httpListener returns connections that know their peer, and whether the client was too slow.
type httpListener struct {
	net.Listener
	late string // the answer to a client that was too slow
}

// Accept implements [net.Listener].
func (l httpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &httpConn{Conn: c, local: c.LocalAddr().String(), late: l.late}
	conn.inHead.Store(true)
	return conn, nil
}

// httpConn is one connection. net/http closes a connection silently when the head of a request takes too long. This one
// answers the client first.
type httpConn struct {
	net.Conn
	local  string      // the address that the client connected to
	late   string      // the answer if the head takes too long
	inHead atomic.Bool // the head of a request is being read
	begun  atomic.Bool // some of the head arrived

	once sync.Once
	own  bool // the peer belongs to this OS user
}

// Read implements [net.Conn].
func (c *httpConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.inHead.Load() {
		return n, err
	}
	if n > 0 {
		c.begun.Store(true)
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) && c.begun.Swap(false) {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte(c.late)) // the connection is closed in any case
	}
	return n, err
}

// changed follows the state that net/http gives the connection.
func (c *httpConn) changed(state http.ConnState) {
	switch state {
	case http.StateActive: // a head was read
		c.inHead.Store(false)
	case http.StateIdle:
		c.begun.Store(false)
		c.inHead.Store(true)
	}
}

// CloseWrite closes only our side, so a client that still sends can read why it was refused.
func (c *httpConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// ofOwnUser reports whether the peer belongs to this OS user. It asks own once per connection.
func (c *httpConn) ofOwnUser(own func(remote, local netip.AddrPort) bool) bool {
	c.once.Do(func() { c.own = own(addrPort(c.RemoteAddr()), addrPort(c.LocalAddr())) })
	return c.own
}

func addrPort(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

type httpConnKey struct{}

func withHTTPConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, httpConnKey{}, c)
}

func httpConnOf(ctx context.Context) *httpConn {
	c, _ := ctx.Value(httpConnKey{}).(*httpConn)
	return c
}

const lateHead = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 92\r\n" +
	"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nVary: Origin\r\n\r\n" +
	`{"jsonrpc":"2.0","error":{"code":-32600,"message":"the head of the request took too long"}}` + "\n"

// connections counts the open connections and closes those over the limit. Its method changed is the ConnState of an
// [http.Server].
type connections struct {
	most int64
	open atomic.Int64
}

func (n *connections) changed(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*httpConn)
	if !ok {
		return
	}
	c.changed(state)
	switch state {
	case http.StateNew:
		if n.open.Add(1) > n.most {
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		n.open.Add(-1)
	}
}
