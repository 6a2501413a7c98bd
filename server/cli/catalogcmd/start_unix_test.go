//go:build unix

package catalogcmd

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/catalog/pins"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

const (
	itsSecret = "correct horse battery"
	itsDeath  = "auth Basic "
)

// dyingServer loads a configuration with the server crm. It writes the file started, writes its secret in base64 on its
// standard error, and ends.
func dyingServer(t *testing.T, more string) (loaded assembly.Loaded, started string) {
	t.Helper()
	dir, config := t.TempDir(), filepath.Join(t.TempDir(), "pg.yaml")
	started = filepath.Join(dir, "started")
	program := filepath.Join(dir, "crm")
	script := "#!/bin/sh\n: >'" + started + "'\necho '" + itsDeath + base64.StdEncoding.EncodeToString([]byte(itsSecret)) + "' >&2\nexit 1\n"
	text := "version: 1\ncatalog:\n  servers:\n    crm: {stdio: {command: '" + program + "', env: {A_TOKEN: {secret: 'env:A_TOKEN'}}}, tools: {look: {effect: read}}" + more + "}\n"
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: config, State: settings.MemoryState, Environ: []string{"HOME=" + dir, "A_TOKEN=" + itsSecret}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loaded.Close)
	return loaded, started
}

// A server that the file disables starts only with a yes. Without a terminal the command says how.
func TestAcceptStartsADisabledServerOnlyWithYes(t *testing.T) {
	loaded, started := dyingServer(t, ", enabled: false")
	var out bytes.Buffer
	a := commandsTo(&out, "y\n")
	err := a.accept(t.Context(), loaded, []string{"crm"}, false, "")
	e, ok := errors.AsType[*console.Error](err)
	if !ok || e.Code != console.ExitUsage || e.Try != "patterngate catalog accept crm --yes" {
		t.Errorf("without --yes it ends with %+v", err)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("without --yes the server started")
	}
	err = a.accept(t.Context(), loaded, []string{"crm"}, true, "")
	if _, missing := os.Stat(started); err == nil || missing != nil {
		t.Errorf("with --yes the server did not start: %v", err)
	}
	if text := err.Error(); !strings.Contains(text, itsDeath+"***") {
		t.Errorf("the reason shows the secret: %s", text)
	}
}

// The reason why a server cannot be reached does not have its secret, also in base64.
func TestUnreachableHidesTheSecret(t *testing.T) {
	loaded, _ := dyingServer(t, "")
	var out bytes.Buffer
	rows, _ := commandsTo(&out, "").compared(t.Context(), loaded, map[string][]string{"crm": {"look"}}, standing{&pins.Lock{}, &pins.Lock{}})
	if len(rows) != 1 || rows[0].State != "unreachable" || !strings.Contains(rows[0].Why, itsDeath+"***") {
		t.Errorf("rows %+v", rows)
	}
}
