package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// switchRow is a switch as "kill-switch status --json" prints it.
type switchRow struct{ Tool, Pattern, Reason, By, At string }

// switchesOn returns the switches as status prints them.
func switchesOn(t *testing.T, s *ownScene) (rows []switchRow) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.must(t, "kill-switch", "status", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A switch that one process turns stops the next call in another, also in one that starts later, until it is turned off.
func TestKillSwitch(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "patterns: {see: {kind: call, tool: look}, slip: {kind: call, tool: drift}}\n")
	s.must(t, "catalog", "accept", "--yes")
	running := s.serve(t)
	n := 0 // equal calls would be joined
	calls := func(when string, c *servedScene, want map[string]string) {
		t.Helper()
		for tool, reason := range want {
			before := len(s.called(t))
			n++
			got := c.call(tool, fmt.Sprintf(`{"q":"%d"}`, n))
			if sent := len(s.called(t)) - before; got.StopReason != reason || (sent == 1) != (reason == "success") {
				t.Errorf("%s: %s stops with %s, want %s; %d calls were sent\n%s", when, tool, got.StopReason, reason, sent, c.log)
			}
		}
	}
	all, none := map[string]string{"see": "kill_switch", "slip": "kill_switch"}, map[string]string{"see": "success", "slip": "success"}
	calls("at first", running, none)
	for _, scope := range []struct {
		args []string
		want map[string]string
		row  switchRow
	}{
		{[]string{"--tool", "look"}, map[string]string{"see": "kill_switch", "slip": "success"}, switchRow{Tool: "look", Reason: "spilt"}},
		{[]string{"--pattern", "slip"}, map[string]string{"see": "success", "slip": "kill_switch"}, switchRow{Pattern: "slip", Reason: "spilt"}},
		{nil, all, switchRow{Reason: "spilt"}},
	} {
		name := strings.Join(scope.args, " ")
		s.must(t, append([]string{"kill-switch", "on", "--reason", "spilt"}, scope.args...)...)
		calls("on "+name, running, scope.want)
		calls("in a later process, on "+name, s.serve(t), scope.want)
		rows := switchesOn(t, s)
		if len(rows) != 1 || rows[0].By == "" || rows[0].At == "" {
			t.Fatalf("status on %s: %+v", name, rows)
		}
		if got := (switchRow{Tool: rows[0].Tool, Pattern: rows[0].Pattern, Reason: rows[0].Reason}); got != scope.row {
			t.Errorf("status on %s: %+v, want %+v", name, got, scope.row)
		}
		s.must(t, append([]string{"kill-switch", "off"}, scope.args...)...)
		calls("off "+name, running, none)
	}
	s.must(t, "kill-switch", "on", "--tool", "look")
	if code, out, errs := s.command(t, nil, "call", "see"); code != 8 || !strings.Contains(out+errs, "kill_switch") {
		t.Errorf("call ends with %d, want 8: %s%s", code, out, errs)
	}
	if out := s.must(t, "kill-switch", "status"); !strings.HasPrefix(out, "on: tool \"look\", since ") {
		t.Errorf("status says %q", out)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"another":      {[]string{"off", "--tool", "drift"}, console.ExitRefused, "this kill switch is not on"},
		"nearly":       {[]string{"off", "--tool", "loook"}, console.ExitRefused, "this kill switch is not on; did you mean --tool look?\n"},
		"everything":   {[]string{"off"}, console.ExitRefused, "this kill switch is not on"},
		"both":         {[]string{"on", "--tool", "look", "--pattern", "see"}, console.ExitUsage, "one of --tool and --pattern"},
		"a bare tool":  {[]string{"on", "look"}, console.ExitUsage, "kill-switch on: \"look\" needs --tool or --pattern\ntry: patterngate kill-switch on --tool look\n"},
		"off a reason": {[]string{"off", "--reason", "x"}, console.ExitUsage, "--reason"},
	} {
		if code, out, errs := s.command(t, nil, append([]string{"kill-switch"}, tt.args...)...); code != tt.code || !strings.Contains(errs, tt.want) {
			t.Errorf("%s ends with %d: %s%s", name, code, out, errs)
		}
	}
	s.must(t, "kill-switch", "on")
	if out := s.must(t, "kill-switch", "off"); !strings.HasPrefix(out, "off: everything; another kill switch is still on:\non: tool \"look\", since ") {
		t.Errorf("off while another is on says %q", out)
	}
	s.must(t, "kill-switch", "off", "--tool", "look")
	if out := s.must(t, "kill-switch", "status"); out != "off: calls are allowed\n" {
		t.Errorf("status says %q", out)
	}
}

