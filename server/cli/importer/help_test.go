package importer

import (
	"os"
	"path/filepath"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// loadWritten loads a configuration as a command does.
func loadWritten(t *testing.T, text string, environ ...string) (assembly.Loaded, []yamldoc.Fault, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	write(t, path, text)
	return assembly.Load(settings.Sources{Path: path, Environ: environ}, assembly.LoadOptions{})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fileAt(t *testing.T, path string) clientfile.File {
	t.Helper()
	file, err := clientfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// decoded returns the value of a YAML text.
func decoded(t *testing.T, text string) any {
	t.Helper()
	faults := &yamldoc.Faults{}
	n := yamldoc.Read("FILE", []byte(text), faults)
	if err := faults.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n.Decoded()
}

// valueAt returns the value at a path of members; nil: it is not there.
func valueAt(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}
