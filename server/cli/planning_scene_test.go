package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// The principals of a scene over HTTP, each with a token of their own.
const (
	anna = "anna"
	bob  = "bob"
)

// planScene is a server of planning's tools with clients of another make. In CI it is the program in a process, which can
// be killed, over stdio or HTTP; elsewhere, where nothing is said of processes, it is served in this one.
type planScene struct {
	t        *testing.T
	overHTTP bool
	era      string
	budget   string // members of patterns.plan besides its kind, as JSON
	delay    string // demo.delay_factor
	model    *planModel
	outside  *ledgerProcess
	world    string // of the ledger's book: "" or "?plain"
	apart    bool   // it must be a process

	dir     string
	server  *exec.Cmd
	inside  *assembly.Service
	clients []*client.Client
	address string
	leave   func()
	*planClient
}

// processes skips a test that starts processes, unless in CI.
func processes(t *testing.T) {
	t.Helper()
	inCI(t, "it starts processes")
}

// inCI skips a test that costs too much for every day.
func inCI(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip(why + "; CI=true runs it")
	}
}

// planServer serves planning with these settings of the pattern, members of a JSON object, until the test ends. A nil model
// is no model: the offline rules.
func planServer(t *testing.T, settings string, model *planModel) *planScene {
	t.Helper()
	s := &planScene{t: t, budget: settings, model: model}
	s.serve()
	return s
}

// config is the scene's configuration file.
func (s *planScene) config() string {
	provider, delay, more := "rules", s.delay, ""
	if s.model != nil {
		provider = "openai"
	}
	if delay == "" {
		delay = "0"
	}
	if s.budget != "" {
		more = "," + s.budget
	}
	return fmt.Sprintf(`{"version":1,"llm":{"provider":%q,"max_retries":0,"timeout_seconds":20},"demo":{"delay_factor":%s},"inbox":"off","patterns":{"plan":{"kind":"planning"%s}}}`,
		provider, delay, more)
}

func (s *planScene) environ() []string {
	environ := []string{"HOME=" + s.dir, "LOCALAPPDATA=" + s.dir, "TMPDIR=" + s.dir, "SystemRoot=" + os.Getenv("SystemRoot"), "OPENAI_API_KEY=sk-plan"}
	if s.model != nil {
		environ = append(environ, "OPENAI_BASE_URL="+s.model.server.URL)
	}
	if s.outside != nil {
		environ = append(environ, settings.LedgerVariable+"="+s.outside.book("plans").String()+s.world)
	}
	return environ
}

func (s *planScene) file(name string) string { return filepath.Join(s.dir, name) }

// serve starts the server, and a client of it. It may be started again after its end.
func (s *planScene) serve() {
	s.t.Helper()
	if s.dir == "" {
		s.dir = s.t.TempDir()
	}
	if s.era == "" {
		s.era = eraHandshake
	}
	if _, err := os.Stat(s.file("config.yaml")); err != nil {
		s.write("config.yaml", s.config())
		s.write("tokens", anna+": 0123456789abcdef0123456789abcdef\n"+bob+": fedcba9876543210fedcba9876543210\n")
		s.t.Cleanup(func() { s.end() })
	}
	if s.apart || os.Getenv("CI") != "" {
		s.serveApart()
	} else {
		s.serveInside()
	}
}

func (s *planScene) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *planScene) serveInside() {
	s.t.Helper()
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{Out: io.Discard, Err: io.Discard, Environ: s.environ()}, Config: s.file("config.yaml"), State: settings.MemoryState}}
	loaded, err := a.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.inside, err = a.opener().service("plans", loaded, slog.New(slog.DiscardHandler)); err != nil {
		s.t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.inside.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	s.leave = func() {
		toServer.Close()
		go func() { _, _ = io.Copy(io.Discard, fromServer) }() // nobody reads what still comes
		if err := <-served; err != nil {
			s.t.Error(err)
		}
		s.inside.Close()
	}
	s.planClient = s.connect(transport.NewIO(fromServer, toServer, nil))
}

