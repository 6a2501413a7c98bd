package local

import (
	"fmt"
	"os"
	"sync/atomic"
)

// whole knows how long a state file is at least. SQLite never shortens one, because Patterngate does not vacuum it. A file that
// became shorter was cut by somebody else, and what is written into it later is lost or damages it. A cut is final for
// this process: what it has in memory fits no file that is put in its place. The zero value knows of no length. It is
// safe for concurrent use.
type whole struct {
	size atomic.Int64
	cut  atomic.Bool
}

// check compares the file as it is now with what is known of it.
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

// emptied refuses an empty state file whose log is not empty: it was cut, and SQLite would delete the log with what is left. A new
// file is never so, because it has its first page before its log has one.
func emptied(path string) error {
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() == 0 {
		return nil // what is wrong with a log that is there is told by others
	}
	if file, err := os.Stat(path); err != nil || file.Size() > 0 {
		return nil
	}
	return fmt.Errorf("it is empty, but its log %s-wal is not: the file was shortened; restore it from a backup, or move both away to begin with an empty state", path)
}
