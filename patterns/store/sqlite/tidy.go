package sqlite

import "time"

// tidyAfter is the least time between two attempts to empty the log.
const tidyAfter = time.Second

// Hides implements [store.Store].
func (j *Store) Hides() { j.stale.Store(true) }

// Tidy empties the log after hidden values were deleted. SQLite appends the new pages to the log, and the old pages with the values
// stay there until the log is emptied. Tidy never waits. If the file is in use, a later call tries again.
func (j *Store) Tidy() {
	if !j.stale.Load() || !j.writing.TryLock() {
		return
	}
	defer j.writing.Unlock()
	if time.Since(j.tidied) < tidyAfter { // monotonic: a wall clock that is set back does not delay it
		return
	}
	j.tidied = time.Now()
	if j.writer != nil && j.there() == nil {
		j.truncate()
	}
}

// truncate folds the log into the file and empties it. The caller holds writing. If the file is in use, stale stays true.
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
