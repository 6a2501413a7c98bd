package execution

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// ErrMismatch is returned when pattern code does not do what a record says it did.
var ErrMismatch = errors.New("local: the record does not fit the code")

// Pick chooses which of several branches continues, by the keys of the effects that they wait for. It gets the keys in order and
// returns an index.
type Pick func(keys []string) int

// First chooses the branch with the smallest key.
func First([]string) int { return 0 }

// Replay runs code over the outcomes of a record and performs no effect. The result is that of the recorded run, in
// whatever order pick lets parallel branches continue. The error is [ErrMismatch] if the code asks for an effect that was
// not recorded, asks for it differently, or leaves a recorded effect out.
func Replay(events []journal.Event, code patterns.Pattern, job patterns.Job, pick Pick) (patterns.Result, error) {
	p, began := newReplay(events)
	job.Principal, job.Client, job.ClientVersion = p.start.Principal, p.start.Client, p.start.ClientVersion
	job.Earlier = p.start.Earlier()
	var result patterns.Result
	root := &replayed{replay: p, keys: newKeys(""), at: began, newest: began}
	p.running = 1
	p.branch(func() { result = code(root, job.Spec, job.Asked()) }, func(bool) {})
	p.deliver(pick)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(p.past)) {
		if !p.past[key].visited && p.fault == nil {
			p.fault = fmt.Errorf(recordedUnused, ErrMismatch, key)
		}
	}
	return result, p.fault
}

// replay delivers recorded outcomes to branches, one at a time.
type replay struct {
	id    string
	start journal.StartBody
	past  map[string]*memory

	mu      sync.Mutex
	changed *sync.Cond
	running int // branches that wait neither for an outcome nor for their own branches
	asked   map[string]chan patterns.Outcome
	flowing bool // branches that asked continue in the order of the record
	fault   error
}

func newReplay(events []journal.Event) (*replay, time.Time) {
	p := &replay{asked: map[string]chan patterns.Outcome{}}
	p.changed = sync.NewCond(&p.mu)
	h := Remember(events)
	p.past, p.id, p.start = h.past, h.Start.RunID, h.Start
	return p, h.Began
}

// branch runs code that may unwind. It then calls ended, under the lock, with whether the code came to its end.
func (p *replay) branch(body func(), ended func(finished bool)) {
	go func() {
		finished := false
		defer func() {
			r := recover()
			p.mu.Lock()
			defer p.mu.Unlock()
			if r != nil && p.fault == nil {
				p.fault = fmt.Errorf(codePanicked, r, debug.Stack())
			}
			ended(finished)
			p.running--
			p.changed.Broadcast()
		}()
		body()
		finished = true
	}()
}

// deliver lets one waiting branch continue at a time, until none is left. It chooses a branch only when no branch can run by
// itself.
func (p *replay) deliver(pick Pick) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for p.running > 0 {
			p.changed.Wait()
		}
		if len(p.asked) == 0 {
			return
		}
		key := p.choose(pick)
		answer := p.asked[key]
		delete(p.asked, key)
		p.running++
		answer <- p.past[key].outcome
	}
}

// choose returns the key of the branch that continues. Bodies of a Flow follow the record, other branches follow pick. The caller
// holds the lock.
func (p *replay) choose(pick Pick) string {
	if p.flowing {
		return slices.MinFunc(slices.Collect(maps.Keys(p.asked)), func(a, b string) int { return cmp.Compare(p.past[a].seq, p.past[b].seq) })
	}
	keys := slices.Sorted(maps.Keys(p.asked))
	return keys[pick(keys)]
}

// replayed is a replay's patterns.Run.
type replayed struct {
	*replay
	keys    *keys
	at      time.Time
	newest  time.Time     // see Recorded
	parent  *replayed     // of a body of a Flow; else nil
	started chan struct{} // of a body of a Flow: closed when it first waits; else nil
	body    bool          // of a Flow
}

var _ patterns.Run = (*replayed)(nil)

// Settled implements [patterns.Run]. It does nothing: no other call sees a replay.
func (b *replayed) Settled(patterns.Effect, patterns.Outcome) {}

func (b *replayed) ID() string     { return b.id }
func (b *replayed) Now() time.Time { return b.at }

func (b *replayed) Recorded() time.Time { return b.newest }

