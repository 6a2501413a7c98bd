package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
	"patterngate/server/transport"
)

// The lines of the log (spec/surface.md section 3). They hold names and numbers, never arguments, observations or
// tokens. Names from outside are cut, and their control and bidi characters are escaped.

// peer is the client: its name and version, and the protocol version that it uses.
type peer struct{ client, era, name, version string }

func peerOf(ctx context.Context) peer {
	info := clientOf(ctx)
	p := peer{name: printable.Name(info.Name), version: printable.Name(info.Version), era: printable.Name(mcpserver.RequestProtocolVersion(ctx))}
	if p.era == "" {
		p.era = transport.Era(ctx)
	}
	p.client = clientName(p.name, p.version)
	return p
}

// clientName returns the name of a client for the log.
func clientName(name, version string) string {
	if version == "" {
		return name
	}
	return name + "/" + version
}

// clientOf returns the name and version that the client reports.
func clientOf(ctx context.Context) mcp.Implementation {
	if modern := mcpserver.RequestProtocolInfoFromContext(ctx); modern != nil && modern.ClientInfo != nil {
		return *modern.ClientInfo
	}
	if session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}

// logRun logs the end of a run, in one line.
func (s *Server) logRun(ctx context.Context, tool string, p peer, e envelope.Envelope, ended patterns.Ended) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run ended",
		slog.String("run_id", ended.RunID), slog.String("pattern", tool),
		slog.String("status", e.Status), slog.String("stop_reason", sentence.Reason(e.StopReason)), slog.String("phase", e.Phase),
		slog.Int64("duration_ms", ended.Ended.Sub(ended.Began).Milliseconds()),
		slog.Int64("waited_ms", ended.Waited.Milliseconds()),
		slog.Int("llm_calls", ended.Requests), slog.Int("tool_calls", ended.Calls),
		slog.String("principal", s.principalOf(ctx)), slog.String("client", p.client), slog.String("era", p.era),
	)
}

// changed counts the waiting runs. It also logs the changes of a run that no call waits for; a call logs the changes of
// its own run.
func (s *Server) changed(r patterns.Snapshot, attended bool) {
	s = s.newest()
	from := s.waiting.moved(r)
	s.updated(r)
	if attended {
		return
	}
	ctx := transport.WithPrincipal(context.Background(), r.Principal)
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

// maxParkedKnown is how many waiting runs a parked holds at most. It does not count more, and it returns "record" when
// they resume.
const maxParkedKnown = 100_000

// parked holds the runs that began to wait in this process, and what they wait for. The zero parked is empty. It is
// safe for concurrent use.
type parked struct {
	mu  sync.Mutex
	all map[string]patterns.WaitingKind
}

// moved notes the present state of a run and returns what resumes it. If the wait is known, that is the kind of wait,
// or "clock". Otherwise it is "record", because another process may have stored the wait.
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

// count returns how many runs wait.
func (p *parked) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// toolOf returns the tool with a name, or nil if there is none.
func (s *Server) toolOf(name string) *tool {
	for _, t := range s.tools {
		if t.Spec.Name == name {
			return t
		}
	}
	return nil
}

// logWaiting logs that a run waits.
func (s *Server) logWaiting(ctx context.Context, runID string, w *patterns.Waiting) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run waiting",
		slog.String("run_id", runID), slog.String("kind", outcome.WaitKind(w)), slog.String("expires_at", sentence.TimeIfSet(w.Until)))
}

// logResumed logs that a run resumes. from names the cause. It can be the caller, the clock that ends the run, or what
// the run waited for. It is "record" if another process continues the run from its record.
func (s *Server) logResumed(ctx context.Context, runID, from string) {
	s.log.LogAttrs(ctx, slog.LevelInfo, "run resumed", slog.String("run_id", runID), slog.String("from", from))
}

// logFault logs the cause of a fault and returns the opaque id that the client gets.
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

// LogDecided logs that a question was answered, for the command or page that took the answer (spec/surface.md section
// 3). It does not log a question without an answer.
func LogDecided(ctx context.Context, log *slog.Logger, a patterns.Asked) {
	if a.Given == nil {
		return
	}
	log.LogAttrs(ctx, slog.LevelInfo, "approval decided",
		slog.String("approval_id", a.ID), slog.String("run_id", a.Question.Run), slog.String("decision", string(a.Given.Choice)),
		slog.String("assurance", string(a.Given.Assurance)), slog.String("channel", a.Given.Channel))
}
