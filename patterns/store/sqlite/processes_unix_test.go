//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store/processtest"
)

// TestStoppedProcessThatHoldsTheLock: reads go on, writes fail after a while with a reason, and all is well when it is
// gone.
func TestStoppedProcessThatHoldsTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	j, err := (&Store{busy: 100 * time.Millisecond}).open(path)
	check(t, err)
	t.Cleanup(j.Close)
	begin(t, j, 1, 1)
	c := processtest.SpawnAlone(t, "lock", path)
	c.Ready(t)
	check(t, c.Process.Signal(syscall.SIGSTOP))

	begun := time.Now()
	refusesWork(t, j, "journal_unavailable: locked")
	if took := time.Since(begun); took < j.busy/2 || took > 50*j.busy {
		t.Errorf("the change failed after %v, want about %v", took, j.busy)
	}
	if got := runsOf(t, j); len(got) != 1 {
		t.Errorf("a view meanwhile sees runs %v, want one", got)
	}
	late, err := (&Store{busy: 100 * time.Millisecond}).open(path)
	if err != nil {
		t.Errorf("opening meanwhile: %v, want it to read at least", err)
	} else {
		late.Close()
	}
	c.Kill(t)
	begin(t, j, 2, 1)
	if busyTimeout > 5*time.Second {
		t.Errorf("a change waits %v for the lock, want at most 5 s", busyTimeout)
	}
}

func TestStoppedOwnerLives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	o := ownerAt(t, path)
	c := processtest.SpawnAlone(t, "own", path)
	c.Ready(t)
	check(t, c.Process.Signal(syscall.SIGSTOP))
	if _, dead := o.Dead(otherOwner(t, o)); dead {
		t.Error("a stopped owner counts as dead")
	}
}

func TestRightsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		harm func(path string) error
		want string // "": it is taken
	}{
		"file readable by all":      {func(path string) error { return os.Chmod(path, 0o644) }, "chmod 600"},
		"file readable by a group":  {func(path string) error { return os.Chmod(path, 0o640) }, "chmod 600"},
		"log readable by all":       {func(path string) error { return os.WriteFile(path+"-wal", nil, 0o644) }, "-wal may be read"},
		"directory writable by all": {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, "chmod go-w"},
		"directory of a group":      {func(path string) error { return os.Chmod(filepath.Dir(path), 0o770) }, "chmod go-w"},
		"directory like /tmp":       {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777|fs.ModeSticky) }, ""},
		"directory readable by all": {func(path string) error { return os.Chmod(filepath.Dir(path), 0o755) }, ""},
		"a pipe":                    {func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			j := fresh(t)
			j.Close()
			check(t, tt.harm(j.path))
			j, err := Open(j.path, nil)
			if err == nil {
				j.Close()
			}
			if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("openJournal: %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("owners", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		ownerAt(t, path)
		check(t, os.Chmod(path+".owners", 0o777))
		if _, err := newOwner(path); !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("newOwner beside a directory that all may write: %v, want chmod go-w", err)
		}
	})
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	dir := filepath.Join(t.TempDir(), "d")
	check(t, os.Mkdir(dir, 0o700))
	j := openAt(t, filepath.Join(dir, "state.db"))
	begin(t, j, 1, 1)
	ownerAt(t, j.path)
	check(t, j.Backup(t.Context(), filepath.Join(dir, "copy.db")))
	seen := 0
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want none for others", path, info.Mode())
		}
		seen++
		return err
	}))
	if seen != 1+5+2 { // d; state.db, -wal, -shm, .owners, copy.db; the owners
		t.Errorf("%d files, want 8", seen)
	}
}
