package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// busyTimeout is how long another process may keep the file locked before a change fails.
const busyTimeout = 5 * time.Second

// stateDB is a state file: the record of all runs.
//
//	submit ──▶ queue ──▶ writer: BEGIN, each change behind its fence, COMMIT ──▶ done
//	view   ──▶ reader: one state of the file, while the writer goes on
//
// Several processes may have it open. It is safe for concurrent use.
type Store struct {
	path  string
	busy  time.Duration
	hook  func(point string)
	files [3]opened // the file, its log and the index of that
	whole whole     // how long the file is at least
	*clock

	mu     sync.Mutex
	queue  []*store.Change
	closed bool
	wake   chan struct{} // something is queued, or it was closed

	stale   atomic.Bool // the log may hold deleted values, see tidy
	writing sync.Mutex  // around what follows
	tidied  time.Time   // when that was last tried
	writer  *session
	full    bool            // what PRAGMA synchronous is now
	broken  map[int64]int64 // epochs of runs whose last change failed
	version int64           // PRAGMA data_version
	taken   []*store.Change // the batch
	refused []error
	args    []any
	written chan struct{} // closed when the writer is through

	reading sync.Mutex
	reader  *session // nil: closed

	owner             *owner
	helping, stirring func() // help and stir, made once
}

var _ store.Store = (*Store)(nil)

// Owner implements [store.Store].
func (j *Store) Owner() store.Owner { return j.owner }

// opened is a file that was opened, to be known again.
type opened struct {
	path string
	info os.FileInfo
}

// openJournal opens or makes a state file; an empty file is new. The hook is told before and after each commit, "commit" and "committed"; nil:
// nobody. Its errors wrap [patterns.ErrJournal] and name the file.
func Open(path string, hook func(point string)) (*Store, error) {
	return (&Store{hook: hook, busy: busyTimeout}).open(path)
}

func (j *Store) open(path string) (*Store, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, journalFault(path, err)
	}
	j.path = path
	j.wake, j.written = make(chan struct{}, 1), make(chan struct{})
	j.broken = map[int64]int64{}
	j.helping, j.stirring = j.help, j.stir
	err = guardFile(path)
	if err == nil {
		err = emptied(path)
	}
	if err == nil {
		err = makeFile(path)
	}
	if err == nil {
		err = j.connect()
	}
	if err != nil {
		for _, s := range []*session{j.reader, j.writer} {
			if s != nil {
				_ = s.close()
			}
		}
		return nil, journalFault(path, err)
	}
	if j.owner, err = newOwner(path); err != nil {
		return nil, errors.Join(err, j.reader.close(), j.writer.close())
	}
	go j.write()
	return j, nil
}

// connect opens both connections.
func (j *Store) connect() (err error) {
	if j.writer, err = connect(j.path, j.patience()); err != nil {
		return err
	}
	if err = j.settle(); err != nil {
		return err
	}
	if j.reader, err = connect(j.path, j.patience(), "PRAGMA query_only=1", "PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=OFF"); err != nil {
		return err
	}
	remembered, err := j.remembered()
	if err != nil {
		return err
	}
	j.clock = newClock(remembered)
	if j.version, err = j.dataVersion(); err != nil {
		return err
	}
	for i, path := range []string{j.path, j.path + "-wal", j.path + "-shm"} { // all are there once something was read
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		j.files[i] = opened{path, info}
	}
	return j.whole.check(j.files[0].info)
}

func (j *Store) patience() string {
	return fmt.Sprintf("PRAGMA busy_timeout=%d", j.busy.Milliseconds())
}

// realPath is where a state file really is, so that all who name it find the same files beside it.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return abs, err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// there says whether the files are still those that were opened, and the state file is whole. SQLite would go on writing into
// deleted or shortened ones, unseen by all, while another process makes new ones in their place.
func (j *Store) there() error {
	for i, f := range j.files {
		now, err := os.Stat(f.path)
		if err != nil || !os.SameFile(f.info, now) {
			return fmt.Errorf("%w: %s was moved, deleted or replaced while in use; put it back or restart", patterns.ErrJournal, f.path)
		}
		if i > 0 { // the log and its index are emptied now and then
			continue
		}
		if err := j.whole.check(now); err != nil {
			return fmt.Errorf("%w: %s %w", patterns.ErrJournal, f.path, err)
		}
	}
	return nil
}

// remembered is the newest time that any unfinished run knows.
func (j *Store) remembered() (at int64, err error) {
	for _, query := range []string{clockFromRests, clockFromLives} {
		var newest int64
		err := j.reader.Each(func(row func(...any) error) error { return row(&newest) }, query)
		if err != nil {
			return 0, err
		}
		at = max(at, newest)
	}
	return at, nil
}

// view reads one state of the file. It waits for other views, not for the writer. An error of f is returned as it is.
func (j *Store) View(f func(store.Reader) error) (err error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.reader == nil {
		return store.ErrClosed
	}
	if _, err := j.reader.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() { // also where f panics
		if _, ended := j.reader.Exec("COMMIT"); err == nil {
			err = ended
		}
	}()
	return f(j.reader)
}

// changed says whether another process has written since the last call, or since the opening.
func (j *Store) Changed() bool {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.writer == nil {
		return false
	}
	version, err := j.dataVersion()
	if err != nil {
		return true // who looks will meet the fault
	}
	before := j.version
	j.version = version
	return version != before
}

func (j *Store) dataVersion() (version int64, err error) {
	err = j.writer.Each(func(row func(...any) error) error { return row(&version) }, "PRAGMA data_version")
	return version, err
}

// close waits for what was submitted and for views, and leaves the file. Where nobody else has it open, all of it is
// then in the one file. The journal takes nothing more.
func (j *Store) Close() {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.mu.Unlock()
	if already {
		<-j.written
		return
	}
	j.stir()
	<-j.written
	j.reading.Lock()
	_ = j.reader.close()
	j.reader = nil
	j.reading.Unlock()
	j.writing.Lock()
	if _ = j.there(); !j.whole.cut.Load() { // else the log stays: it may hold what is left
		if j.stale.Load() {
			j.truncate() // where others have the file open, the log stays
		}
		_ = j.writer.close() // the last one folds the log into the file and deletes it, unless the file was moved
	}
	j.writer = nil
	j.writing.Unlock()
	j.owner.close()
}
