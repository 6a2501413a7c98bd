package local

import (
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// maxParkedBytes is how much of what its callers sent a principal's waiting runs hold together in memory. The oldest
// expire for more; a single run may always wait.
const maxParkedBytes = 64 << 20

// What is kept in memory of one principal's runs after their end: the newest ones, and what their callers sent. The
// newest is kept in any case.
const (
	maxEnded      = 200
	maxEndedBytes = 64 << 20
)

// run is one run in this process: in memory from its start until it is forgotten, of a state file while it lives.
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
	life      *life            // of a run that runs; nil in the moment in which it begins or goes on
	idle      patterns.Current // what is shown in that moment
	rest      patterns.Ended
	clock     *time.Timer    // of a run that waits for a limited time
	delivered bool           // its result was given to its caller
	within    *run           // of a child run that was begun here: whose call it is of; nil
	resumed   bool           // it was taken from the state file by nobody's call
	recall    *patterns.Note // it is to be cancelled as soon as it lives; nil: it is not
	lostPlan  bool           // another run changed its plan while it waited
}

// shelf is one principal's runs in memory.
type shelf struct {
	runs   map[string]*run
	equal  map[string]*run // the newest by what was asked for
	keyed  map[string]*run // by tool and idempotency key
	begun  []*run          // all of runs, oldest first
	parked []*run          // in the order in which they began to wait
	bytes  int             // of the parked ones
	ended  []*run          // in the order of their ends
	kept   int             // bytes of the ended ones
}

// shelf returns a principal's shelf. The lock is held.
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

// drop forgets a run. A principal without runs leaves nothing behind. The lock is held.
func (e *Engine) drop(r *run) {
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

// begunBy is the run that an equal call began and that a new one joins; nil: there is none. The lock is held.
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

// snapshot shows the run, all but the head of its record. The lock is held.
func (r *run) snapshot() patterns.Snapshot {
	s := patterns.Snapshot{
		RunID: r.id, Pattern: r.job.Spec.Name, Principal: r.job.Principal, Client: r.job.Client,
		Parent: r.job.Parent, ClientVersion: r.job.ClientVersion, Era: r.job.Era, Arguments: r.job.Arguments, State: r.state, Began: r.began, Ended: r.rest, Spec: r.job.Spec,
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

// isAttended reports whether a call waits for the run, or for the one that called it. The lock is held.
func (r *run) isAttended() bool {
	return r.attended || r.within != nil && r.within.isAttended()
}

// parentOf is the number of the run whose call began this one; 0: nobody's did.
func (r *run) parentOf() int64 {
	if r.job.Parent == nil {
		return 0
	}
	n, _ := journal.RunNumber(r.job.Parent.RunID)
	return n
}
