package notify

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// maxStderr is how much of a program's standard error is kept, in bytes.
const maxStderr = 1024

// heldFor is how long a program that has ended may leave its standard error open in others' hands.
const heldFor = time.Second

// kind is what went wrong; each is logged once.
type kind string

const (
	noDesktop kind = "no_desktop" // of mode auto; no failure
	missing   kind = "not_found"
	unstarted kind = "not_started"
	exited    kind = "exit"
	late      kind = "timeout"
)

// failure is a notification that could not be shown.
type failure struct {
	kind    kind
	program string
	err     error
	stderr  string // the first of it
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// hook is a program of the owner's.
type hook struct{ argv, env []string }

func (h hook) call(ctx context.Context, b batch) error {
	doc, err := b.event()
	if err != nil {
		return &failure{kind: unstarted, program: h.argv[0], err: err}
	}
	return run(ctx, h.argv, h.env, doc)
}

// run runs a program to its end, in a process group of its own that is killed when ctx ends. What it leaves running when
// it ends in time is its own matter. The error is a [*failure].
func run(ctx context.Context, argv, env []string, in []byte) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return &failure{kind: missing, program: argv[0], err: err}
	}
	stderr := &first{}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Env = append([]string{}, env...) // nil would be all of ours
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), stderr
	cmd.WaitDelay = heldFor
	isolate(cmd)
	cmd.Cancel = func() error { return kill(cmd.Process) }
	if err := cmd.Start(); err != nil {
		return &failure{kind: unstarted, program: argv[0], err: err}
	}
	switch err := cmd.Wait(); {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case ctx.Err() != nil:
		return &failure{late, argv[0], context.Cause(ctx), string(stderr.kept)}
	default:
		return &failure{exited, argv[0], err, string(stderr.kept)}
	}
}

// first keeps the beginning of what is written to it.
type first struct{ kept []byte }

func (f *first) Write(p []byte) (int, error) {
	f.kept = append(f.kept, p[:min(maxStderr-len(f.kept), len(p))]...)
	return len(p), nil
}

// Variables are those that a program sees of the environment: what it needs to find files, the desktop and the user's
// language. Keys and tokens are not among them.
func Variables() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ", "TMPDIR", "TEMP", "TMP",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
	}
}

// environment is what a program sees of an environment.
func environment(goos string, environ []string) []string {
	env := []string{}
	for _, name := range Variables() {
		if v := lookup(goos, environ, name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// lookup is a variable's value, "" for none. Of two the last counts; Windows tells no a from A.
func lookup(goos string, environ []string, name string) (value string) {
	for _, entry := range environ {
		key, v, _ := strings.Cut(entry, "=")
		if key == name || goos == "windows" && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
