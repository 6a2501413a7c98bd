package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/server"
)

// session is a client of one server over a pipe, by the handshake era.
type session struct {
	t      *testing.T
	to     io.WriteCloser
	lines  chan json.RawMessage // that the server writes
	served chan error
	calls  int
}

// open serves one pattern whose runs wait for their caller so long; below 0: not at all.
func open(t *testing.T, spec patterns.Spec, model patterns.Model, wait time.Duration) *session {
	t.Helper()
	return openAll(t, []server.Pattern{{Spec: spec, Title: "Test (demo data)", Description: "Tests."}}, model, wait)
}

// openAll serves several.
func openAll(t *testing.T, list []server.Pattern, model patterns.Model, wait time.Duration) *session {
	t.Helper()
	var config server.Config
	engine := server.EngineFor(t, func() server.Config { return config })
	engine.CallerWait = wait
	config = server.Config{
		Patterns: list,
		Engine:   engine, Model: model, Configured: model.Name() != "rules", Log: slog.New(slog.DiscardHandler), Version: "test",
	}
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &session{t: t, to: toServer, lines: make(chan json.RawMessage, 100), served: make(chan error, 1)}
	go func() {
		c.served <- s.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	go c.read(fromServer)
	c.send(object{"id": 0, "method": "initialize", "params": object{
		"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "test", "version": "1"}}})
	c.send(object{"method": "notifications/initialized"})
	c.wait(0)
	return c
}

func (c *session) read(from io.Reader) {
	defer close(c.lines)
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		c.lines <- append(json.RawMessage(nil), lines.Bytes()...)
	}
}

func (c *session) send(message object) {
	c.t.Helper()
	message["jsonrpc"] = "2.0"
	if err := json.NewEncoder(c.to).Encode(message); err != nil {
		c.t.Fatal(err)
	}
}

// reply is a tools/call's result in both channels.
type reply struct {
	Content []struct{ Text string }
	object  `json:"structuredContent"`
	IsError bool
}

// wait reads lines up to the answer to a request. With a word of progress that comes before, it takes the request back.
func (c *session) wait(id int) reply {
	c.t.Helper()
	for line := range c.lines {
		var m struct {
			ID     any
			Method string
			Result struct {
				reply
				StructuredContent object
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Fatalf("the server wrote %q: %v", line, err)
		}
		switch {
		case m.Method == "notifications/progress":
			c.send(object{"method": "notifications/cancelled", "params": object{"requestId": id}})
		case m.ID == float64(id):
			m.Result.object = m.Result.StructuredContent
			return m.Result.reply
		}
	}
	c.t.Fatal("no answer")
	return reply{}
}

// call makes a tools/call; one that will be cancelled asks for progress.
func (c *session) call(tool string, arguments object, cancel bool) reply {
	c.t.Helper()
	c.calls++
	params := object{"name": tool, "arguments": arguments}
	if cancel {
		params["_meta"] = object{"progressToken": c.calls}
	}
	c.send(object{"id": c.calls, "method": "tools/call", "params": params})
	return c.wait(c.calls)
}

// close ends the session.
func (c *session) close() {
	c.t.Helper()
	c.to.Close()
	for range c.lines {
	}
	if err := <-c.served; err != nil {
		c.t.Errorf("ServeStdio: %v", err)
	}
}
