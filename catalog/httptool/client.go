package httptool

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// These are the limits of connections.
const (
	maxIdle        = 32 // kept connections to one host
	idleTime       = time.Minute
	maxDial        = 10 * time.Second // for one address
	minDial        = 2 * time.Second  // for one address, while there are others
	maxAddresses   = 16               // of one name
	maxHeaderBytes = 256 << 10        // of a reply
)

// ClientConfig sets where a [Client] may connect. The zero ClientConfig allows the public internet only.
type ClientConfig struct {
	// Allow are networks that may be dialled although they are not public (catalog.allow_networks).
	Allow []netip.Prefix
	// Resolve returns the addresses of a host name; nil: the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Client makes and keeps the connections of all tools. It follows no redirect, reads no proxy variable, stores no
// cookie, and uses HTTP/1.1 over TLS 1.2 or newer. It is safe for concurrent use. Close it when its tools are no longer
// used.
//
// HTTP/1.1 is intended: a connection carries one request at a time. So the bytes that were written on it show whether a
// failed request may have arrived.
type Client struct {
	allow   []netip.Prefix
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	mu         sync.Mutex
	transports map[transportKey]*http.Transport
}

// transportKey is what connections must have in common so that they can be shared.
type transportKey struct {
	roots *x509.CertPool
	once  bool // each carries one request only
}

// NewClient returns a client. It does not connect yet.
func NewClient(config ClientConfig) *Client {
	c := &Client{resolve: config.Resolve, transports: map[transportKey]*http.Transport{}}
	for _, p := range config.Allow {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		c.allow = append(c.allow, p)
	}
	if c.resolve == nil {
		c.resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return c
}

// Close closes the connections that carry no request.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
	return nil
}

// transport returns the connections that trust roots (nil: the system's). With once, each connection carries one
// request. There are two reasons. A server may close a kept connection at the moment of sending, and then it is unknown
// what it read. Also, [http.Transport] resends a request that it regards as repeatable, over a new connection.
func (c *Client) transport(roots *x509.CertPool, once bool) *http.Transport {
	key := transportKey{roots, once}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.transports[key]
	if !ok {
		t = &http.Transport{
			Proxy:                  nil,
			DialContext:            c.dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			TLSHandshakeTimeout:    maxDial,
			DisableKeepAlives:      once,
			DisableCompression:     true, // this package decompresses replies, with a limit
			MaxIdleConnsPerHost:    maxIdle,
			IdleConnTimeout:        idleTime,
			MaxResponseHeaderBytes: maxHeaderBytes,
			Protocols:              new(http.Protocols),
		}
		t.Protocols.SetHTTP1(true)
		c.transports[key] = t
	}
	return t
}

// dial resolves a host once, checks each address and connects to the first allowed one that answers. It dials exactly
// the checked address, so a later change of the name's address has no effect.
func (c *Client) dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	addresses, err := c.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var faults []error
	for i, addr := range addresses {
		conn, err := dialOne(ctx, addr, port, len(addresses)-i)
		if err == nil {
			return &countedConn{Conn: conn}, nil
		}
		faults = append(faults, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(faults...)
}

// addresses returns the addresses of a host that may be dialled, or an error if there are none.
func (c *Client) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	var all []netip.Addr
	if addr, err := netip.ParseAddr(host); err == nil {
		all = append(all, addr)
	} else if all, err = c.resolve(ctx, host); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf(hostNoAddress, host)
	}
	var allowed []netip.Addr
	refused := &HostError{Host: host}
	for _, addr := range all[:min(len(all), maxAddresses)] {
		if err := c.judge(addr); err != nil {
			refused.Refused = append(refused.Refused, err)
			continue
		}
		allowed = append(allowed, addr.Unmap())
	}
	if len(allowed) == 0 {
		return nil, refused
	}
	return allowed, nil
}

// dialOne connects to one address. If others are left, it uses a share of the time.
func dialOne(ctx context.Context, addr netip.Addr, port string, left int) (net.Conn, error) {
	patience := maxDial
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline))
	}
	if left > 1 {
		patience = max(patience/time.Duration(left), min(patience, minDial))
	}
	d := net.Dialer{Timeout: patience}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), port))
}

// countedConn counts the bytes written on a connection.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

// Write implements [net.Conn].
func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}
