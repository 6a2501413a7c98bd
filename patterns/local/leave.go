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
//	Close: all the others are cut; what then was under way may have happened

// Going is how many runs go on here that no call waits for.
func (e *Engine) Going() int {
	if e.file == nil {
		return 0
	}
	return len(e.file.unattended())
}

// Leave has the runs that no call waits for begin nothing more here, those too that a call lets go of later, and waits until
// what they have under way that changes something is done and recorded, at the latest until ctx ends. What changes nothing
// is cut: who takes the run does it again. Nothing is taken from the state file any more; [Engine.Close] then hands the
// runs over. In memory there is nobody to leave them to.
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

// unattended are the lives here that no call waits for.
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

// quitUnattended has the life quit where its process leaves and no call waits for it.
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

// quit has the life begin nothing more. What is under way goes on only where it changes something.
func (l *life) quit() {
	l.baton.Lock()
	defer l.baton.Unlock()
	l.quits()
}

// release has a run that a life has left be taken by whoever comes.
func (f *file) release(l *life) {
	t := l.record.file
	f.journal.Submit(&store.Change{Steps: []store.Step{store.GiveUp{N: t.n, Owner: f.owner.ID(), Epoch: t.epoch}}}) // else the end of this process does it
}

// stay ends the branch where the life quits: its next effect is somebody else's. A run that is taken back begins nothing
// anyway and may as well end here.
func (l *life) stay() {
	if l.lightly.Err() != nil && !l.taken {
		l.left = true
		runtime.Goexit()
	}
}

// scope is the life of an effect: what may change something outlives the wish to leave.
func (l *life) scope(e patterns.Effect) context.Context {
	if changes(e) {
		return l.ctx
	}
	return l.lightly
}

// later gives a run up whose record could not be written, as soon as it can be. It is then claimed anew and replayed;
// what this process knows and could not record is held for that.
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
		if (l.run.resumed || l.replayed) && !f.scheduler.serves.Load() { // who had it resumed, or begun, waits for it
			_, _ = f.claim(n, nil)
		}
	})
}
