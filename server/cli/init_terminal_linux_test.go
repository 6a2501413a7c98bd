package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/cli/console"
)

// At a terminal each tool is asked for: Enter is a write, and what the server says of itself is only shown.
func TestInitAsksAtATerminal(t *testing.T) {
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil)}))
	path := filepath.Join(h.dir, "pg.yaml")
	cmd := h.command(t, "init", "--import", "cursor", "-o", path)
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, "[each] ", 1)
	p.press(t, "\r")
	p.until(t, "crm/search: read, write, destructive, or off? [write] ", 1)
	p.press(t, "read\r")
	p.until(t, "crm/add_note: read, write, destructive, or off? [write] ", 1)
	p.press(t, "\r")
	p.until(t, "crm/files.read: read, write, destructive, or off? [write] ", 1)
	p.press(t, "off\r")
	screen := p.until(t, "Replace them? [no] ", 1)
	p.press(t, "\r")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("init ends with %v:\n%s", err, screen)
	}
	if !strings.Contains(screen, "(the server says that it only reads)") || strings.Contains(screen, "\x1b[2J") || strings.Contains(screen, "\u202e") {
		t.Errorf("the screen shows %q", screen)
	}
	want := map[string]any{
		"search":     map[string]any{"effect": "read"},
		"add_note":   map[string]any{"effect": "write"},
		"files.read": map[string]any{"as": "files_read", "effect": "write", "enabled": false},
	}
	if diff := cmp.Diff(any(want), at(yamlOf(t, readFile(t, path)), "catalog", "servers", "crm", "tools")); diff != "" {
		t.Errorf("the tools, -want +got:\n%s", diff)
	}
}

// Who gives up in the middle has decided nothing: nothing is written.
func TestInitGivenUpWritesNothing(t *testing.T) {
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), map[string]string{"CRM_TOKEN": initSecret})}))
	path := filepath.Join(h.dir, "pg.yaml")
	cmd := h.command(t, "init", "--import", "cursor", "-o", path)
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, "[each] ", 1)
	p.press(t, "each\r")
	p.until(t, "crm/search: read", 1)
	p.press(t, "\x04")
	_ = cmd.Wait() // the code tells
	if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
		t.Errorf("init ends with %d, want %d", code, console.ExitInterrupted)
	}
	for _, name := range []string{"pg.yaml", "patterngate.lock", "secrets"} {
		if found, err := filepath.Glob(filepath.Join(h.dir, name)); err != nil || len(found) > 0 {
			t.Errorf("written: %v, %v", found, err)
		}
	}
}
