package sqlite

import "time"

// tidyAfter is how often the log is emptied at most, of values that were deleted.
const tidyAfter = time.Second

// Hides implements [store.Store].
func (j *Store) Hides() { j.stale.Store(true) }

// Tidy empties the log soon after hidden values were deleted: SQLite appends the pages without them and leaves the old
// ones in the log until it begins anew. It never waits: where the file is in use it is tried again.
func (j *Store) Tidy() {
	if !j.stale.Load() || !j.writing.TryLock() {
		return
	}
	defer j.writing.Unlock()
	if time.Since(j.tidied) < tidyAfter { // a wall clock that is set back does not put it off
		return
	}
	j.tidied = time.Now()
	if j.writer != nil && j.there() == nil {
		j.truncate()
	}
}

// truncate folds the log into the file and empties it. It holds the journal's writing. What cannot be done now is left.
func (j *Store) truncate() {
	if j.writer.run("PRAGMA busy_timeout=0") != nil {
		return
	}
	defer func() { _ = j.writer.run(j.patience()) }()
	j.stale.Store(false)
	busy := true
	err := j.writer.Each(func(row func(...any) error) error {
		var pages, done int64
		return row(&busy, &pages, &done)
	}, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil || busy {
		j.stale.Store(true)
	}
}
