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
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog/demo/ledger"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/settings"
)

// liveConfig is the configuration of the server: a person decides on the approval page.
const liveConfig = `version: 1
llm: {provider: rules}
patterns:
  supervised_refund: {approver: {kind: inbox, expires_seconds: 3600}}
`

// liveScene is a live session: the program as a server that can be killed, an MCP client of another make, and a ledger in a
// process of its own. Only the state file and the ledger outlive the server.
type liveScene struct {
	t         *testing.T
	overHTTP  bool
	era       string
	dir       string // home of the server and of its person
	page      string // host:port of the inbox
	outside   *ledgerProcess
	server    *exec.Cmd
	log       chan string // the server's
	logged    []string    // of it, what was read
	client    *client.Client
	told      chan string // URIs of resources that the client was told have changed
	listening chan struct{}
}

func newLiveScene(t *testing.T, overHTTP bool, era string) *liveScene {
	t.Helper()
	s := &liveScene{t: t, overHTTP: overHTTP, era: era, dir: t.TempDir(), page: freeAddress(t)}
	if err := os.WriteFile(s.file("config.yaml"), []byte(liveConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.outside, err = startLedger(io.Discard, s.file("ledger")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.outside.end(); err != nil {
			t.Errorf("the ledger ended: %v", err)
		}
	})
	return s
}

func (s *liveScene) file(name string) string { return filepath.Join(s.dir, name) }

// program is the program on this scene's files.
func (s *liveScene) program(args ...string) *exec.Cmd {
	s.t.Helper()
	cmd := program(s.t, append([]string{"--config", s.file("config.yaml"), "--state", s.file(settings.StateFile)}, args...)...)
	cmd.Env = append(cmd.Env, "HOME="+s.dir)
	return cmd
}

// serve starts the server and a client of it.
func (s *liveScene) serve() {
	s.t.Helper()
	args := []string{"serve", "--inbox", s.page, "--log-level", "info", "--log-format", "json"}
	if s.overHTTP {
		args = append(args, "--http", "127.0.0.1:0")
	}
	server := s.program(args...)
	server.Env = append(server.Env, settings.LedgerVariable+"="+s.outside.book("live").String())
	stderr, err := server.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	stdin, stdout, err := startPiped(server)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server, s.log, s.logged = server, make(chan string, 1000), nil
	go func(to chan<- string) {
		defer close(to)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			to <- lines.Text()
		}
	}(s.log)
	var wire transport.Interface = transport.NewIO(stdout, stdin, nil)
	if s.overHTTP {
		wire = s.dials(s.says(`"transport":"http"`))
	}
	s.connect(wire)
	s.t.Cleanup(s.kill)
}

// dials is the way to a server that logged where it serves.
func (s *liveScene) dials(line string) transport.Interface {
	s.t.Helper()
	var serving struct{ Address string }
	if err := json.Unmarshal([]byte(line), &serving); err != nil {
		s.t.Fatal(err)
	}
	options := []transport.StreamableHTTPCOption{transport.WithHTTPLogger(slog.New(slog.DiscardHandler))}
	if s.era == eraHandshake {
		//lint:ignore SA1019 in this era a server tells of changes on the GET stream
		options = append(options, transport.WithContinuousListening())
	}
	wire, err := transport.NewStreamableHTTP("http://"+serving.Address+"/mcp", options...)
	if err != nil {
		s.t.Fatal(err)
	}
	return wire
}

// connect opens a session in the scene's era.
func (s *liveScene) connect(wire transport.Interface) {
	s.t.Helper()
	s.client = client.NewClient(wire, client.WithProtocolVersion(s.era))
	told, listening := make(chan string, 100), make(chan struct{}, 1)
	s.told, s.listening = told, listening
	s.client.OnNotification(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case mcp.MethodNotificationResourceUpdated:
			told <- fmt.Sprint(n.Params.AdditionalFields["uri"])
		case "notifications/subscriptions/acknowledged":
			listening <- struct{}{}
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "live", Version: "1"}
	hello.Params.ProtocolVersion = s.era
	err := s.client.Start(s.t.Context())
	if err == nil {
		_, err = s.client.Initialize(s.t.Context(), hello)
	}
	if err != nil || s.client.ProtocolVersion() != s.era {
		s.t.Fatalf("a session of %s: %v, it is one of %q", s.era, err, s.client.ProtocolVersion())
	}
}

