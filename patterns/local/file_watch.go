package local

import (
	"maps"
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// slowPoll is how often it is looked where no other process carries anything on and nobody waits: a decision that another
// one writes down is noticed within that.
const slowPoll = 100 * time.Millisecond

// watch carries on what is ready: at start, when nudged, when something is due, and when another process has written to
// the file or died.
func (f *file) watch() {
	defer f.watching.Done()
	others := f.owners()
	f.bury(others)
	for {
		next := f.claimReady()
		var due <-chan time.Time
		if !next.IsZero() {
			due = time.After(max(next.Sub(f.journal.Now()), time.Millisecond))
		}
		if !f.idle(due, &others) {
			return
		}
	}
}

// pace is how long it is waited until the next look.
func (f *file) pace(others []string) time.Duration {
	switch {
	case f.options.Poll > 0:
		return f.options.Poll
	case len(others) > 0 || f.waiters.any():
		return defaultPoll
	}
	return slowPoll
}

// idle returns when there may be something to carry on; false: the engine closes. others are the owners that carry
// something on, as far as is known.
func (f *file) idle(due <-chan time.Time, others *[]string) bool {
	for {
		tick := time.NewTimer(f.pace(*others))
		select {
		case <-f.closing:
			tick.Stop()
			return false
		case <-f.nudged:
			tick.Stop()
			return true
		case <-due:
			tick.Stop()
			return true
		case <-tick.C:
			if f.look(others) {
				return true
			}
		}
	}
}

// look sees what other processes have done, and says whether there may be something to carry on.
func (f *file) look(others *[]string) bool {
	f.deliver()
	f.journal.Tidy()
	changed := f.journal.Changed()
	if changed || f.unheard {
		f.unheard = !f.heed()
	}
	if changed {
		*others = f.owners()
	}
	buried := f.bury(*others)
	if buried {
		*others = f.owners()
	}
	if wanted := f.recall.Swap(false); changed || wanted {
		f.yield()
		f.obey()
		f.waiters.announceAll()
		return true
	}
	return buried
}

// owners are the other processes that carry runs on.
func (f *file) owners() (list []string) {
	_ = f.journal.View(func(s store.Reader) (err error) { // the next look finds them
		list, err = s.Owners(f.owner.ID())
		return err
	})
	return list
}

// bury frees the runs of owners that have died.
func (f *file) bury(owners []string) (found bool) {
	for _, id := range owners {
		bury, dead := f.owner.Dead(id)
		if !dead {
			continue
		}
		if err := f.journal.Do(&store.Change{Steps: []store.Step{store.Release{Owner: id}}}); err == nil {
			bury()
			found = true
		}
	}
	return found
}

// yield gives up the lives of runs that were taken from this process: whoever asks here for one of them is shown how it
// really stands.
func (f *file) yield() {
	f.mu.Lock()
	lives := slices.Collect(maps.Values(f.lives)) // before the rows are read, so that each has its own
	f.mu.Unlock()
	lives = slices.DeleteFunc(lives, func(l *life) bool { return !l.record.file.isEntered() })
	if len(lives) == 0 {
		return
	}
	var mine map[int64]int64
	err := f.journal.View(func(s store.Reader) (err error) {
		mine, err = s.Owned(f.owner.ID())
		return err
	})
	if err != nil {
		return // its next change finds out
	}
	for _, l := range lives {
		if t := l.record.file; mine[t.n] != t.epoch {
			l.giveUp(store.ErrFenced)
		}
	}
}

// obey cancels the runs of this process that somebody wants cancelled who could not tell their lives.
func (f *file) obey() {
	var list []int64
	_ = f.journal.View(func(s store.Reader) (err error) {
		list, err = s.Canceled(f.owner.ID())
		return err
	})
	for _, n := range list {
		if l := f.life(journal.RunID(n)); l != nil {
			l.end(patterns.Note{By: l.job.Principal})
		} else { // it is about to live
			f.recall.Store(true)
		}
	}
}

func (f *file) life(id string) *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lives[id]
}

// claimReady carries on what is ready or due and can be carried on here, and returns when the next one is due.
func (f *file) claimReady() (next time.Time) {
	ready, next, err := f.candidates()
	if err != nil {
		return f.journal.Now().Add(again)
	}
	failed := false
	for _, r := range ready {
		select {
		case <-f.closing:
			return time.Time{}
		default:
		}
		_, err := f.claim(r.N, nil)
		failed = failed || unrecorded(err) // others may be readable
	}
	if failed {
		return f.journal.Now().Add(again)
	}
	return next
}

// candidates are the runs that are ready or due, but for those that were found to lack something here.
func (f *file) candidates() (list []*store.Row, next time.Time, err error) {
	now, room := f.journal.Now().UnixMicro(), f.room()
	if room == 0 {
		return nil, time.Time{}, nil
	}
	var wake int64
	err = f.journal.View(func(s store.Reader) (err error) {
		wake, err = s.Ready(now, func(r *store.Row) bool {
			if f.claimable(r) {
				list = append(list, r)
			}
			return len(list) < room
		})
		return err
	})
	if wake > 0 {
		next = time.UnixMicro(wake)
	}
	if len(list) == room { // there may be more
		next = f.journal.Now()
	}
	return list, next, err
}

// maxResumed is how many runs are carried on at once before more are taken from the file.
const maxResumed = 256

// room is how many runs may be taken from the file now; when there is none, the end of a run has it looked again.
func (f *file) room() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leaving {
		return 0
	}
	n := max(0, maxResumed-f.resumed)
	f.crowded = n == 0
	return n
}

// claimable says that a run which is ready or due does not live here and is not known to lack something here.
func (f *file) claimable(r *store.Row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	epoch, lacks := f.lacking[r.N]
	return f.lives[r.ID()] == nil && !(lacks && epoch == r.Epoch)
}