func (s *planScene) serveApart() {
	s.t.Helper()
	args := []string{"--config", s.file("config.yaml"), "--state", s.file(settings.StateFile), "serve", "--log-level", "info", "--log-format", "json"}
	if s.overHTTP {
		args = append(args, "--http", "127.0.0.1:0", "--token-file", s.file("tokens"))
	}
	s.server = program(s.t, args...)
	s.server.Env = append(s.environ(), asProgram+"=1")
	stderr, err := s.server.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	stdin, stdout, err := startPiped(s.server)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	s.leave = func() {
		_ = s.server.Process.Kill() // it has no time for anything
		_ = s.server.Wait()
	}
	if !s.overHTTP {
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		s.planClient = s.connect(transport.NewIO(stdout, stdin, nil))
		return
	}
	s.address = "http://127.0.0.1:" + servedPort(s.t, lines) + "/mcp"
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	s.planClient = s.as(anna)
}

// as is a client of one of the principals, over HTTP.
func (s *planScene) as(who string) *planClient {
	s.t.Helper()
	token := map[string]string{anna: "0123456789abcdef0123456789abcdef", bob: "fedcba9876543210fedcba9876543210"}[who]
	wire, err := transport.NewStreamableHTTP(s.address, transport.WithHTTPLogger(slog.New(slog.DiscardHandler)),
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}))
	if err != nil {
		s.t.Fatal(err)
	}
	return s.connect(wire)
}

// connect opens a session in the scene's era.
func (s *planScene) connect(wire transport.Interface) *planClient {
	s.t.Helper()
	c := client.NewClient(wire, client.WithProtocolVersion(s.era))
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "plans", Version: "1"}
	hello.Params.ProtocolVersion = s.era
	err := c.Start(s.t.Context())
	if err == nil {
		_, err = c.Initialize(s.t.Context(), hello)
	}
	if err != nil {
		s.t.Fatalf("a session of %s: %v", s.era, err)
	}
	s.clients = append(s.clients, c)
	return &planClient{t: s.t, client: c}
}

// end ends the server: it is killed, or, in this process, left.
func (s *planScene) end() {
	if s.leave == nil {
		return
	}
	s.leave()
	for _, c := range s.clients {
		_ = c.Close()
	}
	s.clients, s.leave = nil, nil
}

// again kills the server and starts it on what it left.
func (s *planScene) again() {
	s.t.Helper()
	if s.server == nil {
		s.t.Fatal("only a process can be killed")
	}
	s.end()
	s.serve()
}

// planClient calls tools. Calls may be made at once.
type planClient struct {
	t      *testing.T
	client *client.Client
}

// call calls one of planning's tools, decompose for plan_decompose, or any other by its whole name. arguments are names and
// values.
func (c *planClient) call(tool string, arguments ...any) planAnswer {
	c.t.Helper()
	answer, err := c.try(tool, arguments...)
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return answer
}

// begin makes a call whose answer comes on the channel; none comes when the server is killed meanwhile.
func (c *planClient) begin(tool string, arguments ...any) <-chan planAnswer {
	answers := make(chan planAnswer, 1)
	go func() {
		defer close(answers)
		answer, err := c.try(tool, arguments...)
		if err == nil {
			answers <- answer
			return
		}
		c.t.Logf("%s got no answer: %v", tool, err)
	}()
	return answers
}

func (c *planClient) try(tool string, arguments ...any) (planAnswer, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = tool
	if !strings.HasPrefix(tool, "run_") {
		request.Params.Name = "plan_" + tool
	}
	request.Params.Arguments = members(arguments...)
	ctx, cancel := context.WithTimeout(c.t.Context(), planPatience)
	defer cancel()
	result, err := c.client.CallTool(ctx, request)
	if err != nil {
		return planAnswer{}, err
	}
	answer := planAnswer{t: c.t, call: request.Params.Name + " " + string(ijson.Canonical(plain(request.Params.Arguments))), isError: result.IsError}
	structured, err := json.Marshal(result.StructuredContent)
	if err = errors.Join(err, json.Unmarshal(structured, &answer.fields)); err != nil {
		return planAnswer{}, err
	}
	if len(result.Content) != 1 {
		return planAnswer{}, fmt.Errorf("%d contents, want one", len(result.Content))
	}
	text, _ := result.Content[0].(mcp.TextContent)
	answer.text = text.Text
	return answer, nil
}

// planPatience bounds a call: what hangs is a fault.
const planPatience = 10 * time.Second
