package server

import (
	"context"
	"io"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/progress"
	"patterngate/server/transport"
)

// host adapts a [Server] for its transports and its parts.
type host struct{ *Server }

// Going implements [transport.Host].
func (h host) Going() int { return h.going() }

// Waiting implements [transport.Host].
func (h host) Waiting() int { return h.waiting.count() }

// Grace implements [transport.Host].
func (h host) Grace(landed <-chan struct{}) { h.grace(landed) }

// Fault implements [transport.Host].
func (h host) Fault(ctx context.Context, cause error) error { return h.fault(ctx, cause) }

// Principal returns the requester of a call.
func (h host) Principal(ctx context.Context) string { return h.principalOf(ctx) }

// ReadsStructured reports whether the client's model reads only structured content.
func (h host) ReadsStructured(ctx context.Context) bool { return h.readsStructured(ctx) }

// SwitchedOff says what is switched off now.
func (h host) SwitchedOff(ctx context.Context) string { return h.switchedOff(ctx) }

// Show presents an envelope.
func (h host) Show(ctx context.Context, e envelope.Envelope) (*mcp.CallToolResult, error) {
	return h.show(ctx, e)
}

// ShowIn presents an envelope with its own bound for each channel.
func (h host) ShowIn(ctx context.Context, e envelope.Envelope, most int) (*mcp.CallToolResult, error) {
	return h.showIn(ctx, e, most)
}

// Inbox returns the page on which people decide.
func (h host) Inbox() outcome.Page { return h.inbox() }

// StateOf presents the current state of a run.
func (h host) StateOf(r patterns.Snapshot) envelope.Envelope { return h.stateOf(r) }

// Delivered notes that a caller received the result of a run.
func (h host) Delivered(ctx context.Context, e envelope.Envelope) { h.delivered(ctx, e) }

// Progress returns the progress that a request asked for.
func (h host) Progress(ctx context.Context, meta *mcp.Meta) *progress.Progress {
	return h.progressOf(ctx, meta)
}

// ServeStdio serves one client over stdio, see [transport.Server.ServeStdio].
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.transports.ServeStdio(ctx, in, out)
}

// ListenHTTP serves clients over HTTP, see [transport.Server.ListenHTTP].
func (s *Server) ListenHTTP(ctx context.Context, c transport.HTTPConfig) error {
	return s.transports.ListenHTTP(ctx, c)
}

// cancelLate cancels a call if its cancellation arrived before the call began.
func (s *Server) cancelLate(ctx context.Context, id any, _ *mcp.CallToolRequest) {
	s.transports.CancelLate(ctx, id)
}
