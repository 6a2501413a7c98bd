// Package upstream talks to other MCP servers. It is the only MCP client in the program.
//
//	Start(Program) ──▶ child process ─┐
//	Over(in, out) ───▶ a server here ─┼─ handshake ─▶ Client ──Tools──▶ []Tool
//	Dial(Endpoint) ──▶ HTTP ──────────┘                  ├──CallRaw──▶ Result   as it was sent
//	                                                     └──Call─────▶ Reply    strictly decoded
//
//	NewServer(ServerConfig) ──▶ Server, which keeps a Client: ──Call──▶ an observation, or a *catalog.Fault
//
// A server is not trusted: what it sends is bounded, and whatever it does, control comes back when the context ends. A
// child sees of the environment only what its Env names; a token or a secret header goes to one origin only.
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

// closeGrace is how long an HTTP session may take to be ended.
const closeGrace = 2 * time.Second

// Identity is how this client introduces itself.
type Identity struct{ Name, Version string }

// Client is one session with a server. It is safe for concurrent use.
type Client struct {
	mcp  *client.Client
	wire transport.Interface
	by   carrier
	how  opening

	progress listeners
	requests atomic.Int64
	prefix   string // of request ids: other clients of a server without sessions have others

	mu    sync.Mutex
	known map[string]mcp.Tool // by name, for what HTTP mirrors into headers
}

// carrier is what a session stands on.
type carrier interface {
	// why says what became of the session, where a transport's error does not, such as how a child ended. It is nil where
	// there is nothing to say.
	why() error
	// close frees what the carrier holds. Nothing is sent any more.
	close() error
	// abort is close for a server that is not asked to end.
	abort() error
}

// Start starts the program and opens a session by the initialize handshake, or without one where the server has none
// any more. The child lives until Close.
func Start(ctx context.Context, p Program, who Identity) (*Client, error) {
	child, err := start(p)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Command, err)
	}
	c, err := open(ctx, child.wire(), child, opening{who: who, order: handshakeFirst})
	if err != nil {
		return nil, fmt.Errorf("handshake with %s: %w", p.Command, err)
	}
	return c, nil
}

// Over opens a session with a server that reads what is written to out and writes its answers to in, such as one in this
// process. Close closes both.
func Over(ctx context.Context, in io.ReadCloser, out io.WriteCloser, who Identity) (*Client, error) {
	c, err := open(ctx, newPipes(in, out), foreign{in}, opening{who: who, order: handshakeFirst})
	if err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return c, nil
}

// foreign carries a session with a server that somebody else runs.
type foreign struct{ in io.Closer }

func (f foreign) why() error   { return nil }
func (f foreign) close() error { return f.in.Close() }
func (f foreign) abort() error { return f.in.Close() }

// eras is which protocol era is tried first.
type eras int

const (
	// handshakeFirst suits pipes: each server answers initialize, if only by an error, while some never answer a method
	// that they do not know.
	handshakeFirst eras = iota
	// statelessFirst suits HTTP, where every request has an answer: without a handshake there is no session to end.
	statelessFirst
)

// opening is how a session is opened. Its zero value is that of a caller who waits for one call.
type opening struct {
	who   Identity
	order eras
	// probe bounds the question whether a server needs no handshake; 0: as long as mcp-go takes it.
	probe time.Duration
	// prompt: at the end of its context a call returns at once, not after a moment for the server's last word, and a
	// session that cannot be opened is cut off.
	prompt bool
	// notified hears of each notification's method, from the goroutine that reads; nil: nobody.
	notified func(method string)
}

// open starts a transport and finds the era that the server speaks. What was opened is closed where that fails.
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
		err = c.hello(ctx, client.WithDiscoverTimeout(how.probe)) // the first of this order, or the server has no handshake any more
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

// hello makes the client's introduction.
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

// modern reports the era without a handshake.
func (c *Client) modern() bool { return mcp.IsModernProtocol(c.mcp.ProtocolVersion()) }

// overHTTP reports whether requests are HTTP requests.
func (c *Client) overHTTP() bool {
	_, ok := c.wire.(transport.HTTPConnection)
	return ok
}

// Close ends the session: a child's input is closed, and a child that does not end is killed. It is called once.
func (c *Client) Close() error {
	done := make(chan error, 1)
	go func() { done <- c.wire.Close() }()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-timer.C: // a session that the server does not end ends by itself
	}
	return errors.Join(err, c.by.close())
}

// abort ends the session without asking the server.
func (c *Client) abort() error {
	go func() { _ = c.wire.Close() }() // an HTTP session is ended if its server still answers
	return c.by.abort()
}

// lost is closed when the session is over. That of HTTP never is: it is found out by a call.
func (c *Client) lost() <-chan struct{} {
	if wire, ok := c.wire.(*pipes); ok {
		return wire.done
	}
	return nil
}
