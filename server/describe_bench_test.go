package server

import (
	"context"
	"encoding/json"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/server/arguments"
)

// catalogCalls are one call of describe_catalog in each era, whose answer has about 5 KB of structured content.
var catalogCalls = map[string]string{
	"legacy": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_catalog","arguments":{"limit":9}}}`,
	"modern": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `,"name":"describe_catalog","arguments":{"limit":9}}}`,
}

// echoOf is a bare mcp-go server whose tool gives back the same two channels: a text that is there and a value that is
// raw JSON, which mcp-go encodes the quickest.
func echoOf(b testing.TB, s *Server) *mcpserver.MCPServer {
	b.Helper()
	answer := answered(b, s, "p", `{"limit":9}`)
	return bareServer(arguments.CatalogTool, func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{RawStructuredContent: answer.RawStructuredContent, Content: answer.Content}, nil
	})
}

// BenchmarkDescribe measures a call of describe_catalog through mcp-go's dispatch beside a bare echo of the same answer.
func BenchmarkDescribe(b *testing.B) {
	s := serving(b)
	bare := echoOf(b, s)
	for era, line := range catalogCalls {
		for name, to := range map[string]*mcpserver.MCPServer{"ours": s.mcp, "bare": bare} {
			b.Run(era+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					hop(b, to, line)
				}
			})
			b.Run(era+"/64 at once/"+name, func(b *testing.B) {
				b.SetParallelism(64)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						hop(b, to, line)
					}
				})
			})
		}
	}
}

func hop(b testing.TB, s *mcpserver.MCPServer, line string) int {
	answer, err := json.Marshal(s.HandleMessage(context.Background(), json.RawMessage(line)))
	if err != nil {
		b.Error(err)
	}
	return len(answer)
}

// BenchmarkDescribeRatio measures both in turn, so that a busy machine disturbs them alike, and reports the medians of
// the ratios: of the time of a call, and of what 64 at once get done.
func BenchmarkDescribeRatio(b *testing.B) {
	const calls = 400
	s := serving(b)
	bare := echoOf(b, s)
	for era, line := range catalogCalls {
		b.Run(era, func(b *testing.B) {
			b.ReportMetric(float64(hop(b, s.mcp, line)), "bytes")
			b.ReportMetric(0, "ns/op")
			var alone, crowd []float64
			for range 15 {
				alone = append(alone, inTurn(b, line, calls, 1, s.mcp)/inTurn(b, line, calls, 1, bare))
				crowd = append(crowd, inTurn(b, line, calls*4, 64, bare)/inTurn(b, line, calls*4, 64, s.mcp))
			}
			b.ReportMetric(median(alone), "x-time")
			b.ReportMetric(median(crowd), "x-throughput-at-64")
		})
	}
}

// inTurn is how long so many calls take, made by so many at once.
func inTurn(b testing.TB, line string, calls, callers int, to *mcpserver.MCPServer) float64 {
	began := time.Now()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range calls / callers {
				hop(b, to, line)
			}
		})
	}
	all.Wait()
	return time.Since(began).Seconds()
}

func median(list []float64) float64 {
	sort.Float64s(list)
	return list[len(list)/2]
}
