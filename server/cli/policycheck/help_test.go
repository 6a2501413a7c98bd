package policycheck

import (
	_ "embed"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// pays is a configuration with one policy over one tool of its own, and two patterns that call it.
//
//go:embed testdata/pays.yaml
var pays string

// written returns the path of a file with a text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a configuration as a command does.
func load(t *testing.T, text string) (assembly.Loaded, []yamldoc.Fault, error) {
	t.Helper()
	return assembly.Load(settings.Sources{Path: written(t, text)}, assembly.LoadOptions{})
}

// newCommands returns the commands over a configuration. They cannot open a state file.
func newCommands(t *testing.T, config string, out, errs io.Writer) *Commands {
	t.Helper()
	environ := []string{"HOME=" + t.TempDir()}
	return &Commands{
		Console: &console.Console{In: strings.NewReader(""), Out: out, Err: errs, Environ: environ},
		Sources: func() settings.Sources { return settings.Sources{Path: config, Environ: environ} },
		Warn:    func([]yamldoc.Fault) {},
		Fault:   func(err error) error { return err },
	}
}
