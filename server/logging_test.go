package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/catalog"
	"patterngate/patterns"
)

// logCall is a run that takes no time.
const logCall = `"name":"route_ticket","arguments":{"ticket":"refund for user_id=42","route":{"target":"billing_specialist"}}`

// upTo are the lines up to the answer to a request.
func (c *session) upTo(id float64) []message {
	c.t.Helper()
	for all := []message{}; ; {
		all = append(all, c.next())
		if all[len(all)-1].ID == id {
			return all
		}
	}
}

// Log lines go to who asked for them: after logging/setLevel, or by the request itself; each before its answer.
func TestLogToClient(t *testing.T) {
	calls := map[string]string{"a run": logCall, "a refusal": `"name":"route_ticket","arguments":{}`}
	tests := map[string]struct {
		before string // a request
		meta   string // of the calls
		want   map[string]string
	}{
		"nobody asked":       {"", "", map[string]string{"a run": "", "a refusal": ""}},
		"legacy, debug":      {`"logging/setLevel","params":{"level":"debug"}`, "", map[string]string{"a run": "info run ended", "a refusal": "debug request refused"}},
		"legacy, info":       {`"logging/setLevel","params":{"level":"info"}`, "", map[string]string{"a run": "info run ended", "a refusal": ""}},
		"legacy, notice":     {`"logging/setLevel","params":{"level":"notice"}`, "", map[string]string{"a run": "", "a refusal": ""}},
		"legacy, no level":   {`"logging/setLevel","params":{"level":"loud"}`, "", map[string]string{"a run": "", "a refusal": ""}},
		"modern, debug":      {"", `"io.modelcontextprotocol/logLevel":"debug",`, map[string]string{"a run": "info run ended", "a refusal": "debug request refused"}},
		"modern, error":      {"", `"io.modelcontextprotocol/logLevel":"error",`, map[string]string{"a run": "", "a refusal": ""}},
		"modern, no level":   {"", `"io.modelcontextprotocol/logLevel":"loud",`, map[string]string{"a run": "", "a refusal": ""}},
		"modern, not asked":  {`"logging/setLevel","params":{"level":"debug"}`, " ", map[string]string{"a run": "", "a refusal": ""}},
		"modern, a mad type": {"", `"io.modelcontextprotocol/logLevel":["debug"],`, map[string]string{"a run": "", "a refusal": ""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := connect(t, serving(t))
			c.send(initialize, initialized)
			c.next()
			if tt.before != "" {
				c.send(`{"jsonrpc":"2.0","id":1,"method":` + tt.before + `}`)
				c.next()
			}
			for call, params := range calls {
				if tt.meta != "" {
					params = strings.Replace(modernMeta, `{`, `{`+tt.meta, 1) + "," + params
				}
				c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + params + `}}`)
				lines := c.upTo(2)
				got := ""
				for _, m := range lines[:len(lines)-1] {
					data, _ := m.Params["data"].(map[string]any)
					got += fmt.Sprint(m.Params["level"], " ", data["msg"])
					if m.Method != "notifications/message" || m.Params["logger"] != "patterngate" {
						t.Errorf("%s: %s", call, m.line)
					}
				}
				if got != tt.want[call] {
					t.Errorf("%s: lines %q, want %q", call, got, tt.want[call])
				}
			}
		})
	}
}

// A line for a client has what the log has of its run, and of a fault its id alone.
func TestLogToClientHolds(t *testing.T) {
	var log logBuffer
	fails := func(context.Context, catalog.Call) (any, error) { return "ok", nil }
	c := connect(t, serving(t, logging(&log), oddTool(t, fails), func(c *Config) {
		p := builtins(t)[2]
		p.Spec.Aggregate = nil
		c.Patterns, c.Engine = append(c.Patterns, p), faulty{c.Engine}
	}))
	c.send(initialize, initialized)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + logCall + `}}`)
	sent, _ := c.upTo(2)[0].Params["data"].(map[string]any)
	want := log.lines(t, "run ended")[0]
	delete(want, "level")
	delete(want, "time")
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("run ended (-logged +sent):\n%s", diff)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + td + `","arguments":{"goal":"x"}}}`)
	fault := c.upTo(3)[0]
	data, _ := fault.Params["data"].(map[string]any)
	if id, _ := data["id"].(string); !strings.HasPrefix(id, "f_") || len(data) != 2 || fault.Params["level"] != "error" || strings.Contains(fault.line, secret) {
		t.Errorf("a fault is told by %s", fault.line)
	}
	if !strings.Contains(log.String(), secret) {
		t.Error("the log does not hold the cause")
	}
}

