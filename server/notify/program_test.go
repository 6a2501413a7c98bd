package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// standIn puts a shell script of that name first on PATH, for this test. It leaves what it was given in files of the
// directory: args, a line each, env and in.
func standIn(t *testing.T, name, then string) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	dir = t.TempDir()
	script := "#!/bin/sh\ncd '" + dir + "'\nprintf '%s\\n' \"$@\" > args\nenv > env\ncat > in\n" + then + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// left is what a stand-in left, "" for nothing.
func left(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func TestDesktops(t *testing.T) {
	for name, tt := range map[string]struct {
		goos, program string
		args          func(text string) string // a line each
	}{
		"Linux":   {"linux", "notify-send", func(text string) string { return "--app-name=Patterngate\nPatterngate\n" + text }},
		"FreeBSD": {"freebsd", "notify-send", func(text string) string { return "--app-name=Patterngate\nPatterngate\n" + text }},
		"macOS": {"darwin", "osascript", func(text string) string {
			return "-e\ndisplay notification \"" + text + "\" with title \"Patterngate\""
		}},
		"Windows": {"windows", "powershell.exe", func(text string) string {
			return "-NoProfile\n-NonInteractive\n-Command\n" + fmt.Sprintf(toast, "Patterngate", text)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := standIn(t, tt.program, "")
			environ := []string{"PATH=" + os.Getenv("PATH"), "DISPLAY=:7", "OPENAI_API_KEY=sk-secret", "PATTERNGATE_TOKEN=secret", "SystemRoot=C:\\Windows"}
			d := desk{goos: tt.goos, environ: environ}
			n := newNotifier(Config{Mode: Auto, Environ: environ, URL: func() string { return "http://127.0.0.1:8766" }}, d)
			for _, text := range hostile {
				a := asked(text)
				a.Question.Tool, a.Pattern, a.Rule, a.Phrase = text, text, text, text
				n.Asked(a)
			}
			for range 1000 - len(hostile) {
				n.Asked(asked("ap_1"))
			}
			n.Close()
			if got, want := left(t, dir, "args"), tt.args("1000 calls need your decision. Run: patterngate inbox")+"\n"; got != want {
				t.Errorf("%s got\n%s\nwant\n%s", tt.program, got, want)
			}
			if env := left(t, dir, "env"); !strings.Contains(env, "DISPLAY=:7\n") || strings.Contains(env, "secret") {
				t.Errorf("%s saw %s", tt.program, env)
			}
			if err := d.show(t.Context(), batch{waiting: 1, base: "http://127.0.0.1:8766"}); err != nil {
				t.Errorf("show: %v", err)
			}
			if got, want := left(t, dir, "args"), tt.args("A call needs your decision. Run: patterngate inbox")+"\n"; got != want {
				t.Errorf("%s got\n%s\nwant\n%s", tt.program, got, want)
			}
		})
	}
}

// Without an inbox the words name what works without one.
func TestWordsWithoutInbox(t *testing.T) {
	if got, want := (batch{waiting: 2}).words(), "2 calls need your decision. Run: patterngate approvals list"; got != want {
		t.Errorf("words() = %q, want %q", got, want)
	}
}

// Where there is no desktop, nothing is started and nothing is said.
func TestNoDesktop(t *testing.T) {
	dir := standIn(t, "notify-send", "echo The name is not activatable >&2; exit 1")
	server := t.TempDir() // of a machine without a screen, whose user has a bus
	bus, err := net.Listen("unix", filepath.Join(server, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	for name, tt := range map[string]struct {
		desk    desk
		started bool
		warned  bool
	}{
		"no variable":           {desk: desk{goos: "linux", runtimeDir: filepath.Join(dir, "none")}},
		"a bus that is no bus":  {desk: desk{goos: "linux", runtimeDir: dir}},
		"nobody on the bus":     {desk: desk{goos: "linux", runtimeDir: server}, started: true},
		"the session's bus":     {desk: desk{goos: "linux", environ: []string{"XDG_RUNTIME_DIR=" + server}}, started: true},
		"a screen that is gone": {desk: desk{goos: "linux", environ: []string{"WAYLAND_DISPLAY=wayland-0"}}, started: true, warned: true},
		"no program, Linux":     {desk: desk{goos: "linux", environ: []string{"DISPLAY=:7"}}},
		"no program, macOS":     {desk: desk{goos: "darwin"}},
		"no program, Windows":   {desk: desk{goos: "windows"}},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "no program") {
				t.Setenv("PATH", t.TempDir())
			}
			_ = os.Remove(filepath.Join(dir, "env"))
			var log bytes.Buffer
			n := newNotifier(Config{Mode: Auto, Log: slog.New(slog.NewTextHandler(&log, nil))}, tt.desk)
			n.Asked(asked("ap_1"))
			n.Close()
			env := left(t, dir, "env")
			if got := env != ""; got != tt.started {
				t.Errorf("a program was started: %v, want %v", got, tt.started)
			}
			if got := strings.Contains(log.String(), "kind=exit"); got != tt.warned || !tt.warned && log.Len() > 0 {
				t.Errorf("the log has %q, want a failure in it: %v", log.String(), tt.warned)
			}
			if bus := "DBUS_SESSION_BUS_ADDRESS=unix:path=" + server + "/bus\n"; tt.started && !tt.warned && !strings.Contains(env, bus) {
				t.Errorf("the program saw %s, want %s", env, bus)
			}
		})
	}
}

