package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"patterngate/catalog/demo/ledger"
	"patterngate/catalog/upstream"
	"patterngate/server/settings"
)

const comebackGoal = "Refund 49 USD to user 42."

// comebackArguments are the call that is begun over stdio and made again over HTTP.
func comebackArguments() map[string]any {
	return map[string]any{"goal": comebackGoal, "actions": refundOf(49)}
}

// A real client begins a run over stdio and is killed together with the server while the payment is made. A new server
// over HTTP on the same state goes on with the run; the equal call joins it and gets its result, and it was paid once.
func TestComesBackOverHTTP(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who is at the other end of a connection without a token")
	}
	var errs bytes.Buffer
	outside, err := startLedger(&errs, filepath.Join(t.TempDir(), "ledger"), "--hold", "issue_refund")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := outside.end(); err != nil {
			t.Errorf("the ledger ended: %v, %s", err, errs.String())
		}
	}()
	dir, book := t.TempDir(), outside.book("comeback")
	begunAndKilled(t, dir, outside)
	client, ended := servedAgain(t, dir, book)

	joined := callHere(t, client, "supervised_refund", comebackArguments())
	if joined.Status != "ok" || joined.StopReason != "success" || !joined.Joined {
		t.Errorf("the equal call: %+v, want the result of the run that it joins", joined)
	}
	if shown := callHere(t, client, "run_status", map[string]any{}); shown.RunID != joined.RunID || shown.Status != "ok" {
		t.Errorf("run_status without an id: %+v, want run %s", shown, joined.RunID)
	}
	entries, err := book.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for act, n := range ledger.Acts(entries) {
		if n != 1 {
			t.Errorf("%s was done %d times, want once", act, n)
		}
	}
	if n := len(ledger.Acts(entries)); n != 2 {
		t.Errorf("%d acts, want a refund and a mail: %v", n, entries)
	}
	if reply, err := client.Call(t.Context(), "list_runs", nil, nil); err != nil || strings.Count(reply.Text, joined.RunID) == 0 || strings.Count(reply.Text, "run_") > strings.Count(reply.Text, joined.RunID) {
		t.Errorf("list_runs: %v, %s; want %s alone", err, reply.Text, joined.RunID)
	}
	logged := ended()
	if n := strings.Count(logged, `"msg":"run resumed"`); n != 1 {
		t.Errorf("the log says %d times that the run goes on, want once:\n%s", n, logged)
	}
	begun := regexp.MustCompile(`"msg":"run ended",.*"client":"patterngate-call/[^"]+","era":"20[0-9-]+"`)
	if !begun.MatchString(logged) {
		t.Errorf("the log does not say through which client the run was begun, want %s:\n%s", begun, logged)
	}
}

// begunAndKilled starts a client that starts a server, and kills both when the payment is in the books.
func begunAndKilled(t *testing.T, dir string, outside *ledgerProcess) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(dir, "pid")
	serve := fmt.Sprintf(`sh -c 'echo $$ > "%s" && exec env %s=1 %s=%s "%s" serve --state "%s" --log-level error'`,
		pidFile, asProgram, settings.LedgerVariable, outside.book("comeback"), self, filepath.Join(dir, "state.db"))
	arguments, err := json.Marshal(comebackArguments())
	if err != nil {
		t.Fatal(err)
	}
	client := program(t, "call", "supervised_refund", "--args", string(arguments), "--command", serve)
	client.Env = append(client.Env, "PATH="+os.Getenv("PATH"))
	var said bytes.Buffer
	client.Stdout, client.Stderr = &said, &said
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Wait() }()
	select {
	case <-outside.held:
	case err := <-ended:
		t.Fatalf("the client ended before anything was paid: %v\n%s", err, said.String())
	}
	text, err := os.ReadFile(pidFile)
	pid, unread := strconv.Atoi(strings.TrimSpace(string(text)))
	server, unfound := os.FindProcess(pid)
	if err := errors.Join(err, unread, unfound); err != nil {
		t.Fatal(err)
	}
	// The client first: without its server it would end by itself. The server waits some seconds for the call.
	if err := errors.Join(client.Process.Kill(), server.Kill()); err != nil {
		t.Fatal(err)
	}
	failed, killed := errors.AsType[*exec.ExitError](<-ended)
	if !killed || failed.Exited() {
		t.Errorf("the client was not killed: %v", failed)
	}
}

// servedAgain starts a server over HTTP on the same state and opens a session with it. ended ends both and returns what
// was logged.
func servedAgain(t *testing.T, dir string, book ledger.Client) (client *upstream.Client, ended func() string) {
	t.Helper()
	server := program(t, "serve", "--http", "127.0.0.1:0", "--state", filepath.Join(dir, "state.db"), "--log-format", "json")
	server.Env = append(server.Env, settings.LedgerVariable+"="+book.String())
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(log, &logged))
	port := servedPort(t, lines)
	read := make(chan struct{})
	go func() { // a log that nobody reads must not fill its pipe
		defer close(read)
		_, _ = io.Copy(io.Discard, lines) // to its end, however that came
	}()
	to, err := upstream.ParseEndpoint("http://127.0.0.1:"+port+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	client, err = upstream.Dial(t.Context(), to, upstream.Identity{Name: "comeback", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close() // what is tested is over
		_ = server.Process.Kill()
		_ = server.Wait() // killed
	})
	return client, func() string {
		if err := errors.Join(client.Close(), server.Process.Signal(os.Interrupt)); err != nil {
			t.Error(err)
		}
		<-read
		return logged.String()
	}
}

// shownRun is what a client reads of a run.
type shownRun struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	RunID      string `json:"run_id"`
	Joined     bool   `json:"joined"`
}

// callHere calls a tool and reads its result.
func callHere(t *testing.T, client *upstream.Client, tool string, arguments map[string]any) shownRun {
	t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	result, err := client.CallRaw(t.Context(), tool, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var run shownRun
	if err := json.Unmarshal(result.Structured, &run); err != nil {
		t.Fatalf("%s: %v: %s", tool, err, result.Text())
	}
	return run
}
