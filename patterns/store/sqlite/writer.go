package sqlite

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// maxBatch is how many changes share a transaction at most. They fail together, and a read sees none of them before the commit.
const maxBatch = 256

// Submit implements [store.Store].
func (j *Store) Submit(c *store.Change) {
	if j.enqueue(c) {
		j.stir()
	}
}

// Do implements [store.Store].
func (j *Store) Do(c *store.Change) error {
	done := make(chan error, 1)
	c.Done = func(err error) { done <- err }
	if j.enqueue(c) {
		j.help()
	}
	return <-done
}

// enqueue queues a change without waking the writer; the caller does that. If the store is closed it returns false, and has called
// Done with [store.ErrClosed].
func (j *Store) enqueue(c *store.Change) bool {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.queue = append(j.queue, c)
	}
	j.mu.Unlock()
	if closed {
		c.Tell(store.ErrClosed)
	}
	return !closed
}

// Queue implements [store.Store].
func (j *Store) Queue(c *store.Change) (help, hurry func()) {
	if !j.enqueue(c) {
		return nil, nil
	}
	return j.helping, j.stirring
}

// help writes one batch in this goroutine if no other goroutine writes. That saves the cost of a switch to the writer and back. It
// wakes the writer for the rest.
func (j *Store) help() {
	led := j.writing.TryLock()
	if led {
		j.batch()
		j.writing.Unlock()
	}
	if !led || !j.idle() {
		j.stir()
	}
}

// stir wakes the writer, which then looks for queued changes.
func (j *Store) stir() {
	select {
	case j.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// write commits queued changes in batches, until the store is closed and the queue is empty.
func (j *Store) write() {
	defer close(j.written)
	for range j.wake {
		j.writing.Lock()
		for j.batch() {
		}
		j.writing.Unlock()
		if j.ending() {
			return
		}
	}
}

func (j *Store) idle() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.queue) == 0
}

// ending reports whether the store is closed and the queue is empty.
func (j *Store) ending() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed && len(j.queue) == 0
}

// batch takes a batch from the queue and commits it. It returns false if the queue was empty. The caller holds writing.
func (j *Store) batch() bool {
	j.mu.Lock()
	n := min(len(j.queue), maxBatch)
	batch := append(j.taken[:0], j.queue[:n]...)
	j.queue = slices.Delete(j.queue, 0, n)
	j.mu.Unlock()
	if n == 0 {
		return false
	}
	j.commit(batch)
	clear(batch)
	j.taken = batch
	return true
}

// commit commits a batch and calls each change's Done with the result. After a failure the runs of the batch can no longer trust
// their memory. Their later changes under the same epoch fail too, so that no event is missing in the middle of a record.
func (j *Store) commit(batch []*store.Change) {
	refused, err := j.transact(batch)
	for i, c := range batch {
		if err != nil {
			j.damn(c)
			c.Tell(err)
			continue
		}
		c.Tell(refused[i])
	}
}

func (j *Store) damn(c *store.Change) {
	if c.Run != 0 && c.Epoch > j.broken[c.Run] { // a late change of an earlier epoch does not concern the present one
		j.broken[c.Run] = c.Epoch
	}
}

// transact commits a batch in one transaction. refused has one error for each change; err concerns all of them.
func (j *Store) transact(batch []*store.Change) (refused []error, err error) {
	if err := j.there(); err != nil {
		return nil, err
	}
	if err := j.discipline(batch); err != nil {
		return nil, err
	}
	j.refused = j.refused[:0]
	byStep := false
	if len(batch) == 1 && plain(batch[0]) {
		refused, err := j.statement(batch[0])
		if err != nil || !mayBeStopped(batch[0], refused[0]) {
			return refused, err
		}
		j.refused, byStep = j.refused[:0], true
	}
	if _, err := j.writer.Exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	for _, c := range batch {
		own, err := j.apply(c, len(batch) > 1, byStep)
		if err != nil {
			return nil, j.rollback(err)
		}
		if own != nil && c.Chained {
			j.damn(c)
		}
		j.refused = append(j.refused, own)
	}
	if len(batch) == 1 && j.refused[0] != nil {
		_, err := j.writer.Exec("ROLLBACK")
		return j.refused, err
	}
	j.tellHook("commit")
	if _, err := j.writer.Exec("COMMIT"); err != nil {
		return nil, j.rollback(err)
	}
	j.tellHook("committed")
	return j.refused, nil
}

// plain reports whether one statement can do the change. Such a statement changes nothing if it is refused.
func plain(c *store.Change) bool {
	return len(c.Steps) == 0 && len(c.Events) > 0 && len(c.Events) <= len(inserts) && (len(c.Begins) == 0 || c.Epoch > 0)
}

// mayBeStopped reports whether a plain change was refused, perhaps because of a kill switch. The writer then does it step by step.
func mayBeStopped(c *store.Change, refused error) bool {
	return len(c.Begins) > 0 && errors.Is(refused, store.ErrFenced)
}

// statement commits one plain change, whose statement is a transaction of its own.
func (j *Store) statement(c *store.Change) (refused []error, err error) {
	j.tellHook("commit")
	own, err := j.apply(c, false, false)
	if err != nil {
		return nil, journalFault(j.path, err)
	}
	j.tellHook("committed")
	j.refused = append(j.refused, own)
	return j.refused, nil
}

func (j *Store) rollback(err error) error {
	_, _ = j.writer.Exec("ROLLBACK") // SQLite may have rolled back already
	return journalFault(j.path, err)
}

