package local

import (
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// These limits say how many plans of one principal are kept in memory, and their maximum size together.
const (
	maxPlans     = 1000
	maxPlanBytes = 64 << 20
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
func (e *inMemory) shelf(principal string) *shelf {
	s := e.shelves[principal]
	if s == nil {
		s = &shelf{runs: map[string]*run{}, equal: map[string]*run{}, keyed: map[string]*run{}}
		e.shelves[principal] = s
	}
	return s
}

// add puts a new run on the shelf.
func (s *shelf) add(r *run) {
	s.runs[r.RunID] = r
	s.begun = append(s.begun, r)
	if r.Job.Equal != "" {
		s.equal[r.Job.Equal] = r
	}
	if r.Job.ByKey != "" {
		s.keyed[keyOf(r.Job)] = r
	}
}

func keyOf(job patterns.Job) string { return job.Spec.Name + "\x00" + job.ByKey }

// drop removes a run. It also removes the shelf if that is empty then. The caller holds the lock.
func (e *inMemory) drop(r *run) {
	_ = e.back.Write(store.Bury{N: r.N}) // it always holds
	s := e.shelves[r.Job.Principal]
	delete(s.runs, r.RunID)
	s.begun = without(s.begun, r)
	if s.equal[r.Job.Equal] == r {
		delete(s.equal, r.Job.Equal)
	}
	if s.keyed[keyOf(r.Job)] == r {
		delete(s.keyed, keyOf(r.Job))
	}
	if len(s.runs) == 0 {
		delete(e.shelves, r.Job.Principal)
	}
}

func without(list []*run, r *run) []*run {
	return slices.DeleteFunc(list, func(other *run) bool { return other == r })
}

// begunBy returns the run that an equal call began and that a new call joins; nil: there is none. The caller holds the lock.
func (s *shelf) begunBy(job patterns.Job, since time.Time) (*run, error) {
	if job.ByKey != "" {
		r := s.keyed[keyOf(job)]
		if r != nil && r.Job.Equal != job.Equal {
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
