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

// parting is how long the last answers may take to be written after the grace period.
const parting = 250 * time.Millisecond

// ServeStdio serves one client that writes JSON-RPC lines to in and reads them from out. Nothing else may write to out.
//
// It ends when in or ctx ends. First it waits until all requests are answered and the runs that continue without a call
// are left, at most for the grace period. Runs that continue after that do so without their calls. A reader that blocks
// stays behind until the process ends. The error is the first fault of reading or writing.
//
// mcp-go has one session for stdio, so a process can serve one client at a time this way.
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
	case err := <-listened: // mcp-go never read, or could not write
		return errors.Join(err, c.fault())
	case <-ctx.Done():
	case <-c.ended:
	}
	s.config.Log.LogAttrs(ctx, slog.LevelInfo, "stopping", slog.Int("running", c.flight.close()+s.config.Host.Going()), slog.Int("waiting", s.config.Host.Waiting()))
	s.config.Host.Grace(c.flight.landed)
	cancel(s.config.Detached) // before mcp-go sees the end of the input and cancels the calls
	c.release()
	select {
	case <-listened:
	case <-time.After(parting):
	}
	c.gone.Store(true)
	return c.fault()
}

// await waits for an event, at most for d.
func await(event <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-event:
	case <-timer.C:
	}
}

// conn is the connection between one client and mcp-go. For mcp-go it is a reader that ends only when it is released,
// and a writer. It limits the length of lines, answers lines that are no messages, and knows which requests are not
// answered yet. mcp-go has no such limit, and drops all running calls when its input ends.
type conn struct {
	lines    *lines
	rest     []byte // of the line that mcp-go is reading
	flight   *flight
	ended    chan struct{} // closed when the input has ended or the output is broken
	released chan struct{} // closed when mcp-go may see the end of the input
	end, let sync.Once

	listings listings // the tool lists of the answers that are under way

	notes   notes      // the notifications that wait to be written
	writing sync.Mutex // held while out is written, however long that takes
	out     io.Writer
	gone    atomic.Bool           // nothing more is written
	failed  atomic.Pointer[error] // the first error of reading or writing
}

type connKey struct{}

// connOf returns the connection of a request, or nil if the request came by another transport.
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

// Read gives mcp-go its next line or a part of one. It never returns more than one line.
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

// take returns what mcp-go gets of a line, including the line feed. It returns nil if mcp-go gets nothing; then take
// has written the answer, if the line needs one.
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

// release lets mcp-go see the end of the input.
func (c *conn) release() { c.let.Do(func() { close(c.released) }) }

// Write takes one whole message from mcp-go.
func (c *conn) Write(message []byte) (int, error) {
	err := c.flight.answer(answered(message), func() error { return c.send(c.listings.whole(briefError(message))) })
	if err != nil {
		return 0, err
	}
	return len(message), nil
}

// send writes the notifications that wait and then a message, unless it is nil. After an error the connection ends.
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

// write writes a message. The caller holds c.writing.
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

// notify writes a notification at once.
func (c *conn) notify(method string, params any) {
	if line, err := notification(method, params); err == nil {
		_ = c.send(line) // the answer reports a broken output
	}
}

// fail ends the connection because of an error.
func (c *conn) fail(err error) {
	c.failed.CompareAndSwap(nil, &err)
	c.end.Do(func() { close(c.ended) })
}

// fault returns the first error of reading or writing, or nil.
func (c *conn) fault() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}
