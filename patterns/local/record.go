package local

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Record is what a run leaves behind: in memory the events themselves, of a run in a state file the place at which this
// process goes on appending. It is safe for concurrent use: late results may come after the end.
type Record struct {
	mu     sync.Mutex
	events []journal.Event // in memory
	seq    int             // of the newest
	at     time.Time       // likewise

	file *tail // nil: in memory
}

// Events lists the record so far, of a run in memory. The list is the caller's own.
func (r *Record) Events() []journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// sealed returns the events of the record in their stored form.
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

// append adds an event and returns it with its place and time. In a state file it is there with the next flush.
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

// appendAlso is append with steps that are taken in the transaction in which the event is written.
func (r *Record) appendAlso(kind patterns.EventKind, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addAlso(kind, key, at, body, steps)
}

// addAlso is appendAlso. The lock is held.
func (r *Record) addAlso(kind patterns.EventKind, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	e := r.add(kind, key, at, body)
	if steps != nil {
		r.file.more = append(r.file.more, steps(e)...)
	}
	return e
}

// appendIntent is appendAlso for an intent that a kill switch may forbid; nil: none may.
func (r *Record) appendIntent(begins *store.Begins, key string, at time.Time, body any, steps func(journal.Event) []store.Step) journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if begins != nil {
		r.file.begins = append(r.file.begins, *begins)
	}
	return r.addAlso(patterns.IntentEvent, key, at, body, steps)
}

// stored is a body in its stored form, which is not appended.
func (r *Record) stored(body journal.OutcomeBody) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.seal(journal.Event{Kind: patterns.OutcomeEvent, Body: body}).Body
}

// then has steps taken with the next flush.
func (r *Record) then(steps ...store.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.more = append(r.file.more, steps...)
}

// flush has what was appended so far written, and told learn of it; nil: nobody needs to. durable: it must survive the
// loss of power.
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

// abandon gives up a run that was never entered into the store, because its life ended by cause; false: it was entered, or can still be.
// refused says that nothing more of it may be written, so that a run of which nothing was submitted yet is given up too.
func (r *Record) abandon(cause error, refused bool) bool {
	r.mu.Lock()
	t := r.file
	if t.begin != nil { // nothing was ever submitted
		if !refused {
			r.mu.Unlock()
			return false
		}
		t.begin, t.refused = nil, store.ErrClosed
		if errors.Is(cause, errUnspent) { // it may be begun again
			t.refused = errUnspent
		}
		close(t.begun)
	}
	r.mu.Unlock()
	return t.entered() != nil
}

// branch notes that so many side branches of the run begin, or end where there are fewer than none.
func (r *Record) branch(more int) {
	if r.file == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.branches += more
}

// share notes that from now on the run's branches begin many effects at a time, or do so no more.
func (r *Record) share(is bool) {
	if r.file == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.shares = is
}

// keys counts the effects of one branch by name, so that an effect's key is a path that depends on the code alone:
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

// peek is the key that the next effect of a name would have.
func (k *keys) peek(name string) string {
	return k.path + name + "#" + strconv.Itoa(k.seen[name]+1)
}

// compareKeys orders keys as the code makes them: numbers by their value.
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
