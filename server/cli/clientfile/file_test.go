package clientfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var setupNow = time.Date(2026, 11, 21, 18, 19, 33, 0, time.UTC)

// setupPut writes an entry into a file, as --write does.
func setupPut(t *testing.T, f Format, path string, e Entry) Change {
	t.Helper()
	file := setupFileAt(t, path)
	c, err := PlanWrite(f, file, e)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Apply(file, setupNow); err != nil {
		t.Fatal(err)
	}
	return c
}

// setupTakeBack undoes it, as --undo does.
func setupTakeBack(t *testing.T, f Format, path, name string) Change {
	t.Helper()
	file := setupFileAt(t, path)
	c, err := PlanUndo(f, file, name)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Apply(file, setupNow); err != nil {
		t.Fatal(err)
	}
	return c
}

// setupFilesIn are the names in a directory.
func setupFilesIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

func wantSetupFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

// Writing and undoing gives the very same bytes and mode and leaves nothing behind, whatever was accepted.
func TestSetupUndoIsExact(t *testing.T) {
	texts := []string{"", "\n", "\ufeff", "// c", "{}", `{"servers":{}}`, "{\r\n\"servers\": {\"a\": 1,},\r\n}", `{"servers":{"patterngate":3}}`, `{"a":1}`, "a = 1", "a = 1\r\n"}
	paths, err := filepath.Glob("testdata/setup/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(archive.Files[0].Data))
	}
	accepted := 0
	for _, f := range []Format{JSONServers{Member: "servers", Typed: true}, JSONServers{Member: "mcpServers"}, TOMLServers{}} {
		for i, text := range texts {
			path := filepath.Join(t.TempDir(), "mcp.json")
			putSetupFile(t, path, text)
			mode := []fs.FileMode{0o600, 0o644, 0o664}[i%3]
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := PlanWrite(f, setupFileAt(t, path), sampleEntry); err != nil {
				continue
			}
			accepted++
			c := setupPut(t, f, path, sampleEntry)
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
				t.Errorf("writing %q makes the mode %v, %v; want %v", text, info.Mode(), err, mode)
			}
			if again := setupPut(t, f, path, sampleEntry); again.Result != Present || again.Backup != "" {
				t.Errorf("a second write of %q is %s, with backup %q; want %s, none", text, again.Result, again.Backup, Present)
			}
			wantSetupFile(t, c.Backup, text)
			if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Restored {
				t.Errorf("undoing the write of %q is %s, want %s", text, c.Result, Restored)
			}
			wantSetupFile(t, path, text)
			if got := setupFilesIn(t, filepath.Dir(path)); got != "mcp.json" {
				t.Errorf("after write and undo of %q there are %s", text, got)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
				t.Errorf("undoing %q makes the mode %v, %v; want %v", text, info.Mode(), err, mode)
			}
		}
	}
	if accepted < 40 {
		t.Errorf("only %d of the texts were accepted", accepted)
	}
}

// A file that setup makes is nobody else's to read, its directories too; undoing deletes it while it holds nothing else.
func TestSetupNewFile(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".cursor", "deep", "mcp.json")
	f := JSONServers{Member: "mcpServers", Typed: true}
	if c := setupPut(t, f, path, sampleEntry); c.Result != Added || c.Backup != "" {
		t.Errorf("writing is %+v, want %s without a backup", c, Added)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700 | fs.ModeDir, filepath.Join(home, ".cursor"): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("%s has the mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if c := setupTakeBack(t, f, path, "other"); c.Result != Absent {
		t.Errorf("undoing another name is %s, want %s", c.Result, Absent)
	}
	if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Deleted {
		t.Errorf("undoing is %s, want %s", c.Result, Deleted)
	}
	if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Absent {
		t.Errorf("undoing twice is %s, want %s", c.Result, Absent)
	}
	if got := setupFilesIn(t, filepath.Dir(path)); got != "" {
		t.Errorf("after the undo there are %s", got)
	}

	setupPut(t, f, path, sampleEntry)
	text := string(f.Fresh(sampleEntry)) + "\n"
	putSetupFile(t, path, text) // somebody saves it anew
	if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Removed {
		t.Errorf("undoing in a changed file is %s, want %s", c.Result, Removed)
	}
	wantSetupFile(t, path, "{\n  \"mcpServers\": {}\n}\n\n")
}

