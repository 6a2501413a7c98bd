package assembly

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server"
	"patterngate/server/settings"
)

// benchPatterns is a file with patterns of all kinds that propose, each with inputs, instructions and what its kind has.
func benchPatterns(n int) string {
	hands := []string{
		"kind: orchestrator, workers: {s: {tool: sales_worker}, p: {tool: payments_worker}}, " +
			`aggregate: {fields: {a: tasks.s.attempts, b: fields.a + 1}, health: [{is: red, when: fields.b > 9}, {is: yellow, when: size(failed) > 0}]}`,
		"kind: routing, routes: {x: {tool: billing_specialist, reroute: 'result.status == \"needs_reroute\"'}, y: {tool: sales_specialist}}",
		"kind: task_decomposition, tools: [get_manager_profile, fetch_sales_data], answer: {x: {type: string}}",
		"kind: supervisor, tools: [get_refund_context]",
	}
	var text strings.Builder
	text.WriteString("version: 1\ndemo: {enabled: true}\npatterns:\n")
	for i := range n {
		fmt.Fprintf(&text, "  p%d: {%s, title: Pattern %d, description: Does what pattern %d does.,\n"+
			"    input: {a: {type: string}, b: {type: integer, default: 5}}, instructions: 'Use {{.a}} and {{.b}}.'}\n", i, hands[i%len(hands)], i, i)
	}
	return text.String()
}

// BenchmarkLoadPatterns loads a file with 50 patterns of its own. What is loaded is ready to be served. The aim is 50 ms.
func BenchmarkLoadPatterns(b *testing.B) {
	for _, n := range []int{0, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := writeConfig(b, benchPatterns(n))
			if n == 0 {
				path = writeConfig(b, "version: 1\n")
			}
			b.ReportAllocs()
			for b.Loop() {
				loaded, _, err := Load(settings.Sources{Path: path}, LoadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Declare(loaded, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkListPatterns is tools/list with 50 patterns of the file's own, over pipes. The aim is 2 ms.
func BenchmarkListPatterns(b *testing.B) {
	s := benchServed(b, benchPatterns(50))
	ask := asking(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if answer := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); len(answer) < 50_000 {
			b.Fatalf("%.200s", answer)
		}
	}
}

// BenchmarkDeclaredPattern is a run of a declared pattern, and of the built-in one that has the same tools. The aim is 1.05 times that.
func BenchmarkDeclaredPattern(b *testing.B) {
	const tools = "get_manager_profile, fetch_sales_data, fetch_refund_data, calculate_monthly_kpis, detect_risk_signals"
	s := benchServed(b, "version: 1\ndemo: {enabled: true}\npatterns:\n  own_report: {kind: task_decomposition, title: T, description: D., tools: ["+tools+"]}\n")
	ask := asking(b, s)
	for _, name := range []string{"run_task_decomposition", "own_report"} {
		b.Run(name, func(b *testing.B) {
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"goal":"April report of manager 42","finalize":true,"plan":{"steps":[`+
				`{"id":"a","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},`+
				`{"id":"b","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},`+
				`{"id":"c","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}}]}}}}`, name)
			b.ReportAllocs()
			for b.Loop() {
				if answer := ask(line); !strings.Contains(answer, patterns.Success) {
					b.Fatal(answer)
				}
			}
		})
	}
}

func benchServed(b *testing.B, text string) *server.Server {
	b.Helper()
	loaded, _, err := Load(settings.Sources{Path: writeConfig(b, text)}, LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// asking serves over pipes and asks line by line.
func asking(b *testing.B, s *server.Server) func(line string) string {
	b.Helper()
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.ServeStdio(ctx, fromClient, out)
	}()
	b.Cleanup(func() {
		cancel()
		_ = in.Close()
		_ = fromServer.Close()
		<-ended
	})
	answers := bufio.NewReaderSize(fromServer, 1<<20)
	ask := func(line string) string {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			b.Fatal(err)
		}
		for {
			answer, err := answers.ReadString('\n')
			if err != nil {
				b.Fatal(err)
			}
			if strings.Contains(answer, `"id":1`) {
				return answer
			}
		}
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		b.Fatal(err)
	}
	return ask
}
