package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// patternsFile loads a file of testdata/patterns.
func patternsFile(t testing.TB, name string) (LoadedConfig, []Fault) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "patterns", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	for file, text := range map[string][]byte{path: text, filepath.Join(dir, "tokens"): []byte("me: abcdefghijklmnopqrstuvwxyz012345\n")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, warnings, err := LoadConfig(ConfigSources{Path: path, Environ: []string{binaries(t, "npx"), "PAY_TOKEN=secret-of-pay", "XDG_STATE_HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	return loaded, warnings
}

func TestOwnPatternsFiles(t *testing.T) {
	for _, name := range []string{"orders", "each"} {
		loaded, warnings := patternsFile(t, name)
		for _, w := range warnings {
			t.Log(w)
		}
		d, err := declare(loaded.Config, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.patterns {
			t.Log(p.spec.Name, p.spec.Tools, p.title)
		}
	}
}
