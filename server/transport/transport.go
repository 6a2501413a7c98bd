package transport

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Host is the server behind the transports. Its methods are what the transports must know of it besides its MCP
// messages. They are called concurrently.
type Host interface {
	// Tools returns the listed tools. The log says how many there are.
	Tools() []mcp.Tool
	// Going returns how many runs continue without a call.
	Going() int
	// Waiting returns how many runs wait for a person, for their caller or for a time.
	Waiting() int
	// Grace gives the open calls time to be answered, and the runs time to be left. landed is closed when all calls are
	// answered. Grace returns when that has happened and the runs are left, or when the time is over.
	Grace(landed <-chan struct{})
	// Fault logs the cause of an internal fault and returns the error that a client may see in its place.
	Fault(ctx context.Context, cause error) error
}

// Config says what is served, and for whom. MCP, Host, Log and Detached are required.
type Config struct {
	MCP  *mcpserver.MCPServer // answers the messages
	Host Host
	Log  *slog.Logger
	// Version is the version of the program, which the health page shows. State says where the runs are stored, for the
	// log.
	Version, State string
	// Principal is the requester of a client that needs no token: the OS user of this process.
	Principal string
	// Detached is the cause with which the context of a call ends when the run continues without the call: its client
	// has gone, or the server stops.
	Detached error
}

// Server serves the clients of one host over stdio and HTTP. All connections together have at most as many calls under
// way as [Server.Limit] allows. It is safe for concurrent use.
type Server struct {
	config Config
	slots  slots
}

// New returns a server that refuses every call until [Server.Limit] says how many it may take.
func New(c Config) *Server { return &Server{config: c} }

// Limit sets how many calls may be under way at once, over all connections. Further calls are refused. Calls that are
// under way continue if the limit falls.
func (s *Server) Limit(calls int64) { s.slots.most.Store(calls) }

// Running returns how many calls are under way over all connections.
func (s *Server) Running() int { return s.slots.running() }

// CancelLate delivers a cancellation that arrived while its call waited for a worker. mcp-go knows a call only once it
// has begun, and would run it in full. Call it when a call begins. id is the decoded id of the call.
func (s *Server) CancelLate(ctx context.Context, id any) {
	if c := connOf(ctx); c != nil {
		if notification := c.flight.canceled(id); notification != nil {
			s.config.MCP.HandleMessage(ctx, notification)
		}
	}
}

// Notify sends a notification to the client that made the request of ctx. Over stdio and HTTP it writes at once, in
// order with the answer. mcp-go would give the notification to another goroutine, which drops what comes too fast, and
// may write it after the answer or never.
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
var ErrCanceled = errors.New(cancelled)

type principalKey struct{}

// WithPrincipal returns a context that names the requester. Only code that has verified the requester may call it.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// Principal returns the requester that [WithPrincipal] named. ok is false if there is none; then the requester is the
// user of this process.
func Principal(ctx context.Context) (principal string, ok bool) {
	principal, ok = ctx.Value(principalKey{}).(string)
	return principal, ok
}
