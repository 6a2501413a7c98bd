package sqlite

import (
	"errors"
	"os"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// sizeOf is how long a file is.
func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	return info.Size()
}

// A state file that somebody shortens is noticed like one that is deleted: nothing more is written, also when it grows again.
func TestShortenedFileIsNoticed(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"emptied": 0, "its header cut": 50} {
		t.Run(name, func(t *testing.T) {
			j := fresh(t)
			begin(t, j, 1, 1)
			before := sizeOf(t, j.path)
			check(t, os.Truncate(j.path, size))
			refusesWork(t, j, "was shortened while in use")
			if err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil)}); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("an append: %v, want %v", err, patterns.ErrJournal)
			}
			for what, err := range map[string]error{"check": j.Check(), "backup": j.Backup(t.Context(), j.path+".backup")} {
				if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "restore it from a backup") {
					t.Errorf("%s: %v, want %v with what to do", what, err, patterns.ErrJournal)
				}
			}
			check(t, os.Truncate(j.path, before))
			refusesWork(t, j, "was shortened while in use")
			check(t, os.Truncate(j.path, size))
			log := sizeOf(t, j.path+"-wal")
			j.Close()
			if got := sizeOf(t, j.path); got != size {
				t.Errorf("closing wrote into the file: it has %d bytes, want %d", got, size)
			}
			if got := sizeOf(t, j.path+"-wal"); got != log || log == 0 {
				t.Errorf("closing changed the log: %d bytes, want %d", got, log)
			}
		})
	}
}

// A file that was cut before another process closed it is found out by the log beside it: it is no new one.
func TestEmptyFileWithALogIsNotNew(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	check(t, os.Truncate(j.path, 0))
	refusesWork(t, j, "was shortened")
	j.Close()
	log := sizeOf(t, j.path+"-wal")
	if other, err := Open(j.path, nil); !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "it is empty, but its log") {
		if err == nil {
			other.Close()
		}
		t.Errorf("opened: %v, want it refused", err)
	}
	if got := sizeOf(t, j.path+"-wal"); got != log {
		t.Errorf("the log has %d bytes, want its %d", got, log)
	}
}
