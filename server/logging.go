package server

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// clientLog is a log whose lines also go, as notifications/message, to the client whose request they are about, where
// that client asked for them. Lines about nobody's request, or about another's, never do.
type clientLog struct {
	slog.Handler
	server *Server
}

// clientLines are the lines a client may see, and of each the attributes: names and numbers of its own run, nothing of
// the inside. Others are for the operator alone.
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

// WithAttrs implements [slog.Handler]. What a logger always says is for the operator alone.
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

// logToClient sends what the request's client may see of a line. It never waits.
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

// wants reports whether the client whose request ctx is asked for lines of a level.
func (s *Server) wants(ctx context.Context, level slog.Level) bool {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil {
		return false
	}
	asked := s.levels.of(session)
	if modern := mcpserver.RequestProtocolInfoFromContext(ctx); modern != nil && modern.Modern {
		asked = modern.LogLevel // of this request alone
	}
	return levelName(level).ShouldSendTo(asked)
}

// levelName is a level of ours as the protocol has it.
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

// levels are what sessions of the handshake era asked for by logging/setLevel. mcp-go keeps a level too, but not
// whether it was asked for. The zero levels are those of nobody. They are safe for concurrent use.
type levels struct {
	mu sync.RWMutex
	by map[string]mcp.LoggingLevel // by session; not those without a name, who share it
}

// maxLevels is how many sessions may have asked at once; sessions are bounded elsewhere, this only makes sure.
const maxLevels = 10_000

// set notes what a session asked for, after mcp-go has found it to be a level.
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

// forget forgets a session that has ended.
func (l *levels) forget(_ context.Context, session mcpserver.ClientSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, session.SessionID())
}

// of is what a session asked for; empty where it did not.
func (l *levels) of(session mcpserver.ClientSession) mcp.LoggingLevel {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[session.SessionID()]
}
