package local

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"patterngate/patterns"
)

// maxBatch is how many changes share a transaction at most: what fails together, and how long a read may lag behind.
const maxBatch = 256

// change is one all-or-nothing change of the file. Changes that wait at the same time share a transaction and its
// fsync. It is the journal's from its submission until done was told.
type change struct {
	// run and epoch are the fence: the run's row must have this epoch, else nothing is done: [errFenced]. run 0: none;
	// epoch 0: no fence.
	run, epoch int64
	// events are inserted in their order, sealed by the caller. What is sealed behind a change that may be refused must
	// not be submitted before that was told, or the record gets a gap; behind one that is chained it may: when that is
	// refused, the run takes no more under its epoch.
	events  []patterns.Event
	chained bool
	sync    bool // must survive power loss
	// stops refuses the change where a kill switch forbids it; nil: none may. looks: one is on, and it is looked which.
	stops func(*session) error
	looks bool
	// also runs before the events are inserted; nil: nothing. A [refusal] concerns this change alone, any other error is
	// the file's and fails all that share the transaction. It must not wait for anything.
	also func(*session) error
	// done is told once, by who writes: it may submit, but not wait for the journal, nor for a lock under which somebody
	// waits for the journal; nil: nobody is told.
	done func(error)
}

// submit queues a change. The order of submission is the order of effect.
func (j *stateDB) submit(c *change) {
	if j.enqueue(c) {
		j.stir()
	}
}

// do submits a change and waits for it. The change's done is not told.
func (j *stateDB) do(c *change) error {
	done := make(chan error, 1)
	c.done = func(err error) { done <- err }
	if j.enqueue(c) {
		j.help()
	}
	return <-done
}

// enqueue is submit for who calls help before it waits; false: the journal is closed, which the change was told.
func (j *stateDB) enqueue(c *change) bool {
	j.mu.Lock()
	closed := j.closed
	if !closed {
		j.queue = append(j.queue, c)
	}
	j.mu.Unlock()
	if closed {
		c.tell(errClosed)
	}
	return !closed
}

// help writes what is queued where nobody does: handing over to another goroutine and back costs a part of an append.
func (j *stateDB) help() {
	led := j.writing.TryLock()
	if led {
		j.batch()
		j.writing.Unlock()
	}
	if !led || !j.idle() {
		j.stir()
	}
}

// stir has the writer look whether something is queued.
func (j *stateDB) stir() {
	select {
	case j.wake <- struct{}{}:
	default: // it will look anyway
	}
}

func (c *change) tell(err error) {
	if c.done != nil {
		c.done(err)
	}
}

// write makes what is queued batches, until the journal is closed and nothing is queued.
func (j *stateDB) write() {
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

func (j *stateDB) idle() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.queue) == 0
}

// ending says that nothing is queued and nothing will be.
func (j *stateDB) ending() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed && len(j.queue) == 0
}

