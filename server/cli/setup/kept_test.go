package setup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// An entry keeps the configuration that it names, if that file is there. Its undo says that the entry stays.
func TestWriteKeepsConfig(t *testing.T) {
	dir := t.TempDir()
	config, path := filepath.Join(dir, "team.yaml"), filepath.Join(dir, "mcp.json")
	client, _ := clientfile.Find("cursor")
	run := func(undo, dryRun bool) string {
		t.Helper()
		var out bytes.Buffer
		a := &Commands{Console: &console.Console{Out: &out, Err: &out}, Loads: func(string, []string) error { return nil }, Direct: func(map[string]any) []string { return nil }, Fault: func(err error) error { return err }}
		flags := setupFlags{file: path, name: "patterngate", write: !undo, undo: undo, dryRun: dryRun}
		report := SetupReport{Client: client.Name, Title: client.Title, File: path, Name: flags.name}
		var err error
		if undo {
			err = a.setupUndo(client, flags, report)
		} else {
			e := clientfile.Entry{Name: flags.name, Command: "/new/patterngate", Args: []string{"serve"}}
			err = a.setupWrite(client, clientfile.ThisHost(nil), flags, e, report)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	before := clientfile.Entry{Name: "patterngate", Command: "/old/patterngate", Args: []string{"serve", "--config", config}}
	if err := os.WriteFile(path, client.Format.Fresh(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(false, true); strings.Contains(said, "keeps --config") || !strings.Contains(said, "warning: the entry had --config "+config+", which is not the full path of a file here") {
		t.Errorf("a file that is not there is kept:\n%s", said)
	}
	if err := os.WriteFile(config, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(false, false); !strings.Contains(said, "keeps --config "+config) {
		t.Errorf("setup --write says:\n%s", said)
	}
	text, err := os.ReadFile(path)
	entry, _ := clientfile.EntryOf(client.Format, text, "patterngate")
	if after := (clientfile.Entry{Command: "/new/patterngate", Args: before.Args}); err != nil || !after.Starts(entry) {
		t.Errorf("the entry is %v, %v", entry, err)
	}
	if said := run(true, false); !strings.Contains(said, "restored the entry patterngate") {
		t.Errorf("setup --undo says:\n%s", said)
	}
}

// A configuration that an entry names is loaded before the entry keeps it, with the variables of the entry. One that does
// not load is named, and nothing is written.
func TestWriteRefusesAKeptConfigThatDoesNotLoad(t *testing.T) {
	dir := t.TempDir()
	config, path := filepath.Join(dir, "team.yaml"), filepath.Join(dir, "mcp.json")
	client, _ := clientfile.Find("cursor")
	before, err := client.Format.Merge([]byte(`{"mcpServers": {"patterngate": {"command": "/old/patterngate", "env": {"MODEL_KEY": "k"}}}}`),
		clientfile.Entry{Name: "patterngate", Command: "/old/patterngate", Args: []string{"serve", "--config", config}})
	if err := errors.Join(err, os.WriteFile(config, []byte("version: 1\n"), 0o600), os.WriteFile(path, before, 0o600)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	fault := errors.New("team.yaml:3:1: unknown key")
	a := &Commands{Console: &console.Console{Out: &out, Err: &out, Environ: []string{"HOME=" + dir}}, Direct: func(map[string]any) []string { return nil }, Fault: func(err error) error { return err }}
	a.Loads = func(loaded string, environ []string) error {
		if loaded != config || !slices.Equal(environ, []string{"HOME=" + dir, "MODEL_KEY=k"}) {
			t.Errorf("it loads %s with %q", loaded, environ)
		}
		return fault
	}
	e := clientfile.Entry{Name: "patterngate", Command: "/new/patterngate", Args: []string{"serve"}}
	write := func() error {
		return a.setupWrite(client, clientfile.ThisHost(nil), setupFlags{file: path, name: e.Name, write: true}, e, SetupReport{Client: client.Name, Title: client.Title, File: path, Name: e.Name})
	}
	if err := write(); !errors.Is(err, fault) || !strings.Contains(out.String(), "warning: the entry patterngate has --config "+config+", which does not load, so nothing was written") {
		t.Errorf("setup --write: %v: %s", err, out.String())
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file is %s, %v", after, err)
	}
	e.Args = append(e.Args, "--config", filepath.Join(dir, "other.yaml")) // it names another, so the old one does not count
	if err := write(); err != nil {
		t.Errorf("setup --write --config: %v", err)
	}
}