// saw advances the branch's times, and the newest time of the parent of a Flow's body.
func (b *replayed) saw(out patterns.Outcome) {
	b.at = out.At
	for _, of := range []*replayed{b, b.parent} {
		if of != nil && out.Answered().After(of.newest) {
			of.newest = out.Answered()
		}
	}
}

func (b *replayed) Do(e patterns.Effect) patterns.Outcome {
	key := b.keys.next(e.Name)
	answer := make(chan patterns.Outcome, 1)
	b.mu.Lock()
	fault := fmt.Errorf(notRecorded, ErrMismatch, key)
	if m := b.past[key]; m != nil && m.outcome.State != "" {
		fault = m.fits(key, e)
	}
	if fault != nil || b.fault != nil {
		if b.fault == nil {
			b.fault = fault
		}
		b.mu.Unlock()
		runtime.Goexit()
	}
	if m := b.past[key]; does[patterns.JudgeAct](e) {
		b.mu.Unlock()
		return m.outcome
	} else if b.body && m.ran(e) {
		b.mu.Unlock()
		b.saw(m.outcome)
		return m.outcome
	}
	b.asked[key] = answer
	b.begun()
	b.running--
	b.changed.Broadcast()
	b.mu.Unlock()
	out := <-answer
	b.saw(out)
	return out
}

// Go runs the branches. At most limit branches run at a time; the others wait for a free place.
func (b *replayed) Go(name string, n, limit int, body func(patterns.Run, int)) {
	f := family{replay: b.replay}
	children := make([]*replayed, n)
	b.mu.Lock()
	for i := range n {
		for i-f.ended >= max(1, limit) {
			f.wait()
		}
		child := &replayed{replay: b.replay, keys: newKeys(b.keys.next(name) + "/"), at: b.at, newest: b.newest}
		children[i] = child
		b.running++
		b.branch(func() { body(child, i) }, f.end)
	}
	for f.ended < n {
		f.wait()
	}
	b.mu.Unlock()
	for _, c := range children {
		if c.at.After(b.at) {
			b.at = c.at
		}
		if c.newest.After(b.newest) {
			b.newest = c.newest
		}
	}
	if f.finished < n {
		runtime.Goexit()
	}
}

// family is a branch with its side branches. The replay's lock guards it.
type family struct {
	*replay
	ended, finished int
	waiting         bool
}

// wait makes the parent wait until one of its branches ends.
func (f *family) wait() {
	f.waiting = true
	f.running--
	f.changed.Broadcast()
	for f.waiting {
		f.changed.Wait()
	}
}

// end counts a branch that ended and wakes the parent, which counts as running from this moment.
func (f *family) end(finished bool) {
	f.ended++
	if finished {
		f.finished++
	}
	if f.waiting {
		f.waiting = false
		f.running++
	}
}

// Flow implements [patterns.Run]. While the parent asks for more bodies it counts as running, so that no other branch continues.
func (b *replayed) Flow(next func() (string, func(patterns.Run), bool)) {
	if b.keys.path != "" {
		panic(errNested)
	}
	f := family{replay: b.replay}
	b.mu.Lock()
	b.flowing = true
	b.mu.Unlock()
	n := 0
	for more := true; more; {
		for name, body, ok := next(); ok; name, body, ok = next() {
			n++
			b.begin(&f, name, body)
		}
		b.mu.Lock()
		if more = f.ended < n; more {
			f.wait()
		}
		unwound := f.finished < f.ended
		b.mu.Unlock()
		if unwound {
			runtime.Goexit()
		}
	}
	b.mu.Lock()
	b.flowing = false
	b.mu.Unlock()
}

// begin runs a body up to its first outcome.
func (b *replayed) begin(f *family, name string, body func(patterns.Run)) {
	started := make(chan struct{})
	child := &replayed{replay: b.replay, keys: newKeys(b.keys.next(name) + "/"), at: b.at, newest: b.newest, parent: b, started: started, body: true}
	b.mu.Lock()
	b.running++
	b.branch(func() { body(child) }, func(finished bool) {
		if finished && child.at.After(b.at) {
			b.at = child.at
		}
		child.begun()
		f.end(finished)
	})
	b.mu.Unlock()
	<-started
}

// begun notifies the parent that a body waits or has ended.
func (b *replayed) begun() {
	if b.started != nil {
		close(b.started)
		b.started = nil
	}
}

// Shows implements [patterns.Run]. It does nothing: a replayed run is shown by its result.
func (b *replayed) Shows(func() patterns.Result) {}
