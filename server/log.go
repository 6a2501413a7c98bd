package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/patterns"
)

// The lines of the log (spec/surface.md section 3). They hold names and numbers, never arguments, observations or
// tokens; names that outsiders chose are cut, with control and bidi characters spelled out.

// peer is who asks: the client's name and version, and the protocol version it speaks.
type peer struct{ client, era string }

func peerOf(ctx context.Context) peer {
	info := clientOf(ctx)
	p := peer{client: shownName(info.Name), era: shownName(mcpserver.RequestProtocolVersion(ctx))}
	if x := exchangeOf(ctx); x != nil && p.era == "" {
		p.era = x.era
	}
	if info.Version != "" {
		p.client += "/" + shownName(info.Version)
	}
	return p
}

// clientOf is what the client says of itself.
func clientOf(ctx context.Context) mcp.Implementation {
	if modern := mcpserver.RequestProtocolInfoFromContext(ctx); modern != nil && modern.ClientInfo != nil {
		return *modern.ClientInfo
	}
	if session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}

// logRun writes the one line of a run.
func (s *Server) logRun(ctx context.Context, tool string, p peer, e Envelope, ended patterns.Ended) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run ended",
		slog.String("run_id", ended.RunID), slog.String("pattern", tool),
		slog.String("status", e.Status), slog.String("stop_reason", shownReason(e.StopReason)), slog.String("phase", e.Phase),
		slog.Int64("duration_ms", ended.Ended.Sub(ended.Began).Milliseconds()),
		slog.Int64("waited_ms", ended.Waited.Milliseconds()),
		slog.Int("llm_calls", ended.Requests), slog.Int("tool_calls", ended.Calls),
		slog.String("principal", s.principalOf(ctx)), slog.String("client", p.client), slog.String("era", p.era),
	)
}

// changed counts the runs that wait, and logs what becomes of one for which no call waits any more; a call logs its own.
func (s *Server) changed(r patterns.Snapshot, attended bool) {
	switch r.State {
	case patterns.Parked:
		s.waiting.Add(1)
	case patterns.Running:
		s.waiting.Add(-1)
	}
	s.updated(r)
	ctx := withPrincipal(context.Background(), r.Principal)
	switch t := s.toolOf(r.Pattern); {
	case attended || t == nil:
	case r.State == patterns.Running:
		s.logResumed(ctx, r.RunID, "clock")
	case r.State == patterns.Over:
		s.logRun(ctx, r.Pattern, peer{client: r.Client}, t.stateOf(t.newCall(nil), r), r.Ended)
	}
}

// toolOf is the tool of a name; nil where there is none.
func (s *Server) toolOf(name string) *tool {
	for _, t := range s.tools {
		if t.spec.Name == name {
			return t
		}
	}
	return nil
}

// logWaiting writes that a run waits.
func (s *Server) logWaiting(ctx context.Context, ended patterns.Ended) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run waiting",
		slog.String("run_id", ended.RunID), slog.String("kind", "caller"), slog.String("expires_at", stamp(ended.Waiting.Until)))
}

// logResumed writes that a run goes on, and by what: its caller, or the clock that ends it.
func (s *Server) logResumed(ctx context.Context, runID, from string) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run resumed", slog.String("run_id", runID), slog.String("from", from))
}

// logFault writes the cause of a fault and returns the opaque id by which the client is told of it.
func (s *Server) logFault(ctx context.Context, cause error) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	id := "f_" + hex.EncodeToString(b[:])
	s.log.LogAttrs(ctx, slog.LevelError, "fault", slog.String("id", id), slog.String("cause", Visible(cause.Error())))
	return id
}
