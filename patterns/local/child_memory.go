package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// child implements keeper: in memory a child run waits for nobody, and goes on as long as its parent does.
func (e inMemory) child(ctx context.Context, c *childCall) (childRest, error) {
	r, err := c.begin()
	if err != nil {
		return childRest{lacking: err}, nil
	}
	if _, err := e.begin(r); err != nil {
		return childRest{}, err
	}
	c.live(r)
	select {
	case <-c.life.done:
		return e.ended(c)
	case <-ctx.Done():
		return childRest{}, ctx.Err()
	}
}

// ended implements keeper.
func (e inMemory) ended(c *childCall) (rest childRest, _ error) {
	l := c.life
	if l == nil {
		return rest, nil
	}
	rest.learned(remembered(l.record.Events()), modelOf(l.job))
	rest.over, rest.ended, rest.spec = l.rest.Waiting == nil, l.rest, l.job.Spec
	if l.fault != nil {
		rest.ended.Result = patterns.Result{StopReason: "internal_error"}
	}
	return rest, nil
}

// dropChildren cancels what a run began that is over.
func (e inMemory) dropChildren(r *run) {
	e.mu.Lock()
	var list []*run
	if s := e.shelves[r.job.Principal]; s != nil {
		for _, child := range s.begun {
			if p := child.job.Parent; p != nil && p.RunID == r.id && child.state != patterns.Over {
				list = append(list, child)
			}
		}
	}
	e.mu.Unlock()
	for _, child := range list {
		_ = e.recall(r.job.Principal, child.id, parentOver(r.job.Principal)) // it may have ended in the same moment
	}
}

// parentOver is the note by which a child run is cancelled.
func parentOver(principal string) patterns.Note {
	return patterns.Note{By: principal, Channel: "engine", Reason: "the call that began it is over"}
}

// source makes the jobs of child runs; nil: none can be made.
func (e *Engine) source() patterns.Source {
	if e.file != nil {
		return e.file.options.Source
	}
	return e.Source
}

// lives is a run's life here; nil: there is none.
func (e *Engine) lives(principal, id string) *life {
	if e.file != nil {
		return e.file.life(id)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := (inMemory{e}).find(principal, id); r != nil {
		return r.life
	}
	return nil
}

// childTime is since when a call counts that began a run in an earlier life: what the child waited for somebody is not the call's, nor
// is what its parent rested meanwhile.
func (b *branch) childTime(m *memory, key string) time.Time {
	began, rested := m.began, b.idle-m.idle
	if b.engine.file != nil {
		waited, err := b.engine.file.childWaited(patterns.ChildID(b.id, key))
		if err != nil {
			b.unwind(err)
		}
		rested = max(rested, waited)
	}
	return began.Add(rested)
}

// childWaited is for how long a child run waited for somebody, or was in nobody's hands.
func (f *file) childWaited(id string) (time.Duration, error) {
	n, _ := journal.RunNumber(id)
	h, _, err := f.historyOf(n)
	if h == nil || err != nil {
		return 0, err
	}
	return h.waited.sum + h.idle, nil
}

// historyOf is what a run's record says, as far as it can be read; nil: there is none.
func (f *file) historyOf(n int64) (*history, *store.Row, error) {
	r, stored, err := f.read(n)
	if err != nil || r == nil || len(stored) == 0 {
		return nil, r, err
	}
	open, _, _, err := f.reveal(n, stored)
	if unrecorded(err) {
		return nil, r, err
	}
	if err != nil {
		open = stored
	}
	events, err := decodeEvents(open)
	if err != nil {
		return nil, r, nil //nolint:nilerr // its record is broken, which its end says
	}
	return remembered(events), r, nil
}

var errNoChild = errors.New("local: another run has the child's id")
