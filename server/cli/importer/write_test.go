package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The directory of secrets is left out of git, and what stands in a .gitignore there stays.
func TestInitSecretsAreIgnoredByGit(t *testing.T) {
	for name, was := range map[string]string{"new": "", "there": "mine\n"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ignore := filepath.Join(dir, "secrets", ".gitignore")
			if was != "" {
				if err := os.MkdirAll(filepath.Dir(ignore), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(ignore, []byte(was), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			key := filepath.Join(dir, "secrets", "crm.TOKEN")
			f := &initFile{path: filepath.Join(dir, "patterngate.yaml"), secrets: map[string]string{key: "x"}, order: []string{key}}
			if err := f.write([]byte("version: 1\n")); err != nil {
				t.Fatal(err)
			}
			got := textOf(t, ignore)
			if was == "" && !strings.HasSuffix(got, "\n*\n") || was != "" && got != was {
				t.Errorf(".gitignore is %q", got)
			}
			if err := f.takeBack(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(ignore); (err == nil) != (was != "") {
				t.Errorf("after it was taken back: %v", err)
			}
		})
	}
}

// A configuration without secrets makes no directory for them.
func TestInitWithoutSecretsIgnoresNothing(t *testing.T) {
	dir := t.TempDir()
	f := &initFile{path: filepath.Join(dir, "patterngate.yaml")}
	if err := f.write([]byte("version: 1\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "secrets")); !os.IsNotExist(err) {
		t.Errorf("secrets: %v", err)
	}
}
