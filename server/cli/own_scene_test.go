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
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// What makes the test binary the MCP server of these tests: the file with its tools, read at each list, and the file that
// gets a line for each call.
const (
	sceneTools = "SCENE_TOOLS"
	sceneCalls = "SCENE_CALLS"
)

func init() {
	if file := os.Getenv(sceneTools); file != "" {
		os.Exit(serveScene(file, os.Getenv(sceneCalls)))
	}
}

// serveScene answers each call with its arguments; one of tool drift it answers after saying that its tools changed, one of tool
// pay never: it dies.
func serveScene(tools, calls string) int {
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		result := "{}"
		switch request.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"scene","version":"1"}}`
		case "tools/list":
			text, err := os.ReadFile(tools)
			if err != nil {
				return 1
			}
			result = `{"tools":` + string(bytes.ReplaceAll(text, []byte("\n"), nil)) + `}`
		case "tools/call":
			f, err := os.OpenFile(calls, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return 1
			}
			if _, err = fmt.Fprintln(f, request.Params.Name); errors.Join(err, f.Close()) != nil {
				return 1
			}
			switch request.Params.Name {
			case "pay":
				return 1
			case "drift":
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			if request.Params.Arguments == nil {
				request.Params.Arguments = json.RawMessage("{}")
			}
			text, _ := json.Marshal(string(request.Params.Arguments))
			result = `{"content":[{"type":"text","text":` + string(text) + `}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
	}
}

// noConfigurations is the source of jobs of an engine that begins and continues no run.
type noConfigurations struct{}

// Job implements [patterns.Source].
func (noConfigurations) Job(b patterns.Begun) (patterns.Job, error) {
	return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{b.Config}}
}

// sceneList are the tools that the server of a scene declares at first.
const sceneList = `[
 {"name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}},
 {"name":"drift","description":"Drifts.","inputSchema":{"type":"object","additionalProperties":true}},
 {"name":"note","description":"Notes.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}
]`

// Patterns over the scene's server, by which a configuration is changed.
const (
	seeing = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 15}}}\n"
	more   = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 15}}, slip: {kind: call, tool: drift}}\n"
	longer = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 20}}}\n"
	less   = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 10}}}\n"
)

// ownScene is a configuration with an MCP server behind it, in a directory of its own.
type ownScene struct {
	dir, config, state, lock, tools, calls string
}

// newOwnScene writes a configuration: the scene's server, and what else it says at the places of catalog and of the top.
func newOwnScene(t *testing.T, catalog, top string) *ownScene {
	t.Helper()
	dir, server := t.TempDir(), t.TempDir()
	s := &ownScene{
		dir: dir, config: filepath.Join(dir, "pg.yaml"), state: filepath.Join(dir, "state.db"), lock: filepath.Join(dir, "patterngate.lock"),
		tools: filepath.Join(server, "tools.json"), calls: filepath.Join(server, "calls"),
	}
	s.declare(t, sceneList)
	s.write(t, catalog, top)
	return s
}

// declare has the server declare these tools from its next list on.
func (s *ownScene) declare(t *testing.T, tools string) {
	t.Helper()
	if err := os.WriteFile(s.tools, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
}

// write writes the configuration again.
func (s *ownScene) write(t *testing.T, catalog, top string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version: 1\ncatalog:\n  servers:\n    crm:\n      start_timeout_seconds: 4\n      stdio: {command: %q, env: {%s: %q, %s: %q}}\n"+
		"      tools:\n        look: {effect: read}\n        drift: {effect: read}\n%s%s", self, sceneTools, s.tools, sceneCalls, s.calls, catalog, top)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// args is a command line of the program in this scene.
func (s *ownScene) args(args ...string) []string {
	return append([]string{"--config", s.config, "--state", s.state}, args...)
}

// command carries out a command line in this process; secrets are what a person types.
func (s *ownScene) command(t *testing.T, secrets []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &e, Environ: []string{"HOME=" + s.dir}}}}
	a.secret = typedBy(secrets, &e)
	root := a.root()
	root.SetArgs(s.args(args...))
	code = a.Exit(t.Context(), root.ExecuteContext(t.Context()))
	return code, o.String(), e.String()
}

// must carries out a command that succeeds.
func (s *ownScene) must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := s.command(t, nil, args...)
	if code != console.ExitDone {
		t.Fatalf("%v ends with %d: %s%s", args, code, out, errs)
	}
	return out
}

