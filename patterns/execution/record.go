package execution

import (
	"slices"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Record is the history of a run: in memory the events themselves, over a store the end of the record, to which this
// process appends. [NewRecord] and [Stored] make records; the zero Record is not usable. A Record is safe for concurrent use: late results may come
// after the run's end.
type Record struct {
	mu   sync.Mutex
	seq  int       // of the newest event
	at   time.Time // of the newest event
	here events    // in memory
	sink sink
}

// sink takes the events of a record: [events] in memory, or a [Tail].
type sink interface {
	// add takes an event, and late a result that came too late. steps and begins go into the transaction of the next
	// flush: steps, and an intent that a kill switch can forbid. The caller holds the record's lock, and calls help when
	// it has released it.
	add(journal.Event)
	late(journal.Event) (help func())
	steps([]store.Step)
	begins(store.Begins)
	// flush writes what was added so far. told gets the result and can be nil. durable: it must survive a loss of power.
	flush(durable bool, told func(error))
	// write is a durable or other flush that waits. It adds steps that are made from the end of the record.
	write(durable bool, steps func(store.Head) []store.Step) error
	// branch notes that so many side branches of the run begin, or end if the number is negative. share notes whether
	// the branches begin many effects at a time.
	branch(more int)
	share(is bool)
	// sealed returns an outcome in its stored form. told, Public and publicValues leave hidden values out of what others
	// see: an error for the log, a text, and values.
	sealed(journal.OutcomeBody) []byte
	told(cause error) error
	Public(text string) string
	publicValues(map[string]any) map[string]any
}

// NewRecord makes a record in memory.
func NewRecord() *Record {
	r := &Record{}
	r.sink = &r.here
	return r
}

// events is the sink of a record in memory.
type events []journal.Event

var _ sink = (*events)(nil)

func (l *events) add(e journal.Event) { *l = append(*l, e) }

func (l *events) late(e journal.Event) (help func()) {
	l.add(e)
	return func() {}
}

func (l *events) steps([]store.Step)  {}
func (l *events) begins(store.Begins) {}

func (l *events) flush(_ bool, told func(error)) {
	if told != nil {
		told(nil)
	}
}

func (l *events) write(bool, func(store.Head) []store.Step) error { return nil }

func (l *events) branch(int)                                   {}
func (l *events) share(bool)                                   {}
func (l *events) told(cause error) error                       { return cause }
func (l *events) Public(text string) string                    { return text }
func (l *events) publicValues(v map[string]any) map[string]any { return v }
func (l *events) sealed(body journal.OutcomeBody) []byte       { return journal.Encode(body) }

// Events lists the record so far, of a run in memory. The list is the caller's own.
func (r *Record) Events() []journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.here)
}

// Sealed returns the events of a record in memory in their stored form.
func (r *Record) Sealed(runID string) []patterns.Event {
	events := r.Events()
	list := make([]patterns.Event, len(events))
	var head []byte
	for i, e := range events {
		list[i] = journal.Seal(runID, e, head)
		head = list[i].Hash
	}
	return list
}

// Append adds an event and returns it with its place and time. Over a store, it is written with the next flush.
func (r *Record) Append(kind patterns.EventKind, key string, at time.Time, body any) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(kind, key, at, body)
}

func (r *Record) add(kind patterns.EventKind, key string, at time.Time, body any) journal.Event {
	e := r.next(kind, key, at, body)
	r.sink.add(e)
	return e
}

// next makes the next event. Times of events never decrease.
func (r *Record) next(kind patterns.EventKind, key string, at time.Time, body any) journal.Event {
	if at = at.Truncate(time.Microsecond); at.Before(r.at) {
		at = r.at
	}
	r.seq, r.at = r.seq+1, at
	return journal.Event{Seq: r.seq, At: at, Kind: kind, Key: key, Body: body}
}

// appendAlso is Append with steps for the transaction in which the event is written.
func (r *Record) appendAlso(kind patterns.EventKind, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addAlso(kind, key, at, body, steps)
}

// addAlso is appendAlso. The caller holds the lock.
func (r *Record) addAlso(kind patterns.EventKind, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	e := r.add(kind, key, at, body)
	if steps != nil {
		r.sink.steps(steps(e))
	}
	return e
}

// appendIntent is appendAlso for an intent that a kill switch can forbid; nil: none can.
func (r *Record) appendIntent(begins *store.Begins, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begins != nil {
		r.sink.begins(*begins)
	}
	return r.addAlso(patterns.IntentEvent, key, at, body, steps)
}

// then has steps taken with the next flush.
func (r *Record) then(steps ...store.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink.steps(steps)
}

// Flush writes what was appended so far. told gets the result and can be nil. durable: it must survive a loss of power.
// In memory nothing is written, and told is called at once.
func (r *Record) Flush(durable bool, told func(error)) { r.sink.flush(durable, told) }

// late records a result that came after the effect's outcome, perhaps after the run came to rest. If other events are
// pending, their flush also writes the late result.
func (r *Record) late(key string, at time.Time, body journal.OutcomeBody) {
	r.mu.Lock()
	help := r.sink.late(r.next(patterns.LateEvent, key, at, body))
	r.mu.Unlock()
	help()
}
