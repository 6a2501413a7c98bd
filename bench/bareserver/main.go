// Command bareserver is the floor over stdio and HTTP: a plain mcp-go server with one tool for each run of package
// bareloop, and with -echo one that gives back both channels of a result as they are.
//
//	stdin ──▶ mcp-go ──▶ bareloop.Loop ──▶ structuredContent and the same as text ──▶ stdout
//	HTTP  ──▶   "    ──▶ the file of -echo                                        ──▶ HTTP
//
// It reads OPENAI_BASE_URL. With -http it prints its address. It ends with its input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"patterngate/bench/bareloop"
)

func main() {
	echo := flag.String("echo", "", "file with the result of describe_catalog; empty: there is no such tool")
	listen := flag.String("http", "", "host:port to serve HTTP at; empty: stdio")
	flag.Parse()
	if err := serve(*echo, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "bareserver:", err)
		os.Exit(1)
	}
}

func serve(echo, listen string) error {
	loop, err := bareloop.New(os.Getenv("OPENAI_BASE_URL"), "test-model", 0)
	if err != nil {
		return err
	}
	s := server.NewMCPServer("bareserver", "1")
	add(s, "run_task_decomposition", []string{"goal"}, func(ctx context.Context, in func(string) string) (bareloop.Result, error) {
		return loop.Decompose(ctx, in("goal"))
	})
	add(s, "run_orchestrator", []string{"goal", "report_date", "region"}, func(ctx context.Context, in func(string) string) (bareloop.Result, error) {
		return loop.Orchestrate(ctx, in("goal"), in("report_date"), in("region"))
	})
	add(s, "route_ticket", []string{"ticket"}, func(ctx context.Context, in func(string) string) (bareloop.Result, error) {
		return loop.Route(ctx, in("ticket"))
	})
	add(s, "supervised_refund", []string{"goal"}, func(ctx context.Context, in func(string) string) (bareloop.Result, error) {
		return loop.Supervise(ctx, in("goal"))
	})
	if echo != "" {
		if err := addEcho(s, echo); err != nil {
			return err
		}
	}
	if listen != "" {
		return serveHTTP(s, listen)
	}
	return server.ServeStdio(s, server.WithWorkerPoolSize(64))
}

// serveHTTP serves until the input ends, with nothing between net/http and mcp-go.
func serveHTTP(s *server.MCPServer, listen string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	web := &http.Server{Handler: server.NewStreamableHTTPServer(s, server.WithStateful(true))}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is the end
	}()
	select {
	case err := <-served:
		return err
	case <-ended:
		return web.Close()
	}
}

// addEcho adds a tool whose result is made before it is asked for, of JSON that is there and of a text: mcp-go has no
// quicker way.
func addEcho(s *server.MCPServer, path string) error {
	var echo struct {
		StructuredContent json.RawMessage
		Content           []mcp.TextContent
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &echo)
	}
	if err == nil && len(echo.Content) != 1 {
		err = errors.New("want one text")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	content := []mcp.Content{echo.Content[0]}
	tool := mcp.NewTool("describe_catalog", mcp.WithDescription("Gives back what it was given."), mcp.WithNumber("limit"))
	s.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{RawStructuredContent: echo.StructuredContent, Content: content}, nil
	})
	return nil
}

// run is one of the loop's runs; in reads an argument.
type run func(ctx context.Context, in func(name string) string) (bareloop.Result, error)

func add(s *server.MCPServer, name string, arguments []string, do run) {
	options := []mcp.ToolOption{mcp.WithDescription("Runs the bare loop.")}
	for _, a := range arguments {
		options = append(options, mcp.WithString(a, mcp.Required()))
	}
	s.AddTool(mcp.NewTool(name, options...), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := do(ctx, func(name string) string { return req.GetString(name, "") })
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultStructuredOnly(result), nil
	})
}