// enrol puts the shared approver key into the state file, and returns its id.
func (s *ownScene) enrol(t *testing.T) string {
	t.Helper()
	engine, err := local.Open(local.Options{Path: s.state, Source: noConfigurations{}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	key := keyIn(t, filepath.Dir(s.state))
	if err := engine.Approvals().Enroll(key); err != nil {
		t.Fatal(err)
	}
	return key.ID
}

// called are the names of the calls that came to the server.
func (s *ownScene) called(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(s.calls)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// servedScene is a program that serves over pipes, and a client of it.
type servedScene struct {
	t    *testing.T
	cmd  *exec.Cmd
	to   io.WriteCloser
	log  *spoken // its standard error
	told *spoken // all that it answered
	last int
}

// serve starts the program; its client has shaken hands. It ends with the test.
func (s *ownScene) serve(t *testing.T, environ ...string) *servedScene {
	t.Helper()
	cmd := program(t, s.args("serve", "--log-format", "json", "--inbox", "off")...)
	cmd.Env = append(cmd.Env, environ...)
	c := &servedScene{t: t, cmd: cmd}
	out, err := cmd.StdoutPipe()
	errs, err2 := cmd.StderrPipe()
	in, err3 := cmd.StdinPipe()
	if err := errors.Join(err, err2, err3, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c.to, c.log, c.told = in, hear(errs), hear(out)
	t.Cleanup(func() {
		in.Close()
		c.log.wait()
		c.told.wait()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() > 0 { // the test's context has ended it, or its input has
			t.Errorf("the program ended with %v:\n%s", err, c.log)
		}
	})
	c.request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"scene","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// send sends a request and does not wait.
func (c *servedScene) send(method, params string) (id int) {
	c.t.Helper()
	c.last++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.last, method, params); err != nil {
		c.t.Fatal(err)
	}
	return c.last
}

// request returns the result of a request.
func (c *servedScene) request(method, params string) json.RawMessage {
	c.t.Helper()
	return c.answer(c.send(method, params))
}

// answer waits for the answer to a request.
func (c *servedScene) answer(id int) json.RawMessage {
	c.t.Helper()
	var result json.RawMessage
	c.told.until(c.t, func(line string) bool {
		var m struct {
			ID            int
			Result, Error json.RawMessage
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.ID != id || m.Result == nil && m.Error == nil {
			return false
		}
		if result = m.Result; m.Error != nil {
			result = m.Error
		}
		return true
	}, "the answer to request", id)
	return result
}

// shownCall is what a call gave.
type shownCall struct {
	RunID      string          `json:"run_id"`
	Status     string          `json:"status"`
	StopReason string          `json:"stop_reason"`
	Result     json.RawMessage `json:"result"`
}

func (c *servedScene) call(tool, arguments string) shownCall {
	c.t.Helper()
	return c.shown(c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))
}

// refuses holds that there is no tool of that name to be called.
func (c *servedScene) refuses(tool, arguments string) {
	c.t.Helper()
	if raw := string(c.answer(c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))); strings.Contains(raw, "structuredContent") {
		c.t.Errorf("a call of %s is answered with %s", tool, raw)
	}
}

// shown is the answer to a call.
func (c *servedScene) shown(id int) (shown shownCall) {
	c.t.Helper()
	raw := c.answer(id)
	var result struct{ StructuredContent json.RawMessage }
	if err := json.Unmarshal(raw, &result); err != nil || json.Unmarshal(result.StructuredContent, &shown) != nil {
		c.t.Fatalf("%s", raw)
	}
	return shown
}

// tools are the names of the listed tools.
func (c *servedScene) tools() string {
	c.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.request("tools/list", "{}"), &list); err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return " " + strings.Join(names, " ") + " "
}

// spoken are the lines of a stream, kept for a reader that waits for one.
type spoken struct {
	mu    sync.Mutex
	lines []string
	ended bool
	more  *sync.Cond
}

func hear(r io.Reader) *spoken {
	h := &spoken{}
	h.more = sync.NewCond(&h.mu)
	go func() {
		for in := bufio.NewReader(r); ; {
			line, err := in.ReadString('\n')
			h.mu.Lock()
			if line != "" {
				h.lines = append(h.lines, line)
			}
			h.ended = err != nil
			h.more.Broadcast()
			h.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return h
}

// wait waits for the end of the stream.
func (h *spoken) wait() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.ended {
		h.more.Wait()
	}
}

func (h *spoken) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "")
}

// patience is how long a test waits for what a process does; it fails then, and is no measure of time.
const patience = 60 * time.Second

// until waits for a line of which is is true, and returns it.
func (h *spoken) until(t *testing.T, is func(line string) bool, what ...any) string {
	t.Helper()
	late := false
	stop := time.AfterFunc(patience, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		late = true
		h.more.Broadcast()
	})
	defer stop.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	for at := 0; ; {
		for ; at < len(h.lines); at++ {
			if is(h.lines[at]) {
				return h.lines[at]
			}
		}
		if h.ended || late {
			t.Fatalf("%s did not come:\n%s", strings.TrimSpace(fmt.Sprintln(what...)), strings.Join(h.lines, ""))
		}
		h.more.Wait()
	}
}

// has waits for a line that holds a text.
func (h *spoken) has(t *testing.T, text string) string {
	t.Helper()
	return h.until(t, func(line string) bool { return strings.Contains(line, text) }, text)
}

// signedBy is what is said where a signature is asked for.
const signedBy = "passphrase of approver key"
