package local

import (
	"context"
	"errors"
	"maps"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// A process that is about to end leaves its runs in this order:
//
//	Leave: runs that no call waits for begin nothing more ──▶ calls that change something come to their end, and are recorded
//	Close: all other runs are cut; their effects in progress may have happened

// Going returns the number of runs that continue in this process while no call waits for them. In memory it is 0.
func (e *Engine) Going() int {
	return e.keeper().going()
}

func (f *file) going() int { return len(f.unattended()) }

// Leave stops the runs that no call waits for: they begin no new effect here. This includes runs whose call ends later. Leave
// returns when their writes in progress are done and recorded, or when ctx ends. It cuts effects that change nothing, and the
// process that takes the run performs them again. This process takes no more runs from the state file; [Engine.Close] then hands
// the runs over. In memory Leave does nothing, because no other process can continue the runs.
func (e *Engine) Leave(ctx context.Context) { e.keeper().leave(ctx) }

func (f *file) leave(ctx context.Context) {
	f.mu.Lock()
	f.leaving = true
	f.mu.Unlock()
	for lives := f.unattended(); len(lives) > 0; lives = f.unattended() {
		for _, l := range lives {
			l.life.Quit()
		}
		for _, l := range lives {
			select {
			case <-l.life.Done():
			case <-ctx.Done():
				return
			}
		}
	}
}

// unattended returns the runs that live in this process and that no call waits for.
func (f *file) unattended() (list []*lived) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.living {
		if !l.isAttended() {
			list = append(list, l)
		}
	}
	return list
}

// release gives up a run that a life has left, so that any process can take it.
func (f *file) release(r *run) {
	f.journal.Submit(&store.Change{Steps: []store.Step{store.GiveUp{N: r.N, Owner: f.owner.ID(), Epoch: r.tail.Epoch()}}}) // if this fails, the end of this process releases the run
}

// later gives up a run whose record could not be written, as soon as the store can record that. The run is then claimed and
// replayed again. replayed says that the caller of the run waits for that, and waits is what the run is shown to wait for.
// What this process knows and could not record is kept for that replay.
func (f *file) later(r *run, l *execution.Life, replayed bool, waits *patterns.Waiting) {
	f.keep(r.RunID, r.tail.Unsure())
	f.gone(r, l)
	f.mu.Lock()
	f.stuck[r.RunID] = waits
	f.mu.Unlock()
	time.AfterFunc(again, func() {
		err := f.journal.Do(&store.Change{Steps: []store.Step{store.GiveUp{N: r.N, Owner: f.owner.ID(), Epoch: r.tail.Epoch()}}})
		if unrecorded(err) && !errors.Is(err, store.ErrClosed) {
			f.later(r, l, replayed, waits)
			return
		}
		f.mu.Lock()
		delete(f.stuck, r.RunID)
		f.mu.Unlock()
		f.waiters.announce(r.RunID)
		f.scheduler.nudge()
		if (r.resumed || replayed) && !f.scheduler.serves.Load() { // the operator or the caller of the run waits for it
			_, _ = f.claim(r.N, nil)
		}
	})
}

// keep saves outcomes that could not be recorded, for the run's next life in this process.
func (f *file) keep(id string, unsure map[string]journal.OutcomeBody) {
	if len(unsure) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.outcomes == nil {
		f.outcomes = map[string]map[string]journal.OutcomeBody{}
	}
	if f.outcomes[id] == nil {
		f.outcomes[id] = map[string]journal.OutcomeBody{}
	}
	maps.Copy(f.outcomes[id], unsure)
}

// unrecorded reports whether an error comes from the store. The run can then continue once the store can be written again.
func unrecorded(err error) bool { return errors.Is(err, patterns.ErrJournal) }
