package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/catalog/pins"
	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// asBenchServer makes the test binary the server of [BenchmarkGatedCall]: mcp-go with one tool whose result has 5 KB.
const asBenchServer = "PATTERNGATE_BENCH_SERVER"

func init() {
	if os.Getenv(asBenchServer) == "" {
		return
	}
	result := mcp.NewToolResultText(strings.Repeat("0123456789", 500))
	s := mcpserver.NewMCPServer("bench", "1")
	s.AddTool(mcp.NewTool("look", mcp.WithDescription("Looks."), mcp.WithString("key")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return result, nil
	})
	if err := mcpserver.ServeStdio(s); err != nil && !errors.Is(err, context.Canceled) {
		os.Exit(1)
	}
	os.Exit(0)
}

// BenchmarkLoad200 loads a file with 200 tools, each of which judges its arguments: half are HTTP requests, half are tools
// of servers with a lock. What is loaded is ready to be served. The aim is 50 ms.
func BenchmarkLoad200(b *testing.B) {
	dir := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var lock pins.Lock
	var text strings.Builder
	text.WriteString("version: 1\ncatalog:\n  servers:\n")
	for s := range 10 {
		fmt.Fprintf(&text, "    s%d:\n      stdio: {command: %q}\n      tools:\n", s, self)
		for i := range 10 {
			fmt.Fprintf(&text, "        read_%d: {as: s%d_read_%d, effect: read, fix: {root: /srv}, bound: {path: {type: string, pattern: '^/srv/orders/A-[0-9]{4}$'}}}\n", i, s, i)
			d := pins.Definition{Name: fmt.Sprintf("read_%d", i), Description: strings.Repeat("Reads a file. ", 20), Input: []byte(`{"type":"object",` +
				`"properties":{"path":{"type":"string","description":"Where it is."},"root":{"type":"string"},"head":{"type":["integer","null"]}},"required":["path"],"additionalProperties":false}`)}
			if err := lock.Accept(fmt.Sprintf("s%d", s), d, pins.Acceptance{At: time.Unix(0, 0), By: "local:1", Assurance: "user"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	text.WriteString("  http:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "    tool_%d:\n      description: Finds one.\n      effect: read\n      request: {method: GET, url: 'https://a.example/%d/{id}', headers: {Authorization: {secret: 'env:KEY', prefix: 'Bearer '}}}\n"+
			"      input: {id: {type: string, pattern: '^A-[0-9]{4}$'}, lines: {type: integer, minimum: 1, optional: true}}\n", i, i)
	}
	path := filepath.Join(dir, "pg.yaml")
	if err := errors.Join(os.WriteFile(path, []byte(text.String()), 0o600), lock.Write(filepath.Join(dir, "patterngate.lock"))); err != nil {
		b.Fatal(err)
	}
	environ := []string{"KEY=x"}
	for b.Loop() {
		loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: environ}, assembly.LoadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		d, err := assembly.Declare(loaded, environ)
		if err != nil {
			b.Fatal(err)
		}
		if tools := len(d.Tools.Names()); tools != 200 {
			b.Fatalf("%d tools, want 200; held: %v", tools, loaded.Unlisted())
		}
	}
}

// BenchmarkGatedCall is a gated call of kind call to an MCP server, a process of its own, with a result of 5 KB: in memory
// and over a state file, each in turn with the same call by mcp-go's own client. The aim is 1.15 times that, and what the
// journal costs.
func BenchmarkGatedCall(b *testing.B) {
	for _, state := range []string{settings.MemoryState, "file"} {
		b.Run(strings.Trim(state, ":"), func(b *testing.B) {
			gated, direct := gatedCall(b, state), directCall(b)
			var ours, theirs []time.Duration
			for b.Loop() {
				ours, theirs = append(ours, timed(b, gated)), append(theirs, timed(b, direct))
			}
			gate, bare := middle(ours), middle(theirs)
			b.ReportMetric(float64(gate.Nanoseconds())/1000, "us-gated")
			b.ReportMetric(float64(bare.Nanoseconds())/1000, "us-direct")
			b.ReportMetric(float64(gate)/float64(bare), "gated/direct")
		})
	}
}

func timed(b *testing.B, call func() error) time.Duration {
	began := time.Now()
	if err := call(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

// middle is the median of what a call took, which a moment's load does not move.
func middle(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

func gatedCall(b *testing.B, state string) func() error {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if state != settings.MemoryState {
		state = filepath.Join(dir, "state.db")
	}
	config := filepath.Join(dir, "pg.yaml")
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Environ: []string{"HOME=" + dir}}}}
	text := fmt.Sprintf("version: 1\nstate: %q\ncatalog:\n  servers:\n    crm:\n      stdio: {command: %q, env: {%s: '1'}}\n      tools: {look: {effect: read}}\n  expose: [look]\n", state, self, asBenchServer)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	root := a.root()
	root.SetArgs([]string{"--config", config, "catalog", "accept", "--yes"})
	if err := root.ExecuteContext(b.Context()); err != nil {
		b.Fatal(err)
	}
	loaded, err := a.Load()
	if err != nil {
		b.Fatal(err)
	}
	s, err := a.opener().service("call", loaded, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	d, err := assembly.Declare(loaded, []string{"HOME=" + dir})
	if err != nil {
		b.Fatal(err)
	}
	seen := map[string]bool{}
	return func() error {
		n := len(seen)
		job, err := d.Job(patterns.Begun{Pattern: "look", Caller: patterns.Caller{Principal: "local:1"}, Arguments: map[string]any{"key": fmt.Sprint("A-", n)}})
		if err != nil {
			return err
		}
		job.ByKey, job.Equal = "", "" // else it may join the run before
		ended, err := s.Engine().Start(b.Context(), job)
		if err == nil && (!ended.Result.OK() || ended.Result.Observation == nil || seen[ended.RunID]) {
			err = fmt.Errorf("run %s ends with %s", ended.RunID, ended.Result.StopReason)
		}
		seen[ended.RunID] = true
		return err
	}
}

func directCall(b *testing.B) func() error {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.NewStdioMCPClient(self, []string{asBenchServer + "=1"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() }) // the server ends with its input
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "bench", Version: "1"}
	if _, err := c.Initialize(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = "look", map[string]any{"key": "A-1"}
	return func() error {
		result, err := c.CallTool(b.Context(), r)
		if err == nil && result.IsError {
			err = errors.New("the tool failed")
		}
		return err
	}
}
