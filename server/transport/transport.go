package transport

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Host is what the transports must know of the server whose clients they serve, besides its MCP messages.
type Host interface {
	// Tools returns the listed tools. The log says how many there are.
	Tools() []mcp.Tool
	// Going returns how many runs continue without a call.
	Going() int
	// Waiting returns how many runs wait for a person, a caller or a time.
	Waiting() int
	// Grace gives the calls time to be answered, and the runs time to be left. It returns when landed is closed and the
	// runs are left, or when the time is over.
	Grace(landed <-chan struct{})
	// Fault logs the cause of a fault and returns the error that a client may see in its place.
	Fault(ctx context.Context, cause error) error
}

// Config says what is served. MCP, Host, Log and Detached are required.
type Config struct {
	MCP  *mcpserver.MCPServer // answers the messages
	Host Host
	Log  *slog.Logger
	// Version is the program's version, as the health page shows it. State is where the runs are kept, for the log.
	Version, State string
	// Principal is the client that is served without a token: the user of this process.
	Principal string
	// Detached is the cause with which the context of a call ends when its client has gone, or the server stops, and
	// its run continues without it.
	Detached error
}

// Server serve the clients of one host over stdio and HTTP. All connections together have at most [Server.Limit] calls
// under way. They are safe for concurrent use.
type Server struct {
	config Config
	slots  slots
}

// New returns transports that take no call until [Server.Limit] says how many.
func New(c Config) *Server { return &Server{config: c} }

// Limit sets how many calls may be under way at once, over all connections. Further calls are refused. Calls that are
// under way continue if the limit falls.
func (s *Server) Limit(calls int64) { s.slots.most.Store(calls) }

// Running returns how many calls are under way over all connections.
func (s *Server) Running() int { return s.slots.running() }

// CancelLate delivers a cancellation that came while its call still waited for a worker: mcp-go knows of a call only
// once it has begun, and would run it in full. id is the decoded id of the call that is about to begin.
func (s *Server) CancelLate(ctx context.Context, id any) {
	if c := connOf(ctx); c != nil {
		if notification := c.flight.canceled(id); notification != nil {
			s.config.MCP.HandleMessage(ctx, notification)
		}
	}
}

// Notify sends a notification to the client whose request ctx is. Over stdio and HTTP it is written at once, in order with
// the answer: mcp-go would hand it to another goroutine, which drops what comes too fast and may write it after the answer,
// or never.
func (s *Server) Notify(ctx context.Context, method string, params any) {
	if c := connOf(ctx); c != nil {
		c.notify(method, params)
		return
	}
	if x := exchangeOf(ctx); x != nil {
		x.answer.notify(method, params)
		return
	}
	s.sendBySession(ctx, method, params)
}

// Era returns the protocol version of the HTTP session that a request belongs to; "" where it belongs to none.
func Era(ctx context.Context) string {
	if x := exchangeOf(ctx); x != nil {
		return x.era
	}
	return ""
}

// ErrCanceled is the answer to a call that its client cancelled.
var ErrCanceled = errors.New("the call was cancelled")

type principalKey struct{}

// WithPrincipal returns the context of a request of a principal. Only a transport that has checked it may say so.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// Principal returns the principal of a request; ok is false where no transport named one.
func Principal(ctx context.Context) (principal string, ok bool) {
	principal, ok = ctx.Value(principalKey{}).(string)
	return principal, ok
}
