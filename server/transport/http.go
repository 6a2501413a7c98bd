package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// HTTPConfig says where MCP is served over HTTP, who may connect, and within which limits. Only Listen is required.
type HTTPConfig struct {
	Listen string // host:port; port 0 is a free one
	// Tokens are the bearer tokens of the clients that may connect. Without tokens only sockets of the same OS user
	// may, over loopback and on Linux.
	Tokens      Tokens
	Origins     []string       // origins of the web pages that may connect, as browsers write them
	Hosts       []string       // names of this server, besides its own address and the names of this machine
	BodyBytes   int            // the longest body of a request; 0: 4 MiB
	SessionIdle time.Duration  // a session ends after that time without a request; 0: 2 h
	Bound       func(net.Addr) // called with the address once it is open; may be nil

	// OwnSocket reports whether the socket at remote, which is connected to local, belongs to the OS user of this
	// process. It decides who may connect if there are no tokens. nil: the table of sockets of the system decides.
	OwnSocket func(remote, local netip.AddrPort) bool
	// Limits bound what clients can make the server wait for and keep. The zero Limits mean [DefaultLimits].
	Limits Limits
}

// Limits bound what the clients of an HTTP server can make it wait for and keep. All fields are required.
type Limits struct {
	Header, Body time.Duration // for a client to send the head of a request, and its body
	Idle         time.Duration // for a client to send the next request of a connection
	Stall        time.Duration // for a client to read what is written
	Linger       time.Duration // for a client to see that its long body was refused
	Settle       time.Duration // between a call's last notification and its answer

	Conns                  int // open connections
	Sessions, SessionsEach int // in all and of one requester; a new session ends the one that was idle longest
	Streams, StreamsEach   int // streams of GET and subscriptions/listen, in all and of one requester
	Bodies                 int // bytes of the bodies under way; a single body is always allowed
	Weights                int // bytes of memory that the bodies take as decoded JSON; a single body is always allowed
	Headers                int // bytes of the head of one request
}

// DefaultLimits returns the limits that hold if an [HTTPConfig] sets none.
func DefaultLimits() Limits {
	return Limits{
		Header: 5 * time.Second, Body: 30 * time.Second, Idle: 2 * time.Minute, Stall: 10 * time.Second, Linger: 500 * time.Millisecond, Settle: 2 * time.Millisecond,
		Conns: 8192, Sessions: 8000, SessionsEach: 2000, Streams: 1000, StreamsEach: 250, Bodies: maxFlying, Weights: 256 << 20, Headers: 32 << 10,
	}
}

const (
	defaultBodyBytes   = maxLine
	defaultSessionIdle = 2 * time.Hour
)

// check fills in the defaults and returns every fault.
func (c *HTTPConfig) check() error {
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits()
	}
	if c.BodyBytes == 0 {
		c.BodyBytes = defaultBodyBytes
	}
	if c.SessionIdle == 0 {
		c.SessionIdle = defaultSessionIdle
	}
	var faults []error
	switch {
	case !IsListen(c.Listen):
		faults = append(faults, fmt.Errorf(listenForm, c.Listen))
	case c.Tokens.Len() == 0:
		faults = append(faults, c.tokenless(IsLoopback(c.Listen)))
	}
	for _, origin := range c.Origins {
		if !IsOrigin(origin) {
			faults = append(faults, fmt.Errorf(originForm, origin))
		}
	}
	for _, host := range c.Hosts {
		if !IsHost(host) {
			faults = append(faults, fmt.Errorf(hostForm, host))
		}
	}
	if c.BodyBytes < 0 || c.SessionIdle < 0 {
		faults = append(faults, errors.New(positiveLimits))
	}
	return errors.Join(faults...)
}

// tokenless returns why an address may not be served without tokens, or nil.
func (c *HTTPConfig) tokenless(loopback bool) error {
	switch {
	case !loopback:
		return fmt.Errorf(tokensNeeded, c.Listen)
	case !canCheckPeers && c.OwnSocket == nil:
		return errors.New(tokensNeededHere)
	}
	return nil
}

// endpoint serves MCP over HTTP. It checks each request in this order before mcp-go gets it:
//
//	Host, Origin ──▶ peer or token ──▶ method, media types ──▶ body ──▶ frame ──▶ session ──▶ slot ──▶ mcp-go
//	    403             403, 401         405, 406, 415        413, 408    400        404       503
type endpoint struct {
	server   *Server
	config   HTTPConfig
	limits   Limits
	guard    guard
	own      func(remote, local netip.AddrPort) bool // reports whether the peer is this OS user; nil: clients need tokens
	mcp      *mcpserver.StreamableHTTPServer
	sessions *sessions
	streams  quota
	bodies   atomic.Int64 // bytes of the bodies under way
	weights  atomic.Int64 // bytes of memory that they take as decoded JSON
	open     connections
	traffic  traffic
	ending   context.Context // ends when the streams must end
}

