package cli

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// asProgram makes the test binary the program itself, for tests of what only a process has. It looks like a variable of
// ours that is not, so the program has a warning to write at once. The name patterngate makes it the program, too.
const asProgram = "PATTERNGATE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if manners := os.Getenv(asHostileServer); manners != "" {
		serveHostile(manners)
		os.Exit(0)
	}
	if os.Getenv(asProgram) != "" || filepath.Base(os.Args[0]) == "patterngate" || len(os.Args) > 1 && slices.Contains([]string{"ledger", "prove-life", "serve"}, os.Args[1]) {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("CI") == "" { // those that are parallel mostly wait, for processes and time limits; in CI browsers are among them
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
		debug.SetGCPercent(400) // most of the processes are short
	}
	os.Exit(m.Run())
}

// ownHome gives the program in this process a home of its own, so that it neither finds nor makes a file elsewhere.
func ownHome(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "LOCALAPPDATA": home, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "PATTERNGATE_STATE": ""} {
		t.Setenv(name, value)
	}
}

// program is the program as a child with a home of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	home := t.TempDir()
	cmd.Env = []string{asProgram + "=1", "HOME=" + home, "LOCALAPPDATA=" + home, "TMPDIR=" + home, "SystemRoot=" + os.Getenv("SystemRoot")}
	return cmd
}

// What is typed wrongly ends with 2, a cause and what to try; nothing goes to standard output.
func TestUsageFaults(t *testing.T) {
	ownHome(t)
	for name, args := range map[string][]string{
		"unknown command":       {"bogus"},
		"unknown flag":          {"--bogus"},
		"a flag without value":  {"serve", "--config"},
		"an argument too many":  {"serve", "now"},
		"unknown tool":          {"tools", "rm"},
		"unknown stop reason":   {"stop-reasons", "nope"},
		"unknown pattern":       {"stop-reasons", "--pattern", "nope"},
		"unknown subcommand":    {"config", "nope"},
		"unknown shell":         {"completion", "nope"},
		"help on nothing known": {"help", "nope"},
		"help on too much":      {"help", "config", "nope"},
		"unknown color":         {"--color", "purple", "version"},
		"unknown level":         {"--log-level", "loud", "tools"},
		"missing file":          {"--config", "no\x1b[31m/such", "tools"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			if code := Main(args, strings.NewReader(""), &out, &err); code != console.ExitUsage {
				t.Errorf("%q ends with %d, want %d", args, code, console.ExitUsage)
			}
			if out.Len() > 0 || err.Len() == 0 || strings.Contains(err.String(), "\x1b") {
				t.Errorf("%q writes %q to standard output and %q to standard error", args, out.String(), err.String())
			}
		})
	}
	for name, args := range map[string][]string{
		"help": {"help", "config", "show"}, "flag": {"demo", "--help"}, "completion": {"completion", "bash"}, "shells": {"completion"},
	} {
		var out, err bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &err); code != console.ExitDone || out.Len() == 0 {
			t.Errorf("%s: %q ends with %d and %d bytes: %s", name, args, code, out.Len(), err.String())
		}
	}
}

// A name that is typed wrongly has the nearest one, and the help of its own command.
func TestDidYouMean(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, "state.db")
	config := writeConfig(t, "version: 1\nstate: "+state+"\n")
	for _, tt := range []struct{ line, want, try string }{
		{"polcy", `unknown command "polcy" for "patterngate"; did you mean patterngate policy?`, "patterngate --help"},
		{"policy tset", "did you mean patterngate policy test?", "patterngate policy --help"},
		{"runs lst", "did you mean patterngate runs list?", "patterngate runs --help"},
		{"runs zzz", `unknown command "zzz" for "patterngate runs"` + "\n", "patterngate runs --help"},
		{"validate a b", "accepts at most 1 arg", "patterngate validate --help"},
		{"help runs lst", "did you mean patterngate runs list?", "patterngate --help"},
		{"runs list --limt 3", "unknown flag: --limt; did you mean --limit?", "patterngate runs list --help"},
		{"runs list --jsn", "did you mean --json?", "patterngate runs list --help"},
		{"runs list -x", "unknown shorthand flag", "patterngate runs list --help"},
		{"stop-reasons tool_eror", "no stop reason tool_eror; did you mean tool_error?", "patterngate stop-reasons"},
		{"stop-reasons no_rul_matched", "did you mean no_rule_matched?", "patterngate stop-reasons"},
		{"stop-reasons --pattern route_tikcet", "no pattern route_tikcet; did you mean route_ticket?", "patterngate tools"},
		{"tools route_tickt", "no tool route_tickt; did you mean route_ticket?", "patterngate tools"},
		{"call route_tikcte", "did you mean route_ticket?", "patterngate tools"},
	} {
		code, out, errs := runCommand(t, []string{"HOME=" + home}, append(strings.Fields(tt.line), "--config", config)...)
		if code != console.ExitUsage || out != "" || !strings.Contains(errs, tt.want) || !strings.HasSuffix(errs, "try: "+tt.try+"\n") {
			t.Errorf("%s ends with %d: %s%s\nwant %s, try: %s", tt.line, code, out, errs, tt.want, tt.try)
		}
	}
	if _, _, errs := runCommand(t, []string{"HOME=" + home}, "call", "run_task_decomposition", "gaol=sales", "--config", config); !strings.Contains(errs, "gaol is not an argument of this tool; did you mean goal?") {
		t.Errorf("call with gaol says %s", errs)
	}
	for flags, want := range map[string]string{
		"--tool isseu_refund":     `no tool "isseu_refund"; did you mean issue_refund?`,
		"--pattern route_tikcet":  `no pattern "route_tikcet"; did you mean route_ticket?`,
		"--tool nothing_like_it":  `no tool "nothing_like_it"` + "\n",
		"--pattern route_ticket ": "",
	} {
		code, _, errs := runCommand(t, []string{"HOME=" + home}, append(strings.Fields("kill-switch on "+flags), "--config", config)...)
		if code != console.ExitDone || !strings.Contains(errs, want) || want == "" && strings.Contains(errs, "warning") {
			t.Errorf("kill-switch on %s ends with %d: %s, want %s", flags, code, errs, want)
		}
	}
	if code, _, errs := runCommand(t, []string{"HOME=" + home}, "validate", writeConfig(t, "version: 1\nllm: {modle: x}\n")); code == console.ExitDone || !strings.Contains(errs, "did you mean model") {
		t.Errorf("validate of llm.modle says %s", errs)
	}
}

const routeCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"route_ticket","arguments":` +
	`{"ticket":"refund user_id=42","route":{"target":"billing_specialist"}}}}` + "\n"

// A client that does not read standard error, or closed it, is served like any other.
func TestStandardErrorIsNotRead(t *testing.T) {
	inCI(t, "it makes hundreds of calls of two processes; the writer has tests of its own")
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pipes of other systems")
	}
	for name, closed := range map[string]bool{"closed": true, "never read": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, stderr, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			cmd := program(t, "serve", "--log-level", "debug")
			cmd.Stderr = stderr
			in, out := pipes(t, cmd)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stderr.Close()
			if closed {
				reader.Close()
			}
			for i := range 300 { // each writes a line of about 300 bytes; a pipe holds 64 KiB
				fmt.Fprintf(in, routeCall, i)
				if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, `"status":"ok"`) {
					t.Fatalf("call %d: %v: %s", i, err, line)
				}
			}
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server ended with %v", err)
			}
		})
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewReader(out)
}

// A client that closed standard output ends the server in order: with 1 and the cause, not by a signal.
func TestStandardOutputIsClosed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pipes of other systems")
	}
	reader, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	cmd := program(t, "serve")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin = stdout, &stderr, strings.NewReader(fmt.Sprintf(routeCall, 1))
	err = cmd.Run()
	stdout.Close()
	if code := cmd.ProcessState.ExitCode(); code != console.ExitFault || !strings.Contains(stderr.String(), "serve: writing: ") {
		t.Errorf("the server ended with %d (%v): %s", code, err, stderr.String())
	}
}

// The demo says what to do where it has no place for its state, and leaves nothing behind where nobody listens.
func TestDemoWithoutAPlace(t *testing.T) {
	t.Parallel()
	cmd := program(t, "demo")
	missing := filepath.Join(t.TempDir(), "missing")
	cmd.Env = append(cmd.Env, "TMPDIR="+missing, "TMP="+missing, "TEMP="+missing)
	text, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != console.ExitFault || !strings.Contains(string(text), "try: set TMPDIR") {
		t.Errorf("the demo ended with %d: %s", code, text)
	}
}

// limits.grace_seconds: 0 gives running calls no time, where the server's own 0 means its default.
func TestNoGrace(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "version: 1\nlimits: {grace_seconds: 0}\ndemo: {delay_factor: 100}\n" +
		"patterns: {run_orchestrator: {budget: {task_timeout_seconds: 300, max_seconds: 300}}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "serve", "--config", config)
	in, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"run_orchestrator",`+
		`"arguments":{"goal":"morning report","report_date":"2026-02-26","region":"US"}}}`)
	if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, "notifications/progress") {
		t.Fatalf("before the first progress: %v: %s", err, line)
	}
	ended := time.Now()
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if took := time.Since(ended); took > 3*time.Second { // the default is 5 s
		t.Errorf("the server took %v to end, want no grace", took)
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "out", Err: errors.New("no space left on device")}
}

// A result that did not get out is no success, and no usage fault either.
func TestResultIsNotWritten(t *testing.T) {
	ownHome(t)
	for _, args := range [][]string{
		{"version"}, {"tools"}, {"tools", "--json"}, {"stop-reasons"}, {"config", "show"}, {"config", "path"},
	} {
		var err bytes.Buffer
		if code := Main(args, strings.NewReader(""), fullDisk{}, &err); code != console.ExitFault || !strings.Contains(err.String(), "no space") || strings.Contains(err.String(), "try:") {
			t.Errorf("%q ends with %d and %q, want %d and the cause alone", args, code, err.String(), console.ExitFault)
		}
	}
}

// testApp is the program with these streams and nothing of the caller's environment but where temporary files go.
func testApp(t *testing.T, out, errs io.Writer) *app {
	t.Helper()
	environ := []string{"TMPDIR=" + t.TempDir()}
	for _, name := range []string{"SystemRoot", "TEMP", "TMP"} {
		if value := os.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: out, Err: errs, Color: "never", Environ: environ}}}
}

// The processes that prove and demo start are no commands for people.
func TestHiddenCommands(t *testing.T) {
	var hidden []string
	for _, cmd := range testApp(t, io.Discard, io.Discard).root().Commands() {
		if cmd.Hidden {
			hidden = append(hidden, cmd.Name())
		}
	}
	slices.Sort(hidden)
	if diff := cmp.Diff([]string{"ledger", "prove-life"}, hidden); diff != "" {
		t.Errorf("hidden commands (-want +got):\n%s", diff)
	}
}
