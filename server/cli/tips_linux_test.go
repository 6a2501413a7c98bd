package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At a terminal, a command ends with what a person usually does next, with the flags that it was given. In a pipe it does not.
func TestTipsAtATerminal(t *testing.T) {
	t.Parallel()
	cmd := program(t, "validate", "pg.yaml", "--color", "never")
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "pg.yaml"), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	piped := program(t, cmd.Args[1:]...)
	piped.Dir = cmd.Dir
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	const tip = "  patterngate policy test --config pg.yaml "
	p.until(t, tip, 1)
	if out, err := piped.CombinedOutput(); err != nil || strings.Contains(string(out), "Next:") {
		t.Errorf("in a pipe it ends with %v and prints\n%s", err, out)
	}
}

// What takes over a second shows at a terminal that it works, and for how long. The line is gone at the end.
func TestProgressAtATerminal(t *testing.T) {
	t.Parallel()
	cmd := program(t, "call", "look", "--command", "sleep 600")
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "TERM=xterm")
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, " s  calling look", 1)
	p.press(t, "\x03")
	_ = cmd.Wait() // it was interrupted
	if screen := p.until(t, "   \r", 1); strings.Contains(screen[strings.LastIndex(screen, "   \r"):], "calling look") {
		t.Errorf("the line stays on the screen: %q", screen)
	}
}
