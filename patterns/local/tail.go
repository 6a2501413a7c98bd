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

// tail is the end of a run's record in the state file, where its owner appends. The record's lock guards all fields but unsure,
// which mu guards. The epoch is read without the lock once the run has entered the file.
type tail struct {
	file     *file
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
	begins   []store.Begins    // intents among them that a kill switch can forbid

	// begin is the step that enters the run with its first flush. After that it is nil. When the flush has succeeded or failed,
	// begun is closed. If there is no run then, refused is the reason.
	begin   *store.Begin
	begun   chan struct{} // nil: the run existed before
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

// flush queues the pending events, with steps for the same transaction. The caller must call help after it has released all locks
// that told may need. help makes sure that all is written. If the run has other side branches, a durable write is left to another
// goroutine, so that the branches can continue. So is a write that other branches may add to.
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
	if t.begin != nil { // never set again: a reader of the epoch needs no lock after the begin
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

// isDrop reports whether a step cancels a child run, which the scheduler must then look for.
func isDrop(s store.Step) bool { _, is := s.(store.DropChild); return is }

// unspent converts the error of a run's own change. It returns [errUnspent] for a refusal: the run is replayed and then finds the
// reason.
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

// entered waits until the run has entered the file or was refused. It returns the reason of a refusal.
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

// keepLength returns the step that stores the length of the record in the run's row. If the file then loses its newest events, a
// write that was recorded is not mistaken for one that was never sent.
func (t *tail) keepLength() store.Step {
	last := t.pending[len(t.pending)-1]
	return store.SetLength{N: t.n, Head: store.Head{Events: last.Seq, Hash: last.Hash, Newest: last.At}}
}

// sure removes outcomes that are now recorded.
func (t *tail) sure(events []patterns.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if e.Kind == patterns.OutcomeEvent {
			delete(t.unsure, e.Key)
		}
	}
}

// keep saves outcomes that could not be recorded, for the run's next life in this process.
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

// held returns an outcome that this process knows and could not record.
func (e *Engine) held(run, key string) (patterns.Outcome, bool) {
	if e.file == nil {
		return patterns.Outcome{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b, ok := e.file.outcomes[run][key]
	return b.Outcome(), ok
}

// rest writes the end of a life and waits for it: the pending events, and the steps that are made from the record's head.
func (r *Record) rest(durable bool, steps func(store.Head) []store.Step) error {
	told := make(chan error, 1)
	r.mu.Lock()
	help := r.file.flush(durable, func(err error) { told <- err }, steps(r.head())...)
	r.mu.Unlock()
	help()
	return <-told
}

// head returns the end of the record. The caller holds the lock.
func (r *Record) head() store.Head {
	return store.Head{Events: int64(r.seq), Hash: r.file.head, Newest: r.at.UnixMicro()}
}

// late records a result that came after the effect's outcome, perhaps after the run came to rest. If other events are pending,
// their flush also writes the late result.
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

// unrecorded reports whether an error comes from the store. The run can then continue once the store can be written again.
func unrecorded(err error) bool { return errors.Is(err, patterns.ErrJournal) }
