package local

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Record is the record of a run. In memory it holds the events. For a run in a state file it holds the end of the record, where
// this process appends. It is safe for concurrent use: late results may come after the end.
type Record struct {
	mu     sync.Mutex
	events []journal.Event // in memory
	seq    int             // of the newest event
	at     time.Time       // likewise

	file *tail // nil: in memory
}

// Events returns a copy of the record so far, of a run in memory.
func (r *Record) Events() []journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// sealed returns the record in its stored form.
func (r *Record) sealed(runID string) []patterns.Event {
	events := r.Events()
	list := make([]patterns.Event, len(events))
	var head []byte
	for i, e := range events {
		list[i] = journal.Seal(runID, e, head)
		head = list[i].Hash
	}
	return list
}

// append adds an event and returns it with its place and time. In a state file the next flush writes it.
func (r *Record) append(kind patterns.EventKind, key string, at time.Time, body any) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(kind, key, at, body)
}

func (r *Record) add(kind patterns.EventKind, key string, at time.Time, body any) journal.Event {
	if at = at.Truncate(time.Microsecond); at.Before(r.at) {
		at = r.at
	}
	r.seq, r.at = r.seq+1, at
	e := journal.Event{Seq: r.seq, At: at, Kind: kind, Key: key, Body: body}
	if r.file != nil {
		r.file.add(e)
	} else {
		r.events = append(r.events, e)
	}
	return e
}

// appendAlso is append with steps that are stored in the transaction of the event.
func (r *Record) appendAlso(kind patterns.EventKind, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.add(kind, key, at, body)
	if steps != nil {
		r.file.more = append(r.file.more, steps(e)...)
	}
	return e
}

// appendIntent is appendAlso for an intent that a kill switch can forbid; with a nil begins none can.
func (r *Record) appendIntent(begins *store.Begins, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	if begins != nil {
		r.file.begins = append(r.file.begins, *begins)
	}
	r.mu.Unlock()
	return r.appendAlso(patterns.IntentEvent, key, at, body, steps)
}

// stored returns a body in its stored form, without appending it.
func (r *Record) stored(body journal.OutcomeBody) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.seal(journal.Event{Kind: patterns.OutcomeEvent, Body: body}).Body
}

// then adds steps to the next flush.
func (r *Record) then(steps ...store.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.more = append(r.file.more, steps...)
}

// flush starts to write what was appended so far, and then calls told with the error. told may be nil. With durable the events must
// survive a loss of power.
func (r *Record) flush(durable bool, told func(error)) {
	if r.file == nil {
		if told != nil {
			told(nil)
		}
		return
	}
	r.mu.Lock()
	help := r.file.flush(durable, told)
	r.mu.Unlock()
	help()
}

// abandon gives up a run that never entered the file. It returns false if the run did enter, or still can. With refused, nothing
// more of the run may be written, so abandon also gives up a run of which nothing was submitted yet.
func (r *Record) abandon(refused bool) bool {
	r.mu.Lock()
	t := r.file
	if t.begin != nil { // nothing was ever submitted
		if !refused {
			r.mu.Unlock()
			return false
		}
		t.begin, t.refused = nil, store.ErrClosed
		close(t.begun)
	}
	r.mu.Unlock()
	return t.entered() != nil
}

// branch adds to the number of the run's side branches. more is negative when branches end.
func (r *Record) branch(more int) {
	if r.file == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.branches += more
}

// share sets whether the run's branches begin many effects at a time.
func (r *Record) share(is bool) {
	if r.file == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.shares = is
}

// keys counts the effects of one branch by name. An effect's key is therefore a path that depends on the code alone, for example
// "task#2/payments_worker#1".
type keys struct {
	path string
	seen map[string]int
}

func newKeys(path string) *keys { return &keys{path, map[string]int{}} }

func (k *keys) next(name string) string {
	k.seen[name]++
	return k.path + name + "#" + strconv.Itoa(k.seen[name])
}

// peek returns the key that the next effect of a name would have.
func (k *keys) peek(name string) string {
	return k.path + name + "#" + strconv.Itoa(k.seen[name]+1)
}

// compareKeys orders keys in the order in which the code makes them. Numbers are compared by value.
func compareKeys(a, b string) int {
	for {
		as, arest, amore := strings.Cut(a, "/")
		bs, brest, bmore := strings.Cut(b, "/")
		an, ai := splitKey(as)
		bn, bi := splitKey(bs)
		if c := cmp.Or(cmp.Compare(an, bn), cmp.Compare(ai, bi)); c != 0 || !amore || !bmore {
			return cmp.Or(c, cmp.Compare(len(a), len(b)))
		}
		a, b = arest, brest
	}
}

func splitKey(part string) (name string, n int) {
	at := strings.LastIndexByte(part, '#')
	if at < 0 {
		return part, 0
	}
	n, _ = strconv.Atoi(part[at+1:])
	return part[:at], n
}
