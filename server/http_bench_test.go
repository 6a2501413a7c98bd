package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// echoed is a result of 5 KB as both sides of the benchmark return it.
func echoed() *mcp.CallToolResult {
	text := strings.Repeat("x", 2500)
	return &mcp.CallToolResult{
		RawStructuredContent: []byte(`{"text":"` + text + `"}`), Content: []mcp.Content{mcp.NewTextContent(text)},
	}
}

// BenchmarkHTTP measures a call with an answer of 5 KB over loopback, beside mcp-go without a guard: one call after
// the other, and 64 clients at once.
func BenchmarkHTTP(b *testing.B) {
	result := echoed()
	echo := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil }
	ours := serving(b)
	ours.mcp.AddTool(mcp.NewTool("echo"), echo)
	guarded := listening(b, ours)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	bare := &http.Server{Handler: mcpserver.NewStreamableHTTPServer(bareServer("echo", func() (*mcp.CallToolResult, error) { return result, nil }), mcpserver.WithStateful(true))}
	go bare.Serve(narrow{l})
	b.Cleanup(func() { bare.Close() })
	for era, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		for side, h := range map[string]*web{"ours": guarded, "bare": {t: b, address: l.Addr().String(), client: guarded.client}} {
			c := h.connect(modern, nil)
			b.Run(era+"/"+side+"/one", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					benchEcho(b, c)
				}
			})
			b.Run(era+"/"+side+"/64", func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism(32)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						benchEcho(b, c)
					}
				})
			})
		}
	}
}

var benchIDs atomic.Int64

func benchEcho(b *testing.B, c *client) {
	response, err := c.h.request(context.Background(), http.MethodPost, "/mcp", c.head(callMethod, "echo"), c.line(benchIDs.Add(1), "echo", `{"a":1}`, ""))
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); err != nil || n < 5000 || response.StatusCode != 200 {
		b.Error(response.Status, n, err)
	}
}
