package local

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// slowPoll is how often the store is looked at while no other process carries a run on and nobody waits: a decision that another process
// writes is noticed within that.
const slowPoll = 100 * time.Millisecond

// scheduler takes up the runs of a store that are ready or due. It is the one part of the engine that polls.
//
//	serve:  claim what is ready ──► wait: nudged, due, or a look after pace() ──► ...
//	follow: the one run that a call waits for, in a program that does not serve
//	every:  whatever else must be looked at again and again
type scheduler struct {
	file    *file
	nudged  chan struct{} // there may be something to take up
	closing chan struct{}
	polls   sync.WaitGroup
	serves  atomic.Bool // all that is ready is taken up here

	others  []string // owners of runs in other processes, as far as is known; of the goroutine that serves
	unheard bool     // there may be more reloads; likewise
}

func newScheduler(f *file) *scheduler {
	return &scheduler{file: f, nudged: make(chan struct{}, 1), closing: make(chan struct{})}
}

// nudge says that there may be something to take up.
func (s *scheduler) nudge() {
	select {
	case s.nudged <- struct{}{}:
	default:
	}
}

// close ends all polling. The end of the scheduler includes the end of its polls.
func (s *scheduler) close() { close(s.closing) }

// start begins to serve.
func (s *scheduler) start() {
	s.polls.Add(1)
	go func() {
		defer s.polls.Done()
		s.serve()
	}()
}

// serve takes up what is ready: at start, when nudged, when something is due, and when another process has changed the store or died.
func (s *scheduler) serve() {
	s.others = s.file.owners()
	s.file.bury(s.others)
	for {
		next := s.file.claimReady()
		var due <-chan time.Time
		if !next.IsZero() {
			due = time.After(max(next.Sub(s.file.journal.Now()), time.Millisecond))
		}
		if !s.idle(due) {
			return
		}
	}
}

// pace is how long to wait until the next look.
func (s *scheduler) pace() time.Duration {
	switch {
	case s.file.options.Poll > 0:
		return s.file.options.Poll
	case len(s.others) > 0 || s.file.waiters.any():
		return defaultPoll
	}
	return slowPoll
}

// idle returns when there may be something to take up; false: the engine closes.
func (s *scheduler) idle(due <-chan time.Time) bool {
	for {
		tick := time.NewTimer(s.pace())
		select {
		case <-s.closing:
			tick.Stop()
			return false
		case <-s.nudged:
			tick.Stop()
			return true
		case <-due:
			tick.Stop()
			return true
		case <-tick.C:
			if s.look() {
				return true
			}
		}
	}
}

// look sees what other processes have done, and reports whether there may be something to take up.
func (s *scheduler) look() bool {
	f := s.file
	f.deliver()
	f.journal.Tidy()
	changed := f.journal.Changed()
	if changed || s.unheard {
		s.unheard = !f.heed()
	}
	if changed {
		s.others = f.owners()
	}
	buried := f.bury(s.others)
	if buried {
		s.others = f.owners()
	}
	if wanted := f.back.Recalled.Swap(false); changed || wanted {
		f.yield()
		f.obey()
		f.waiters.announceAll()
		return true
	}
	return buried
}

// every calls look at once and then after each interval, until look returns true, ctx ends, or the engine closes. The error
// is ctx's or [store.ErrClosed].
func (s *scheduler) every(ctx context.Context, interval time.Duration, look func() (enough bool)) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for !look() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return store.ErrClosed
		case <-ticks.C:
		}
	}
	return nil
}

// beside calls look again and again, as every does, in a goroutine of its own. stop returns when that has ended.
func (s *scheduler) beside(interval time.Duration, look func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		_ = s.every(ctx, interval, func() bool { look(); return false })
	})
	return func() {
		cancel()
		looking.Wait()
	}
}

// follow takes up the one run that a call joined, if no process does, and sees its changes, for as long as the call waits. An engine that
// serves (see [Engine.Go]) needs nothing of it. One that does not would leave the call waiting for a run whose process has died.
func (s *scheduler) follow(id string, progress func(patterns.Progress)) (stop func()) {
	n, ok := journal.RunNumber(id)
	if !ok || s.serves.Load() {
		return func() {}
	}
	f, first := s.file, true
	return s.beside(cmp.Or(f.options.Poll, defaultPoll), func() {
		changed := first || f.journal.Changed()
		first = false
		if buried := f.bury(f.owners()); changed || buried {
			_, _ = f.claim(n, progress) // else it waits, has ended, or another process has it
			f.waiters.announce(id)
		}
	})
}

// heed does for a program that does not serve what serving does besides taking up runs: it releases the runs of processes that have died, and
// has runs here end that somebody wants cancelled. stop returns when it has ended.
func (s *scheduler) heed() (stop func()) {
	if s.serves.Load() {
		return func() {}
	}
	f := s.file
	f.bury(f.owners())
	return s.beside(cmp.Or(f.options.Poll, defaultPoll), func() {
		if changed, wanted := f.journal.Changed(), f.back.Recalled.Swap(false); changed || wanted {
			f.yield()
			f.obey()
			f.waiters.announceAll()
		}
	})
}

// lookOn tells here what other processes change, in an engine that does not serve. stop returns when it has ended.
func (s *scheduler) lookOn() (stop func()) {
	if s.serves.Load() {
		return func() {}
	}
	first := true
	return s.beside(cmp.Or(s.file.options.Poll, slowPoll), func() {
		if !first && s.file.journal.Changed() {
			s.file.waiters.announceAll()
		}
		first = false
	})
}

func (f *file) follow(id string, progress func(patterns.Progress)) (stop func()) {
	return f.scheduler.follow(id, progress)
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

// yield gives up the lives of runs that were taken from this process. Afterwards a question here for one of them
// gets its real state.
func (f *file) yield() {
	f.mu.Lock()
	lives := slices.Collect(maps.Values(f.living)) // before the rows are read, so that each has its own
	f.mu.Unlock()
	lives = slices.DeleteFunc(lives, func(l *lived) bool { return !l.tail.IsEntered() })
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
		if mine[l.N] != l.tail.Epoch() {
			l.life.GiveUp(store.ErrFenced)
		}
	}
}

// obey cancels the runs of this process for which another process has asked that.
func (f *file) obey() {
	var list []int64
	_ = f.journal.View(func(s store.Reader) (err error) {
		list, err = s.Canceled(f.owner.ID())
		return err
	})
	for _, n := range list {
		if l := f.life(journal.RunID(n)); l != nil {
			l.life.End(patterns.Note{By: l.Job.Principal})
		} else { // it is about to live
			f.back.Recalled.Store(true)
		}
	}
}

// life returns a run that lives here; nil: it does not.
func (f *file) life(id string) *lived {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.living[id]
}

// claimReady continues the runs that are ready or due and that this process can continue. It returns when the next run is due.
func (f *file) claimReady() (next time.Time) {
	ready, next, err := f.candidates()
	if err != nil {
		return f.journal.Now().Add(again)
	}
	failed := false
	for _, r := range ready {
		select {
		case <-f.scheduler.closing:
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
	return f.living[r.ID()] == nil && !(lacks && epoch == r.Epoch)
}
