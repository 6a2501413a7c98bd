package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// looseSession is a client of a transport other than ours.
type looseSession struct{ sent chan mcp.JSONRPCNotification }

func (l *looseSession) Initialize()                                         {}
func (l *looseSession) Initialized() bool                                   { return true }
func (l *looseSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return l.sent }
func (l *looseSession) SessionID() string                                   { return "a" }

// An answer waits for the notifications before it, where it could overtake them, and only then.
func TestSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mcpServer := mcpserver.NewMCPServer("patterngate", "1.2.3")
		s := New(Config{MCP: mcpServer, Detached: context.Canceled})
		client := &looseSession{make(chan mcp.JSONRPCNotification, 10)}
		for name, tt := range map[string]struct {
			ctx  context.Context
			send bool
			want time.Duration
		}{
			"none sent":     {mcpServer.WithContext(t.Context(), client), false, 0},
			"one sent":      {mcpServer.WithContext(t.Context(), client), true, settling},
			"nobody there":  {t.Context(), true, 0},
			"in order ever": {context.WithValue(t.Context(), connKey{}, newConn(strings.NewReader(""), io.Discard)), true, 0},
		} {
			began := time.Now()
			_, err := s.Settled(func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if tt.send {
					s.Post(ctx, "notifications/message", map[string]any{"logger": "patterngate"})
				}
				return nil, nil
			})(tt.ctx, mcp.CallToolRequest{})
			if took := time.Since(began); err != nil || took != tt.want {
				t.Errorf("%s: it took %v, want %v; %v", name, took, tt.want, err)
			}
		}
	})
}

// stuck is an output that nobody reads until it is let go.
type stuck struct {
	let  chan struct{}
	took chan string
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.let
	s.took <- strings.TrimSuffix(string(p), "\n")
	return len(p), nil
}

// Notifications never wait for a client that does not read: some are kept, the rest is dropped, and an answer comes
// after those that are kept.
func TestPostNeverWaits(t *testing.T) {
	const posted = 10 * maxNotes
	out := &stuck{make(chan struct{}), make(chan string, posted)}
	c := newConn(strings.NewReader(""), out)
	note := func(i int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":%d}`, i)
	}
	for i := range posted {
		c.post("notifications/message", i)
	}
	go func() { _ = c.send([]byte("answer\n")) }()
	close(out.let)
	n, last := 0, -1
	for line := range out.took {
		if line == "answer" {
			break
		}
		var m struct{ Params int }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Params <= last || line != note(m.Params) {
			t.Fatalf("line %d is %s, after %d; %v", n, line, last, err)
		}
		n, last = n+1, m.Params
	}
	if n < maxNotes || n > 2*maxNotes { // those kept, and those that were being written
		t.Errorf("%d lines came before the answer, want %d or a few more", n, maxNotes)
	}
	c.post("notifications/message", posted)
	if line := <-out.took; line != note(posted) {
		t.Errorf("what came later is %s", line)
	}
}
