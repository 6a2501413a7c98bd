package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// Store is a [store.Store] in this process. Make one with [New].
type Store struct {
	owner  owner
	opened time.Time    // with its monotonic reading
	last   atomic.Int64 // newest time given, microseconds since 1970

	queueing sync.Mutex // guards the next two fields
	queue    []*store.Change
	closed   bool

	writing sync.Mutex // held while changes are written and their results told
	spare   []*store.Change
	helping func() // the method write, bound once

	mu sync.RWMutex
	t  tables
}

var _ store.Store = (*Store)(nil)

// Limits say how much a store keeps. 0 means no limit.
type Limits struct {
	// Plans is how many plans of one principal are kept, and PlanBytes their size together. Over a limit the oldest plans are removed that no
	// run has claimed. The newest plan is always kept.
	Plans, PlanBytes int
}

// New returns an empty store.
func New(l Limits) *Store {
	s := &Store{owner: owner(rand.Text()), opened: time.Now(), t: newTables(l)}
	s.helping = s.write
	return s
}

// Submit implements [store.Store].
func (s *Store) Submit(c *store.Change) {
	if s.enqueue(c) {
		s.write()
	}
}

// Queue implements [store.Store]. Writing is so quick that hurry does it too.
func (s *Store) Queue(c *store.Change) (help, hurry func()) {
	if !s.enqueue(c) {
		return nil, nil
	}
	return s.helping, s.helping
}

// Do implements [store.Store]. If no other goroutine writes, it needs no queue.
func (s *Store) Do(c *store.Change) error {
	if s.writing.TryLock() {
		err := s.alone(c)
		s.write() // what was queued meanwhile
		return err
	}
	done := make(chan error, 1)
	c.Done = func(err error) { done <- err }
	s.Submit(c)
	return <-done
}

// alone writes what is queued, and then a change. The caller holds writing, and alone releases it.
func (s *Store) alone(c *store.Change) error {
	defer s.writing.Unlock()
	s.queueing.Lock()
	closed, queued := s.closed, len(s.queue) > 0
	s.queueing.Unlock()
	if queued {
		s.batch()
	}
	if closed {
		return store.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t.change(c)
}

// enqueue queues a change. If the store is closed it returns false, and has called Done with [store.ErrClosed].
func (s *Store) enqueue(c *store.Change) bool {
	s.queueing.Lock()
	closed := s.closed
	if !closed {
		s.queue = append(s.queue, c)
	}
	s.queueing.Unlock()
	if closed {
		c.Tell(store.ErrClosed)
	}
	return !closed
}

// write writes the queued changes, unless another goroutine does that.
func (s *Store) write() {
	for s.waits() && s.writing.TryLock() {
		s.batch()
		s.writing.Unlock()
	}
}

func (s *Store) waits() bool {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	return len(s.queue) > 0
}

// batch takes what is queued, writes it and tells the results. The caller holds writing.
func (s *Store) batch() {
	s.queueing.Lock()
	batch := s.queue
	s.queue = s.spare[:0]
	s.queueing.Unlock()
	for _, c := range batch {
		s.mu.Lock()
		err := s.t.change(c)
		s.mu.Unlock()
		c.Tell(err)
	}
	clear(batch)
	s.spare = batch
}

// View implements [store.Store].
func (s *Store) View(f func(store.Reader) error) error {
	s.queueing.Lock()
	closed := s.closed
	s.queueing.Unlock()
	if closed {
		return store.ErrClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return f(&s.t)
}

// Close implements [store.Store].
func (s *Store) Close() {
	s.queueing.Lock()
	s.closed = true
	s.queueing.Unlock()
	s.writing.Lock()
	s.batch()
	s.writing.Unlock()
	s.mu.Lock() // it waits for views
	defer s.mu.Unlock()
}

// Changed implements [store.Store]. No other process can change this store.
func (s *Store) Changed() bool { return false }

// Now implements [store.Store]. It returns the latest of the wall clock, the monotonic clock and the newest time that it
// returned.
func (s *Store) Now() time.Time {
	wall := time.Now()
	at := max(wall.UnixMicro(), s.opened.Add(wall.Sub(s.opened)).UnixMicro())
	for {
		last := s.last.Load()
		if at <= last {
			return time.UnixMicro(last)
		}
		if s.last.CompareAndSwap(last, at) {
			return time.UnixMicro(at)
		}
	}
}

// Hides and Tidy implement [store.Store]. Deleted values leave no trace that another program could read.
func (s *Store) Hides() {}

// Tidy does nothing, see Hides.
func (s *Store) Tidy() {}

// Backup implements [store.Store]. It returns an error: there is no file to copy.
func (s *Store) Backup(context.Context, string) error {
	return fmt.Errorf("%w: %w", patterns.ErrJournal, errNoFile)
}

var errNoFile = errors.New("runs are in memory; start with a state file to back it up")

// Check implements [store.Store].
func (s *Store) Check() error { return nil }

// Audit implements [store.Store].
func (s *Store) Audit() ([]store.Damage, error) { return nil, nil }

// Owner implements [store.Store].
func (s *Store) Owner() store.Owner { return s.owner }

// owner is this process's claim. There is no other claim.
type owner string

func (o owner) ID() string { return string(o) }

func (o owner) Serves() {}

func (o owner) OthersServe() bool { return false }

func (o owner) Servers() []string { return nil }

func (o owner) Dead(id string) (bury func(), dead bool) { return func() {}, id != string(o) }

func (o owner) Living(ids []string) (alive []string) {
	for _, id := range ids {
		if id == string(o) {
			alive = append(alive, id)
		}
	}
	return alive
}
