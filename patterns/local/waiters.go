package local

import (
	"context"
	"errors"
	"slices"
	"sync"

	"patterngate/patterns"
)

// waiters are the callers that wait for a run to change. The zero value is ready. It is safe for concurrent use.
type waiters struct {
	mu sync.Mutex
	by map[string]*waiter // by run

	// These fields hold the newest changes, for callers that follow all runs. changed is their number so far. next is closed at the
	// next one.
	log     []string
	changed uint64
	next    chan struct{}
}

// maxChanges is how many changes are kept for callers that follow all runs. A caller that is further behind gets
// [patterns.Everything].
const maxChanges = 256

type waiter struct {
	changed chan struct{} // closed when the run changes
	n       int           // how many callers wait
}

// on returns a channel that is closed at the run's next change, and a function that stops the wait.
func (w *waiters) on(id string) (changed <-chan struct{}, off func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]*waiter{}
	}
	one := w.by[id]
	if one == nil {
		one = &waiter{changed: make(chan struct{})}
		w.by[id] = one
	}
	one.n++
	return one.changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if one.n--; one.n == 0 && w.by[id] == one {
			delete(w.by, id)
		}
	}
}

// any reports whether a caller waits for any run.
func (w *waiters) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.by) > 0
}

// note keeps a change for callers that follow all runs. The caller holds the lock.
func (w *waiters) note(id string) {
	if w.next == nil { // no caller ever did
		w.changed++
		return
	}
	if len(w.log) == maxChanges {
		w.log = append(w.log[:0], w.log[1:]...)
	}
	w.log, w.changed = append(w.log, id), w.changed+1
	close(w.next)
	w.next = make(chan struct{})
}

// since returns what has changed after the first seen changes. If nothing has, it returns a channel that is closed at the next
// change.
func (w *waiters) since(seen uint64) (ids []string, now uint64, next <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil { // 0 means a caller's first request
		w.next, w.changed = make(chan struct{}), max(w.changed, 1)
	}
	behind := w.changed - seen
	switch {
	case behind == 0:
		return nil, w.changed, w.next
	case seen > w.changed, behind > uint64(len(w.log)):
		return []string{patterns.Everything}, w.changed, nil
	}
	return slices.Compact(slices.Sorted(slices.Values(w.log[uint64(len(w.log))-behind:]))), w.changed, nil
}

// follow implements Changed of [patterns.Owner].
func (w *waiters) follow(ctx context.Context, seen uint64) ([]string, uint64) {
	for first := seen == 0; ; first = false {
		ids, now, next := w.since(seen)
		if first {
			return nil, now
		}
		if next == nil {
			return ids, now
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, now
		}
	}
}

// announce reports that a run has changed.
func (w *waiters) announce(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(id)
	if one := w.by[id]; one != nil {
		close(one.changed)
		delete(w.by, id)
	}
}

// announceAll reports that any run may have changed.
func (w *waiters) announceAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(patterns.Everything)
	for id, one := range w.by {
		close(one.changed)
		delete(w.by, id)
	}
}

// until shows a run as soon as its state differs from the mark, or when ctx ends.
func (w *waiters) until(ctx context.Context, id string, mark patterns.Mark, look func() (patterns.Snapshot, bool)) (patterns.Snapshot, bool) {
	for {
		changed, off := w.on(id)
		s, ok := look()
		if !ok || s.Mark() != mark {
			off()
			return s, ok
		}
		select {
		case <-changed:
			off()
		case <-ctx.Done():
			off()
			return s, ok
		}
	}
}

// canceled cancels a run and waits until it rests. If the run began to wait at the same moment, it is canceled again.
func canceled(ctx context.Context, runs patterns.Runs, principal, id string, cancel func() error) (patterns.Snapshot, error) {
	const most = 3 // a run that cannot be recorded stays waiting
	for try := 1; ; try++ {
		if err := cancel(); err != nil {
			if !errors.Is(err, patterns.ErrOver) {
				s, _ := runs.Run(principal, id)
				return s, err
			}
			if try > 1 {
				err = nil
			}
			s, _ := runs.Wait(ctx, principal, id, patterns.Mark{State: patterns.Running}) // its end is recorded, but not yet announced
			return s, err
		}
		s, ok := runs.Wait(ctx, principal, id, patterns.Mark{State: patterns.Running})
		switch {
		case !ok:
			return s, patterns.ErrNoRun
		case s.State != patterns.Parked || try == most || ctx.Err() != nil:
			return s, nil
		}
	}
}
