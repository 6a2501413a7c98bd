//lint:file-ignore SA1019 what 2026-07-28 deprecates is still served to clients of 2025-11-25

package gosdk

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const patience = 20 * time.Second // the longest demo run takes 3 s

// serverLog collects a server's standard error and lets checks wait for lines.
type serverLog struct {
	mu    sync.Mutex
	lines []string
	wake  *sync.Cond
	done  bool
}

func newLog(r io.Reader) *serverLog {
	l := &serverLog{}
	l.wake = sync.NewCond(&l.mu)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			l.note(func() { l.lines = append(l.lines, s.Text()) })
		}
		l.note(func() { l.done = true })
	}()
	return l
}

func (l *serverLog) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.wake.Broadcast()
}

// line waits for a line, already written or to come, and returns what the pattern's group holds there.
func (l *serverLog) line(t *testing.T, pattern string) string {
	t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() { l.note(func() { late = true }) })
	defer timer.Stop()
	re := regexp.MustCompile(pattern)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for _, line := range l.lines {
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
		}
		if late || l.done {
			t.Fatalf("no line %s in the log:\n%s", pattern, strings.Join(l.lines, "\n"))
		}
		l.wake.Wait()
	}
}

// serveHTTP runs a server on a free port until the test ends, which asks it to stop and wants it to end well.
func serveHTTP(t *testing.T, flags ...string) (url string, log *serverLog) {
	t.Helper()
	cmd := exec.Command(*binary, append([]string{"--config", *config, "serve", "--http", "127.0.0.1:0"}, flags...)...)
	stderr, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		_ = stderr.Close()
	})
	log = newLog(stderr)
	return "http://" + log.line(t, ` serving .*address=(\S+)`) + "/mcp", log
}

// session is a connected client with what the server has told it.
type session struct {
	*mcp.ClientSession
	era      string
	log      *serverLog
	schemas  map[string]*jsonschema.Resolved // of the tools' results
	progress chan *mcp.ProgressNotificationParams
	logged   chan *mcp.LoggingMessageParams
	updated  chan string // resources, by URI
}

// connect opens a session in an era; it fails the test unless the server speaks it.
func connect(t *testing.T, era string, transport mcp.Transport) *session {
	t.Helper()
	s := &session{
		era: era, progress: make(chan *mcp.ProgressNotificationParams, 100),
		logged: make(chan *mcp.LoggingMessageParams, 100), updated: make(chan string, 100),
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "patterngate-ci-go", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { s.progress <- r.Params },
		LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { s.logged <- r.Params },
		ResourceUpdatedHandler:      func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { s.updated <- r.Params.URI },
	})
	var err error
	if s.ClientSession, err = client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: era}); err != nil {
		t.Fatalf("connect: %v", err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != era {
		t.Fatalf("the server speaks %s, want %s", got, era)
	}
	return s
}

func overStdio(t *testing.T, era string) *session {
	t.Helper()
	cmd := exec.Command(*binary, "--config", *config, "serve")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := connect(t, era, &mcp.CommandTransport{Command: cmd})
	s.log = newLog(stderr)
	return s
}

func overHTTP(t *testing.T, era string) *session {
	t.Helper()
	url, log := serveHTTP(t)
	s := connect(t, era, &mcp.StreamableClientTransport{Endpoint: url})
	s.log = log
	return s
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
