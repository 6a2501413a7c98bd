package setup

import (
	"bytes"
	"os"
	"path/filepath"
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
		a := &Commands{Console: &console.Console{Out: &out, Err: &out}, Direct: func(map[string]any) []string { return nil }, Fault: func(err error) error { return err }}
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
	if said := run(false, true); strings.Contains(said, "keeps --config") {
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
