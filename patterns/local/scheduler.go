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

// slowPoll is how often the store is read while no other process runs anything and no call waits. A decision that another process
// writes is seen within that time.
const slowPoll = 100 * time.Millisecond

// scheduler claims the runs of a store that are ready or due. It is the only part of the engine that polls.
//
//	serve:  claim what is ready ──► wait: nudged, due, or a look after pace() ──► ...
//	follow: the one run that a call waits for, in a program that does not serve
//	every:  any other check that is repeated
type scheduler struct {
	file    *file
	nudged  chan struct{} // there may be a run to claim
	closing chan struct{}
	polls   sync.WaitGroup
	serves  atomic.Bool // this process claims all that is ready

	others  []string // known owners of runs in other processes; only for the serving goroutine
	unheard bool     // there may be more reloads; only for the serving goroutine
}

func newScheduler(f *file) *scheduler {
	return &scheduler{file: f, nudged: make(chan struct{}, 1), closing: make(chan struct{})}
}

// nudge notes that there may be a run to claim.
func (s *scheduler) nudge() {
	select {
	case s.nudged <- struct{}{}:
	default:
	}
}

// close ends all polling. It does not wait for that.
func (s *scheduler) close() { close(s.closing) }

// start begins to serve.
func (s *scheduler) start() {
	s.polls.Add(1)
	go func() {
		defer s.polls.Done()
		s.serve()
	}()
}

// serve claims what is ready: at start, when nudged, when a run is due, and when another process has changed the store or died.
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

// pace returns how long to wait until the next look.
func (s *scheduler) pace() time.Duration {
	switch {
	case s.file.options.Poll > 0:
		return s.file.options.Poll
	case len(s.others) > 0 || s.file.waiters.any():
		return defaultPoll
	}
	return slowPoll
}

// idle returns true when there may be a run to claim, and false when the engine closes.
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

// look handles what other processes have done, and reports whether there may be a run to claim.
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
	if wanted := f.recall.Swap(false); changed || wanted {
		f.yield()
		f.obey()
		f.waiters.announceAll()
		return true
	}
	return buried
}

// every calls look at once and then after each interval, until look returns true, ctx ends, or the engine closes. It returns ctx's error.
func (s *scheduler) every(ctx context.Context, interval time.Duration, look func() (enough bool)) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for !look() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return nil
		case <-ticks.C:
		}
	}
	return nil
}

// beside calls look repeatedly, like every, in a goroutine of its own. stop ends that and waits for it.
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

// follow claims the one run that a call joined, if no process runs it, and announces its changes while the call waits. An engine
// that serves (see [Engine.Go]) does not need it. In another engine, the call would wait for ever for a run whose process has died.
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

// lookOn announces what other processes change, in an engine that does not serve. stop returns when it has ended.
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

// owners returns the other processes that run anything.
func (f *file) owners() (list []string) {
	_ = f.journal.View(func(s store.Reader) (err error) { // on an error the next look finds them
		list, err = s.Owners(f.owner.ID())
		return err
	})
	return list
}

// bury releases the runs of owners that have died.
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

// yield gives up the lives of runs that were taken from this process. A reader in this process then sees their real state.
func (f *file) yield() {
	f.mu.Lock()
	lives := slices.Collect(maps.Values(f.lives)) // read before the rows, so that each life has its row
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
		return // the next change of such a run fails then
	}
	for _, l := range lives {
		if t := l.record.file; mine[t.n] != t.epoch {
			l.giveUp(store.ErrFenced)
		}
	}
}

// obey cancels the runs of this process for which another process recorded a cancellation.
func (f *file) obey() {
	var list []int64
	_ = f.journal.View(func(s store.Reader) (err error) {
		list, err = s.Canceled(f.owner.ID())
		return err
	})
	for _, n := range list {
		if l := f.life(journal.RunID(n)); l != nil {
			l.end(patterns.Note{By: l.job.Principal})
		} else { // its life is about to begin
			f.recall.Store(true)
		}
	}
}

func (f *file) life(id string) *life {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lives[id]
}

// claimReady claims the runs that are ready or due and can continue here. It returns when the next run is due.
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
		failed = failed || unrecorded(err) // the other runs may be readable
	}
	if failed {
		return f.journal.Now().Add(again)
	}
	return next
}

// candidates returns the runs that are ready or due, without those that lack something in this process.
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
	if len(list) == room { // there may be more runs
		next = f.journal.Now()
	}
	return list, next, err
}

// maxResumed is how many claimed runs continue at once. More are claimed only when some have ended.
const maxResumed = 256

// room returns how many runs may be claimed now. If it is 0, the end of a run triggers the next look.
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

// claimable reports whether a ready or due run has no life here and is not known to lack something here.
func (f *file) claimable(r *store.Row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	epoch, lacks := f.lacking[r.N]
	return f.lives[r.ID()] == nil && !(lacks && epoch == r.Epoch)
}
