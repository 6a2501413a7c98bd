package local

import (
	"context"
	"errors"
	"runtime"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// A process that is about to end leaves its runs in this order:
//
//	Leave: runs that no call waits for begin nothing more ──▶ calls that change something come to their end, and are recorded
//	Close: all other runs are cut; their effects in progress may have happened

// Going returns the number of runs that continue in this process while no call waits for them. In memory it is 0.
func (e *Engine) Going() int {
	if e.file == nil {
		return 0
	}
	return len(e.file.unattended())
}

// Leave stops the runs that no call waits for: they begin no new effect here. This includes runs whose call ends later. Leave
// returns when their writes in progress are done and recorded, or when ctx ends. It cuts effects that change nothing, and the
// process that takes the run performs them again. This process takes no more runs from the state file; [Engine.Close] then hands
// the runs over. In memory Leave does nothing, because no other process can continue the runs.
func (e *Engine) Leave(ctx context.Context) {
	if e.file == nil {
		return
	}
	e.mu.Lock()
	e.file.leaving = true
	e.mu.Unlock()
	for lives := e.file.unattended(); len(lives) > 0; lives = e.file.unattended() {
		for _, l := range lives {
			l.quit()
		}
		for _, l := range lives {
			select {
			case <-l.done:
			case <-ctx.Done():
				return
			}
		}
	}
}

// unattended returns the lives of this process that no call waits for.
func (f *file) unattended() (list []*life) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lives {
		if !l.isAttended() {
			list = append(list, l)
		}
	}
	return list
}

// quitUnattended makes the life quit if its process is leaving and no call waits for it.
func (l *life) quitUnattended() {
	f := l.engine.file
	if f == nil {
		return
	}
	f.mu.Lock()
	quit := f.leaving && !l.isAttended()
	f.mu.Unlock()
	if quit {
		l.quit()
	}
}

// quit stops the life from beginning new effects. Effects in progress continue only if they can change something.
func (l *life) quit() {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.quits()
}

// release gives up a run that a life has left, so that any process can take it.
func (f *file) release(l *life) {
	t := l.record.file
	f.journal.Submit(&store.Change{Steps: []store.Step{store.GiveUp{N: t.n, Owner: f.owner.ID(), Epoch: t.epoch}}}) // if this fails, the end of this process releases the run
}

// stay ends the branch if the life quits: another life performs the next effect. A canceled run does not need this, because it
// begins no effect anyway.
func (l *life) stay() {
	if l.lightly.Err() != nil && !l.taken {
		l.left = true
		runtime.Goexit()
	}
}

// scope returns the context of an effect. An effect that can change something continues when the life quits.
func (l *life) scope(e patterns.Effect) context.Context {
	if changes(e) {
		return l.ctx
	}
	return l.lightly
}

// later gives up a run whose record could not be written, as soon as the store can record that. The run is then claimed and
// replayed again. What this process knows and could not record is kept for that replay.
func (f *file) later(l *life) {
	l.record.file.keep()
	f.gone(l)
	f.mu.Lock()
	f.stuck[l.id] = l.rest.Waiting
	f.mu.Unlock()
	time.AfterFunc(again, func() {
		n, epoch := l.record.file.n, l.record.file.epoch
		err := f.journal.Do(&store.Change{Steps: []store.Step{store.GiveUp{N: n, Owner: f.owner.ID(), Epoch: epoch}}})
		if unrecorded(err) && !errors.Is(err, store.ErrClosed) {
			f.later(l)
			return
		}
		f.mu.Lock()
		delete(f.stuck, l.id)
		f.mu.Unlock()
		f.waiters.announce(l.id)
		f.scheduler.nudge()
		if (l.run.resumed || l.replayed) && !f.scheduler.serves.Load() { // the operator or the caller of the run waits for it
			_, _ = f.claim(n, nil)
		}
	})
}
