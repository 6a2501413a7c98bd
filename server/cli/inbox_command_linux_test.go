package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
	"patterngate/server/web"
)

// inboxPatience is how long a test waits for what must come.
const inboxPatience = 10 * time.Second

// pageOf returns what the page at an address says about itself, and reports whether something listens there.
func pageOf(t *testing.T, address string) (health web.Health, held bool) {
	t.Helper()
	response, err := http.Get("http://" + address + "/healthz")
	if errors.Is(err, syscall.ECONNREFUSED) {
		return health, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&health); err != nil {
		t.Errorf("the page of %s: %v", address, err)
	}
	return health, true
}

// newState makes a state file in which nothing waits.
func newState(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), settings.StateFile)
	engine, err := local.Open(local.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	engine.Close()
	return path
}

// standIn puts a program on PATH that keeps what it is told, and ends so.
func standIn(t *testing.T, name string, status int) (told string) {
	t.Helper()
	dir := t.TempDir()
	told = filepath.Join(dir, "told")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s'\nenv >> '%[1]s'\nexit %d\n", told, status)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return told
}

// inboxCommandRun is one invocation of the program in this process.
type inboxCommandRun struct {
	out, err shared
	code     int
}

// shared is what several goroutines write to.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func invoke(ctx context.Context, environ []string, out io.Writer, args ...string) *inboxCommandRun {
	i := &inboxCommandRun{}
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &i.out, Err: &i.err, Environ: environ}}}
	if out != nil {
		a.Out = out
	}
	root := a.root()
	root.SetArgs(args)
	i.code = a.Exit(ctx, root.ExecuteContext(ctx))
	return i
}

// send posts a token as the page's button does.
func send(t *testing.T, link string) int {
	t.Helper()
	base, token, _ := strings.Cut(link, "/sign-in/")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/sign-in", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", base)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// Where no server does, the command serves the page until it is interrupted; a second one beside it finds that out. Each
// opens the browser by a link that counts once, which stands nowhere else.
func TestInboxOpensTheBrowser(t *testing.T) {
	told := standIn(t, "xdg-open", 0)
	state, address := newState(t), freeAddress(t)
	environ := []string{"HOME=" + t.TempDir(), "DISPLAY=:0", "OPENAI_API_KEY=sk-secret"}
	args := []string{"--state", state, "inbox", "--inbox", address}
	ctx, interrupt := context.WithCancel(t.Context())
	out, written := io.Pipe()
	served := make(chan *inboxCommandRun, 1)
	go func() { served <- invoke(ctx, environ, written, args...) }()
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "The browser opens http://"+address+"/ and offers a sign-in, once, within 60 seconds.\n" {
		t.Fatalf("it says %q, %v", said, err)
	}
	first := linkIn(t, told, address)
	beside := invoke(t.Context(), environ, nil, args...)
	if beside.code != 0 || beside.out.String() != said {
		t.Errorf("beside it the command ends with %d: %s%s", beside.code, &beside.out, &beside.err)
	}
	second := linkIn(t, told, address)
	if first == second {
		t.Error("two sign-ins have one token")
	}
	for _, tt := range []struct {
		link string
		want int
	}{{second, 303}, {second, 401}, {first, 303}} {
		if got := send(t, tt.link); got != tt.want {
			t.Errorf("the token is answered with %d, want %d", got, tt.want)
		}
	}
	interrupt()
	i := <-served
	if i.code != 0 || !strings.Contains(i.err.String(), "It only decides: runs continue with `patterngate serve` or\n`patterngate runs resume`.") {
		t.Errorf("it ends with %d and has said %s", i.code, &i.err)
	}
	for _, link := range []string{first, second} {
		_, token, _ := strings.Cut(link, "/sign-in/")
		if strings.Contains(said+i.err.String()+beside.err.String(), token) {
			t.Error("a token was told")
		}
	}
}

// linkIn is what the stand-in was told: the link, and no secret.
func linkIn(t *testing.T, told, address string) string {
	t.Helper()
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	link, rest, _ := strings.Cut(string(text), "\n")
	if !regexp.MustCompile(`^http://`+regexp.QuoteMeta(address)+`/sign-in/[A-Za-z0-9_-]{43}$`).MatchString(link) || strings.Contains(rest, "sk-secret") {
		t.Fatalf("the browser is told %q, with environment\n%s", link, rest)
	}
	return link
}

