package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

const (
	stdioWorkers = 64
	stdioQueue   = 1000
)

// parting is how long the last answers may take to get out after the grace has passed.
const parting = 250 * time.Millisecond

// ServeStdio serves one client that writes JSON-RPC lines to in and reads them from out. It returns when in has ended
// or ctx has, after everything that was asked is answered, and the runs that go on without a call are left, or the grace has
// passed; runs that go on then do so without their calls. A reader that blocks is left behind, for the process to end. Nothing else may write to out. As mcp-go
// has one session for stdio, a process serves one client at a time so.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := newConn(in, out)
	c.flight.slots = &s.slots
	defer c.flight.giveBack()
	inner, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), connKey{}, c))
	defer cancel(s.config.Detached)
	stdio := mcpserver.NewStdioServer(s.config.MCP)
	for _, option := range []mcpserver.StdioOption{
		mcpserver.WithErrorLogger(slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)),
		mcpserver.WithWorkerPoolSize(stdioWorkers), mcpserver.WithQueueSize(stdioQueue),
	} {
		option(stdio)
	}
	listened := make(chan error, 1)
	go func() { listened <- stdio.Listen(inner, c, c) }()
	s.config.Log.LogAttrs(ctx, slog.LevelInfo, "serving", slog.String("transport", "stdio"),
		slog.String("state", s.config.State), slog.Int("tools", len(s.config.Host.Tools())))

	select {
	case err := <-listened: // it never got to read, or lost its output
		return errors.Join(err, c.fault())
	case <-ctx.Done():
	case <-c.ended:
	}
	s.config.Log.LogAttrs(ctx, slog.LevelInfo, "stopping", slog.Int("running", c.flight.close()+s.config.Host.Going()), slog.Int("waiting", s.config.Host.Waiting()))
	s.config.Host.Grace(c.flight.landed)
	cancel(s.config.Detached) // before mcp-go learns of the end, which takes calls back
	c.release()
	select {
	case <-listened:
	case <-time.After(parting):
	}
	c.gone.Store(true)
	return c.fault()
}

// await waits for an event, but no longer than d.
func await(event <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-event:
	case <-timer.C:
	}
}

// conn stands between a client and mcp-go. Towards mcp-go it is a reader that ends only when it is released, and a
// writer. In between it bounds lines, answers what is no frame, and knows what is not answered yet: mcp-go has no
// bound, and drops all that runs when its input ends.
type conn struct {
	lines    *lines
	rest     []byte // of the line that is being passed on
	flight   *flight
	ended    chan struct{} // closed when the input is over or the output broken
	released chan struct{} // closed when mcp-go may learn that the input is over
	end, let sync.Once

	listings listings // that stand in answers on their way

	notes   notes      // that wait to be written
	writing sync.Mutex // held while out is written to, however long that takes
	out     io.Writer
	gone    atomic.Bool           // nothing is written any more
	failed  atomic.Pointer[error] // of reading or writing, the first
}

type connKey struct{}

// connOf is the connection that a request came by; nil if it came by another transport.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

func newConn(in io.Reader, out io.Writer) *conn {
	return &conn{
		lines: newLines(in, maxLine), flight: newFlight(stdioQueue), out: out,
		ended: make(chan struct{}), released: make(chan struct{}),
	}
}

// Read gives mcp-go its next line, or a part of one, never more than one.
func (c *conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		line, err := c.lines.next()
		switch {
		case errors.Is(err, errLongLine):
			_ = c.send((&frameFault{codeParse, "null", "Parse error: " + err.Error()}).line())
		case errors.Is(err, io.EOF):
			c.end.Do(func() { close(c.ended) })
			<-c.released
			return 0, io.EOF
		case err != nil:
			c.fail(fmt.Errorf("reading: %w", err))
			<-c.released
			return 0, io.EOF
		default:
			c.rest = c.take(line)
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// take returns what of a line goes on to mcp-go, with its end. If nothing does, it was answered here as far as it wants
// an answer.
func (c *conn) take(line []byte) []byte {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	f, err := readFrame(line)
	err = onlyOnce(line, f, err)
	if err == nil && f.id != "" {
		err = c.flight.begin(f, len(line))
	}
	if fault, ok := errors.AsType[*frameFault](err); ok {
		_ = c.send(fault.line())
		return nil
	}
	switch f.method {
	case "":
		return nil
	case methodCancel:
		c.flight.cancel(f, line)
	case methodCall:
		line = tamed(line)
	}
	return append(line, '\n')
}

// release lets mcp-go learn that the input is over.
func (c *conn) release() { c.let.Do(func() { close(c.released) }) }

// Write takes one whole message of mcp-go.
func (c *conn) Write(message []byte) (int, error) {
	err := c.flight.answer(answered(message), func() error { return c.send(c.listings.whole(briefError(message))) })
	if err != nil {
		return 0, err
	}
	return len(message), nil
}

// send writes the notifications that wait and then a message, if there is one. When the output is broken nobody is
// served any more.
func (c *conn) send(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	for _, note := range c.notes.take() {
		if err := c.write(note); err != nil {
			return err
		}
	}
	if message == nil {
		return nil
	}
	return c.write(message)
}

// write writes while the output is held.
func (c *conn) write(message []byte) error {
	if c.gone.Load() {
		return io.ErrClosedPipe
	}
	if _, err := c.out.Write(message); err != nil {
		err = fmt.Errorf("writing: %w", err)
		c.fail(err)
		return err
	}
	return nil
}

// notify writes a notification.
func (c *conn) notify(method string, params any) {
	if line, err := notification(method, params); err == nil {
		_ = c.send(line) // a broken output shows at the answer
	}
}

// fail ends the connection by an error.
func (c *conn) fail(err error) {
	c.failed.CompareAndSwap(nil, &err)
	c.end.Do(func() { close(c.ended) })
}

// fault is the first error of reading or writing; nil where there was none.
func (c *conn) fault() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}