// batch makes one of what is queued; false where nothing was. It holds the journal's writing.
func (j *stateDB) batch() bool {
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

// commit makes a batch durable and tells each change how it went. After a failure nothing that a run of the batch
// remembers may be believed: under its epoch it takes no more, so nothing can be missing in the middle of a record.
func (j *stateDB) commit(batch []*change) {
	refused, err := j.transact(batch)
	for i, c := range batch {
		if err != nil {
			j.damn(c)
			c.tell(err)
			continue
		}
		c.tell(refused[i])
	}
}

func (j *stateDB) damn(c *change) {
	if c.run != 0 && c.epoch > j.broken[c.run] { // what is late of an earlier life says nothing of this one
		j.broken[c.run] = c.epoch
	}
}

// transact is one transaction. The first result is each change's own, the second concerns them all.
func (j *stateDB) transact(batch []*change) (refused []error, err error) {
	if err := j.there(); err != nil {
		return nil, err
	}
	if err := j.discipline(batch); err != nil {
		return nil, err
	}
	j.refused = j.refused[:0]
	if len(batch) == 1 && batch[0].plain() {
		refused, err := j.statement(batch[0])
		if err != nil || !batch[0].mayBeStopped(refused[0]) {
			return refused, err
		}
		j.refused = j.refused[:0]
	}
	if _, err := j.writer.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	for _, c := range batch {
		own, err := j.apply(c, len(batch) > 1)
		if err != nil {
			return nil, j.rollback(err)
		}
		if own != nil && c.chained {
			j.damn(c)
		}
		j.refused = append(j.refused, own)
	}
	if len(batch) == 1 && j.refused[0] != nil {
		_, err := j.writer.exec("ROLLBACK")
		return j.refused, err
	}
	j.tellHook("commit")
	if _, err := j.writer.exec("COMMIT"); err != nil {
		return nil, j.rollback(err)
	}
	j.tellHook("committed")
	return j.refused, nil
}

// plain says that one statement does the change: it takes itself back where it is refused.
func (c *change) plain() bool {
	return c.also == nil && len(c.events) > 0 && len(c.events) <= len(inserts) && !c.looks && (c.stops == nil || c.epoch > 0)
}

// mayBeStopped reports whether a plain change was refused because of a kill switch, perhaps: it is then done the long way.
func (c *change) mayBeStopped(refused error) bool {
	c.looks = c.stops != nil && errors.Is(refused, errFenced)
	return c.looks
}

// statement is a transaction of one plain change, which needs no more than its statement.
func (j *stateDB) statement(c *change) (refused []error, err error) {
	j.tellHook("commit")
	own, err := j.apply(c, false)
	if err != nil {
		return nil, journalFault(j.path, err)
	}
	j.tellHook("committed")
	j.refused = append(j.refused, own)
	return j.refused, nil
}

func (j *stateDB) rollback(err error) error {
	_, _ = j.writer.exec("ROLLBACK") // SQLite may have done so itself
	return journalFault(j.path, err)
}

func (j *stateDB) tellHook(point string) {
	if j.hook != nil {
		j.hook(point)
	}
}

// discipline sets whether the commit waits for the disk. It cannot change inside a transaction, and outside it is cheap.
func (j *stateDB) discipline(batch []*change) error {
	full := false
	for _, c := range batch {
		full = full || c.sync
	}
	if full == j.full {
		return nil
	}
	pragma := "PRAGMA synchronous=NORMAL"
	if full {
		pragma = "PRAGMA synchronous=FULL"
	}
	if _, err := j.writer.exec(pragma); err != nil {
		return err
	}
	j.full = full
	return nil
}

// apply does one change, in a transaction that it may share. The first result concerns the change alone, the second the
// whole transaction.
func (j *stateDB) apply(c *change, shared bool) (own, err error) {
	if c.epoch > 0 {
		if broken, ok := j.broken[c.run]; ok {
			if broken == c.epoch {
				return fmt.Errorf("%w: an earlier change of the run failed", patterns.ErrJournal), nil
			}
			if broken < c.epoch { // the run has changed hands since
				delete(j.broken, c.run)
			}
		}
	}
	if c.plain() {
		own, err := j.alone(c, j.append(c, c.epoch > 0))
		if err != nil || !shared || !c.mayBeStopped(own) {
			return own, err
		}
	}
	if c.epoch > 0 {
		holds, err := j.holds(c)
		if err != nil {
			return nil, err
		}
		if !holds {
			return errFenced, nil
		}
	}
	if !shared { // what it is refused for takes back the whole transaction
		return j.alone(c, j.both(c))
	}
	if _, err := j.writer.exec("SAVEPOINT change"); err != nil {
		return nil, err
	}
	own, err = j.alone(c, j.both(c))
	if err != nil {
		return nil, err
	}
	if own != nil {
		if _, err := j.writer.exec("ROLLBACK TO change"); err != nil {
			return nil, err
		}
	}
	_, err = j.writer.exec("RELEASE change")
	return own, err
}

// alone tells an error that concerns the change from one that concerns the file. A constraint that does not hold is a
// fault of ours; others shall not suffer, and nobody may take it for a refusal.
func (j *stateDB) alone(c *change, err error) (own, common error) {
	switch _, refused := errors.AsType[refusal](err); {
	case err == nil, refused, errors.Is(err, errFenced):
		return err, nil
	case sqliteCode(err) == codeConstraint:
		j.damn(c)
		return err, nil
	}
	return nil, err
}

func (j *stateDB) both(c *change) (err error) {
	defer func() {
		if r := recover(); r != nil { // who waits must not wait for ever
			err = fmt.Errorf("%w: a change panicked: %v\n%s", patterns.ErrJournal, r, debug.Stack())
		}
	}()
	for _, do := range []func(*session) error{c.stops, c.also} {
		if do == nil {
			continue
		}
		if err := do(j.writer); err != nil {
			return err
		}
	}
	return j.append(c, false)
}

// holds is the fence of a change that is more than events.
func (j *stateDB) holds(c *change) (bool, error) {
	epoch := int64(-1)
	err := j.writer.each(func(row func(...any) error) error { return row(&epoch) }, selectEpoch, c.run)
	return epoch == c.epoch, err
}

// inserts are the statements for so many events at once, plain, fenced and guarded.
var inserts = [...][3]string{{insert1, insertFenced1, insertGuarded1}, {insert2, insertFenced2, insertGuarded2}, {insert3, insertFenced3, insertGuarded3}}

// append inserts the events, as many in one statement as there are statements for.
func (j *stateDB) append(c *change, fenced bool) error {
	if len(c.events) == 0 && fenced {
		holds, err := j.holds(c)
		if err != nil {
			return err
		}
		if !holds {
			return errFenced
		}
	}
	for rest := c.events; len(rest) > 0; {
		n := min(len(rest), len(inserts))
		query := inserts[n-1][0]
		switch {
		case fenced && c.stops != nil:
			query = inserts[n-1][2]
		case fenced:
			query = inserts[n-1][1]
		}
		changed, err := j.writer.exec(query, j.columns(c, rest[:n], fenced)...)
		if err != nil {
			return err
		}
		if changed != int64(n) {
			return errFenced
		}
		rest = rest[n:]
	}
	return nil
}

// columns are the arguments of an insert. What it returns is valid until the next call.
func (j *stateDB) columns(c *change, events []patterns.Event, fenced bool) []any {
	j.args = j.args[:0]
	for i := range events {
		e := &events[i]
		if !fenced {
			j.args = append(j.args, c.run)
		}
		j.args = append(j.args, e.Seq, e.At, string(e.Kind), e.Key, []byte(e.Body), e.Hash)
		if fenced {
			j.args = append(j.args, c.run, c.epoch)
		}
	}
	return j.args
}
