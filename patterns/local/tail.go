package local

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

// tail is the end of a run's record in the state file, at which its owner appends. All but unsure is guarded by the
// record's lock; the epoch is read without it once the run is entered.
type tail struct {
	file     *file
	id       string
	n        int64
	parent   int64  // the run whose call began it; 0: nobody's did
	epoch    int64  // the fence; 0 until the run's row is there
	head     []byte // hash of the newest event
	pending  []patterns.Event
	durable  bool              // what is pending must survive the loss of power
	branches int               // side branches of the run that go on
	shares   bool              // they begin many effects at a time, whose intents share a transaction
	hidden   *redaction.Values // what is kept out of the record; nil: nothing
	more     []store.Step      // what is done in the transaction of what is pending
	begins   []store.Begins    // what a kill switch may forbid of it

	// begin enters the run with its first flush; then nil. begun is closed when that was told: refused is why there is no
	// run, if there is none.
	begin   *store.Begin
	begun   chan struct{} // nil: the run was there before
	refused error

	mu     sync.Mutex
	unsure map[string]journal.OutcomeBody // outcomes that may not be recorded, by key
}

// add seals an event and keeps it for the next flush.
func (t *tail) add(e journal.Event) {
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

// flush queues what is pending, with what else must be true in the same transaction. help is called when the caller
// holds no lock any more that told may want: it sees to it that all is written. What waits for the disk is left to
// somebody else where the run has side branches, which could not go on meanwhile; so is what others may go along with.
func (t *tail) flush(durable bool, told func(error), also ...store.Step) (help func()) {
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
	steps, begun := slices.Concat(t.more, also, t.keepHidden()), t.begun
	if t.begin != nil {
		t.begin.Newest = events[len(events)-1].At
		steps = slices.Insert(steps, 0, store.Step(*t.begin))
	} else {
		begun = nil
	}
	c := &store.Change{Run: t.n, Epoch: t.epoch, Events: events, Chained: true, Durable: durable || t.durable, Steps: steps, Begins: t.begins}
	t.more, t.begins = nil, nil
	c.Done = func(err error) {
		if err == nil {
			t.sure(events)
			if slices.ContainsFunc(steps, isDrop) {
				t.file.recall.Store(true)
			}
		}
		if begun != nil {
			if !store.RefusedBy[store.Begin](err) {
				err = t.file.unspent(err)
			}
			t.refused = err
			close(begun)
		} else {
			err = t.file.unspent(err)
		}
		if told != nil {
			told(err)
		}
	}
	t.pending, t.durable = nil, false
	if t.begin != nil { // never written again: who looks after a run's beginning needs no lock
		t.begin, t.epoch = nil, 1
	}
	help, hurry := t.file.journal.Queue(c)
	switch {
	case help == nil:
		return none
	case c.Durable && t.branches > 0 || t.shares && t.branches > 1:
		return hurry
	}
	return help
}

// isDrop reports whether a step has a child run be cancelled, which then must be looked for.
func isDrop(s store.Step) bool { _, is := s.(store.DropChild); return is }

// unspent is how a run's own change went. [errUnspent] stands for a refusal: the run is replayed, and then knows why.
func (f *file) unspent(err error) error {
	refused, is := errors.AsType[*store.Refused](err)
	if !is {
		return err
	}
	if refused.Stopped {
		f.stopping.Store(true)
	}
	return errUnspent
}

// entered waits until the run is in the file, and says why it is not.
func (t *tail) entered() error {
	if t == nil || t.begun == nil {
		return nil
	}
	<-t.begun
	return t.refused
}

// isEntered reports whether the run is in the file by now.
func (t *tail) isEntered() bool {
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

// keepLength has the run's row keep how long its record is: should the file lose its newest events, a write that it knew
// of is not taken for one that was never sent.
func (t *tail) keepLength() store.Step {
	last := t.pending[len(t.pending)-1]
	return store.SetLength{N: t.n, Head: store.Head{Events: last.Seq, Hash: last.Hash, Newest: last.At}}
}

// sure forgets outcomes that are recorded.
func (t *tail) sure(events []patterns.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if e.Kind == patterns.OutcomeEvent {
			delete(t.unsure, e.Key)
		}
	}
}

// keep has the engine hold outcomes that could not be recorded, for the run's next life here.
func (t *tail) keep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unsure) == 0 {
		return
	}
	t.file.mu.Lock()
	defer t.file.mu.Unlock()
	if t.file.outcomes == nil {
		t.file.outcomes = map[string]map[string]journal.OutcomeBody{}
	}
	if t.file.outcomes[t.id] == nil {
		t.file.outcomes[t.id] = map[string]journal.OutcomeBody{}
	}
	maps.Copy(t.file.outcomes[t.id], t.unsure)
}

// held is an outcome that this process knows and could not record.
func (e *Engine) held(run, key string) (patterns.Outcome, bool) {
	if e.file == nil {
		return patterns.Outcome{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b, ok := e.file.outcomes[run][key]
	return b.Outcome(), ok
}

// rest submits the end of a life: what is pending and the steps that steps makes of the record's head, and waits for it.
func (r *Record) rest(durable bool, steps func(store.Head) []store.Step) error {
	told := make(chan error, 1)
	r.mu.Lock()
	help := r.file.flush(durable, func(err error) { told <- err }, steps(r.head())...)
	r.mu.Unlock()
	help()
	return <-told
}

// head is the end of the record. The lock is held.
func (r *Record) head() store.Head {
	return store.Head{Events: int64(r.seq), Hash: r.file.head, Newest: r.at.UnixMicro()}
}

// late records what came after an outcome, perhaps when the run rests already. What is pending meanwhile is about to be
// flushed by who learns how that went: the late result then goes with it.
func (r *Record) late(key string, at time.Time, body journal.OutcomeBody) {
	r.mu.Lock()
	alone := r.file != nil && len(r.file.pending) == 0
	r.add(patterns.LateEvent, key, at, body)
	help := func() {}
	if alone {
		help = r.file.flush(false, nil, store.SetLength{N: r.file.n, Head: r.head(), Resting: true})
	}
	r.mu.Unlock()
	help()
}

// unrecorded says that an error is the journal's, so that the run may go on once it can be written again.
func unrecorded(err error) bool { return errors.Is(err, patterns.ErrJournal) }
