package local

import (
	"path/filepath"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A configuration that could not be stored when the file was opened, as on a full disk, comes with the first run.
func TestConfigurationComesWithTheFirstRun(t *testing.T) {
	t.Parallel()
	e, err := Open(Options{Path: filepath.Join(t.TempDir(), "state.db"), Config: "sha256:test", Snapshot: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	check(t, e.alter(func(s execer) error { _, err := s.Exec("DELETE FROM configs"); return err }))
	e.file.unstored.add("sha256:test", []byte("{}"))
	if _, err := e.Start(t.Context(), patterns.Job{Spec: patterns.Spec{Kind: gateway.Routing}, Hashes: patterns.Hashes{Config: "sha256:test"}}); err != nil {
		t.Logf("the run: %v", err) // it has no model
	}
	if body, ok := e.Config("sha256:test"); !ok || string(body) != "{}" {
		t.Errorf("the stored configuration is %q, %t; want {}", body, ok)
	}
}
