package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/notify"
)

// A call that waits for a person starts the program that the configuration names, which sees no key; also where the program
// that asked ends at once. A program that fails changes nothing but the log.
func TestPersonIsWoken(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the owner's program is a shell script")
	}
	dir := t.TempDir()
	config, events := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "events")
	ask := func(goal, exec string) string {
		t.Helper()
		text := "version: 1\nllm: {provider: rules}\ninbox: off\nnotify: {exec: [/bin/sh, -c, '" + exec + "', sh, '" + events + "']}\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := program(t, "call", "supervised_refund", "goal="+goal, "--config", config, "--state", filepath.Join(dir, "state.db"), "--json")
		cmd.Env = append(cmd.Env, "OPENAI_API_KEY=sk-secret", "PATH="+os.Getenv("PATH"))
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // waiting is an exit code of its own
		if !strings.Contains(out.String(), `"waiting"`) {
			t.Fatalf("call: %s%s, want a run that waits", out.String(), errs.String())
		}
		return errs.String()
	}
	ask("Refund 1200 USD to user 42.", `cat >> "$1"; env > "$1.env"`)
	log := ask("Refund 1200 USD to user 42, please.", `cat >> "$1"; echo the bell is broken >&2; exit 4`)
	if want := "the bell is broken"; strings.Count(log, want) != 1 {
		t.Errorf("the log has %s, want %q once", log, want)
	}
	if env, err := os.ReadFile(events + ".env"); err != nil || strings.Contains(string(env), "secret") {
		t.Errorf("the program saw %s, %v", env, err)
	}
	told, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.SplitAfter(strings.TrimSpace(string(told)), "\n") {
		var e notify.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Event != "approval_waiting" || e.Tool != "issue_refund" || e.Phrase != "refunding 1200.00 USD to user 42" || e.Waiting != i+1 ||
			e.URL != "" || e.Command != "patterngate approvals show "+e.ApprovalID {
			t.Errorf("event %d is %s", i+1, line)
		}
	}
	if n := bytes.Count(told, []byte("\n")); n != 2 {
		t.Errorf("%d events, want 2: %s", n, told)
	}
}
