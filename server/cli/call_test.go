package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// called runs the program with a home of its own and returns exit code, standard output and standard error.
func called(t *testing.T, stdin string, args ...string) (int, string, string) {
	t.Helper()
	ownHome(t)
	var out, errs bytes.Buffer
	code := Main(append([]string{"call"}, args...), strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// aCall is what was typed and what has to come of it: the exit code, and a part of each stream.
type aCall struct {
	stdin     string
	args      []string
	code      int
	out, errs string // "" is nothing at all
}

func (c aCall) check(t *testing.T) {
	t.Helper()
	code, out, errs := called(t, c.stdin, c.args...)
	if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) || c.out == "" && out != "" || c.errs == "" && errs != "" {
		t.Errorf("call %q ends with %d:\n%s\n%s\nwant %d with %q and %q", c.args, code, out, errs, c.code, c.out, c.errs)
	}
}

// In this process a call is a session like any other; what the server refuses, it refuses in its own words.
func TestCallInProcess(t *testing.T) {
	const ticket = "ticket=I want my money back: refund for user_id=42"
	for name, c := range map[string]aCall{
		"ok":            {args: []string{"route_ticket", ticket}, out: "OK success | route_ticket", errs: "finalize: done\n"},
		"quiet":         {args: []string{"route_ticket", ticket, "--quiet"}, out: "\nnext: Done. The answer is below"},
		"json":          {args: []string{"route_ticket", ticket, "--json", "--quiet"}, out: "{\n  \"status\": \"ok\",\n  \"stop_reason\": \"success\""},
		"typed":         {args: []string{"route_ticket", ticket, "finalize=false", `route={"target":"billing_specialist"}`, "--quiet"}, out: "chosen by the caller"},
		"stdin":         {stdin: `{"ticket":"refund for user_id=42"}`, args: []string{"route_ticket", "--args", "-", "--quiet"}, out: "OK success"},
		"no such tool":  {args: []string{"route_tickets"}, code: 2, errs: "; did you mean route_ticket?\ntry: patterngate tools\n"},
		"no tool":       {args: nil, code: 2, errs: "call: name the tool\n"},
		"two servers":   {args: []string{"t", "--url", "x", "--command", "y"}, code: 2, errs: "call: --url and --command name two servers\n"},
		"unknown key":   {args: []string{"route_ticket", "tickt=x", "--quiet"}, code: 2, out: "/tickt unknown_field:tickt; got \"x\"; want one of ticket, route, finalize, run_id, turn, continue_with, max_wait_seconds, idempotency_key, dry_run; did you mean ticket"},
		"wrong type":    {args: []string{"route_ticket", "finalize=1"}, code: 2, errs: "call route_ticket: finalize: got 1; want true or false\ntry: patterngate tools route_ticket\n"},
		"repeated":      {args: []string{"route_ticket", "--args", `{"ticket":"a","ticket":"b"}`, "--quiet"}, code: 2, out: "repeated member"},
		"beyond double": {args: []string{"route_ticket", "--args", `{"ticket":1e999}`, "--quiet"}, code: 2, out: "STOPPED invalid_request:limit:ticket"},
		"too large":     {args: []string{"route_ticket", "--args", `{"ticket":"` + strings.Repeat("x", 1<<20) + `"}`, "--quiet"}, code: 2, out: "STOPPED invalid_request:too_large:arguments"},
		"beyond a line": {args: []string{"route_ticket", "ticket=" + strings.Repeat("x", 5<<20), "--quiet"}, code: 2, errs: "a server takes at most"},
		"refused":       {args: []string{"supervised_refund", "goal=x", `actions=[{"name":"issue_refund","args":{"user_id":42,"amount_usd":100}}]`, "--quiet"}, code: 3, out: "\n  patterngate call supervised_refund --args '{\"actions\":"},
		"incomplete":    {args: []string{"supervised_refund", "goal=Refund somebody", "--quiet"}, code: 2, out: "next: Tell the person: "},
	} {
		t.Run(name, c.check)
	}
}

// The configuration and the environment say who answers, as for serve; variables of the call are no strangers to it.
func TestCallEnvironment(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("version: 1\nllm: {max_retries: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(settings.PathVariable, config)
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv(settings.TokenVariable, "s3cr3t")
	aCall{args: []string{"route_ticket", "ticket=refund for user_id=42", "--quiet"}, code: 5, out: "STOPPED llm_unreachable", errs: "cause: dial tcp 127.0.0.1:1: connect: connection refused\n"}.check(t)

	t.Setenv(settings.UrlVariable, "http://127.0.0.1:1/mcp")
	aCall{args: []string{"route_ticket", "ticket=x"}, code: 1, errs: "call: http://127.0.0.1:1/mcp: dial tcp 127.0.0.1:1: connect: connection refused\n"}.check(t)
	aCall{args: []string{"route_ticket", "ticket=x", "--quiet", "--url", ""}, code: 5, out: "STOPPED llm_unreachable", errs: "cause: dial tcp 127.0.0.1:1: connect: connection refused\n"}.check(t)
	aCall{args: []string{"route_ticket", "ticket=x", "--url", "http://gate.example.com"}, code: 2, errs: "use https\n"}.check(t)
	aCall{args: []string{"route_ticket", "ticket=x", "--config", "none.yaml", "--url", ""}, code: 2, errs: "none.yaml"}.check(t)
}

// A result that did not get out is no success.
func TestCallResultIsNotWritten(t *testing.T) {
	ownHome(t)
	var errs bytes.Buffer
	args := []string{"call", "route_ticket", "ticket=refund for user_id=42", "--quiet"}
	if code := Main(args, strings.NewReader(""), fullDisk{}, &errs); code != console.ExitFault || !strings.Contains(errs.String(), "no space") {
		t.Errorf("%q ends with %d and %q, want %d and the cause", args, code, errs.String(), console.ExitFault)
	}
}

// otherServer is an MCP server of somebody else. It wants a token.
func otherServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := mcpserver.NewMCPServer("other", "1")
	s.AddTool(mcp.NewToolWithRawSchema("add", "Adds.", []byte(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		})
	s.AddTool(mcp.NewToolWithRawSchema("fail", "Fails.", []byte(`{"type":"object"}`)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("it\x1b[31m failed"), nil
		})
	s.AddTool(mcp.NewToolWithRawSchema("wait", "Waits.", []byte(`{"type":"object"}`)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			structured := json.RawMessage(`{"status":"waiting","summary":"It waits.","next":{"action":"call","tool":"wait","arguments":{"run_id":"run_1"}}}`)
			return mcp.NewToolResultStructured(structured, "WAITING caller | wait\nIt waits.\nNEXT {\"action\":\"call\"}"), nil
		})
	endpoint := mcpserver.NewStreamableHTTPServer(s)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/mcp":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer s3cr3t":
			http.Error(w, "no entry", http.StatusUnauthorized)
		default:
			endpoint.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// Another server is called over HTTP, with the token of the environment.
func TestCallURL(t *testing.T) {
	h := otherServer(t)
	url := h.URL + "/mcp"
	aCall{args: []string{"add", "--url", url}, code: 1, errs: "401 Unauthorized: no entry\ntry: the server's bearer token in PATTERNGATE_TOKEN\n"}.check(t)
	aCall{args: []string{"add", "--url", "http://" + freeAddress(t) + "/mcp"}, code: 1, errs: "\ntry: check the URL, and that the server runs there: patterngate serve --http\n"}.check(t)
	t.Setenv(settings.TokenVariable, "wrong")
	aCall{args: []string{"add", "--url", url}, code: 1, errs: "401 Unauthorized: no entry\ntry: another token in PATTERNGATE_TOKEN\n"}.check(t)
	t.Setenv(settings.TokenVariable, "s3cr3t")
	for name, c := range map[string]aCall{
		"ok":           {args: []string{"add", "a=1e20", "b=0.50", "c=1"}, out: `{"a":1e20,"b":0.50,"c":"1"}` + "\n"},
		"whole result": {args: []string{"add", "a=1", "--json"}, out: `"text": "{\"a\":1}"`},
		"failed":       {args: []string{"fail"}, code: 6, out: `it\u001b[31m failed` + "\n", errs: "call fail: the tool says that this is an error\n"},
		"waiting":      {args: []string{"wait"}, code: 7, out: "next: Make this call:\n  patterngate call wait --args '{\"run_id\":\"run_1\"}' --url " + url + "\n"},
		"no such tool": {args: []string{"ad"}, code: 2, errs: "call: no tool ad (add, fail, wait)\n"},
		"wrong type":   {args: []string{"add", "a=x"}, code: 2, errs: "call add: a: got x; want a number such as 42 or 99.5\n"},
		"no endpoint":  {args: []string{"add", "--url", h.URL + "/other"}, code: 1, errs: "404 Not Found: 404 page not found\ntry: a URL with the path of the MCP endpoint, mostly /mcp\n"},
	} {
		if !strings.Contains(strings.Join(c.args, " "), "--url") {
			c.args = append(c.args, "--url", url)
		}
		t.Run(name, c.check)
	}
}

// Another server is started and called over stdio; it sees no secret of ours.
func TestCallCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("env is a program of other systems")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1") // with it the model would be asked
	serve := "env " + asProgram + "=1 '" + self + "' serve --log-level error"
	for name, c := range map[string]aCall{
		"ok": {args: []string{"route_ticket", "ticket=refund for user_id=42", "--quiet", "--command", serve},
			out: "chosen by the offline rules", errs: "warning: PATTERNGATE_TEST_PROGRAM"},
		"no program":    {args: []string{"t", "--command", "/no/such/program"}, code: 1, errs: "call: start /no/such/program: "},
		"an assignment": {args: []string{"t", "--command", "A=1 server"}, code: 1, errs: "try: env A=1 ...: no shell reads the line\n"},
		"a shell's":     {args: []string{"t", "--command", "server | tee"}, code: 2, errs: "--command: no shell reads this line"},
		"nothing":       {args: []string{"t", "--command", " "}, code: 2, errs: "--command: the line has no command\n"},
		"it ends":       {args: []string{"t", "--command", "false"}, code: 1, errs: "call: handshake with false: the server ended: exit status 1\n"},
		"no MCP server": {args: []string{"t", "--command", "echo hello"}, code: 1, errs: "call: handshake with echo: the server ended\n"},
	} {
		t.Run(name, c.check)
	}
}

// An interrupt cancels the call and ends the program by its own code.
func TestCallInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to a child there")
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "version: 1\ndemo: {delay_factor: 100}\npatterns: {run_orchestrator: {budget: {task_timeout_seconds: 300, max_seconds: 300}}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "call", "run_orchestrator", "goal=morning report", "report_date=2026-02-26", "region=US", "--config", config)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	last := ""
	for lines.Scan() {
		if last = lines.Text(); strings.HasPrefix(last, "dispatch: ") {
			break
		}
	}
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted || last != "call: interrupted; the server was told to cancel the call" {
		t.Errorf("the call ended with %d: %s", code, last)
	}
	if took := time.Since(began); took > 6*time.Second { // without it the graces of client and server are 7 s
		t.Errorf("the call took %v to end, want it cancelled", took)
	}
}

// The shell is offered the tools of this program's own server, then the keys that are not given.
func TestCallCompletion(t *testing.T) {
	ownHome(t)
	complete := func(words ...string) string {
		var out, errs bytes.Buffer
		Main(append([]string{"__complete", "call"}, words...), strings.NewReader(""), &out, &errs)
		return out.String()
	}
	if got := complete("run"); !strings.Contains(got, "run_orchestrator\tRun tasks in parallel") || strings.Contains(got, "route_ticket") {
		t.Errorf("of tools %q is offered", got)
	}
	if got := complete("route_ticket", "ticket=x", ""); got != "continue_with=\ndry_run=\nfinalize=\nidempotency_key=\nmax_wait_seconds=\nroute=\nrun_id=\nturn=\n:6\n" {
		t.Errorf("of keys %q is offered", got)
	}
	t.Setenv(settings.UrlVariable, "http://127.0.0.1:1/mcp")
	if got := complete(""); got != ":4\n" {
		t.Errorf("of another server's tools %q is offered", got)
	}
}

func TestCallWaitIsADuration(t *testing.T) {
	for _, wait := range []string{"10", "0s", "-1m", "soon", ""} {
		aCall{args: []string{"route_ticket", "ticket=x", "--wait", wait}, code: console.ExitUsage, errs: "try: "}.check(t)
	}
}
