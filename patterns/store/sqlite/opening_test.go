package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
	"patterngate/patterns/store/processtest"
)

// database makes a file by statements, as another program would.
func database(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	check(t, makeFile(path))
	s, err := connect(path)
	check(t, err)
	check(t, s.run(script))
	check(t, s.close())
	return path
}

// TestOtherFilesAreRefusedAndLeftAlone: nothing may be changed in a file that is not ours, and nothing made in its place.
func TestOtherFilesAreRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	ours := func(t *testing.T) string {
		j := fresh(t)
		begin(t, j, 1, 1)
		check(t, j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 50, nil)}))
		j.Close()
		return j.path
	}
	written := func(t *testing.T, alter func(b []byte) []byte) string {
		path := ours(t)
		b, err := os.ReadFile(path)
		check(t, err)
		check(t, os.WriteFile(path, alter(b), 0o600))
		return path
	}
	for name, tt := range map[string]struct {
		make func(t *testing.T) string
		want string
	}{
		"newer": {func(t *testing.T) string {
			return database(t, "PRAGMA application_id=0x50474154; PRAGMA user_version=9; CREATE TABLE runs (x)")
		}, "newer version (its format is 9"},
		"of another program":           {func(t *testing.T) string { return database(t, "PRAGMA application_id=1") }, "another program's database"},
		"of another program, unmarked": {func(t *testing.T) string { return database(t, "CREATE TABLE runs (x)") }, "another program's database"},
		"of another program, numbered": {func(t *testing.T) string { return database(t, "PRAGMA user_version=1") }, "another program's database"},
		"text": {func(t *testing.T) string {
			return written(t, func([]byte) []byte { return []byte(strings.Repeat("dear diary\n", 1000)) })
		}, "damaged or not a state file"},
		"damaged header": {func(t *testing.T) string {
			return written(t, func(b []byte) []byte { copy(b, "garbage"); return b })
		}, "damaged or not a state file"},
		"damaged first page": {func(t *testing.T) string {
			return written(t, func(b []byte) []byte { copy(b[100:600], bytes.Repeat([]byte{0xAA}, 500)); return b })
		}, "damaged"},
		"truncated to a part of a page": {func(t *testing.T) string {
			return written(t, func(b []byte) []byte { return b[:700] })
		}, "damaged"},
		"truncated to a page": {func(t *testing.T) string {
			return written(t, func(b []byte) []byte { return b[:4096] })
		}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := tt.make(t)
			before, err := os.ReadFile(path)
			check(t, err)
			j, err := Open(path, nil)
			if err == nil {
				j.Close()
			}
			if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("openJournal: %v, want %v with %q and the path", err, patterns.ErrJournal, tt.want)
			}
			after, err := os.ReadFile(path)
			check(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("-wal: %v, want none", err)
			}
		})
	}
}

func TestOddPlacesAreRefused(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")))
	for name, path := range map[string]string{
		"a directory":               dir,
		"a directory is missing":    filepath.Join(dir, "missing", "state.db"),
		"a file for the directory":  filepath.Join(os.Args[0], "state.db"),
		"a link that leads nowhere": filepath.Join(dir, "dangling"),
		"no name":                   "",
	} {
		j, err := Open(path, nil)
		if err == nil {
			j.Close()
		}
		if !errors.Is(err, patterns.ErrJournal) {
			t.Errorf("%s: %v, want %v", name, err, patterns.ErrJournal)
		}
	}
}

func TestOwnerNeedsADirectory(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "missing", "state.db"), filepath.Join(os.Args[0], "state.db")} {
		if _, err := newOwner(path); !errors.Is(err, patterns.ErrJournal) {
			t.Errorf("newOwner(%s): %v, want %v", path, err, patterns.ErrJournal)
		}
	}
}

func TestEmptyFileIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	check(t, makeFile(path))
	j := openAt(t, path)
	begin(t, j, 1, 1)
}

func TestAnyNameWillDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b", "file:c?mode=memory#%41")
	check(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "ünd &=state%20.db")
	j := openAt(t, path)
	begin(t, j, 1, 1)
	check(t, j.Backup(t.Context(), path+".backup"))
	j.Close()
	for _, file := range []string{path, path + ".backup"} {
		if got := runsOf(t, openAt(t, file)); len(got) != 1 {
			t.Errorf("%s holds runs %v, want one", file, got)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2*4 { // each with -wal and -shm, being open, and its owners
		t.Errorf("%d files, %v, want 8: %v", len(entries), err, entries)
	}
}

func TestLinkLeadsToTheSameState(t *testing.T) {
	j := fresh(t)
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(j.path, link))
	begin(t, openAt(t, link), 1, 1)
	if got := runsOf(t, j); len(got) != 1 {
		t.Errorf("runs %v, want the one that was begun over the link", got)
	}
	o, err := newOwner(link)
	check(t, err)
	defer o.close()
	other, err := newOwner(j.path)
	check(t, err)
	defer other.close()
	if _, dead := other.Dead(o.id); dead {
		t.Error("who came over the link counts as dead")
	}
}

func TestProcessesMayMakeTheFileAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	children := make([]*processtest.Child, 4)
	for i := range children {
		children[i] = processtest.SpawnAlone(t, "write", path)
	}
	for _, c := range children {
		c.Ready(t)
	}
	j := openAt(t, path)
	if got := runsOf(t, j); len(got) != len(children) {
		t.Errorf("runs %v, want one of each of %d processes", got, len(children))
	}
	for _, c := range children {
		c.End(t)
	}
	j.Close()
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("after all have closed: %v, %v, want the file and the empty directory of owners", entries, err)
	}
}

func TestTimeGoesOnFromWhatRunsRemember(t *testing.T) {
	j := fresh(t)
	ahead := j.Now().Add(72 * 3600e9)
	begin(t, j, 1, 1)
	events := chain(1, 1, 2, nil)
	events[1].At = ahead.UnixMicro()
	check(t, j.Do(&store.Change{Run: 1, Epoch: 1, Events: events}))
	check(t, j.alter(func(s *session) error {
		if err := insertRun(2, 1, "parked")(s); err != nil {
			return err
		}
		_, err := s.Exec("UPDATE runs SET newest = ? WHERE n = 2", ahead.UnixMicro()-1)
		return err
	}))
	for _, tt := range []struct {
		after string
		want  bool // what is remembered is ahead
		least int64
	}{
		{"", true, ahead.UnixMicro()},
		{"UPDATE runs SET state = 'ended' WHERE n = 1", true, ahead.UnixMicro() - 1},
		{"UPDATE runs SET state = 'ended'", false, 0},
	} {
		if tt.after != "" {
			check(t, j.alter(func(s *session) error { _, err := s.Exec(tt.after); return err }))
		}
		j.Close()
		j = openAt(t, j.path)
		now := j.Now()
		if got := now.UnixMicro() >= ahead.UnixMicro()-1; got != tt.want || now.UnixMicro() < tt.least {
			t.Errorf("after %q it is %v; ahead: %t, want %t", tt.after, now, got, tt.want)
		}
	}
}