// Each write has its own backup, however fast they follow, and undos go back step by step.
func TestSetupBackups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	f := JSONServers{Member: "servers"}
	putSetupFile(t, path, `{"servers":{}}`)
	one, other := Entry{"a", "/one", []string{"serve"}}, Entry{"a", "/two", []string{"serve"}}
	first := setupPut(t, f, path, one).Backup
	second := setupPut(t, f, path, other).Backup
	third := setupPut(t, f, path, one).Backup // the same text as first left, in the same second
	if first == second || first == third || !strings.HasSuffix(third, "-2.bak") || filepath.Base(first) != "mcp.json.patterngate-20261121T181933Z-"+Sum([]byte(`{"servers":{"a": {"command": "/one", "args": ["serve"]}}}`))+".bak" {
		t.Errorf("the backups are %s, %s and %s", first, second, third)
	}
	wantSetupFile(t, first, `{"servers":{}}`)
	wantSetupFile(t, second, `{"servers":{"a": {"command": "/one", "args": ["serve"]}}}`)
	wantSetupFile(t, third, `{"servers":{"a": {"command": "/two", "args": ["serve"]}}}`)
	for i, want := range []string{`{"servers":{"a": {"command": "/two", "args": ["serve"]}}}`, `{"servers":{"a": {"command": "/one", "args": ["serve"]}}}`, `{"servers":{}}`} {
		if c := setupTakeBack(t, f, path, "a"); c.Result != Restored {
			t.Errorf("undo %d is %s, want %s", i, c.Result, Restored)
		}
		wantSetupFile(t, path, want)
	}
	if got := setupFilesIn(t, filepath.Dir(path)); got != "mcp.json" {
		t.Errorf("in the end there are %s", got)
	}
}

// Once the file was changed, or the newest backup is of another entry, only the entry goes; and an undo is not undone.
func TestSetupUndoKeepsOthersChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	f := JSONServers{Member: "servers"}
	putSetupFile(t, path, `{"servers":{"x":1}}`)
	a, b := Entry{"a", "/p", []string{"serve"}}, Entry{"b", "/p", []string{"serve"}}
	setupPut(t, f, path, a)
	setupPut(t, f, path, b)
	c := setupTakeBack(t, f, path, "a")
	if c.Result != Removed || c.Backup == "" {
		t.Errorf("undoing the older entry is %+v, want %s with a backup", c, Removed)
	}
	wantSetupFile(t, path, `{"servers":{"x":1, "b": {"command": "/p", "args": ["serve"]}}}`)
	if c := setupTakeBack(t, f, path, "b"); c.Result != Removed {
		t.Errorf("undoing the newer entry is %s, want %s", c.Result, Removed)
	}
	wantSetupFile(t, path, `{"servers":{"x":1}}`)
	if c := setupTakeBack(t, f, path, "a"); c.Result != Absent {
		t.Errorf("undoing again is %s, want %s", c.Result, Absent)
	}
	setupPut(t, f, path, a) // the file is as it was when the backup of the undo was made
	if c := setupTakeBack(t, f, path, "a"); c.Result != Restored {
		t.Errorf("undoing a new write is %s, want %s", c.Result, Restored)
	}
	wantSetupFile(t, path, `{"servers":{"x":1}}`)
}

// A backup that somebody else wrote is not put back where it says more than the entry, nor where it is no plain file.
func TestSetupForgedBackup(t *testing.T) {
	f := JSONServers{Member: "servers"}
	evil := `{"servers":{"x":{"command":"evil"}}}`
	for name, forge := range map[string]func(backup string) error{
		"other text": func(backup string) error { return os.WriteFile(backup, []byte(evil), 0o600) },
		"no JSON":    func(backup string) error { return os.WriteFile(backup, []byte("{"), 0o600) },
		"directory":  func(backup string) error { return errors.Join(os.Remove(backup), os.Mkdir(backup, 0o700)) },
		"link": func(backup string) error {
			return errors.Join(os.Rename(backup, backup+"x"), os.Symlink(backup+"x", backup))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			putSetupFile(t, path, `{"servers":{"x":1}}`)
			if err := forge(setupPut(t, f, path, sampleEntry).Backup); err != nil {
				t.Skip("cannot be made here: ", err)
			}
			if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Removed {
				t.Errorf("undoing is %s, want %s", c.Result, Removed)
			}
			wantSetupFile(t, path, `{"servers":{"x":1}}`)
		})
	}
}

