package invocation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// If the configuration does not say which state file is meant, a command does not guess one.
func TestFaultyConfigurationIsNoGuess(t *testing.T) {
	config := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(config, []byte("version: 1\nstate: [x]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &Invocation{Console: console.Console{Out: io.Discard, Err: io.Discard, Environ: []string{"HOME=" + t.TempDir()}}, Config: config}
	if _, err := a.loadState(); err == nil {
		t.Error("loadState guesses the state file")
	} else if _, ours := errors.AsType[*console.Error](err); !ours {
		t.Errorf("loadState: %v, want what to do", err)
	}
}

// Log lines show control characters as text, in both formats.
func TestLogShowsControls(t *testing.T) {
	const hostile = "a\x1b[31mb\u009b2J\u202ec\x7f\r\nd"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := (&Invocation{Console: console.Console{Color: "never"}}).Logger(settings.Log{Level: "info", Format: format}, &out)
		log.Info("m", "s", hostile, "e", fmt.Errorf("%s", hostile), slog.Group("g", "s", hostile))
		text := out.String()
		if strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\x1b\u009b\u202e\x7f\r") || strings.Count(text, "u009b") != 3 {
			t.Errorf("%s: logged %q", format, text)
		}
	}
}

// SystemPeople adds the user's name to an id of this system. It does not change other ids.
func TestSystemPeople(t *testing.T) {
	own := "local:" + strconv.Itoa(os.Getuid())
	want := own
	if u, err := user.Current(); err == nil && os.Getuid() >= 0 {
		want += " (" + u.Username + ")"
	}
	for id, want := range map[string]string{
		own: want, "": "", "local:": "local:", "local:x": "local:x", "local:01": "local:01", "local:+1": "local:+1", "key:00": "key:00",
		"token:0": "token:0", "local:4000000123": "local:4000000123", "simulated": "simulated",
	} {
		if got := SystemPeople(id); got != want {
			t.Errorf("SystemPeople(%q) = %q, want %q", id, got, want)
		}
	}
}
