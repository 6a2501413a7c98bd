package local

import (
	"cmp"
	"context"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// follow carries on the one run that a call joined, if nobody does, and sees its changes, for as long as the call waits.
// An engine that carries on whatever there is (see [Engine.Go]) needs nothing of it; one that does not would leave the
// call waiting for a run whose process has died. stop returns when it has ended.
func (f *file) follow(id string, progress func(patterns.Progress)) (stop func()) {
	n, ok := journal.RunNumber(id)
	if !ok || f.watched.Load() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() {
		ticks := time.NewTicker(cmp.Or(f.options.Poll, defaultPoll))
		defer ticks.Stop()
		for look := true; ; look = f.journal.Changed() {
			if buried := f.bury(f.owners()); look || buried {
				_, _ = f.claim(n, progress) // else it waits, has ended, or is carried on elsewhere
				f.waiters.announce(id)
			}
			select {
			case <-ctx.Done():
				return
			case <-f.closing:
				return
			case <-ticks.C:
			}
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// lookOn tells here what other processes write, in an engine that does not look at that for itself: who follows all runs
// would not hear of it. stop returns when it has ended.
func (f *file) lookOn() (stop func()) {
	if f.watched.Load() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() {
		ticks := time.NewTicker(cmp.Or(f.options.Poll, slowPoll))
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-f.closing:
				return
			case <-ticks.C:
				if f.journal.Changed() {
					f.waiters.announceAll()
				}
			}
		}
	})
	return func() {
		cancel()
		looking.Wait()
	}
}
