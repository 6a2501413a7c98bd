package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/local"
	"patterngate/server/outcome"
)

// benchCall is a run of five steps whose plan is the caller's: no model is in the way.
const benchCall = `{"goal":"April report of manager 42","plan":{"steps":[` +
	`{"id":"a","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},` +
	`{"id":"b","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},` +
	`{"id":"c","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}},` +
	`{"id":"d","title":"Figures","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}},` +
	`{"id":"e","title":"Risks","tool":"detect_risk_signals","args":{"month":"2026-04"}}]}}`

// bareServer is a mcp-go server whose tool gives back what it is told, as a bare server would.
func bareServer(name string, result func() (*mcp.CallToolResult, error)) *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("bare", "1")
	s.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result() })
	return s
}

// BenchmarkCall measures a run of five steps through mcp-go's dispatch, without a transport: ours; a bare tool that
// carries out the same run and returns its raw result; and the run alone. The difference of the first two is what
// checking, presenting and logging cost.
func BenchmarkCall(b *testing.B) {
	s := serving(b)
	line := json.RawMessage(callLine(1, td, benchCall))
	tool := toolNamed(b, s, td)
	c, _ := tool.take(json.RawMessage(benchCall), "")
	engine := &local.Engine{}
	defer engine.Close()
	run := func() patterns.Ended {
		ended, err := engine.Start(b.Context(), patterns.Job{Spec: tool.Spec, Task: c.Task(false), Model: offline.New()})
		if err != nil || !ended.Result.OK() {
			b.Fatal(err, ended.Result.StopReason)
		}
		return ended
	}
	shown, err := s.show(context.Background(), outcome.Ended(c, run()))
	if err != nil {
		b.Fatal(err)
	}
	bare := bareServer(td, func() (*mcp.CallToolResult, error) { run(); return shown, nil })
	for name, handle := range map[string]func() any{
		"ours": func() any { return s.mcp.HandleMessage(b.Context(), line) },
		"bare": func() any { return bare.HandleMessage(b.Context(), line) },
		"run":  func() any { return run().RunID },
		"take": func() any { _, problems := tool.take(json.RawMessage(benchCall), ""); return len(problems) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(handle()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStdio measures the same over pipes, one call after the other: ours, and the bare tool under mcp-go's own
// transport.
func BenchmarkStdio(b *testing.B) {
	s := serving(b)
	tool := toolNamed(b, s, td)
	c, _ := tool.take(json.RawMessage(benchCall), "")
	run := func() patterns.Ended {
		ended, err := s.config.Engine.Start(b.Context(), patterns.Job{Spec: tool.Spec, Task: c.Task(false), Model: offline.New()})
		if err != nil || !ended.Result.OK() {
			b.Error(err, ended.Result.StopReason)
		}
		return ended
	}
	shown, err := s.show(context.Background(), outcome.Ended(c, run()))
	if err != nil {
		b.Fatal(err)
	}
	bare := mcpserver.NewStdioServer(bareServer(td, func() (*mcp.CallToolResult, error) { run(); return shown, nil }))
	mcpserver.WithWorkerPoolSize(workers)(bare)
	for name, serve := range map[string]func(context.Context, io.Reader, io.Writer) error{"ours": s.ServeStdio, "bare": bare.Listen} {
		b.Run(name, func(b *testing.B) {
			fromClient, in := io.Pipe()
			fromServer, out := io.Pipe()
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = serve(ctx, fromClient, out)
			}()
			answers := bufio.NewReaderSize(fromServer, 64<<10)
			line := []byte(callLine(1, td, benchCall) + "\n")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := in.Write(line); err != nil {
					b.Fatal(err)
				}
				if _, err := answers.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			cancel()
			in.Close()
			<-ended
		})
	}
}

// BenchmarkNew measures what every start of the program pays.
func BenchmarkNew(b *testing.B) {
	c := serving(b).config
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(c); err != nil {
			b.Fatal(err)
		}
	}
}
