// Package upstream talks to other MCP servers. It is the only MCP client in the program.
//
//	Start(Program) ──▶ child process ─┐
//	Over(in, out) ───▶ a server here ─┼─ handshake ─▶ Client ──Tools──▶ []Tool
//	Dial(Endpoint) ──▶ HTTP ──────────┘                  ├──CallRaw──▶ Result   as it was sent
//	                                                     └──Call─────▶ Reply    strictly decoded
//
//	NewServer(ServerConfig) ──▶ Server, which keeps a Client: ──Call──▶ an observation, or a *catalog.Fault
//
// A server is not trusted. The size of its messages is limited, and every call returns when its context ends. A child
// sees only the environment variables that its Env names. A token or a secret header goes to one origin only.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// closeGrace is how long the end of an HTTP session may take.
const closeGrace = 2 * time.Second

// Identity is the name and version that this client sends to servers.
type Identity struct{ Name, Version string }

// Client is one session with a server. It is safe for concurrent use.
type Client struct {
	mcp  *client.Client
	wire transport.Interface
	by   carrier
	how  opening

	progress listeners
	requests atomic.Int64
	prefix   string // of request ids, unique among the clients of a server without sessions

	mu    sync.Mutex
	known map[string]mcp.Tool // by name, for the HTTP headers that mirror arguments
}

// carrier is the process or connection that a session uses.
type carrier interface {
	// why returns what happened to the session if a transport's error does not show it, such as how a child ended. It
	// returns nil if there is nothing to report.
	why() error
	// close frees the resources of the carrier. Nothing is sent any more.
	close() error
	// abort works as close does, but does not ask the server to end.
	abort() error
}

// Start starts the program and opens a session with the initialize handshake, or without a handshake if the server no
// longer has one. The child runs until Close.
func Start(ctx context.Context, p Program, who Identity) (*Client, error) {
	child, err := start(p)
	if err != nil {
		return nil, fmt.Errorf(startFailed, p.Command, err)
	}
	c, err := open(ctx, child.wire(), child, opening{who: who, order: handshakeFirst})
	if err != nil {
		return nil, fmt.Errorf(handshakeWith, p.Command, err)
	}
	return c, nil
}

// Over opens a session with a server that reads from out and writes its answers to in, such as a server in this
// process. Close closes both.
func Over(ctx context.Context, in io.ReadCloser, out io.WriteCloser, who Identity) (*Client, error) {
	c, err := open(ctx, newPipes(in, out), foreign{in}, opening{who: who, order: handshakeFirst})
	if err != nil {
		return nil, fmt.Errorf(handshakeFailed, err)
	}
	return c, nil
}

// foreign is the carrier of a session with a server that runs outside of this client's control.
type foreign struct{ in io.Closer }

func (f foreign) why() error   { return nil }
func (f foreign) close() error { return f.in.Close() }
func (f foreign) abort() error { return f.in.Close() }

// eras is the protocol era that is tried first.
type eras int

const (
	// handshakeFirst is for pipes: each server answers initialize, if only with an error. Some servers never answer a
	// method that they do not know.
	handshakeFirst eras = iota
	// statelessFirst is for HTTP, where every request has an answer: without a handshake there is no session to end.
	statelessFirst
)

// opening holds the options to open a session. The zero value is for a caller that waits for one call.
type opening struct {
	who   Identity
	order eras
	// probe limits the request that finds out whether a server needs no handshake; 0: the default of mcp-go.
	probe time.Duration
	// prompt makes a call return at once when its context ends, without a moment for the server's last answer. A
	// session that cannot be opened is aborted.
	prompt bool
	// notified is called with the method of each notification, in the goroutine that reads; nil: it is not called.
	notified func(method string)
}

// open starts a transport and finds the era that the server supports. If that fails, it closes what it opened.
func open(ctx context.Context, wire transport.Interface, by carrier, how opening) (*Client, error) {
	c := &Client{wire: wire, by: by, how: how, prefix: randomPrefix(), known: map[string]mcp.Tool{}}
	t := &trace{many: true}
	ctx = withTrace(ctx, t)
	var err error
	if how.order == handshakeFirst {
		//lint:ignore SA1019 over pipes the handshake is what every server understands; see handshakeFirst
		err = c.hello(ctx, client.WithLegacyProtocolOnly())
	}
	if _, transported := errors.AsType[*transport.Error](err); how.order == statelessFirst || err != nil && !transported {
		err = c.hello(ctx, client.WithDiscoverTimeout(how.probe)) // the first of this order, or the server no longer has a handshake
	}
	if err != nil {
		err = c.explain(ctx, t, err)
		if how.prompt {
			return nil, errors.Join(err, c.abort())
		}
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// hello introduces the client to the server.
func (c *Client) hello(ctx context.Context, options ...client.ClientOption) error {
	c.mcp = client.NewClient(c.wire, options...)
	c.mcp.OnNotification(c.notified)
	if err := c.mcp.Start(context.Background()); err != nil {
		return err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: c.how.who.Name, Version: c.how.who.Version}
	_, err := c.mcp.Initialize(ctx, hello)
	if ctx.Err() != nil {
		return transport.NewError(ctx.Err())
	}
	return err
}

// modern reports whether the server uses the era without a handshake.
func (c *Client) modern() bool { return mcp.IsModernProtocol(c.mcp.ProtocolVersion()) }

// overHTTP reports whether requests are HTTP requests.
func (c *Client) overHTTP() bool {
	_, ok := c.wire.(transport.HTTPConnection)
	return ok
}

// Close ends the session. It closes a child's input and kills a child that does not end. Call it once.
func (c *Client) Close() error {
	done := make(chan error, 1)
	go func() { done <- c.wire.Close() }()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C: // the server does not end the session in time: it expires by itself
	}
	return errors.Join(err, c.by.close())
}

// abort ends the session without asking the server.
func (c *Client) abort() error {
	go func() { _ = c.wire.Close() }() // an HTTP session ends if its server still answers
	return c.by.abort()
}

// lost returns a channel that is closed when the session is over. For HTTP it returns nil: only a call shows that the
// session is over.
func (c *Client) lost() <-chan struct{} {
	if wire, ok := c.wire.(*pipes); ok {
		return wire.done
	}
	return nil
}
