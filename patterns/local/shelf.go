package local

import (
	"context"
	"slices"
	"time"

	"patterngate/patterns"
)

// maxParkedBytes is how much of what its callers sent a principal's waiting runs hold together. The oldest expire for
// more; a single run may always wait.
const maxParkedBytes = 64 << 20

// What is kept of one principal's runs after their end: the newest ones, and what their callers sent. The newest is
// kept in any case.
const (
	maxEnded      = 200
	maxEndedBytes = 64 << 20
)

// run is one run, from its start until it is forgotten. A life, of which there is one at a time, may change all but what
// a lock is named for.
type run struct {
	engine *Engine
	id     string
	job    patterns.Job
	record *Record
	began  time.Time

	quotas  map[string]int
	order   int           // intents so far
	calls   int           // of tools, among them
	asked   int           // requests to the model
	newest  time.Time     // of all events
	waitsAt string        // the key of the effect that it waits for
	waited  time.Duration // for its caller
	size    int           // of what its caller sent so far, in bytes of memory

	// Guarded by the engine's lock.
	state    patterns.RunState
	attended bool // a call began or continues it and waits
	rest     patterns.Ended
	clock    *time.Timer // of a run that waits for a limited time
	life     *life       // of a run that runs; nil in the moment in which it begins or goes on
	idle     patterns.Current
}

// shelf is one principal's runs.
type shelf struct {
	runs   map[string]*run
	begun  []*run // all of runs, oldest first
	parked []*run // in the order in which they began to wait
	bytes  int    // of the parked ones
	ended  []*run // in the order of their ends
	kept   int    // bytes of the ended ones
}

// shelve takes a new run in.
func (e *Engine) shelve(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shelves == nil {
		e.shelves = map[string]*shelf{}
	}
	s := e.shelves[r.job.Principal]
	if s == nil {
		s = &shelf{runs: map[string]*run{}}
		e.shelves[r.job.Principal] = s
	}
	s.runs[r.id] = r
	s.begun = append(s.begun, r)
}

// forget drops a run. A principal without runs leaves nothing behind.
func (e *Engine) forget(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(r)
}

// drop is forget with the lock held.
func (e *Engine) drop(r *run) {
	s := e.shelves[r.job.Principal]
	delete(s.runs, r.id)
	s.begun = without(s.begun, r)
	if len(s.runs) == 0 {
		delete(e.shelves, r.job.Principal)
	}
}

func without(list []*run, r *run) []*run {
	return slices.DeleteFunc(list, func(other *run) bool { return other == r })
}

// park lets a run wait for its caller. Of too many, or too large ones, the principal's oldest expire.
func (e *Engine) park(r *run, rest patterns.Ended) {
	e.mu.Lock()
	s := e.shelves[r.job.Principal]
	r.state, r.rest, r.life = patterns.Parked, rest, nil
	r.idle.Phase, r.idle.Done = rest.Phase, r.calls
	s.parked = append(s.parked, r)
	s.bytes += r.size
	r.clock = time.AfterFunc(time.Until(rest.Waiting.Until), func() { e.expire(r, rest.Waiting) })
	tooMany := s.tooMany(e.maxParked())
	changed, attended := r.snapshot(), r.attended
	e.mu.Unlock()
	e.tell(changed, attended)
	for oldest, expected := range tooMany {
		e.expire(oldest, expected)
	}
}

// tooMany are the oldest waiting runs that must go for the newest, and what each waits for. The lock is held.
func (s *shelf) tooMany(most int) map[*run]*patterns.Waiting {
	var list map[*run]*patterns.Waiting
	bytes := s.bytes
	for i, r := range s.parked[:len(s.parked)-1] {
		if len(s.parked)-i <= most && bytes <= maxParkedBytes {
			break
		}
		if list == nil {
			list = map[*run]*patterns.Waiting{}
		}
		list[r] = r.rest.Waiting
		bytes -= r.size
	}
	return list
}