// ListenHTTP serves MCP over HTTP at c.Listen, at the path /mcp, in both protocol eras, until ctx ends. Then it refuses
// new requests and ends all streams. It waits until all calls are answered and the runs that continue without a call
// are left, at most for the grace period. Runs that continue after that do so without their calls.
//
// It returns an error if the configuration has a fault or the address is not available.
func (s *Server) ListenHTTP(ctx context.Context, c HTTPConfig) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("server: http: %w", err)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("server: http: %w", err)
	}
	defer l.Close()
	return s.Serve(ctx, l, c)
}

// Serve is [Server.ListenHTTP] on a listener that is already open. c.Listen is one of the addresses by which clients
// may call this server. Serve closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener, c HTTPConfig) error {
	defer l.Close()
	if err := c.check(); err != nil {
		return fmt.Errorf("server: http: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); c.Tokens.Len() == 0 && (!ok || !tcp.IP.IsLoopback()) {
		return fmt.Errorf("server: http: %w", c.tokenless(false))
	}
	if c.Bound != nil {
		c.Bound(l.Addr())
	}
	return s.newEndpoint(c).serve(ctx, l)
}

func (s *Server) newEndpoint(c HTTPConfig) *endpoint {
	e := &endpoint{
		server: s, config: c, limits: c.Limits, guard: newGuard(c),
		streams: quota{most: c.Limits.Streams, mostEach: c.Limits.StreamsEach},
		open:    connections{most: int64(c.Limits.Conns)},
		traffic: traffic{landed: make(chan struct{})},
	}
	if c.Tokens.Len() == 0 {
		if e.own = c.OwnSocket; e.own == nil {
			e.own = newPeers(os.Getuid()).own
		}
	}
	e.mcp = mcpserver.NewStreamableHTTPServer(s.config.MCP,
		mcpserver.WithSessionIdManager(sessionIDs{}), mcpserver.WithStreamableHTTPLogger(s.config.Log))
	e.sessions = newSessions(c.Limits, c.SessionIdle, e.forget)
	return e
}

// serve accepts connections until ctx ends.
func (e *endpoint) serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx)) // for the requests
	defer cancel()
	ending, end := context.WithCancel(base) // for the streams
	defer end()
	e.ending = ending
	web := e.web(base)
	served := make(chan error, 1)
	go func() { served <- web.Serve(httpListener{l, lateHead}) }()
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		e.sessions.tend(base)
	}()
	e.server.config.Log.LogAttrs(ctx, slog.LevelInfo, "serving", slog.String("transport", "http"),
		slog.String("address", l.Addr().String()), slog.String("state", e.server.config.State), slog.Int("tools", len(e.server.config.Host.Tools())))

	select {
	case err := <-served: // the listener failed
		_ = web.Close()
		return fmt.Errorf("server: http: %w", err)
	case <-ctx.Done():
	}
	e.server.config.Log.LogAttrs(ctx, slog.LevelInfo, "stopping",
		slog.Int("running", e.server.slots.running()+e.server.config.Host.Going()), slog.Int("waiting", e.server.config.Host.Waiting()))
	_ = l.Close()
	e.traffic.close()
	end()
	e.server.config.Host.Grace(e.traffic.landed)
	cancel()
	await(e.traffic.landed, parting)
	last, done := context.WithTimeout(context.Background(), parting)
	defer done()
	if web.Shutdown(last) != nil { // a client does not read its answer
		_ = web.Close()
	}
	<-swept
	return nil
}

// web returns the HTTP server. It has a timeout for everything that a client can delay.
func (e *endpoint) web(base context.Context) *http.Server {
	return &http.Server{
		Handler:                      e,
		ReadHeaderTimeout:            e.limits.Header,
		IdleTimeout:                  e.limits.Idle,
		WriteTimeout:                 e.limits.Stall, // for what net/http writes itself; every answer renews it
		MaxHeaderBytes:               e.limits.Headers,
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  withHTTPConn,
		ConnState:                    e.open.changed,
		ErrorLog:                     slog.NewLogLogger(e.server.config.Log.Handler(), slog.LevelWarn),
	}
}

// forget makes mcp-go forget a session. mcp-go offers only a DELETE for that.
func (e *endpoint) forget(id string) {
	e.mcp.Handle(discarded{}, &mcpserver.HTTPRequest{
		Method: http.MethodDelete, Header: http.Header{mcpserver.HeaderKeySessionID: {id}}, Context: context.Background(),
	})
}

// discarded drops the answer to that DELETE.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) WriteHeader(int)             {}
func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) Flush()                      {}
func (discarded) CanStream() bool             { return false }

// traffic counts the requests under way. It is safe for concurrent use.
type traffic struct {
	mu      sync.Mutex
	n       int
	closing bool
	landed  chan struct{} // closed when closing and nothing is under way
}

func (t *traffic) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *traffic) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	t.land()
}

// close refuses what would run from now on. landed is closed when no request is under way.
func (t *traffic) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closing = true
	t.land()
}

func (t *traffic) land() {
	if !t.closing || t.n > 0 {
		return
	}
	select {
	case <-t.landed:
	default:
		close(t.landed)
	}
}

// stopping reports whether the server stops and nothing new may run.
func (t *traffic) stopping() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closing
}