// kill kills the server: it has no time for anything.
func (s *liveScene) kill() {
	_ = s.server.Process.Kill()
	_ = s.client.Close()
	for range s.log { // what it said is of no interest any more, but its end is
	}
	_ = s.server.Wait()
}

// says waits for a line of the server's log that holds a text, unless there was one.
func (s *liveScene) says(text string) string {
	s.t.Helper()
	for i := 0; ; i++ {
		if i == len(s.logged) {
			line, more := <-s.log
			if !more {
				s.t.Fatalf("the server ended without saying %s; it said\n%s", text, strings.Join(s.logged, "\n"))
			}
			s.logged = append(s.logged, line)
		}
		if strings.Contains(s.logged[i], text) {
			return s.logged[i]
		}
	}
}

// liveRun is what the client is shown of a run.
type liveRun struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	RunID      string `json:"run_id"`
	WaitingFor struct {
		Kind     string   `json:"kind"`
		Approval string   `json:"approval_id"`
		Digest   string   `json:"digest"`
		Where    []string `json:"where"`
	} `json:"waiting_for"`
	Next struct {
		Say string `json:"say"`
	} `json:"next"`
	History []liveTurn `json:"history"`
	text    string
}

// liveTurn is a turn of a run's history.
type liveTurn struct {
	Human *patterns.HumanApproval `json:"human_approval"`
}

// call calls a tool by the client.
func (s *liveScene) call(tool string, arguments map[string]any) (run liveRun) {
	s.t.Helper()
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := s.client.CallTool(s.t.Context(), request)
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err = errors.Join(err, json.Unmarshal(structured, &run)); err != nil || len(result.Content) != 1 {
		s.t.Fatalf("%s: %v: %s, %v", tool, err, structured, result.Content)
	}
	if text, ok := result.Content[0].(mcp.TextContent); ok {
		run.text = text.Text
	}
	return run
}

// listen has the client told of a run's changes, in the way of its era. stop ends that.
func (s *liveScene) listen(run string) (stop func()) {
	s.t.Helper()
	uri := "patterngate://runs/" + run
	if s.era == eraHandshake {
		//lint:ignore SA1019 this era has no other way
		if err := s.client.Subscribe(s.t.Context(), mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}}); err != nil {
			s.t.Fatal(err)
		}
		return func() {}
	}
	stop, err := s.client.ListenAsync(s.t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}, func(err error) { s.t.Error(err) })
	if err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.listening:
	case <-time.After(inboxPatience):
		s.t.Fatal("the server does not acknowledge the subscription")
	}
	return stop
}

// asked is a question as it stands in the state file.
func (s *liveScene) asked(id string) patterns.Asked {
	s.t.Helper()
	engine := s.state()
	defer engine.Close()
	asked, err := engine.Approvals().Approval(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return asked
}

func (s *liveScene) state() *local.Engine {
	s.t.Helper()
	engine, err := local.Open(local.Options{Path: s.file(settings.StateFile)})
	if err != nil {
		s.t.Fatal(err)
	}
	return engine
}

// signInLink is what a person types `patterngate inbox --print` for, at a terminal.
func (s *liveScene) signInLink() string {
	s.t.Helper()
	const over = "(the command ended)"
	terminal := newPty(s.t)
	cmd := s.program("inbox", "--print", "--inbox", s.page)
	terminal.seat(cmd)
	err := cmd.Run()
	fmt.Fprintln(terminal.slave, over) // behind all that it wrote
	screen := terminal.until(s.t, over, 1)
	link := regexp.MustCompile(`http://\S+/sign-in/\S+`).FindString(screen)
	if err != nil || link == "" {
		s.t.Fatalf("patterngate inbox --print: %v\n%s", err, screen)
	}
	return link
}

// payments are the refunds in the ledger, each by its amount.
func (s *liveScene) payments() (amounts []float64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), inboxPatience)
	defer cancel()
	entries, err := s.outside.book("live").List(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	for act, times := range ledger.Acts(entries) {
		tool, text, _ := strings.Cut(act, " ")
		if tool != "issue_refund" {
			continue
		}
		var args struct {
			Amount float64 `json:"amount_usd"`
		}
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			s.t.Fatal(err)
		}
		for range times {
			amounts = append(amounts, args.Amount)
		}
	}
	return amounts
}