// The kill switch needs no faultless file: it is turned in the state file that the file names where that much can be read, else
// in that of flag or variable, and one line says so.
func TestKillSwitchDoesWithoutAFaultlessFile(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "state: state.db\npatterns: {see: {kind: call, tool: look}}\n")
	s.must(t, "catalog", "accept", "--yes")
	running := s.serve(t)
	good := readFile(t, s.config)
	type line struct {
		environ []string
		args    []string
	}
	turn := func(l line, args ...string) (code int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &e, Environ: append([]string{"HOME=" + s.dir, "PATH=/bin"}, l.environ...)}}}
		root := a.root()
		root.SetArgs(slices.Concat([]string{"--config", s.config}, l.args, []string{"kill-switch"}, args))
		return a.Exit(t.Context(), root.ExecuteContext(t.Context())), o.String(), e.String()
	}
	byFlag, byVariable := line{args: []string{"--state", s.state}}, line{environ: []string{"PATTERNGATE_STATE=" + s.state}}
	n := 0
	for name, tt := range map[string]struct {
		text string
		by   line
		want string
	}{
		"a key that is none":       {good + "nonsense: 1\n", line{}, "nonsense: unknown key"},
		"two faults":               {good + "nonsense: 1\nmore: 2\n", line{}, "(and 1 more)"},
		"a program that is gone":   {regexp.MustCompile(`command: "[^"]*"`).ReplaceAllString(good, "command: no-such-program"), line{}, "no-such-program is not installed or not in PATH"},
		"a flag's fault":           {good, line{args: []string{"--log-level", "loud"}}, "--log-level"},
		"half a file, a flag":      {good[:len(good)-4], byFlag, s.config},
		"half a file, a variable":  {good[:len(good)-4], byVariable, s.config},
		"a state of another form":  {strings.Replace(good, "state.db", "[1]", 1), byVariable, "state: got a list"},
		"a bad key, and a flag":    {strings.Replace(good, "state.db", "other.db", 1) + "nonsense: 1\n", byFlag, "nonsense"},
		"no file, and a variable":  {"", byVariable, "no such file"},
		"a file of only a version": {"version: 2\n", byFlag, "version"},
	} {
		if err := os.WriteFile(s.config, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if tt.text == "" {
			if err := os.Remove(s.config); err != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := turn(tt.by, "on")
		if code != console.ExitDone || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "warning: ") || !strings.Contains(errs, tt.want) || !strings.Contains(errs, s.state) {
			t.Errorf("%s: on ends with %d: %s%s", name, code, out, errs)
		}
		n++
		if got := running.call("see", fmt.Sprintf(`{"q":"%d"}`, n)); got.StopReason != "kill_switch" {
			t.Errorf("%s: the call stops with %s, want kill_switch", name, got.StopReason)
		}
		if code, out, errs := turn(tt.by, "status"); code != console.ExitDone || !strings.HasPrefix(out, "on: everything") {
			t.Errorf("%s: status ends with %d: %s%s", name, code, out, errs)
		}
		if code, out, errs := turn(tt.by, "off"); code != console.ExitDone || len(switchesIn(t, s)) != 0 {
			t.Errorf("%s: off ends with %d: %s%s", name, code, out, errs)
		}
	}
	// A file that says nothing certainly names no state: it is the usual one.
	for name, text := range map[string]string{"an empty file": "", "only comments": "# state: elsewhere.db\n", "null": "null\n"} {
		usual := t.TempDir()
		by := line{environ: []string{"HOME=" + usual, "XDG_STATE_HOME=" + usual, "LOCALAPPDATA=" + usual}}
		file, _ := settings.DefaultState(runtime.GOOS, by.environ, settings.StateFile)
		if err := errors.Join(os.WriteFile(s.config, []byte(text), 0o600), os.MkdirAll(filepath.Dir(file), 0o700)); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := turn(line{args: []string{"--state", file}}, "status"); code != console.ExitDone {
			t.Fatalf("%s: a state file is not made: %d %s", name, code, errs)
		}
		if code, out, errs := turn(by, "on"); code != console.ExitDone || !strings.HasPrefix(out, "on: everything") || !strings.Contains(errs, file) {
			t.Errorf("%s: on ends with %d: %s%s", name, code, out, errs)
		}
	}
	// Where nothing says which state file is meant, none is made and no other is taken: nothing would be stopped by it.
	for name, text := range map[string]string{
		"half a file":              good[:len(good)-4],
		"one brace too much":       good + "}\n",
		"a file that all may edit": good,
		"a fault at state":         strings.Replace(good, "state.db", "[1]", 1),
	} {
		if err := errors.Join(os.WriteFile(s.config, []byte(text), 0o600), os.Chmod(s.config, 0o600)); err != nil {
			t.Fatal(err)
		}
		if text == good {
			if runtime.GOOS == "windows" { // there such a mode says nothing
				continue
			}
			if err := os.Chmod(s.config, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, there := range []bool{false, true} {
			usual := filepath.Join(t.TempDir(), "usual")
			by := line{environ: []string{"HOME=" + usual, "XDG_STATE_HOME=" + usual, "LOCALAPPDATA=" + usual}}
			file, _ := settings.DefaultState(runtime.GOOS, by.environ, settings.StateFile)
			if there {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if code, _, errs := turn(line{args: []string{"--state", file}}, "status"); code != console.ExitDone {
					t.Fatalf("%s: a state file is not made: %d %s", name, code, errs)
				}
			}
			for _, word := range []string{"on", "off", "status"} {
				code, out, errs := turn(by, word)
				if code != console.ExitUsage || out != "" || !strings.Contains(errs, "--state FILE") || !strings.Contains(errs, file) {
					t.Errorf("%s, the usual state file is there: %t: %s ends with %d: %s%s", name, there, word, code, out, errs)
				}
			}
			if _, err := os.Lstat(usual); !there && err == nil {
				t.Errorf("%s: a state file is made", name)
			}
		}
	}
}

// switchesIn are the switches in the state file, whatever the configuration is.
func switchesIn(t *testing.T, s *ownScene) []patterns.Switch {
	t.Helper()
	engine, err := local.Open(local.Options{Path: s.state, Source: noConfigurations{}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	list, err := engine.KillSwitches()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Anybody may stop; where an approver key is enrolled, only its signature lets calls be made again.
func TestKillSwitchOffIsSigned(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "")
	id := s.enrol(t)
	s.must(t, "kill-switch", "on")
	for name, typed := range map[string][]string{"nobody": nil, "a wrong passphrase": {"correct horse batterz"}} {
		if code, _, errs := s.command(t, typed, "kill-switch", "off"); code != console.ExitRefused || len(switchesOn(t, s)) != 1 {
			t.Errorf("with %s it ends with %d: %s", name, code, errs)
		}
	}
	if code, _, errs := s.command(t, []string{goodPassphrase}, "kill-switch", "off"); code != console.ExitDone || !strings.Contains(errs, "To allow calls again of everything: "+signedBy+" "+id) || len(switchesOn(t, s)) != 0 {
		t.Errorf("signed it ends with %d: %s", code, errs)
	}
}
