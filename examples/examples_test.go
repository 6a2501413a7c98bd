// Package examples holds sessions that run in the tests: each *.txtar is what a person types and what they see. The
// comments in a session are its documentation; -update rewrites what is compared whole. Beside them: *.yaml, configurations
// that sessions check and use; refunds, a service for them; clients, the files of clients; goclient, a client in Go; inspector.sh, a
// session with the MCP Inspector, which CI plays; orders, morning, desk and errand, own patterns that play plays, with shop behind them.
package examples

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"patterngate/server/assembly"
	"patterngate/server/cli"
	"patterngate/server/cli/recordtext"
)

// repository is absolute: sessions have a directory of their own.
var repository = func() string {
	path, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return path
}()

var update = flag.Bool("update", false, "rewrite the sessions' expected output")

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil { // sessions mostly wait, for the demo's world and for processes
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"patterngate":   func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"orders-server": ordersServer,
	})
}

// long are the sessions that start the program many times. What they show has quick tests beside its code.
var long = []string{
	"call_exits", "demo", "dry_run", "handles", "own_tools", "patterns", "plan_checklist", "plan_replan", "policies", "redact", "refunds",
}

// onlyInCI skips a test that takes seconds unless CI=true, or -update asks for what it writes.
func onlyInCI(t interface{ Skip(...any) }) {
	if os.Getenv("CI") == "" && !*update {
		t.Skip("it takes seconds: CI=true plays it")
	}
}

// TestSessions plays every session with an environment of its own: no key, no configuration.
func TestSessions(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: ".", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serving": serving, "keep": keep, "startpage": startpage, "exits": exits, "sample": sample, "replay": replay, "edit": edit, "outside": outside,
			"held": held, "service": service, "example": example,
		},
		Setup: func(e *testscript.Env) error {
			if name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-"); slices.Contains(long, name) {
				onlyInCI(e.T())
			}
			e.Values[heldKey{}] = map[string]chan struct{}{}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			page, err := freeAddress() // what listens at the usual address of the page on this machine does not matter
			e.Setenv("PATTERNGATE_INBOX", page)
			return err
		},
	})
}

// example copies a file of this directory into the session: example NAME.
func example(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: example NAME")
	}
	text, err := os.ReadFile(filepath.Join(repository, "examples", args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

// replay runs a recorded run's code again over its record and prints its result: replay RECORD CONFIG. It calls nothing.
func replay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: replay RECORD CONFIG")
	}
	snapshot := strings.TrimSuffix(ts.ReadFile(args[1]), "\n")
	envelope, err := assembly.Replay([]byte(ts.ReadFile(args[0])), []byte(snapshot))
	ts.Check(err)
	result, err := recordtext.Result(envelope)
	ts.Check(err)
	_, err = ts.Stdout().Write(result)
	ts.Check(err)
}

// edit replaces the first of a text in a file: edit FILE OLD NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	edited := strings.Replace(text, args[1], args[2], 1)
	if edited == text {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(edited), 0o600))
}

// exits runs a command that has to end with a code: exits 3 patterngate call ...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT]...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%q ended with %d, want %s", args[1:], code, args[0])
	}
}

// seconds are all that differs between two runs of the demo.
var seconds = regexp.MustCompile(`[0-9]+\.[0-9]+ s`)

// startpage compares the output of the last command with the session that docs/start.md shows.
func startpage(ts *testscript.TestScript, neg bool, _ []string) {
	text, err := os.ReadFile(filepath.Join(repository, "docs", "start.md"))
	ts.Check(err)
	_, after, _ := strings.Cut(string(text), "$ go run . demo\n")
	shown, _, found := strings.Cut(after, "\n```")
	printed, _, _ := strings.Cut(ts.ReadFile("stdout"), "\nTry next:")
	want, got := seconds.ReplaceAllString(shown, "T s"), seconds.ReplaceAllString(strings.TrimSpace(printed), "T s")
	if !found || (want == got) == neg {
		ts.Fatalf("docs/start.md shows\n%s\nthe demo prints\n%s", want, got)
	}
}

// serving starts a server over HTTP with these flags, for as long as the session lasts, and sets URL to where it is.
func serving(ts *testscript.TestScript, _ bool, flags []string) {
	dir, _, _ := strings.Cut(ts.Getenv("PATH"), string(filepath.ListSeparator))
	server := exec.Command(filepath.Join(dir, "patterngate"), append([]string{"serve", "--http", "127.0.0.1:0", "--color", "never"}, flags...)...)
	server.Dir = ts.Getenv("WORK")
	server.Env = []string{"HOME=" + ts.Getenv("HOME"), "XDG_CONFIG_HOME=" + ts.Getenv("XDG_CONFIG_HOME"), "XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME"), "PATH=" + ts.Getenv("PATH")}
	log, err := server.StderrPipe()
	ts.Check(err)
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // killed
	})
	address := regexp.MustCompile(`serving transport=http address=(\S+)`)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			ts.Setenv("URL", "http://"+found[1]+"/mcp")
			go func() { _, _ = io.Copy(io.Discard, log) }() // a log that nobody reads must not fill its pipe
			return
		}
	}
	ts.Fatalf("the server said no address: %v", lines.Err())
}

// keep sets a variable to what a pattern's group finds in the last command's output.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: keep VARIABLE PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("%s is not in the output", args[1])
	}
	ts.Setenv(args[0], found[1])
}
