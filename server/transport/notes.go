package transport

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Post sends a notification to the client that made the request of ctx, and never waits for the client. Post drops the
// notification if too many wait for a client that does not read. Over stdio the notification comes before the answer to
// the request.
func (s *Server) Post(ctx context.Context, method string, params any) {
	if c := connOf(ctx); c != nil {
		c.post(method, params)
		return
	}
	if x := exchangeOf(ctx); x != nil {
		x.answer.notify(method, params)
		return
	}
	s.sendBySession(ctx, method, params)
}

// sendBySession gives a notification to mcp-go, for transports other than stdio and HTTP of this package. A
// notification that is lost is not a fault.
func (s *Server) sendBySession(ctx context.Context, method string, params any) {
	text, err := json.Marshal(params)
	if err != nil {
		return
	}
	var members map[string]any
	if json.Unmarshal(text, &members) == nil && s.config.MCP.SendNotificationToClient(ctx, method, members) == nil {
		if sent, ok := ctx.Value(sentKey{}).(*atomic.Bool); ok {
			sent.Store(true)
		}
	}
}

// settling is how long an answer waits for the notifications that were sent before it. Over HTTP mcp-go loses the last
// notifications of a call if the answer follows at once.
const settling = 2 * time.Millisecond

type sentKey struct{}

// Settled returns a handler that lets the notifications of a call be written before its answer. A call that sent none
// does not wait. Over HTTP the context of the call ends with the cause [Config.Detached] when its client goes or the
// server stops.
func (s *Server) Settled(handle mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if connOf(ctx) != nil {
			return handle(ctx, req) // stdio writes in order
		}
		ctx, end := s.detaching(ctx)
		defer end()
		var sent atomic.Bool
		result, err := handle(context.WithValue(ctx, sentKey{}, &sent), req)
		if sent.Load() {
			time.Sleep(settling)
		}
		return result, err
	}
}

// detaching returns the context of a call over HTTP. When the client goes or the server stops, the run continues
// without the call. A client of MCP 2026-07-28 cancels a request by closing its stream; a run that has begun is more
// than that request, so it continues.
func (s *Server) detaching(ctx context.Context) (_ context.Context, end func()) {
	x := exchangeOf(ctx)
	if x == nil || x.gone == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.gone, func() { cancel(s.config.Detached) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// maxNotes is how many notifications may wait for a client that does not read.
const maxNotes = 256

// notes are the notifications that wait to be written. The zero notes are empty.
type notes struct {
	mu      sync.Mutex
	waiting [][]byte
	writing bool // a goroutine is about to write them
}

// post queues a notification, or drops it if too many wait.
func (c *conn) post(method string, params any) {
	line, err := notification(method, params)
	if err != nil {
		return
	}
	c.notes.mu.Lock()
	defer c.notes.mu.Unlock()
	if len(c.notes.waiting) == maxNotes {
		return
	}
	c.notes.waiting = append(c.notes.waiting, line)
	if !c.notes.writing {
		c.notes.writing = true
		go c.writeNotes()
	}
}

// writeNotes writes the notifications that wait, until there are none.
func (c *conn) writeNotes() {
	for {
		_ = c.send(nil) // the answer reports a broken output
		c.notes.mu.Lock()
		if len(c.notes.waiting) == 0 {
			c.notes.writing = false
			c.notes.mu.Unlock()
			return
		}
		c.notes.mu.Unlock()
	}
}

// take returns the notifications that wait and empties the queue.
func (n *notes) take() [][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	waiting := n.waiting
	n.waiting = nil
	return waiting
}

// notification returns a notification as a line.
func notification(method string, params any) ([]byte, error) {
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	return append(line, '\n'), err
}
