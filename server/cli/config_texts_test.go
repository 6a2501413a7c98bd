package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// loadText loads a file pg.yaml with that text; faults name it without its directory.
func loadText(t *testing.T, text string, environ ...string) (assembly.Loaded, []yamldoc.Fault, error) {
	t.Helper()
	loaded, warnings, err := assembly.Load(settings.Sources{Path: writeConfig(t, text), Environ: environ}, assembly.LoadOptions{})
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		shorten(faults.Faults)
	}
	shorten(warnings)
	return loaded, warnings, err
}

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func shorten(faults []yamldoc.Fault) {
	for i := range faults {
		if strings.HasSuffix(faults[i].File, "pg.yaml") {
			faults[i].File = "pg.yaml"
		}
	}
}

// binaries is a PATH on which the programs of the tests' files are.
func binaries(t testing.TB, names ...string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir
}
