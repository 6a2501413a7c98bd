package main

import (
	"bufio"
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/cli"
)

var update = flag.Bool("update", false, "rewrite the session")

// asServer in the environment makes this test binary the server.
const asServer = "GOCLIENT_TEST_SERVES"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const token = "0123456789abcdef-goclient"

// TestRefund plays the example against a real server and compares what it prints with testdata/session.
func TestRefund(t *testing.T) {
	url := serve(t)
	var out bytes.Buffer
	if err := refund(t.Context(), url, token, &out); err != nil {
		t.Fatalf("refund() = %v after\n%s", err, &out)
	}
	got := regexp.MustCompile(`until \S+Z|in (under )?[0-9.]+ s`).ReplaceAllStringFunc(out.String(), func(s string) string {
		return s[:strings.IndexByte(s, ' ')] + " T"
	})
	const session = "testdata/session"
	if *update {
		if err := os.WriteFile(session, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the session differs from %s (-want +got):\n%s", session, diff)
	}
}

// TestRefundFails: a client without a token gets an error and does not wait.
func TestRefundFails(t *testing.T) {
	var out bytes.Buffer
	err := refund(t.Context(), serve(t), "", &out)
	if err == nil || !strings.Contains(err.Error(), "authorization") {
		t.Errorf("refund() without a token = %v after %q, want a word on authorization", err, &out)
	}
}

// serve runs a server on a free port until the test ends. It wants a token, so that it serves on every system.
func serve(t *testing.T) (url string) {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("goclient: "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "--http", "127.0.0.1:0", "--token-file", tokens)
	cmd.Env = append(os.Environ(), asServer+"=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "PATTERNGATE_STATE=", "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	log := bufio.NewScanner(stderr)
	for log.Scan() {
		if _, after, ok := strings.Cut(log.Text(), " address="); ok {
			address, _, _ := strings.Cut(after, " ")
			return "http://" + address + "/mcp"
		}
	}
	t.Fatalf("the server ended without serving: %v", log.Err())
	return ""
}