// A link stays a link: the file behind it is changed, and its backup lies beside it.
func TestSetupFollowsLinks(t *testing.T) {
	dir, dotfiles := t.TempDir(), t.TempDir()
	target, path := filepath.Join(dotfiles, "cursor.json"), filepath.Join(dir, "mcp.json")
	putSetupFile(t, target, "{}\n")
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no links here: ", err)
	}
	f := JSONServers{Member: "mcpServers"}
	c := setupPut(t, f, path, sampleEntry)
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if filepath.Base(filepath.Dir(c.Backup)) != filepath.Base(dotfiles) || setupFilesIn(t, dir) != "mcp.json" {
		t.Errorf("the backup is %s; beside the link are %s", c.Backup, setupFilesIn(t, dir))
	}
	if c := setupTakeBack(t, f, path, sampleEntry.Name); c.Result != Restored {
		t.Errorf("undoing is %s, want %s", c.Result, Restored)
	}
	wantSetupFile(t, target, "{}\n")
}

// A client that writes at the same time loses nothing.
func TestSetupChangedMeanwhile(t *testing.T) {
	f := JSONServers{Member: "servers"}
	const theirs = `{"servers":{"new":1}}`
	for name, before := range map[string]string{"changed": `{"servers":{}}`, "made": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			if before != "" {
				putSetupFile(t, path, before)
			}
			file := setupFileAt(t, path)
			c, err := PlanWrite(f, file, sampleEntry)
			if err != nil {
				t.Fatal(err)
			}
			putSetupFile(t, path, theirs)
			if _, err := c.Apply(file, setupNow); err == nil || !strings.Contains(err.Error(), "another program changed the file, so nothing was written") {
				t.Errorf("writing over it ends with %v", err)
			}
			wantSetupFile(t, path, theirs)
			if got := setupFilesIn(t, filepath.Dir(path)); got != "mcp.json" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	setupPut(t, f, path, sampleEntry)
	file := setupFileAt(t, path)
	c, err := PlanUndo(f, file, sampleEntry.Name)
	if err != nil || c.Result != Deleted {
		t.Fatalf("planUndo = %+v, %v", c, err)
	}
	putSetupFile(t, path, theirs)
	if _, err := c.Apply(file, setupNow); err == nil {
		t.Error("a file that was changed meanwhile is deleted")
	}
	wantSetupFile(t, path, theirs)
}

// What stands in the place of a file is named, and left as it is.
func TestSetupOddFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	putSetupFile(t, at("file"), "{}")
	putSetupFile(t, at("huge"), strings.Repeat(" ", maxBytes+1))
	putSetupFile(t, at("fits"), strings.Repeat(" ", maxBytes))
	tests := map[string]struct{ path, want string }{
		"directory":        {dir, dir + ": a directory; name a file with --file"},
		"below a file":     {at("file/x/mcp.json"), at("file/x/mcp.json") + ": its directory is a file; name another file with --file"},
		"beyond the bound": {at("huge"), at("huge") + ": larger than 8 MiB; name another file with --file"},
		"at the bound":     {at("fits"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Read(tt.path)
			if got := setupErrorText(err); got != tt.want {
				t.Errorf("readSetupFile(%s)\n got %s\nwant %s", tt.path, got, tt.want)
			}
		})
	}
}

func setupErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// An edit that would change more than the entry is never written.
func TestSetupRefusesUnsafeEdits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	putSetupFile(t, path, `{"servers":{"x":1}}`)
	for name, f := range map[string]clumsy{
		"loses another": {JSONServers{Member: "servers"}, `{"servers":{"patterngate":{"command":"/opt/patterngate/bin/patterngate","args":["serve"]}}}`},
		"breaks":        {JSONServers{Member: "servers"}, `{"servers":`},
		"forgets":       {JSONServers{Member: "servers"}, `{"servers":{"x":1}}`},
		"another entry": {JSONServers{Member: "servers"}, `{"servers":{"x":1,"patterngate":{"command":"/opt/patterngate/bin/patterngate","args":["serve","-x"]}}}`},
	} {
		if c, err := PlanWrite(f, setupFileAt(t, path), sampleEntry); err == nil || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: planWrite = %+v, %v; want a refusal", name, c, err)
		}
	}
	putSetupFile(t, path, `{"servers":{"x":1,"patterngate":2}}`)
	if c, err := PlanUndo(clumsy{JSONServers{Member: "servers"}, `{"servers":{}}`}, setupFileAt(t, path), sampleEntry.Name); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("planUndo = %+v, %v; want a refusal", c, err)
	}
}

// clumsy is a format that always makes the same text.
type clumsy struct {
	JSONServers
	after string
}

func (c clumsy) Merge([]byte, Entry) ([]byte, error) { return []byte(c.after), nil }

func (c clumsy) Remove([]byte, string) ([]byte, error) { return []byte(c.after), nil }
