package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// docsClient is an MCP client of a fresh installation: the embedded default, no key. It makes calls one after the
// other.
type docsClient struct {
	t       *testing.T
	service *assembly.Service
	to      io.Writer
	lines   *bufio.Scanner
	last    int
	inbox   string // where its approval page could be served
}

// newDocsClient serves over pipes until the test ends. Its approval page has an address of its own: what listens at the usual
// one on this machine does not matter.
func newDocsClient(t *testing.T) *docsClient {
	t.Helper()
	a := &app{Invocation: &invocation.Invocation{
		Console: console.Console{Out: io.Discard, Err: io.Discard}, State: filepath.Join(t.TempDir(), "state.db"), Inbox: freeAddress(t),
	}}
	loaded, err := a.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.opener().service("docs", loaded, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := clientInside(t, s)
	c.inbox = a.Inbox
	return c
}

// clientInside is a client of a server in this process, which it ends with the test.
func clientInside(t *testing.T, s *assembly.Service) *docsClient {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	t.Cleanup(func() {
		toServer.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c := &docsClient{t: t, service: s, to: toServer, lines: bufio.NewScanner(fromServer)}
	c.lines.Buffer(nil, 1<<20)
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"docs","version":"1"}}`)
	return c
}

// request sends a request and returns its result.
func (c *docsClient) request(method, params string) json.RawMessage {
	c.t.Helper()
	c.last++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.last, method, params); err != nil {
		c.t.Fatal(err)
	}
	for c.lines.Scan() {
		var m struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil || m.Error != nil {
			c.t.Fatalf("%s %s: %s: %v", method, params, c.lines.Bytes(), err)
		}
		if m.ID == c.last && m.Result != nil {
			return m.Result
		}
	}
	c.t.Fatalf("%s: no answer: %v", method, c.lines.Err())
	return nil
}

// call is the text channel of a tool's result.
func (c *docsClient) call(tool, arguments string) string {
	c.t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(arguments)); err != nil {
		c.t.Fatalf("%s: %v: %s", tool, err, arguments)
	}
	raw := c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, line.String()))
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(raw, &result); err != nil || len(result.Content) != 1 {
		c.t.Fatalf("%s %s: %s", tool, arguments, raw)
	}
	return result.Content[0].Text
}