// What cannot be done is said with what to try, and never with the token.
func TestInboxCommandFaults(t *testing.T) {
	state := newState(t)
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	desktop := []string{"DISPLAY=:0"}
	for name, tt := range map[string]struct {
		environ []string
		status  int // of xdg-open; below 0: there is none
		args    []string
		code    int
		want    string
	}{
		"no desktop":         {nil, 0, nil, 1, "inbox: the browser cannot be opened: this machine has no desktop\ntry: patterngate --state " + state + " inbox --inbox "},
		"no desktop, a pipe": {nil, 0, nil, 1, " --print at a terminal, or decide with: patterngate approvals list\n"},
		"no browser":         {desktop, 3, nil, 1, "inbox: the browser cannot be opened: xdg-open: exit status 3\ntry: "},
		"no opener":          {desktop, -1, nil, 1, "inbox: the browser cannot be opened: exec: \"xdg-open\": executable file not found in $PATH\ntry: "},
		"a stranger":         {desktop, 0, []string{"--inbox", strings.TrimPrefix(stranger.URL, "http://")}, 1, " is used by another program\ntry: patterngate inbox --inbox 127.0.0.1:8767\n"},
		"no such address":    {desktop, 0, []string{"--inbox", "127.0.0.1:1", "--config", "/nonexistent.yaml"}, 2, "/nonexistent.yaml"},
		"off":                {desktop, 0, []string{"--inbox", "off"}, 2, "inbox: the approval page is off\ntry: --inbox 127.0.0.1:8766\n"},
		"others could":       {desktop, 0, []string{"--inbox", "0.0.0.0:8766"}, 2, "is not loopback"},
		"nothing is kept":    {desktop, 0, []string{"--state", settings.MemoryState}, 2, "it is :memory:"},
		"nothing recorded":   {desktop, 0, []string{"--state", state + ".other"}, 2, "no run has been recorded"},
		"print to a pipe":    {desktop, 0, []string{"--print"}, 2, "inbox --print: standard output is not a terminal. Anyone with the link can sign in, so it is printed to a terminal only\ntry: patterngate inbox, which opens the browser, or decide with: patterngate approvals list\n"},
		"print, as JSON":     {desktop, 0, []string{"--print", "--json"}, 2, "standard output is not a terminal"},
		"an argument":        {desktop, 0, []string{"now"}, 2, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			if t.Setenv("PATH", t.TempDir()); tt.status >= 0 {
				standIn(t, "xdg-open", tt.status)
			}
			args := append([]string{"--state", state, "inbox", "--inbox", freeAddress(t)}, tt.args...)
			i := invoke(t.Context(), append([]string{"HOME=" + t.TempDir()}, tt.environ...), nil, args...)
			if i.code != tt.code || !strings.Contains(i.err.String(), tt.want) || i.out.String() != "" {
				t.Errorf("%q ends with %d: %s%s; want %d, %q", args, i.code, &i.out, &i.err, tt.code, tt.want)
			}
			if strings.Contains(i.err.String(), "/sign-in/") {
				t.Errorf("the token is told: %s", &i.err)
			}
		})
	}
}

// --json tells where the page is, and no token.
func TestInboxJSON(t *testing.T) {
	told := standIn(t, "xdg-open", 0)
	state, address := newState(t), freeAddress(t)
	ctx, interrupt := context.WithCancel(t.Context())
	out, written := io.Pipe()
	served := make(chan *inboxCommandRun, 1)
	go func() {
		served <- invoke(ctx, []string{"HOME=" + t.TempDir(), "WAYLAND_DISPLAY=w"}, written, "--state", state, "inbox", "--json", "--inbox", address)
	}()
	var shown map[string]any
	if err := json.NewDecoder(out).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"url": "http://" + address + "/", "opened": true, "serving": true}; fmt.Sprint(shown) != fmt.Sprint(want) {
		t.Errorf("it shows %v, want %v", shown, want)
	}
	linkIn(t, told, address)
	go func() { _, _ = io.Copy(io.Discard, out) }() // the line's end
	interrupt()
	<-served
}

// At a terminal the link is printed, alone on standard output.
func TestInboxPrintsAtATerminal(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("no script(1) to make a terminal with")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	line := strings.Join([]string{self, "--state", newState(t), "inbox", "--print", "--inbox", address}, " ")
	ctx, end := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, script, "-qec", line, "/dev/null")
	cmd.Env = []string{asProgram + "=1", "HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	cmd.WaitDelay = inboxPatience
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link := ""
	for lines := bufio.NewScanner(out); link == "" && lines.Scan(); {
		if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, "http://") {
			link = text
		}
	}
	if got := send(t, link); got != 303 {
		t.Errorf("what is printed, %q, is answered with %d", link, got)
	}
	end()
	_ = cmd.Wait() // it was ended
}

// When the process that serves the page is killed, another one over the same state takes it over, and a browser that had the
// page open has to sign in again.
func TestInboxOverProcesses(t *testing.T) {
	inCI(t, "it starts processes and kills one")
	t.Parallel()
	home, address := t.TempDir(), freeAddress(t)
	serve := func() (kill func(), ask io.Writer, says func(string)) {
		cmd := program(t, "serve", "--inbox", address, "--log-level", "info", "--log-format", "json", "--state", filepath.Join(home, settings.StateFile))
		stdin, inErr := cmd.StdinPipe()
		stderr, errErr := cmd.StderrPipe()
		if err := errors.Join(inErr, errErr, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
		t.Cleanup(kill)
		lines := bufio.NewScanner(stderr)
		return kill, stdin, func(want string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Fatalf("it ends without saying %q", want)
		}
	}
	kill, ask, says := serve()
	says(`"serving"`)
	if got, held := pageOf(t, address); held {
		t.Errorf("before the first question the port is held by %+v", got)
	}
	fmt.Fprintln(ask, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	fmt.Fprintln(ask, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(ask, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"supervised_refund","arguments":{"goal":"Refund 1200 USD to user 42","actions":[`+
		`{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"outage"}}]}}}`)
	says(`"msg":"inbox","url":"http://` + address + `/"`)
	if got, _ := pageOf(t, address); got.Patterngate == "" || got.State == "" {
		t.Errorf("with a question the port is held by %+v", got)
	}
	_, _, secondSays := serve()
	secondSays("inbox is served by another process")
	kill()
	secondSays(`"msg":"inbox","url":"http://` + address + `/"`)
	if got, _ := pageOf(t, address); got.Patterngate == "" || got.State == "" {
		t.Errorf("after the kill the port is held by %+v", got)
	}
}
