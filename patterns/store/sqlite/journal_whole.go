package sqlite

import (
	"fmt"
	"os"
	"sync/atomic"
)

// whole holds the least length that a state file must have. SQLite never shortens the file, because Patterngate does not vacuum it. If
// the file became shorter, another program cut it, and later writes are lost or damage it. A cut is final for this process, because
// its memory does not fit a file that replaces the cut one. The zero value holds no length. It is safe for concurrent use.
type whole struct {
	size atomic.Int64
	cut  atomic.Bool
}

// check compares the length of the file with the known length, and returns an error if the file was cut.
func (w *whole) check(now os.FileInfo) error {
	for {
		before := w.size.Load()
		if now.Size() < before {
			w.cut.Store(true)
		}
		if w.cut.Load() {
			return fmt.Errorf("was shortened while in use, from %d bytes; restore it from a backup and restart", before)
		}
		if w.size.CompareAndSwap(before, now.Size()) {
			return nil
		}
	}
}

// emptied returns an error for an empty state file whose log is not empty. Such a file was cut, and SQLite would delete the log and
// with it the remaining data. A new file cannot be in this state, because its first page is written before the first page of the log.
func emptied(path string) error {
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() == 0 {
		return nil // opening the file reports other faults of the log
	}
	if file, err := os.Stat(path); err != nil || file.Size() > 0 {
		return nil
	}
	return fmt.Errorf("it is empty, but its log %s-wal is not: the file was shortened; restore it from a backup, or move both away to begin with an empty state", path)
}
