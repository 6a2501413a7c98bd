package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// unprivileged runs f as one to whom modes of files apply, which to root they do not.
func unprivileged(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, nobody, nobody))
	}))
	check(t, os.Chmod(filepath.Dir(dir), 0o755))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(t, syscall.Setfsuid(nobody)) // of this thread only
	defer func() { check(t, syscall.Setfsuid(0)) }()
	f()
}

func TestReadOnlyPlacesAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		dir, file os.FileMode // file 0: none is there
	}{
		"directory, no file":   {0o500, 0},
		"directory and a file": {0o500, 0o600},
		"file":                 {0o700, 0o400},
		"file for nobody":      {0o700, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "state.db")
			if name != "directory, no file" {
				j := openAt(t, path)
				begin(t, j, 1, 1)
				j.Close()
				check(t, os.Chmod(path, tt.file))
			}
			check(t, os.Chmod(dir, tt.dir))
			defer func() { check(t, os.Chmod(dir, 0o700)) }()
			unprivileged(t, dir, func() {
				j, err := Open(path, nil)
				if err == nil {
					j.Close()
				}
				if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), dir) {
					t.Errorf("openJournal: %v, want %v with the path", err, patterns.ErrJournal)
				}
				if tt.dir == 0o500 && tt.file == 0 {
					if _, err := newOwner(path); !errors.Is(err, patterns.ErrJournal) {
						t.Errorf("newOwner: %v, want %v", err, patterns.ErrJournal)
					}
				}
			})
		})
	}
}

// TestFullFileSystem is a real one of 256 KiB.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skipf("only root may mount: %v", err)
	}
	defer func() { check(t, syscall.Unmount(dir, 0)) }()
	j := openAt(t, filepath.Join(dir, "state.db"))
	defer j.Close()
	begin(t, j, 1, 1)
	filler := filepath.Join(dir, "filler")
	err := os.WriteFile(filler, make([]byte, 1<<20), 0o600)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v, want %v", err, syscall.ENOSPC)
	}
	events := chain(1, 1, 60, nil)
	for _, sync := range []bool{false, true} {
		if err := j.Do(&store.Change{Run: 1, Events: events, Durable: sync}); !errors.Is(err, patterns.ErrJournal) {
			t.Errorf("an append to a full disk: %v, want %v", err, patterns.ErrJournal)
		}
	}
	check(t, os.Remove(filler))
	begin(t, j, 2, 1)
	check(t, j.Do(&store.Change{Run: 2, Epoch: 1, Events: chain(2, 1, 60, nil), Durable: true}))
	if n := len(recordOf(t, j, 1)) + len(recordOf(t, j, 2)); n != 60 {
		t.Errorf("%d events after space came, want the 60 appended then", n)
	}
	check(t, j.Check())
}

// TestCloseLetsTheFilesGo: with a statement left open the connection would stay.
func TestCloseLetsTheFilesGo(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	check(t, j.Backup(t.Context(), j.path+".backup"))
	check(t, j.Check())
	ownerAt(t, j.path).close()
	_ = j.Do(&store.Change{Run: 1, Epoch: 2, Events: chain(1, 1, 1, nil)})
	_ = runsOf(t, j)
	j.Close()
	if held := descriptors(t, filepath.Dir(j.path)); len(held) > 0 {
		t.Errorf("after close this process still has %v open", held)
	}
}

func descriptors(t *testing.T, dir string) (held []string) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, dir) {
			held = append(held, to)
		}
	}
	return held
}
