package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// usualScene is a home with the two usual state files' directory.
type usualScene struct{ home, dir string }

func newUsualScene(t *testing.T) usualScene {
	t.Helper()
	s := usualScene{home: t.TempDir()}
	path, f := settings.DefaultState(runtime.GOOS, s.environ(), settings.StateFile)
	if f.Reason != "" {
		t.Fatal(f)
	}
	s.dir = filepath.Dir(path)
	return s
}

func (s usualScene) environ() []string {
	return []string{"HOME=" + s.home, "XDG_STATE_HOME=" + s.home, "LOCALAPPDATA=" + s.home, "XDG_CONFIG_HOME=" + s.home}
}

func (s usualScene) run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &e, Environ: s.environ()}}}
	root := a.root()
	root.SetArgs(args)
	return a.Exit(t.Context(), root.ExecuteContext(t.Context())), o.String(), e.String()
}

// files are the state files that are there.
func (s usualScene) files() (names string) {
	for _, name := range []string{settings.DemoStateFile, settings.StateFile} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			names += name + " "
		}
	}
	return strings.TrimSpace(names)
}

// A command that needs only the state takes the same file, and says which where the other one may be meant.
func TestUsualStateOfCommands(t *testing.T) {
	t.Parallel()
	s := newUsualScene(t)
	state, demo := filepath.Join(s.dir, settings.StateFile), filepath.Join(s.dir, settings.DemoStateFile)
	broken := writeConfig(t, "version: 1\nnonsense: 1\n")
	empty := [][]string{{"runs", "list"}, {"runs", "show", "run_0001"}, {"approvals", "list"}, {"kill-switch", "on"}, {"kill-switch", "status"}}
	for _, args := range empty[:3] {
		if code, out, errs := s.run(t, args...); code != console.ExitUsage || out != "" || !strings.Contains(errs, demo) || strings.Contains(errs, state) {
			t.Errorf("%q before all runs ends with %d: %s%s; want a word about %s alone", args, code, out, errs, demo)
		}
	}
	if code, _, errs := s.run(t, "call", "list_runs"); code != console.ExitDone || s.files() != settings.DemoStateFile {
		t.Fatalf("a call of the demo ends with %d: %s; there is %q, want %s", code, errs, s.files(), settings.DemoStateFile)
	}
	if code, _, errs := s.run(t, "runs", "list"); code != console.ExitDone || errs != "" {
		t.Errorf("runs list ends with %d: %s; want nothing on standard error", code, errs)
	}
	// Faults in a file that is there: its tools may be real ones.
	code, _, errs := s.run(t, "--config", broken, "runs", "list")
	if code != console.ExitUsage || !strings.Contains(errs, "there is no file "+state) || !strings.Contains(errs, "--state "+console.ShellWord(runtime.GOOS, demo)) {
		t.Errorf("runs list under a faulty file ends with %d: %s; want no file %s, and the flag for %s", code, errs, state, demo)
	}
	if code, _, errs := s.run(t, "--config", broken, "kill-switch", "status"); code != console.ExitDone || s.files() != settings.DemoStateFile+" "+settings.StateFile || !strings.Contains(errs, state) {
		t.Errorf("kill-switch under a faulty file ends with %d: %s; there is %q", code, errs, s.files())
	}
	// Both are there.
	for _, args := range [][]string{{"runs", "list"}, {"approvals", "list"}, {"kill-switch", "status"}} {
		code, _, errs := s.run(t, args...)
		if code != console.ExitDone || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "note: this is "+demo) || !strings.Contains(errs, "--state "+console.ShellWord(runtime.GOOS, state)) {
			t.Errorf("%q with both files ends with %d: %s; want one line that names both", args, code, errs)
		}
		if code, _, errs := s.run(t, append([]string{"--state", demo}, args...)...); code != console.ExitDone || errs != "" {
			t.Errorf("%q with a named file ends with %d: %s; want nothing on standard error", args, code, errs)
		}
	}
	code, _, errs = s.run(t, "runs", "show", "run_00aa")
	if code != console.ExitUsage || !strings.HasPrefix(errs, "note: this is "+demo) || !strings.Contains(errs, "no run run_00aa is recorded here") {
		t.Errorf("runs show of a run that is not there ends with %d: %s; want the note first", code, errs)
	}
	// What is found needs no word about the other file; a switch always does.
	if code, _, errs := s.run(t, "call", "route_ticket", "ticket=refund for user_id=42"); code != console.ExitDone {
		t.Fatalf("a run of the demo ends with %d: %s", code, errs)
	}
	if code, out, errs := s.run(t, "runs", "list"); code != console.ExitDone || !strings.Contains(out, "route_ticket") || errs != "" {
		t.Errorf("runs list with a run ends with %d: %s%s; want nothing on standard error", code, out, errs)
	}
	if _, _, errs := s.run(t, "kill-switch", "status"); !strings.HasPrefix(errs, "note: this is "+demo) {
		t.Errorf("kill-switch status says %q, want the note", errs)
	}
	// Only the other one is there: it is named, and a switch that stops nothing is not made.
	if err := errors.Join(os.Remove(demo), os.RemoveAll(demo+".owners")); err != nil {
		t.Fatal(err)
	}
	for _, args := range empty {
		code, out, errs := s.run(t, args...)
		if code != console.ExitUsage || out != "" || !strings.Contains(errs, "\ntry: --state "+console.ShellWord(runtime.GOOS, state)+", which exists") {
			t.Errorf("%q without the demo's file ends with %d: %s%s; want the flag for %s", args, code, out, errs, state)
		}
	}
	if s.files() != settings.StateFile {
		t.Errorf("there is %q, want %s alone", s.files(), settings.StateFile)
	}
}

// What a person types to see the page of this program leads to its state file, also in a terminal without its variables.
func TestInboxLineOfUsualStates(t *testing.T) {
	s := newUsualScene(t)
	real := settings.Config{DemoEnabled: "false", State: filepath.Join(s.dir, settings.StateFile), Inbox: inbox.Usual}
	demo := settings.Config{DemoEnabled: "true", State: filepath.Join(s.dir, settings.DemoStateFile), Inbox: inbox.Usual}
	by := settings.PathVariable + "=/x/pg.yaml"
	for name, tt := range map[string]struct {
		c       settings.Config
		environ []string
		flags   bool
	}{
		"the demo":                {demo, nil, false},
		"own tools":               {real, nil, false},
		"own tools by a variable": {real, []string{by}, true},
	} {
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{Environ: append(s.environ(), tt.environ...)}}}
		if line := a.opener().inboxLine(tt.c); strings.Contains(line, "--state") != tt.flags {
			t.Errorf("%s: %s; want --state: %t", name, line, tt.flags)
		}
	}
}

// A reload that would have real tools recorded in the demo's state file is refused.
func TestReloadKeepsStatesApart(t *testing.T) {
	demo, real := settings.Config{State: "/s/demo.db", StateUsual: true}, settings.Config{State: "/s/state.db", StateUsual: true}
	named := settings.Config{State: "/s/runs.db"}
	for name, tt := range map[string]struct {
		from, to settings.Config
		refused  bool
	}{
		"the first tool": {demo, real, true}, "the last tool": {real, demo, true}, "the same": {demo, demo, false}, "named": {demo, named, false}, "named before": {named, real, false},
	} {
		if err := movedState(tt.from, tt.to); (err != nil) != tt.refused {
			t.Errorf("%s: %v; want refused: %t", name, err, tt.refused)
		}
	}
}
