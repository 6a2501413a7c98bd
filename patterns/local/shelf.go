package local

import (
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// maxParkedBytes is how much memory a principal's waiting runs may use together for what their callers sent. Over it the oldest
// expire. A single run may always wait.
const maxParkedBytes = 64 << 20

// These limits say how much is kept in memory of one principal's ended runs: how many runs, and how many bytes that their callers
// sent. The oldest are removed. The newest is always kept.
const (
	maxEnded      = 200
	maxEndedBytes = 64 << 20
)

// run is one run in this process. In memory it stays from its start until it is removed, with a state file while it has a life.
type run struct {
	engine *Engine
	id     string
	job    patterns.Job
	record *Record
	began  time.Time
	size   int // of what its caller sent so far, in bytes of memory

	// Guarded by the engine's lock.
	state     patterns.RunState
	attended  bool             // a call began or continues it and waits
	life      *life            // of a run that runs; nil for the moment between lives
	idle      patterns.Current // what is shown in that moment
	rest      patterns.Ended
	clock     *time.Timer    // of a run that waits for a limited time
	delivered bool           // its result was given to its caller
	within    *run           // of a child run that was begun here: the run that called it; else nil
	resumed   bool           // it was claimed from the state file, not by a call
	recall    *patterns.Note // cancel it as soon as it has a life; nil: do not
}

// shelf is one principal's runs in memory.
type shelf struct {
	runs   map[string]*run
	equal  map[string]*run // the newest, by what the call asked for
	keyed  map[string]*run // by tool and idempotency key
	begun  []*run          // all of runs, oldest first
	parked []*run          // in the order in which they began to wait
	bytes  int             // of the parked ones
	ended  []*run          // in the order of their ends
	kept   int             // bytes of the ended ones
}

// shelf returns a principal's shelf. The caller holds the lock.
func (e *Engine) shelf(principal string) *shelf {
	if e.shelves == nil {
		e.shelves = map[string]*shelf{}
	}
	s := e.shelves[principal]
	if s == nil {
		s = &shelf{runs: map[string]*run{}, equal: map[string]*run{}, keyed: map[string]*run{}}
		e.shelves[principal] = s
	}
	return s
}

// add puts a new run on the shelf.
func (s *shelf) add(r *run) {
	s.runs[r.id] = r
	s.begun = append(s.begun, r)
	if r.job.Equal != "" {
		s.equal[r.job.Equal] = r
	}
	if r.job.ByKey != "" {
		s.keyed[keyOf(r.job)] = r
	}
}

func keyOf(job patterns.Job) string { return job.Spec.Name + "\x00" + job.ByKey }

// drop removes a run. It also removes the shelf if that is empty then. The caller holds the lock.
func (e *Engine) drop(r *run) {
	_ = e.write(store.Bury{N: r.number()}) // it always holds
	s := e.shelves[r.job.Principal]
	delete(s.runs, r.id)
	s.begun = without(s.begun, r)
	if s.equal[r.job.Equal] == r {
		delete(s.equal, r.job.Equal)
	}
	if s.keyed[keyOf(r.job)] == r {
		delete(s.keyed, keyOf(r.job))
	}
	if len(s.runs) == 0 {
		delete(e.shelves, r.job.Principal)
	}
}

func without(list []*run, r *run) []*run {
	return slices.DeleteFunc(list, func(other *run) bool { return other == r })
}

// begunBy returns the run that an equal call began and that a new call joins; nil: there is none. The caller holds the lock.
func (s *shelf) begunBy(job patterns.Job, since time.Time) (*run, error) {
	if job.ByKey != "" {
		r := s.keyed[keyOf(job)]
		if r != nil && r.job.Equal != job.Equal {
			return nil, patterns.ErrReused
		}
		return r, nil
	}
	r := s.equal[job.Equal]
	if r == nil || job.Equal == "" || r.state == patterns.Over && (r.delivered || !r.rest.Ended.After(since)) {
		return nil, nil
	}
	return r, nil
}

// tooMany returns the oldest waiting runs that must expire for the newest, and what each waits for. The caller holds the lock.
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

// snapshot shows the run without the head of its record. The caller holds the lock.
func (r *run) snapshot() patterns.Snapshot {
	s := patterns.Snapshot{
		RunID: r.id, Pattern: r.job.Spec.Name, Caller: r.job.Caller, Parent: r.job.Parent,
		Arguments: r.job.Arguments, State: r.state, Began: r.began, Ended: r.rest, Spec: r.job.Spec,
	}
	if r.job.Model != nil {
		s.Model = r.job.Model.Name()
	}
	if r.state == patterns.Running {
		s.Ended = patterns.Ended{RunID: r.id, Began: r.began}
		if s.Current = r.idle; r.life != nil {
			s.Current = *r.life.now.Load()
		}
	}
	return s
}

// isAttended reports whether a call waits for the run or for its parent. The caller holds the lock.
func (r *run) isAttended() bool {
	return r.attended || r.within != nil && r.within.isAttended()
}

// number returns the number in the run's id.
func (r *run) number() int64 {
	n, _ := journal.RunNumber(r.id)
	return n
}

// parentOf returns the number of the run whose call began this one; 0: it has no parent.
func (r *run) parentOf() int64 {
	if r.job.Parent == nil {
		return 0
	}
	n, _ := journal.RunNumber(r.job.Parent.RunID)
	return n
}