func (j *Store) tellHook(point string) {
	if j.hook != nil {
		j.hook(point)
	}
}

// discipline sets whether the commit waits for the disk: it does if a change of the batch is durable. SQLite cannot change this inside
// a transaction; outside, the change is cheap.
func (j *Store) discipline(batch []*store.Change) error {
	full := false
	for _, c := range batch {
		full = full || c.Durable
	}
	if full == j.full {
		return nil
	}
	pragma := "PRAGMA synchronous=NORMAL"
	if full {
		pragma = "PRAGMA synchronous=FULL"
	}
	if _, err := j.writer.Exec(pragma); err != nil {
		return err
	}
	j.full = full
	return nil
}

// apply does one change in the present transaction. If shared, other changes are in it too. If byStep, the single statement of a plain
// change was refused before. The error own concerns only this change, and err concerns the whole transaction.
func (j *Store) apply(c *store.Change, shared, byStep bool) (own, err error) {
	if c.Epoch > 0 {
		if broken, ok := j.broken[c.Run]; ok {
			if broken == c.Epoch {
				return fmt.Errorf("%w: an earlier change of the run failed", patterns.ErrJournal), nil
			}
			if broken < c.Epoch { // another process has taken the run over since
				delete(j.broken, c.Run)
			}
		}
	}
	if plain(c) && !byStep {
		own, err := j.alone(c, j.append(c, c.Epoch > 0))
		if err != nil || !shared || !mayBeStopped(c, own) {
			return own, err
		}
	}
	if c.Epoch > 0 {
		holds, err := j.holds(c)
		if err != nil {
			return nil, err
		}
		if !holds {
			return store.ErrFenced, nil
		}
	}
	if !shared { // a refusal rolls back the whole transaction
		return j.alone(c, j.both(c))
	}
	if _, err := j.writer.Exec("SAVEPOINT change"); err != nil {
		return nil, err
	}
	own, err = j.alone(c, j.both(c))
	if err != nil {
		return nil, err
	}
	if own != nil {
		if _, err := j.writer.Exec("ROLLBACK TO change"); err != nil {
			return nil, err
		}
	}
	_, err = j.writer.Exec("RELEASE change")
	return own, err
}

// alone separates an error that concerns only the change from one that concerns the file. A violated constraint is a fault of
// Patterngate. It must not fail other changes, and it is not a refusal.
func (j *Store) alone(c *store.Change, err error) (own, common error) {
	switch {
	case err == nil, isRefusal(err):
		return err, nil
	case sqliteCode(err) == codeConstraint:
		j.damn(c)
		return conflict{err}, nil
	}
	return nil, err
}

// conflict is a violated constraint: the record has an event with this number already.
type conflict struct{ error }

// Is reports whether the target is [store.ErrConflict].
func (conflict) Is(target error) bool { return target == store.ErrConflict }

// Unwrap returns the file's error.
func (c conflict) Unwrap() error { return c.error }

func (j *Store) both(c *store.Change) (err error) {
	defer func() {
		if r := recover(); r != nil { // the caller must not wait for ever
			err = fmt.Errorf("%w: a change panicked: %v\n%s", patterns.ErrJournal, r, debug.Stack())
		}
	}()
	switch stopped, err := j.stopped(c.Begins); {
	case err != nil:
		return err
	case stopped:
		return &store.Refused{Stopped: true}
	}
	for _, s := range c.Steps {
		if err := j.step(s); err != nil {
			return err
		}
	}
	return j.append(c, false)
}

// holds reports whether the run has the epoch of the change. It is the fence of a change that one fenced insert cannot do.
func (j *Store) holds(c *store.Change) (bool, error) {
	epoch := int64(-1)
	err := j.writer.Each(func(row func(...any) error) error { return row(&epoch) }, selectEpoch, c.Run)
	return epoch == c.Epoch, err
}

// inserts are the statements for one, two and three events, each plain, fenced and guarded.
var inserts = [...][3]string{{insert1, insertFenced1, insertGuarded1}, {insert2, insertFenced2, insertGuarded2}, {insert3, insertFenced3, insertGuarded3}}

// append inserts the events of a change, at most three in one statement. With fenced it returns [store.ErrFenced] if the run has
// another epoch, or if any kill switch is on and the change begins an effect.
func (j *Store) append(c *store.Change, fenced bool) error {
	if len(c.Events) == 0 && fenced {
		holds, err := j.holds(c)
		if err != nil {
			return err
		}
		if !holds {
			return store.ErrFenced
		}
	}
	for rest := c.Events; len(rest) > 0; {
		n := min(len(rest), len(inserts))
		query := inserts[n-1][0]
		switch {
		case fenced && len(c.Begins) > 0:
			query = inserts[n-1][2]
		case fenced:
			query = inserts[n-1][1]
		}
		changed, err := j.writer.Exec(query, j.columns(c, rest[:n], fenced)...)
		if err != nil {
			return err
		}
		if changed != int64(n) {
			return store.ErrFenced
		}
		rest = rest[n:]
	}
	return nil
}

// columns returns the arguments of an insert. The result is valid until the next call.
func (j *Store) columns(c *store.Change, events []patterns.Event, fenced bool) []any {
	j.args = j.args[:0]
	for i := range events {
		e := &events[i]
		if !fenced {
			j.args = append(j.args, c.Run)
		}
		j.args = append(j.args, e.Seq, e.At, string(e.Kind), e.Key, []byte(e.Body), e.Hash)
		if fenced {
			j.args = append(j.args, c.Run, c.Epoch)
		}
	}
	return j.args
}
