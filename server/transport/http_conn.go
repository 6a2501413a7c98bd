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

// httpListener gives connections that know their peer and whether their client was too slow.
type httpListener struct {
	net.Listener
	late string // the answer to one that was
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

// httpConn is one connection. net/http closes it without a word when the head of a request takes too long; this one
// tells the client before.
type httpConn struct {
	net.Conn
	local  string      // the address that the client connected to
	late   string      // what it is told that took too long
	inHead atomic.Bool // what is read belongs to the head of a request
	begun  atomic.Bool // some of which came

	once sync.Once
	own  bool // the peer is a socket of the same OS user
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
		_, _ = c.Write([]byte(c.late)) // who does not read it is closed all the same
	}
	return n, err
}

// changed follows what net/http does with the connection.
func (c *httpConn) changed(state http.ConnState) {
	switch state {
	case http.StateActive: // a head was read
		c.inHead.Store(false)
	case http.StateIdle:
		c.begun.Store(false)
		c.inHead.Store(true)
	}
}

// CloseWrite ends our side only, so that a client that still sends can read why it was refused.
func (c *httpConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// ofOwnUser asks once in the connection's life whose socket its other end is.
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

// connections counts what is open; its changed is an [http.Server]'s ConnState.
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
