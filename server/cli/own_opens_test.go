package cli

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// opens serves the scene's configuration in this process.
func (s *ownScene) opens(t *testing.T) (*assembly.Service, assembly.Loaded) {
	t.Helper()
	loaded, _, err := assembly.Load(settings.Sources{Path: s.config, State: s.state}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{Out: io.Discard, Err: io.Discard, Environ: []string{"HOME=" + s.dir}}}}
	served, err := a.opener().service("call", loaded, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	return served, loaded
}

// rewriteLock changes the lock as somebody does who can write files.
func (s *ownScene) rewriteLock(t *testing.T, change func(tools map[string]any)) {
	t.Helper()
	var lock map[string]any
	err := json.Unmarshal([]byte(readFile(t, s.lock)), &lock)
	change(lock["tools"].(map[string]any))
	text, err2 := json.Marshal(lock)
	if err := errors.Join(err, err2, os.WriteFile(s.lock, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}