// faulty is an engine that breaks down at task decomposition.
type faulty struct{ patterns.Engine }

func (e faulty) Start(ctx context.Context, j patterns.Job) (patterns.Ended, error) {
	if j.Spec.Name == td {
		return patterns.Ended{}, errors.New(secret)
	}
	return e.Engine.Start(ctx, j)
}

// fakeSession is a client of a transport other than stdio.
type fakeSession struct {
	id   string
	sent chan mcp.JSONRPCNotification
}

func newFakeSession(id string) *fakeSession {
	return &fakeSession{id, make(chan mcp.JSONRPCNotification, 10)}
}

func (f *fakeSession) Initialize()                                         {}
func (f *fakeSession) Initialized() bool                                   { return true }
func (f *fakeSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return f.sent }
func (f *fakeSession) SessionID() string                                   { return f.id }
func (f *fakeSession) SetLogLevel(mcp.LoggingLevel)                        {}
func (f *fakeSession) GetLogLevel() mcp.LoggingLevel                       { return mcp.LoggingLevelError }
func (f *fakeSession) ask(t testing.TB, s *Server, line string) mcp.JSONRPCMessage {
	return s.mcp.HandleMessage(s.mcp.WithContext(t.Context(), f), json.RawMessage(line))
}

var _ mcpserver.SessionWithLogging = (*fakeSession)(nil)

// A line goes to the client whose request it is about and to no other, however much that one asked for.
func TestLogGoesToItsOwnClientOnly(t *testing.T) {
	s := serving(t)
	curious, other := newFakeSession("curious"), newFakeSession("other")
	set := `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + logCall + `}}`
	curious.ask(t, s, set)
	other.ask(t, s, call)
	if len(curious.sent)+len(other.sent) != 0 {
		t.Errorf("%d lines went to who asked, about another's run, and %d to who did not ask", len(curious.sent), len(other.sent))
	}
	curious.ask(t, s, call)
	if len(curious.sent) != 1 || len(other.sent) != 0 {
		t.Errorf("%d lines went to whose run it is, want 1; %d to the other", len(curious.sent), len(other.sent))
	}
	s.log.LogAttrs(t.Context(), slog.LevelError, "run ended", slog.String("run_id", "run_1")) // about nobody's request
	ctx := s.mcp.WithContext(t.Context(), curious)
	s.log.LogAttrs(ctx, slog.LevelError, "reload", slog.String("from", secret)) // for the operator
	s.log.With("a", secret).WithGroup("g").LogAttrs(ctx, slog.LevelInfo, "run waiting", slog.String("kind", "caller"), slog.String("path", secret))
	if len(curious.sent) != 2 {
		t.Fatalf("%d lines went to the client, want 2", len(curious.sent))
	}
	<-curious.sent
	if line := mustJSON(<-curious.sent); strings.Contains(line, secret) || !strings.Contains(line, `"data":{"kind":"caller","msg":"run waiting"}`) {
		t.Errorf("run waiting is sent as %s", line)
	}
	for range 50 { // nobody reads: what is too much is lost, and nothing waits
		curious.ask(t, s, call)
	}
	if len(curious.sent) != cap(curious.sent) {
		t.Errorf("%d lines wait, want as many as the session takes", len(curious.sent))
	}
	// A session that has ended asked for nothing, and sessions without a name share no level.
	s.levels.forget(t.Context(), curious)
	nameless := newFakeSession("")
	nameless.ask(t, s, set)
	nameless.ask(t, s, call)
	if asked := s.levels.of(curious); asked != "" || len(nameless.sent) != 0 || len(s.levels.by) != 0 {
		t.Errorf("after its end a session has the level %q; %d lines went to a nameless one; %d levels", asked, len(nameless.sent), len(s.levels.by))
	}
}

// The levels of sessions are bounded even if sessions are not.
func TestLevelsAreBounded(t *testing.T) {
	var l levels
	req := &mcp.SetLevelRequest{}
	req.Params.Level = mcp.LoggingLevelDebug
	s := serving(t)
	for i := range maxLevels + 10 {
		l.set(s.mcp.WithContext(t.Context(), newFakeSession(fmt.Sprint(i))), nil, req, nil)
	}
	req.Params.Level = mcp.LoggingLevelError
	first := newFakeSession("0")
	l.set(s.mcp.WithContext(t.Context(), first), nil, req, nil)
	if len(l.by) != maxLevels || l.of(first) != mcp.LoggingLevelError {
		t.Errorf("%d levels, the first is %s", len(l.by), l.of(first))
	}
}