// readEvent is what the stand-in read.
func readEvent(t *testing.T, dir string) Event {
	t.Helper()
	var e Event
	d := json.NewDecoder(strings.NewReader(left(t, dir, "in")))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("the event: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("after the event: %v, want the end", err)
	}
	return e
}

func TestExec(t *testing.T) {
	dir := standIn(t, "ding", "")
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	var log bytes.Buffer
	n := New(Config{
		Mode: Exec, Exec: []string{"ding", "a b", "$(id)", "*", "; exit 9"}, Environ: os.Environ(),
		URL: func() string { return "http://127.0.0.1:8766" }, Waiting: func() (int, error) { return 41, nil },
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for range 30 {
		n.Asked(asked("ap_0123456789abcdef"))
	}
	n.Close()
	if got, want := left(t, dir, "args"), "a b\n$(id)\n*\n; exit 9\n"; got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
	if env := left(t, dir, "env"); strings.Contains(env, "secret") || !strings.Contains(env, "PATH=") {
		t.Errorf("the program saw %s", env)
	}
	e := readEvent(t, dir)
	if e.Asked != 30 || e.Waiting != 41 || len(e.More) != 19 || e.URL != "http://127.0.0.1:8766/a/ap_0123456789abcdef" || e.More[18].URL != e.URL {
		t.Errorf("the event is %+v", e)
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", log.String())
	}
}

// The failure of a program is logged with the first KiB of its output. Nothing else notices it.
func TestExecFails(t *testing.T) {
	for name, tt := range map[string]struct {
		argv []string
		then string
		want []string
	}{
		"exit status":       {[]string{"ding"}, "echo my bell is broken >&2; exit 3", []string{"kind=exit", "program=ding", `error="exit status 3"`, "my bell is broken"}},
		"1 MB said":         {[]string{"ding"}, "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1", []string{"kind=exit"}},
		"escapes said":      {[]string{"ding"}, `printf '\033[2Jgone\n' >&2; exit 1`, []string{`stderr=\u001b[2Jgone asked`}},
		"not there":         {[]string{"patterngate-no-such-program"}, "", []string{"kind=not_found"}},
		"no program at all": {[]string{filepath.Join(os.TempDir())}, "", []string{"kind=not_found"}},
	} {
		t.Run(name, func(t *testing.T) {
			standIn(t, "ding", tt.then)
			var log bytes.Buffer
			n := New(Config{Mode: Exec, Exec: tt.argv, Environ: os.Environ(), Log: slog.New(slog.NewTextHandler(&log, nil))})
			n.Asked(asked("ap_1"))
			n.Close()
			for _, want := range tt.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q: %s", want, log.String())
				}
			}
			if n := strings.Count(log.String(), "\n"); n != 1 || log.Len() > 2000 {
				t.Errorf("the log has %d lines with %d bytes, want 1 with at most 2000", n, log.Len())
			}
		})
	}
}

// What takes too long is killed with its children; what reads nothing and what leaves a child behind hold nothing up.
func TestExecIsKilled(t *testing.T) {
	dir := standIn(t, "ding", "(exec 3> alive; exec sleep 1000) & wait")
	if err := exec.Command("mkfifo", filepath.Join(dir, "alive")).Run(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, []string{"ding"}, environment("linux", os.Environ()), []byte("{}\n")) }()
	fifo, err := os.Open(filepath.Join(dir, "alive")) // returns when the grandchild has opened it too
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	cancel(errLate)
	var f *failure
	if err := <-ended; !errors.As(err, &f) || f.kind != late || !errors.Is(err, errLate) {
		t.Errorf("run = %v, want %v", err, errLate)
	}
	if _, err := io.ReadAll(fifo); err != nil { // ends when the grandchild, which has it open, is gone
		t.Error(err)
	}
}

func TestExecHoldsNothingUp(t *testing.T) {
	for name, argv := range map[string][]string{
		"reads nothing":        {"sh", "-c", "exec <&-; exit 0"},
		"leaves a child":       {"sh", "-c", "sleep 5 & exit 0"},
		"says much":            {"sh", "-c", "head -c 10000000 /dev/zero; head -c 10000000 /dev/zero >&2"},
		"closes its own error": {"sh", "-c", "exec 2>&-; cat > /dev/null"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if err := run(t.Context(), argv, environment(runtime.GOOS, os.Environ()), bytes.Repeat([]byte("x"), 200_000)); err != nil {
				t.Errorf("run = %v", err)
			}
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("run took %v, want at most about a second", took)
			}
		})
	}
}

// Windows tells no a from A; of two values the last counts; what has none is not there.
func TestEnvironment(t *testing.T) {
	environ := []string{"Path=C:\\one", "PATH=C:\\two", "SYSTEMROOT=C:\\Windows", "HOME=", "AWS_SECRET_ACCESS_KEY=x", "SSH_AUTH_SOCK=x", "nonsense"}
	if got, want := strings.Join(environment("windows", environ), " "), `PATH=C:\two SystemRoot=C:\Windows`; got != want {
		t.Errorf("environment(windows) = %q, want %q", got, want)
	}
	if got, want := strings.Join(environment("linux", environ), " "), `PATH=C:\two`; got != want {
		t.Errorf("environment(linux) = %q, want %q", got, want)
	}
}
