package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A relative argument is judged from where the program starts: its dir, else the present directory.
func TestRelativeArgumentsNameDirectories(t *testing.T) {
	dir, prog := t.TempDir(), binaries(t, "prog")
	conf := filepath.Join(dir, "conf")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(conf, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	file := filepath.Join(conf, "pg.yaml")
	for members, refused := range map[string]bool{
		"args: ['.']":                                true,
		"args: [conf]":                               true,
		"args: ['--root=conf']":                      true,
		"args: ['-y', 'data/../conf']":               true,
		"args: [data]":                               false,
		"args: ['-y', server, '--root=data']":        false,
		"args: ['.'], dir: '" + dir + "/data'":       false,
		"args: ['../conf'], dir: '" + dir + "/data'": true,
		"args: [confused, '--conf', 'conf.yaml']":    false,
	} {
		putSetupFile(t, file, "version: 1\ncatalog: {servers: {fs: {stdio: {command: prog, "+members+"}}}}\n")
		_, _, err := LoadConfig(ConfigSources{Path: file, Environ: []string{prog}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "the configuration lies in "+dir) {
			t.Errorf("%s: %v, want it refused: %t", members, err, refused)
		}
	}
}
