package server

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// clientLog is a log handler that also sends lines to clients, as notifications/message. A client gets only lines about
// its own request, and only if it asked for them. Other lines are never sent.
type clientLog struct {
	slog.Handler
	server *Server
}

// clientLines are the lines that a client may see, and the attributes of each: names and numbers of the client's own
// run, no internals. All other lines are for the operator only.
var clientLines = map[string][]string{
	"run ended": {"run_id", "pattern", "status", "stop_reason", "phase", "duration_ms", "waited_ms", "llm_calls", "tool_calls",
		"principal", "client", "era"},
	"run waiting":     {"run_id", "kind", "expires_at"},
	"run resumed":     {"run_id", "from"},
	"request refused": {"tool", "stop_reason"},
	"fault":           {"id"},
}

// Enabled implements [slog.Handler].
func (l clientLog) Enabled(ctx context.Context, level slog.Level) bool {
	return l.Handler.Enabled(ctx, level) || l.server.wants(ctx, level)
}

// Handle implements [slog.Handler].
func (l clientLog) Handle(ctx context.Context, r slog.Record) error {
	if l.server.wants(ctx, r.Level) {
		l.server.logToClient(ctx, r)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler]. Attributes of the logger itself are for the operator only.
func (l clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{l.Handler.WithAttrs(attrs), l.server}
}

// WithGroup implements [slog.Handler].
func (l clientLog) WithGroup(name string) slog.Handler {
	return clientLog{l.Handler.WithGroup(name), l.server}
}

// logNote is the content of a notifications/message.
type logNote struct {
	Level  mcp.LoggingLevel `json:"level"`
	Logger string           `json:"logger"`
	Data   map[string]any   `json:"data"`
}

// logToClient sends the part of a line that the request's client may see. It never blocks.
func (s *Server) logToClient(ctx context.Context, r slog.Record) {
	shown, ok := clientLines[r.Message]
	if !ok {
		return
	}
	data := map[string]any{"msg": r.Message}
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(shown, a.Key) {
			data[a.Key] = a.Value.Any()
		}
		return true
	})
	s.transports.Post(ctx, "notifications/message", logNote{levelName(r.Level), "patterngate", data})
}

// wants reports whether the client of the request in ctx asked for lines of a level.
func (s *Server) wants(ctx context.Context, level slog.Level) bool {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil {
		return false
	}
	asked := s.levels.of(session)
	if modern := mcpserver.RequestProtocolInfoFromContext(ctx); modern != nil && modern.Modern {
		asked = modern.LogLevel // for this request only
	}
	return levelName(level).ShouldSendTo(asked)
}

// levelName returns the protocol's name of a level.
func levelName(level slog.Level) mcp.LoggingLevel {
	switch {
	case level < slog.LevelInfo:
		return mcp.LoggingLevelDebug
	case level < slog.LevelWarn:
		return mcp.LoggingLevelInfo
	case level < slog.LevelError:
		return mcp.LoggingLevelWarning
	}
	return mcp.LoggingLevelError
}

// levels holds the log levels that sessions of the handshake era set by logging/setLevel. mcp-go stores a level too,
// but not whether the client set it. The zero levels is empty. It is safe for concurrent use.
type levels struct {
	mu sync.RWMutex
	by map[string]mcp.LoggingLevel // by session ID; sessions without an ID are left out, because they share it
}

// maxLevels is how many sessions levels holds at most. Sessions are limited elsewhere; this is a second limit.
const maxLevels = 10_000

// set stores the level that a session asked for. mcp-go has checked the level before.
func (l *levels) set(ctx context.Context, _ any, req *mcp.SetLevelRequest, _ *mcp.EmptyResult) {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil || session.SessionID() == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]mcp.LoggingLevel{}
	}
	if len(l.by) < maxLevels || l.by[session.SessionID()] != "" {
		l.by[session.SessionID()] = req.Params.Level
	}
}

// forget removes a session that has ended.
func (l *levels) forget(_ context.Context, session mcpserver.ClientSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, session.SessionID())
}

// of returns the level that a session asked for, or "" if it did not ask.
func (l *levels) of(session mcpserver.ClientSession) mcp.LoggingLevel {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[session.SessionID()]
}
