package execution

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Tail is the end of a run's record in a store, where the run's owner appends. It is safe for concurrent use.
//
// The record's lock guards all fields but unsure, which mu guards. The epoch is read without the lock once the run has
// entered the store.
type Tail struct {
	record   *Record
	stored   *Stored
	id       string
	n        int64
	parent   int64  // the run whose call began it; 0: none
	epoch    int64  // the fence; 0 until the run's row exists
	head     []byte // hash of the newest event
	pending  []patterns.Event
	durable  bool              // the pending events must survive a loss of power
	branches int               // side branches of the run that have not ended
	shares   bool              // the branches begin many effects at a time, whose intents share a transaction
	hidden   *redaction.Values // values that the record must not contain; nil: none
	more     []store.Step      // steps for the transaction of the pending events
	intents  []store.Begins    // intents among them that a kill switch can forbid

	// begin is the step that enters the run with its first flush. After that it is nil. When the flush has succeeded or failed,
	// begun is closed. If there is no run then, refused is the reason.
	begin   *store.Begin
	begun   chan struct{} // nil: the run existed before
	refused error

	mu     sync.Mutex
	unsure map[string]journal.OutcomeBody // outcomes that may not be recorded, by key
}

var _ sink = (*Tail)(nil)

// NewRecord makes the empty record of a run that begins. hidden are values that the record must not contain; nil: none.
// [Tail.Enter] must be called before the first flush.
func (s *Stored) NewRecord(runID string, parent int64, hidden *redaction.Values) *Tail {
	n, _ := journal.RunNumber(runID)
	t := &Tail{stored: s, id: runID, n: n, parent: parent, hidden: hidden, begun: make(chan struct{})}
	t.record = &Record{sink: t}
	return t
}

// Continue makes the record of a run that this process takes over in the given epoch. last is its newest event.
func (s *Stored) Continue(row *store.Row, epoch int64, last patterns.Event, hidden *redaction.Values) *Tail {
	t := &Tail{stored: s, id: row.ID(), n: row.N, parent: row.Parent, epoch: epoch, head: last.Hash, hidden: hidden}
	t.record = &Record{seq: int(last.Seq), at: time.UnixMicro(last.At), sink: t}
	return t
}

// Record returns the record whose end this is.
func (t *Tail) Record() *Record { return t.record }

// Enter sets the step that adds the run to the store, with the first flush. Nothing is performed before that.
func (t *Tail) Enter(begin store.Begin) { t.begin = &begin }

// Beside makes a run be stored only if its parent still has the same owner and epoch, and if the run is not stored
// already. It must be called before the run's first flush.
func (t *Tail) Beside(parent *Tail) { t.begin.Parent, t.begin.ParentEpoch = parent.n, parent.epoch }

// Epoch returns the epoch under which this process owns the run. The run must have entered the store.
func (t *Tail) Epoch() int64 { return t.epoch }

// Head returns the head of the record.
func (t *Tail) Head() patterns.Head {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	return patterns.Head{Events: int64(t.record.seq), Hash: t.head}
}

// Take returns the pending events, which the caller stores itself. [Tail.Sure] must be called when they are stored.
func (t *Tail) Take() []patterns.Event {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	events := t.pending
	t.pending = nil
	return events
}

// add seals an event and keeps it for the next flush.
func (t *Tail) add(e journal.Event) {
	stored := t.seal(e)
	t.head = stored.Hash
	t.pending = append(t.pending, stored)
	out, ok := e.Body.(journal.OutcomeBody)
	if !ok || e.Kind != patterns.OutcomeEvent {
		return
	}
	t.durable = t.durable || out.Human
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unsure == nil {
		t.unsure = map[string]journal.OutcomeBody{}
	}
	t.unsure[e.Key] = out
}

func (t *Tail) steps(steps []store.Step)   { t.more = append(t.more, steps...) }
func (t *Tail) begins(intent store.Begins) { t.intents = append(t.intents, intent) }

func (t *Tail) late(e journal.Event) (help func()) {
	alone := len(t.pending) == 0
	t.add(e)
	if !alone {
		return func() {}
	}
	return t.queue(false, nil, store.SetLength{N: t.n, Head: t.end(), Resting: true})
}

func (t *Tail) branch(more int) {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	t.branches += more
}

func (t *Tail) share(is bool) {
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	t.shares = is
}

func (t *Tail) flush(durable bool, told func(error)) {
	t.record.mu.Lock()
	help := t.queue(durable, told)
	t.record.mu.Unlock()
	help()
}

