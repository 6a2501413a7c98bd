package server

import (
	"context"
	"io"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/transport"
)

// host is what the transports know of a server.
type host struct{ *Server }

// Going implements [transport.Host].
func (h host) Going() int { return h.going() }

// Waiting implements [transport.Host].
func (h host) Waiting() int { return h.waiting.count() }

// Grace implements [transport.Host].
func (h host) Grace(landed <-chan struct{}) { h.grace(landed) }

// Fault implements [transport.Host].
func (h host) Fault(ctx context.Context, cause error) error { return h.fault(ctx, cause) }

// ServeStdio serves one client that writes JSON-RPC lines to in and reads them from out. It returns when in has ended
// or ctx has, after everything that was asked is answered, and the runs that go on without a call are left, or the grace has
// passed; runs that go on then do so without their calls. A reader that blocks is left behind, for the process to end. Nothing else may write to out. As mcp-go
// has one session for stdio, a process serves one client at a time so.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.transports.ServeStdio(ctx, in, out)
}

// ListenHTTP serves MCP over HTTP at c.Listen, both protocol eras at /mcp, until ctx ends; then it takes nothing new,
// ends streams at once, and returns when all calls are answered, and the runs that go on without a call are left, or the grace
// has passed; runs that go on then do so without their calls. It fails where the configuration is at fault or the address cannot be had.
func (s *Server) ListenHTTP(ctx context.Context, c transport.HTTPConfig) error {
	return s.transports.ListenHTTP(ctx, c)
}

// cancelLate takes back a call that was cancelled before it began.
func (s *Server) cancelLate(ctx context.Context, id any, _ *mcp.CallToolRequest) {
	s.transports.CancelLate(ctx, id)
}
