package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/prompts"
	"patterngate/patterns/reference"
)

var update = flag.Bool("update", false, "write the golden files anew")

// asServer makes the test binary the server of a test that needs a process of its own.
const asServer = "PATTERNGATE_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(serveAsChild())
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // those that are parallel mostly wait for a time limit
		panic(err)
	}
	if os.Getenv("CI") == "" { // what chance draws, a quarter of it
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The demo's tools, and the policy for its refunds. Each is made once, since neither changes.
var (
	demoTools    = sync.OnceValues(func() ([]catalog.Tool, error) { return demo.Tools(demo.Config{}) })
	refundPolicy = sync.OnceValue(refunds.Defaults.Judge)
)

// builtins are the four patterns over the demo's tools, as a fresh installation has them.
func builtins(t testing.TB, more ...catalog.Tool) []Pattern {
	t.Helper()
	list, err := builtinsOver(more...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func builtinsOver(more ...catalog.Tool) ([]Pattern, error) {
	tools, err := demoTools()
	if err != nil {
		return nil, err
	}
	c, err := catalog.New(slices.Concat(tools, more)...)
	if err != nil {
		return nil, err
	}
	declare := func(kind gateway.Kind, name string, tools []string) patterns.Spec {
		s := patterns.Spec{
			Name: name, Kind: kind, Catalog: c, Policy: tools, Execution: tools,
			Budget: gateway.DefaultBudget(kind), Prompts: prompts.Of(kind),
		}
		reference.Declare(&s)
		return s
	}
	orchestrator := declare(gateway.Orchestrator, "run_orchestrator", demo.OrchestratorWorkers)
	orchestrator.Aggregate = reference.Operations
	refund := declare(gateway.Supervisor, "supervised_refund", demo.RefundTools)
	refund.Reviewer = refundPolicy()
	return []Pattern{
		{Spec: declare(gateway.TaskDecomposition, "run_task_decomposition", demo.DecompositionTools)},
		{Spec: orchestrator},
		{Spec: declare(gateway.Routing, "route_ticket", demo.Specialists)},
		{Spec: refund},
	}, nil
}

// serving makes a server of the built-in patterns by rules, changed as a test wants it.
func serving(t testing.TB, change ...func(*Config)) *Server {
	t.Helper()
	c := Config{Patterns: builtins(t), Model: offline.New(), Version: "1.2.3"}
	engine := EngineFor(t, func() Config { return c })
	c.Engine = engine
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine == engine && os.Getenv(overFile) != "" {
		engine.Go()
	}
	return s
}

// message is any line that a server writes.
type message struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params map[string]any  `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	line string
}

// result is a tools/call's answer.
type result struct {
	IsError    bool             `json:"isError"`
	Content    []map[string]any `json:"content"`
	Structured map[string]any   `json:"structuredContent"`
	ResultType string           `json:"resultType"`
}

func (m message) result(t testing.TB) result {
	t.Helper()
	var r result
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || r.Structured == nil {
		t.Fatalf("no result of a call: %s", m.line)
	}
	return r
}

// session is one client of a server over real pipes.
type session struct {
	t      testing.TB
	in     *io.PipeWriter
	lines  chan message
	served chan error
	cancel context.CancelFunc
}

// connect serves s to a new client. The session ends with the test, before the next test: mcp-go has one session for stdio,
// so a server that lingers would take the next one's notifications.
func connect(t testing.TB, s *Server) *session {
	t.Helper()
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &session{t: t, in: in, lines: make(chan message, 10_000), served: make(chan error, 1), cancel: cancel}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.served <- s.ServeStdio(ctx, fromClient, out)
		out.Close()
	}()
	go c.read(fromServer)
	t.Cleanup(func() {
		cancel()
		in.Close()
		fromServer.Close()
		<-gone
	})
	return c
}

func (c *session) read(from io.Reader) {
	defer close(c.lines)
	for scan := lineScanner(from); scan.Scan(); {
		c.lines <- parseMessage(scan.Text())
	}
}

func lineScanner(from io.Reader) *bufio.Scanner {
	scan := bufio.NewScanner(from)
	scan.Buffer(nil, 16<<20)
	return scan
}

func parseMessage(line string) message {
	m := message{}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		m.Method = "not JSON: " + err.Error()
	}
	m.line = line
	return m
}

// send writes lines as they are.
func (c *session) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatalf("sending %.80s: %v", line, err)
		}
	}
}

// patience is how long a test waits for what must come; a run that fails takes as long, one that passes does not.
const patience = 20 * time.Second

// next is the server's next line.
func (c *session) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server wrote nothing more")
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("the server does not answer")
	}
	return message{}
}

// rest are the lines up to the server's end, after the client has ended its input.
func (c *session) rest() []message {
	c.t.Helper()
	c.in.Close()
	var all []message
	for {
		select {
		case m, ok := <-c.lines:
			if !ok {
				return all
			}
			all = append(all, m)
		case <-time.After(patience):
			c.t.Fatalf("the server does not end; so far %d lines", len(all))
		}
	}
}

// ended waits for the server's end.
func (c *session) ended() error {
	c.t.Helper()
	select {
	case err := <-c.served:
		return err
	case <-time.After(patience):
		c.t.Fatal("ServeStdio does not return")
	}
	return nil
}

// call makes one tools/call and waits for its answer, which must be the next line.
func (c *session) call(tool, arguments string) message {
	c.t.Helper()
	c.send(callLine(7, tool, arguments))
	m := c.next()
	if m.ID != 7.0 {
		c.t.Fatalf("want the answer to 7, got %s", m.line)
	}
	return m
}

// callLine is a tools/call of the handshake era.
func callLine(id any, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, mustJSON(id), tool, arguments)
}

// modernMeta makes any request one of protocol version 2026-07-28.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"2"}}`

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"legacy","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// The methods, and the bounds of the transports, as tests name them.
const (
	callMethod   = "tools/call"
	listenMethod = "subscriptions/listen"

	longestLine = 4 << 20 // bytes
	workers     = 64      // calls over stdio that run at once
	queued      = 1000    // calls over stdio that wait for one of them
)

// Bearer tokens of two clients.
const (
	bearerA = "0123456789abcdef0123456789abcdef"
	bearerB = "Zm9vYmFyYmF6cXV4.Zm9v-_~+/=="
)

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A plan of the caller that carries through, and the goals that go with it.
const (
	goodPlan = `{"steps":[{"id":"a","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},` +
		`{"id":"b","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},` +
		`{"id":"c","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}}]}`
	goodCall = `{"goal":"April report","plan":` + goodPlan + `}`
)

// logBuffer is a log that tests read while it is written.
type logBuffer struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.Write(p)
}

// lines are the records of one message.
func (b *logBuffer) lines(t testing.TB, msg string) []map[string]any {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []map[string]any
	for line := range strings.Lines(b.bytes.String()) {
		record := map[string]any{}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if record["msg"] == msg {
			list = append(list, record)
		}
	}
	return list
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes.String()
}

// logging makes a server write its log, debug lines too, into the buffer.
func logging(b *logBuffer) func(*Config) {
	return func(c *Config) {
		c.Log = slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}
