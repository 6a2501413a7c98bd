package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
)

// The lines of the log (spec/surface.md section 3). They hold names and numbers, never arguments, observations or
// tokens; names that outsiders chose are cut, with control and bidi characters spelled out.

// peer is who asks: the client's name and version, and the protocol version it speaks.
type peer struct{ client, era, name, version string }

func peerOf(ctx context.Context) peer {
	info := clientOf(ctx)
	p := peer{name: shownName(info.Name), version: shownName(info.Version), era: shownName(mcpserver.RequestProtocolVersion(ctx))}
	if x := exchangeOf(ctx); x != nil && p.era == "" {
		p.era = x.era
	}
	p.client = clientName(p.name, p.version)
	return p
}

// clientName is a client as the log has it.
func clientName(name, version string) string {
	if version == "" {
		return name
	}
	return name + "/" + version
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
	s = s.newest()
	from := s.waiting.moved(r)
	s.updated(r)
	if attended {
		return
	}
	ctx := withPrincipal(context.Background(), r.Principal)
	switch r.State {
	case patterns.Running:
		s.logResumed(ctx, r.RunID, from)
	case patterns.Parked:
		if r.Ended.Waiting != nil {
			s.logWaiting(ctx, r.RunID, r.Ended.Waiting)
		}
	case patterns.Over:
		s.logRun(ctx, r.Pattern, peer{client: clientName(r.Client, r.ClientVersion), era: r.Era}, s.stateOf(r), r.Ended)
	}
}

// maxParkedKnown is how many of them it knows at most; others end elsewhere without a word.
const maxParkedKnown = 100_000

// parked knows which runs wait that this process has seen come to wait, and for what. The zero parked knows none. It is
// safe for concurrent use.
type parked struct {
	mu  sync.Mutex
	all map[string]patterns.WaitingKind
}

// moved notes how a run stands by now and says what has it go on: the end of what it waited for where that was seen,
// else the record, from which it is taken over.
func (p *parked) moved(r patterns.Snapshot) (from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind, waited := p.all[r.RunID]
	delete(p.all, r.RunID)
	if r.State == patterns.Parked && r.Ended.Waiting != nil && len(p.all) < maxParkedKnown {
		if p.all == nil {
			p.all = map[string]patterns.WaitingKind{}
		}
		p.all[r.RunID] = r.Ended.Waiting.Kind
	}
	switch {
	case !waited:
		return "record"
	case kind == patterns.ForApproval || kind == patterns.ForSettlement || kind == patterns.ForRetry:
		return string(kind)
	}
	return "clock"
}

// count is how many wait.
func (p *parked) count() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(len(p.all))
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
func (s *Server) logWaiting(ctx context.Context, runID string, w *patterns.Waiting) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run waiting",
		slog.String("run_id", runID), slog.String("kind", kindOf(w)), slog.String("expires_at", stampOf(w.Until)))
}

// logResumed writes that a run goes on, and by what: its caller, the clock that ends it, what it waited for, or the
// record from which another process carries it on.
func (s *Server) logResumed(ctx context.Context, runID, from string) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run resumed", slog.String("run_id", runID), slog.String("from", from))
}

// logFault writes the cause of a fault and returns the opaque id by which the client is told of it.
func (s *Server) logFault(ctx context.Context, cause error) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	id := "f_" + hex.EncodeToString(b[:])
	s.logFaultAs(ctx, id, cause)
	return id
}

func (s *Server) logFaultAs(ctx context.Context, id string, cause error) {
	s.log.LogAttrs(ctx, slog.LevelError, "fault", slog.String("id", id), slog.String("cause", printable.Text(cause.Error())))
}
