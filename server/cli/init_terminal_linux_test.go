package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/cli/console"
)

// At a terminal init asks about each tool, with its description above the question. Enter leaves a tool off, also one that its
// server says only reads.
func TestInitAsksAtATerminal(t *testing.T) {
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil)}))
	path := filepath.Join(h.dir, "pg.yaml")
	cmd := h.command(t, "init", "--import", "cursor", "-o", path)
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, "Which? each (ask one by one), read (all that the server says only read), write (all as write), none [each]: ", 1)
	p.press(t, "x\r")
	p.until(t, "Type each, read, write, none, or the first letter of one of them.", 1)
	p.until(t, "[each]: ", 2)
	p.press(t, "e\r")
	p.until(t, "crm/search: read, write, destructive, off [off]: ", 1)
	p.press(t, "r\r")
	p.until(t, "crm/add_note: read, write, destructive, off [off]: ", 1)
	p.press(t, "w\r")
	p.until(t, "crm/files.read: read, write, destructive, off [off]: ", 1)
	p.press(t, "\r")
	screen := p.until(t, "Replace them? [no]: ", 1)
	p.press(t, "\r")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("init ends with %v:\n%s", err, screen)
	}
	if !strings.Contains(screen, "(the server says that it only reads)") || strings.Contains(screen, "\x1b[2J") || strings.Contains(screen, "\u202e") {
		t.Errorf("the screen shows %q", screen)
	}
	above := regexp.MustCompile(`(?m)^  \(the server says that it only reads\) .*\r?\n  crm/search: `)
	if !above.MatchString(screen) {
		t.Errorf("the hint is not above the question: %q", screen)
	}
	if list := regexp.MustCompile(`search\S*  +reads   \S.*\r?\n.*add_note\S*  +(?:writes|-)  +\S`); !list.MatchString(screen) {
		t.Errorf("the list does not show what the server says: %q", screen)
	}
	if note := "note   add_note is not offered to the client yet. Add it to catalog.expose in "; !strings.Contains(p.until(t, "note   ", 1), note) {
		t.Errorf("without %q: %s", note, screen)
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

// One word decides about all tools of a server. "read" enables only those of which the server says that they read.
func TestInitTakesOneWordForAll(t *testing.T) {
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil)}))
	path := filepath.Join(h.dir, "pg.yaml")
	cmd := h.command(t, "init", "--import", "cursor", "-o", path)
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, "[each]: ", 1)
	p.press(t, "r\r")
	p.until(t, "Replace them? [no]: ", 1)
	p.press(t, "y\r")
	p.until(t, "then   restart Cursor", 1)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	tools := at(yamlOf(t, readFile(t, path)), "catalog", "servers", "crm", "tools")
	want := map[string]any{
		"search":     map[string]any{"effect": "read"},
		"add_note":   map[string]any{"effect": "write", "enabled": false},
		"files.read": map[string]any{"as": "files_read", "effect": "write", "enabled": false},
	}
	if diff := cmp.Diff(any(want), tools); diff != "" {
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
	p.until(t, "[each]: ", 1)
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
