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

// Store keeps the records of all runs in a state file.
//
//	submit ──▶ queue ──▶ writer: BEGIN, each change behind its fence, COMMIT ──▶ done
//	view   ──▶ reader: one state of the file, while the writer works
//
// Several processes can have the file open. Store is safe for concurrent use. Make one with [Open].
type Store struct {
	path  string
	busy  time.Duration
	hook  func(point string)
	files [3]opened // the file, its log and the index of the log
	whole whole     // the least length of the file
	*clock

	mu     sync.Mutex
	queue  []*store.Change
	closed bool
	wake   chan struct{} // a change was queued, or the store was closed

	stale   atomic.Bool // the log may hold deleted values, see Tidy
	writing sync.Mutex  // guards the fields below
	tidied  time.Time   // when Tidy last tried
	writer  *session
	full    bool            // PRAGMA synchronous is FULL now
	broken  map[int64]int64 // epochs of runs whose last change failed
	version int64           // PRAGMA data_version
	taken   []*store.Change // the batch
	refused []error
	args    []any
	written chan struct{} // closed when the writer has ended

	reading sync.Mutex
	reader  *session // nil: closed

	owner             *owner
	helping, stirring func() // the methods help and stir, bound once
}

var _ store.Store = (*Store)(nil)

// Owner implements [store.Store].
func (j *Store) Owner() store.Owner { return j.owner }

// opened identifies a file that was opened, so that a replacement is noticed.
type opened struct {
	path string
	info os.FileInfo
}

// Open opens a state file, or creates it. An empty file counts as new. The store calls hook with "commit" before each commit and with
// "committed" after it; nil means no hook. The errors wrap [patterns.ErrJournal] and name the file.
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

// connect opens both connections, starts the clock and notes which files are open.
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
	for i, path := range []string{j.path, j.path + "-wal", j.path + "-shm"} { // all exist after the first read
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

// realPath returns the absolute path of a state file without symbolic links. So every process finds the same files beside it.
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

// there returns an error if the files are not those that were opened, or if the state file was shortened. Without this check SQLite
// would continue to write into deleted or shortened files. No other process would see these writes.
func (j *Store) there() error {
	for i, f := range j.files {
		now, err := os.Stat(f.path)
		if err != nil || !os.SameFile(f.info, now) {
			return fmt.Errorf("%w: %s was moved, deleted or replaced while in use; put it back or restart", patterns.ErrJournal, f.path)
		}
		if i > 0 { // the log and its index can become shorter
			continue
		}
		if err := j.whole.check(now); err != nil {
			return fmt.Errorf("%w: %s %w", patterns.ErrJournal, f.path, err)
		}
	}
	return nil
}

// remembered returns the newest time in the record of any unfinished run, in microseconds since 1970.
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

// View calls f with one state of the file. It waits for other views but not for the writer. It returns an error of f unchanged, and
// [store.ErrClosed] after Close.
func (j *Store) View(f func(store.Reader) error) (err error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.reader == nil {
		return store.ErrClosed
	}
	if _, err := j.reader.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() { // also if f panics
		if _, ended := j.reader.Exec("COMMIT"); err == nil {
			err = ended
		}
	}()
	return f(j.reader)
}

// Changed reports whether another process has written since the last call, or since the file was opened. It is false after Close.
func (j *Store) Changed() bool {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.writer == nil {
		return false
	}
	version, err := j.dataVersion()
	if err != nil {
		return true // the caller reads next, and that returns the error
	}
	before := j.version
	j.version = version
	return version != before
}

func (j *Store) dataVersion() (version int64, err error) {
	err = j.writer.Each(func(row func(...any) error) error { return row(&version) }, "PRAGMA data_version")
	return version, err
}

// Close waits for submitted changes and for views, and closes the file. If no other process has the file open, the log is then folded
// into it. The store takes no more changes.
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
	if _ = j.there(); !j.whole.cut.Load() { // a cut file keeps its log: it may hold the remaining data
		if j.stale.Load() {
			j.truncate() // if other processes have the file open, the log stays
		}
		_ = j.writer.close() // the last connection folds the log into the file and deletes it, unless the file was moved
	}
	j.writer = nil
	j.writing.Unlock()
	j.owner.close()
}