func (t *Tail) write(durable bool, steps func(store.Head) []store.Step) error {
	told := make(chan error, 1)
	t.record.mu.Lock()
	help := t.queue(durable, func(err error) { told <- err }, steps(t.end())...)
	t.record.mu.Unlock()
	help()
	return <-told
}

// Rest writes the end of a life and waits for it: the pending events, and the steps that are made from the record's
// head.
func (t *Tail) Rest(steps func(store.Head) []store.Step) error { return t.write(false, steps) }

// end returns the end of the record. The caller holds the lock.
func (t *Tail) end() store.Head {
	return store.Head{Events: int64(t.record.seq), Hash: t.head, Newest: t.record.at.UnixMicro()}
}

// queue queues the pending events, with steps for the same transaction. The caller holds the record's lock. It must call
// help after it has released all locks that told may need. help makes sure that all is written. If the run has other
// side branches, a durable write is left to another goroutine, so that the branches can continue. So is a write that
// other branches may add to.
func (t *Tail) queue(durable bool, told func(error), also ...store.Step) (help func()) {
	none := func() {}
	if len(t.pending) == 0 && len(also) == 0 {
		if told != nil {
			told(nil)
		}
		return none
	}
	events := t.pending
	if durable && len(also) == 0 {
		also = []store.Step{t.keepLength()}
	}
	steps, begun := slices.Concat(t.more, also, t.KeepHidden()), t.begun
	if t.begin != nil {
		t.begin.Newest = events[len(events)-1].At
		steps = slices.Insert(steps, 0, store.Step(*t.begin))
	} else {
		begun = nil
	}
	c := &store.Change{Run: t.n, Epoch: t.epoch, Events: events, Chained: true, Durable: durable || t.durable, Steps: steps, Begins: t.intents}
	t.more, t.intents = nil, nil
	c.Done = func(err error) {
		if err == nil {
			t.Sure(events)
			if slices.ContainsFunc(steps, isDrop) {
				t.stored.Recalled.Store(true)
			}
		}
		if begun != nil {
			if !store.RefusedBy[store.Begin](err) {
				err = t.stored.unspent(err)
			}
			t.refused = err
			close(begun)
		} else {
			err = t.stored.unspent(err)
		}
		if told != nil {
			told(err)
		}
	}
	t.pending, t.durable = nil, false
	if t.begin != nil { // never set again: a reader of the epoch needs no lock after the begin
		t.begin, t.epoch = nil, 1
	}
	help, hurry := t.stored.Journal.Queue(c)
	switch {
	case help == nil:
		return none
	case c.Durable && t.branches > 0 || t.shares && t.branches > 1:
		return hurry
	}
	return help
}

// isDrop reports whether a step cancels a child run, which the scheduler must then look for.
func isDrop(s store.Step) bool { _, is := s.(store.DropChild); return is }

// Entered waits until the run has entered the store or was refused. It returns the reason of a refusal.
func (t *Tail) Entered() error {
	if t.begun == nil {
		return nil
	}
	<-t.begun
	return t.refused
}

// IsEntered reports whether the run is in the store by now.
func (t *Tail) IsEntered() bool {
	if t.begun == nil {
		return true
	}
	select {
	case <-t.begun:
		return t.refused == nil
	default:
		return false
	}
}

// Abandon gives up a run that was never entered into the store, because its life ended by cause. It returns false if the
// run was entered, or can still be. refused says that nothing more of it may be written, so that a run of which nothing
// was submitted yet is given up too.
func (t *Tail) Abandon(cause error, refused bool) bool {
	t.record.mu.Lock()
	if t.begin != nil { // nothing was ever submitted
		if !refused {
			t.record.mu.Unlock()
			return false
		}
		t.begin, t.refused = nil, store.ErrClosed
		if errors.Is(cause, ErrUnspent) { // it may be begun again
			t.refused = ErrUnspent
		}
		close(t.begun)
	}
	t.record.mu.Unlock()
	return t.Entered() != nil
}

// keepLength returns the step that stores the length of the record in the run's row. If the file then loses its newest
// events, a write that was recorded is not mistaken for one that was never sent.
func (t *Tail) keepLength() store.Step {
	last := t.pending[len(t.pending)-1]
	return store.SetLength{N: t.n, Head: store.Head{Events: last.Seq, Hash: last.Hash, Newest: last.At}}
}

// Sure notes that events are stored.
func (t *Tail) Sure(events []patterns.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if e.Kind == patterns.OutcomeEvent {
			delete(t.unsure, e.Key)
		}
	}
}

// Unsure returns the outcomes that may not be stored, by key.
func (t *Tail) Unsure() map[string]journal.OutcomeBody {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.unsure)
}
