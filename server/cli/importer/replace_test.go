package importer

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"patterngate/server/cli/clientfile"
)

// Whatever client's file it is: replaced, it starts this program in the place of all servers and says all else as before;
// taken back, it is what it was, byte for byte.
func TestInitReplaceAndUndo(t *testing.T) {
	paths, err := filepath.Glob("../clientfile/testdata/setup/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d samples: %v", len(paths), err)
	}
	replaced := 0
	for _, sample := range paths {
		archive, err := txtar.ParseFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(string(archive.Comment), "client: "), "\n")
		client, _ := clientfile.Find(name)
		t.Run(strings.TrimSuffix(filepath.Base(sample), ".txtar"), func(t *testing.T) {
			if replaceAndUndo(t, client.Format, archive.Files[0].Data) {
				replaced++
			}
		})
	}
	if replaced < 10 {
		t.Errorf("only %d samples were replaced", replaced)
	}
}

// replaceAndUndo reports whether the text was replaced; one that cannot be is left alone.
func replaceAndUndo(t testing.TB, f clientfile.Format, before []byte) bool {
	servers, _, err := f.Decode(before)
	if err != nil || len(servers) == 0 {
		return false
	}
	gone := slices.Sorted(maps.Keys(servers))
	gone = slices.DeleteFunc(gone, func(name string) bool { return StartsPatterngate(servers[name], "") })
	if len(gone) == 0 {
		return false // init refuses such a file
	}
	path := filepath.Join(t.TempDir(), "FILE")
	if err := os.WriteFile(path, before, 0o640); err != nil {
		t.Fatal(err)
	}
	file, err := clientfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	e := clientfile.Entry{Name: "patterngate", Command: `/opt/p "g"`, Args: []string{"serve", "--config", "/x/pg.yaml"}}
	c, err := planReplace(f, file, gone, e)
	if err != nil {
		return false // written in a way that is not taken apart; nothing is written
	}
	if _, err := c.Apply(file, time.Now()); err != nil {
		t.Fatal(err)
	}
	now, err := clientfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	left, rest, err := f.Decode(now.Text)
	for name := range servers {
		if name != e.Name && !slices.Contains(gone, name) { // another entry that starts Patterngate stays
			delete(left, name)
		}
	}
	if err != nil || len(left) != 1 || !e.Starts(left["patterngate"]) {
		t.Fatalf("replaced it has %v, %v:\n%s", left, err, now.Text)
	}
	_, wasRest, _ := f.Decode(before)
	if diff := cmp.Diff(wasRest, rest); diff != "" {
		t.Errorf("more than the servers changed:\n%s", diff)
	}
	back, err := planRestore(f, now)
	if err != nil {
		t.Fatalf("it cannot be taken back: %v", err)
	}
	if _, err := back.Apply(now, time.Now()); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("taken back it is %q, %v, want %q", after, err, before)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode: %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	return true
}

// The same for any JSON with comments, and any TOML.
func FuzzInitReplace(f *testing.F) {
	paths, err := filepath.Glob("../clientfile/testdata/setup/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data, strings.Contains(string(archive.Comment), "codex"))
	}
	f.Fuzz(func(t *testing.T, text []byte, toml bool) {
		var format clientfile.Format = clientfile.JSONServers{Member: "mcpServers", Typed: true}
		if toml {
			format = clientfile.TOMLServers{}
		}
		replaceAndUndo(t, format, text)
	})
}

// A file that its client changed since keeps that change, and gets its servers back. If the servers changed, it is left alone.
func TestInitUndoKeepsOthersChanges(t *testing.T) {
	const before = "{\n  \"starts\": 12,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"b\": {\"command\": \"y\"}\n  }\n}\n"
	f, _ := clientfile.Find("cursor")
	for _, c := range []struct{ name, old, with, want string }{
		{"elsewhere", "12", "13", strings.Replace(before, "12", "13", 1)},
		{"a server more", `"mcpServers": {`, `"mcpServers": {"new": {"command": "z"},`, ""},
		{"another entry", `"serve"`, `"help"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			write(t, path, before)
			file := fileAt(t, path)
			change, err := planReplace(f.Format, file, []string{"a", "b"}, clientfile.Entry{Name: "patterngate", Command: "/opt/patterngate/bin/patterngate", Args: []string{"serve"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := change.Apply(file, time.Now()); err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(textOf(t, path), c.old, c.with, 1)
			write(t, path, changed)
			back, err := planRestore(f.Format, fileAt(t, path))
			if c.want == "" {
				if err == nil || !strings.Contains(err.Error(), "changed since") {
					t.Errorf("planRestore = %+v, %v, want a refusal", back, err)
				}
				return
			}
			if err != nil || string(back.After) != c.want || !slices.Equal(back.servers, []string{"a", "b"}) {
				t.Errorf("planRestore = %q, %q, %v, want %q", back.After, back.servers, err, c.want)
			}
		})
	}
}

// A backup from which the servers came back is used. If the client's file later has no servers again, a second --undo does
// not bring them back from it.
func TestInitUndoesOnceAfterOthersChanges(t *testing.T) {
	const before = "{\n  \"starts\": 12,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n"
	f, _ := clientfile.Find("cursor")
	path := filepath.Join(t.TempDir(), "mcp.json")
	write(t, path, before)
	file := fileAt(t, path)
	change, err := planReplace(f.Format, file, []string{"a"}, clientfile.Entry{Name: "patterngate", Command: "/opt/patterngate/bin/patterngate", Args: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := change.Apply(file, time.Now()); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(textOf(t, path), "12", "13", 1)
	write(t, path, changed)
	dir := t.TempDir()
	if out, errs, err := initIn(t, dir, "--import", path, "--undo"); err != nil || !strings.Contains(out, `so only the servers are restored`) {
		t.Fatalf("--undo: %v: %s%s", err, out, errs)
	}
	if got, want := textOf(t, path), strings.Replace(before, "12", "13", 1); got != want {
		t.Fatalf("--undo gives %q, want %q", got, want)
	}
	write(t, path, changed) // a person takes them out
	if out, errs, err := initIn(t, dir, "--import", path, "--undo"); err == nil || !strings.Contains(err.Error(), "has no backup from which init took servers") {
		t.Errorf("--undo again: %v: %s%s", err, out, errs)
	}
	if got := textOf(t, path); got != changed {
		t.Errorf("--undo again gives %q, want %q", got, changed)
	}
}
