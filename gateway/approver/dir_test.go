package approver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestDirWritesReadsRemoves(t *testing.T) {
	d, f := Dir(t.TempDir()), golden(t)
	if list, err := d.List(); err != nil || list != nil {
		t.Fatalf("List(an empty directory) = %v, %v", list, err)
	}
	if err := d.Write(f); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(f.ID); err != nil || got != f {
		t.Errorf("Read = %+v, %v; want %+v", got, err, f)
	}
	if list, err := d.List(); err != nil || !slices.Equal(list, []Listed{{Path: d.Path(f.ID), File: f}}) {
		t.Errorf("List = %+v, %v; want the one", list, err)
	}
	names, err := os.ReadDir(string(d))
	if err != nil || len(names) != 1 || names[0].Name() != "approver-"+goldenID+".key" {
		t.Errorf("the directory holds %v, %v; want the key file alone", names, err)
	}
	if info, err := os.Stat(d.Path(f.ID)); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v; want 0600", info.Mode(), err)
	}
	if err := d.Remove(f.ID); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"Remove": d.Remove(f.ID), "Read": errOf(d.Read(f.ID))} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s(what is gone) = %v, want fs.ErrNotExist", what, err)
		}
	}
}

func errOf(_ File, err error) error { return err }

func TestDirIsNeverWrittenOver(t *testing.T) {
	d, f := Dir(t.TempDir()), golden(t)
	const there = "somebody's"
	if err := os.WriteFile(d.Path(f.ID), []byte(there), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(f); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Write over another = %v, want fs.ErrExist", err)
	}
	if text, err := os.ReadFile(d.Path(f.ID)); err != nil || string(text) != there {
		t.Errorf("then it holds %q, %v; want what it held", text, err)
	}
	if err := writeNew(d.Path(f.ID), f.Text()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writeNew over another = %v, want fs.ErrExist", err)
	}
	if names, err := os.ReadDir(string(d)); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// Of many who write one key at once, one does.
func TestDirWritersAtOnce(t *testing.T) {
	d, f := Dir(t.TempDir()), golden(t)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = d.Write(f) })
	}
	all.Wait()
	wrote := 0
	for _, err := range errs {
		switch {
		case err == nil:
			wrote++
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("Write = %v, want fs.ErrExist", err)
		}
	}
	if got, err := d.Read(f.ID); wrote != 1 || err != nil || got != f {
		t.Errorf("%d wrote it, Read = %+v, %v; want one, and the file", wrote, got, err)
	}
}

func TestDirWriteRefuses(t *testing.T) {
	f := golden(t)
	missing := Dir(filepath.Join(t.TempDir(), "missing"))
	tests := map[string]struct {
		dir  Dir
		file File
		want string
	}{
		"the zero file":  {Dir(t.TempDir()), File{}, "the type is"},
		"a weaker kdf":   {Dir(t.TempDir()), changed(f, func(f *File) { f.KDF.Time = 1 }), "weaker"},
		"a path as id":   {Dir(t.TempDir()), changed(f, func(f *File) { f.ID = "../../etc/passwd" }), "the id does not belong to the public key"},
		"no directory":   {missing, f, "no such file"},
		"the zero place": {"", f, "no directory"},
	}
	for name, tt := range tests {
		if err := tt.dir.Write(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Write = %v, want %q", name, err, tt.want)
		}
	}
	if list, err := missing.List(); list != nil || err != nil {
		t.Errorf("List(no directory) = %v, %v; want none", list, err)
	}
}

func TestDirRefusesIDs(t *testing.T) {
	d := Dir(t.TempDir())
	for _, id := range []string{"", "x", "../../../etc/passwd", "56475AA75463474C", "56475aa75463474", "56475aa75463474c0", "56475aa75463474\x00", "/6475aa75463474c"} {
		if _, err := d.Read(id); err == nil || !strings.Contains(err.Error(), "is not the id of a key") {
			t.Errorf("Read(%q) = %v, want that it is no id", id, err)
		}
		if err := d.Remove(id); err == nil || !strings.Contains(err.Error(), "is not the id of a key") {
			t.Errorf("Remove(%q) = %v, want that it is no id", id, err)
		}
	}
}

// What lies there and is no key file of this user is listed with what is wrong, and neither read nor opened.
func TestDirRefusesFiles(t *testing.T) {
	f := golden(t)
	const other = "0123456789abcdef"
	tests := map[string]struct {
		make func(t *testing.T, path string)
		name string // "": the file's own
		want string
		unix bool
	}{
		"others may read":     {func(t *testing.T, path string) { put(t, path, f.Text(), 0o640) }, "", "mode 0640", true},
		"all may write":       {func(t *testing.T, path string) { put(t, path, f.Text(), 0o602) }, "", "chmod 600", true},
		"a symbolic link":     {link, "", "is a symbolic link", true},
		"a dangling link":     {func(t *testing.T, path string) { must(t, os.Symlink(path+".gone", path)) }, "", "is a symbolic link", true},
		"a directory":         {func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "", "is not a regular file", false},
		"empty":               {func(t *testing.T, path string) { put(t, path, nil, 0o600) }, "", "not a key file", false},
		"too long":            {func(t *testing.T, path string) { put(t, path, make([]byte, maxFile+1), 0o600) }, "", "at most 8192 bytes", false},
		"half":                {func(t *testing.T, path string) { put(t, path, f.Text()[:100], 0o600) }, "", "not a key file", false},
		"named as another's":  {func(t *testing.T, path string) { put(t, path, f.Text(), 0o600) }, "approver-" + other + ".key", "rename it to approver-" + goldenID + ".key", false},
		"named as no key's":   {func(t *testing.T, path string) { put(t, path, f.Text(), 0o600) }, "approver-mine.key", "is not the id of a key", false},
		"named in upper case": {func(t *testing.T, path string) { put(t, path, f.Text(), 0o600) }, "approver-56475AA75463474C.key", "is not the id of a key", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.unix && runtime.GOOS == "windows" {
				t.Skip("modes do not say there, and links need a right of their own")
			}
			d := Dir(t.TempDir())
			path := d.Path(f.ID)
			if tt.name != "" {
				path = filepath.Join(string(d), tt.name)
			}
			tt.make(t, path)
			list, err := d.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("List = %v, %v; want one", list, err)
			}
			if got := list[0]; got.Path != path || got.File != (File{}) || got.Err == nil || !strings.Contains(got.Err.Error(), tt.want) {
				t.Errorf("List = %+v, want %s refused: %q", got, path, tt.want)
			}
		})
	}
}

func TestDirListsNoOtherFiles(t *testing.T) {
	d, f := Dir(t.TempDir()), golden(t)
	for _, name := range []string{"state.db", "approver-" + goldenID + ".key.bak", "approver.key", ".approver-1.new", "xapprover-" + goldenID + ".key"} {
		put(t, filepath.Join(string(d), name), f.Text(), 0o644)
	}
	if list, err := d.List(); list != nil || err != nil {
		t.Errorf("List = %v, %v; want none", list, err)
	}
}

func put(t *testing.T, path string, text []byte, mode fs.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, text, 0o600))
	must(t, os.Chmod(path, mode))
}

func link(t *testing.T, path string) {
	t.Helper()
	put(t, path+".real", golden(t).Text(), 0o600)
	must(t, os.Symlink(path+".real", path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