// take gives a waiting run to who continues it.
func (e *Engine) take(principal, id string, turn int) (*run, error) {
	e.mu.Lock()
	r := e.find(principal, id)
	switch {
	case r == nil:
		e.mu.Unlock()
		return nil, patterns.ErrNoRun
	case r.state != patterns.Parked, turn != 0 && turn != r.rest.Waiting.Turn:
		e.mu.Unlock()
		return nil, patterns.ErrNotTaken
	}
	changed := e.unpark(r, true)
	e.mu.Unlock()
	e.tell(changed, true)
	return r, nil
}

// expire ends a run whose caller did not come, unless it did or the run waits for something newer.
func (e *Engine) expire(r *run, w *patterns.Waiting) {
	e.mu.Lock()
	if r.state != patterns.Parked || r.rest.Waiting != w {
		e.mu.Unlock()
		return
	}
	changed := e.unpark(r, false)
	e.mu.Unlock()
	e.tell(changed, false)
	_, err := e.goOn(newLife(context.Background(), r, nil), OutcomeBody{State: patterns.Failed, Reason: patterns.ReasonExpired})
	if err != nil && e.Fault != nil { // nobody else would learn of it
		e.Fault(r.id, r.waitsAt, err)
	}
}

// unpark takes a run from those that wait. The lock is held.
func (e *Engine) unpark(r *run, attended bool) patterns.Snapshot {
	s := e.shelves[r.job.Principal]
	s.parked = without(s.parked, r)
	s.bytes -= r.size
	r.clock.Stop()
	r.state, r.attended = patterns.Running, attended
	return r.snapshot()
}

// finish keeps how a run ended, and forgets the oldest of too many.
func (e *Engine) finish(r *run, rest patterns.Ended) {
	e.mu.Lock()
	s := e.shelves[r.job.Principal]
	r.state, r.rest, r.life, r.record, r.quotas = patterns.Over, rest, nil, nil, nil
	s.ended = append(s.ended, r)
	s.kept += r.size
	changed, attended := r.snapshot(), r.attended
	for len(s.ended) > maxEnded || s.kept > maxEndedBytes && len(s.ended) > 1 {
		oldest := s.ended[0]
		s.ended = slices.Delete(s.ended, 0, 1)
		s.kept -= oldest.size
		e.drop(oldest)
	}
	e.mu.Unlock()
	e.tell(changed, attended)
}

func (e *Engine) find(principal, id string) *run {
	if s := e.shelves[principal]; s != nil {
		return s.runs[id]
	}
	return nil
}

// Run implements [patterns.Runs].
func (e *Engine) Run(principal, id string) (patterns.Snapshot, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.find(principal, id)
	if r == nil {
		return patterns.Snapshot{}, false
	}
	return r.snapshot(), true
}

// RunIDs implements [patterns.Runs].
func (e *Engine) RunIDs(principal string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.shelves[principal]
	if s == nil {
		return nil
	}
	ids := make([]string, 0, len(s.begun))
	for _, r := range slices.Backward(s.begun) {
		ids = append(ids, r.id)
	}
	return ids
}

// Watch implements [patterns.Runs].
func (e *Engine) Watch(told func(s patterns.Snapshot, attended bool)) { e.told = told }

func (e *Engine) tell(s patterns.Snapshot, attended bool) {
	if e.told != nil {
		e.told(s, attended)
	}
}

// snapshot shows the run. The lock is held.
func (r *run) snapshot() patterns.Snapshot {
	s := patterns.Snapshot{
		RunID: r.id, Pattern: r.job.Spec.Name, Principal: r.job.Principal, Client: r.job.Client, Arguments: r.job.Arguments,
		State: r.state, Ended: r.rest,
	}
	if r.state == patterns.Running {
		s.Ended = patterns.Ended{RunID: r.id, Began: r.began}
		if s.Current = r.idle; r.life != nil {
			s.Current = *r.life.now.Load()
		}
	}
	return s
}

// callerWait is how long a run waits for its caller; false: not at all.
func (e *Engine) callerWait() (time.Duration, bool) {
	wait := e.CallerWait
	if wait == 0 {
		wait = defaultCallerWait
	}
	return wait, wait > 0 && e.maxParked() > 0
}

func (e *Engine) maxParked() int {
	if e.MaxParked == 0 {
		return defaultMaxParked
	}
	return e.MaxParked
}
