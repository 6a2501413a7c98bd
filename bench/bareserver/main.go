// Command bareserver is the floor over stdio: a plain mcp-go server with one tool for each run of package bareloop.
//
//	stdin ──▶ mcp-go ──▶ bareloop.Loop ──▶ structuredContent and the same as text ──▶ stdout
//
// It reads OPENAI_BASE_URL and ends with its input.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"patterngate/bench/bareloop"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "bareserver:", err)
		os.Exit(1)
	}
}

func serve() error {
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
	return server.ServeStdio(s, server.WithWorkerPoolSize(64))
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
