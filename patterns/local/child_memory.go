package local

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// child implements keeper. In memory a child run never waits for a person or the caller, and lives no longer than its
// parent.
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

// dropChildren cancels the child runs of a run that is over.
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
		_ = e.recall(r.job.Principal, child.id, parentOver(r.job.Principal)) // it may have ended at the same moment
	}
}

// parentOver returns the note for a child run that is cancelled because its call is over.
func parentOver(principal string) patterns.Note {
	return patterns.Note{By: principal, Channel: "engine", Reason: "the call that began it is over"}
}

// source returns the source of the jobs of child runs; nil: no child run can be begun.
func (e *Engine) source() patterns.Source {
	if e.file != nil {
		return e.file.options.Source
	}
	return e.Source
}

// lives returns a run's life in this process; nil: there is none.
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

// childTime returns the start of the time of a call that began a run in an earlier life. It is later than the intent by
// the time in which the child or its parent waited, whichever is longer.
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

// childWaited returns how long a child run waited for its caller and people, or was carried out by no process.
func (f *file) childWaited(id string) (time.Duration, error) {
	n, _ := journal.RunNumber(id)
	h, _, err := f.historyOf(n)
	if h == nil || err != nil {
		return 0, err
	}
	return h.waited.sum + h.idle, nil
}

// historyOf returns what a run's record says, as far as it can be read; nil: there is none, or it is broken.
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
