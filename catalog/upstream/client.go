// Package upstream talks to other MCP servers. It is the only MCP client in the program.
//
//	Start(Program) ──▶ child process ──initialize, initialized──▶ Client ──Call──▶ Reply
//	                        │ stderr: to Program.Stderr
//	                        └ environment: only what Program.Env names
package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
)

// closeGrace is how long a child may take to end after its input was closed; then it is killed.
const closeGrace = 10 * time.Second

// Program is an MCP server that is started as a child and spoken to over its standard input and output.
type Program struct {
	Command string // path of the executable
	Args    []string
	Env     []string  // the child's whole environment, NAME=value; nothing is inherited
	Dir     string    // empty: the present directory
	Stderr  io.Writer // nil: discarded
}

// Identity is how this client introduces itself.
type Identity struct{ Name, Version string }

// Client is one session with a server. It is safe for concurrent use.
type Client struct {
	mcp *client.Client
	cmd *exec.Cmd

	tokens   atomic.Int64
	progress listeners
}

// Reply is a tool's answer.
type Reply struct {
	Structured any    // decoded value; nil where the server sent none
	Text       string // the text contents, joined by line feeds
	IsError    bool
}

// Start starts the program and opens a session by the initialize handshake. The child lives until Close.
func Start(ctx context.Context, p Program, who Identity) (*Client, error) {
	c := &Client{}
	stdio := transport.NewStdioWithOptions(p.Command, p.Env, p.Args, transport.WithCommandFunc(
		func(_ context.Context, command string, env, args []string) (*exec.Cmd, error) {
			c.cmd = exec.Command(command, args...)
			c.cmd.Env, c.cmd.Dir, c.cmd.Stderr = append([]string{}, env...), p.Dir, p.Stderr
			if p.Stderr == nil {
				c.cmd.Stderr = io.Discard
			}
			return c.cmd, nil
		}))
	//lint:ignore SA1019 a child that lives as long as its client is spoken to by the handshake that every server has
	c.mcp = client.NewClient(stdio, client.WithLegacyProtocolOnly())
	c.mcp.OnNotification(c.notified)
	if err := c.mcp.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Command, err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: who.Name, Version: who.Version}
	if _, err := c.mcp.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(fmt.Errorf("handshake with %s: %w", p.Command, err), c.Close())
	}
	return c, nil
}

// Tools lists the names of the server's tools.
func (c *Client) Tools(ctx context.Context) ([]string, error) {
	list, err := c.mcp.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	names := make([]string, len(list.Tools))
	for i, t := range list.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// Call calls a tool. Lines of progress go to progress, if it is not nil, from another goroutine; a line may come
// after the answer. A call that outlives ctx is given up; a server that no longer reads does not hold it.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any, progress func(string)) (Reply, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, args
	if progress != nil {
		token := "p" + strconv.FormatInt(c.tokens.Add(1), 10)
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
		c.progress.add(token, progress)
		defer c.progress.end(token)
	}
	type answer struct {
		result *mcp.CallToolResult
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := c.mcp.CallTool(ctx, request)
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return Reply{}, fmt.Errorf("call %s: %w", tool, a.err)
		}
		return read(a.result)
	case <-ctx.Done():
		return Reply{}, fmt.Errorf("call %s: %w", tool, ctx.Err())
	}
}

// read takes an answer through the strict decoder: it comes from outside.
func read(result *mcp.CallToolResult) (Reply, error) {
	reply := Reply{IsError: result.IsError}
	for _, content := range result.Content {
		if text, ok := content.(mcp.TextContent); ok {
			if reply.Text != "" {
				reply.Text += "\n"
			}
			reply.Text += text.Text
		}
	}
	if result.StructuredContent == nil {
		return reply, nil
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err == nil {
		reply.Structured, err = ijson.Decode(raw)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("structured content: %w", err)
	}
	return reply, nil
}

// notified hands a line of progress to the call that asked for it.
func (c *Client) notified(n mcp.JSONRPCNotification) {
	if n.Method != "notifications/progress" {
		return
	}
	token, _ := n.Params.AdditionalFields["progressToken"].(string)
	line, _ := n.Params.AdditionalFields["message"].(string)
	if tell := c.progress.of(token); tell != nil && line != "" {
		tell(line)
	}
}

// Close ends the session: the child's input is closed, and a child that does not end is killed.
func (c *Client) Close() error {
	done := make(chan error, 1)
	go func() { done <- c.mcp.Close() }()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		if c.cmd == nil || c.cmd.Process == nil {
			return errors.New("upstream: the session does not end")
		}
		return c.cmd.Process.Kill()
	}
}
