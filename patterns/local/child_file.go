package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// child implements keeper. It begins the run of a call if there is none, carries it out if no process does, and waits
// until it ends or waits. Its error is the error of ctx, an error of the store, or the reason why the parent cannot
// continue.
func (f *file) child(ctx context.Context, c *childCall) (childRest, error) {
	n, _ := journal.RunNumber(c.id)
	defer f.scheduler.follow(c.id, c.progressOf())()
	for {
		changed, off := f.waiters.on(c.id)
		rest, done, err := f.childNow(ctx, c, n)
		if done || err != nil {
			off()
			return rest, err
		}
		select {
		case <-changed:
			off()
		case <-ctx.Done():
			off()
			return childRest{}, ctx.Err()
		}
	}
}

// childNow looks at the child once and does what can be done now; false: the child is still running.
func (f *file) childNow(ctx context.Context, c *childCall, n int64) (rest childRest, done bool, err error) {
	r, err := f.rowOf(n)
	switch {
	case err != nil:
		return rest, false, err
	case r == nil:
		return f.childBegins(ctx, c)
	case journal.RunID(r.Parent) != c.branch.id:
		return childRest{lacking: errNoChild}, true, nil
	case r.State == "ended", r.State == "broken":
		rest, err = f.ended(c)
		return rest, true, err
	case r.State == "parked" && (r.Wake == 0 || r.Wake > f.journal.Now().UnixMicro()):
		return f.childWaits(r)
	case r.State == "running", f.life(c.id) != nil:
		return rest, false, nil
	}
	switch _, err := f.claim(n, c.progressOf()); {
	case isLacking(err):
		return f.childWaits(r)
	case errors.Is(err, journal.ErrBroken), errors.Is(err, ErrMismatch), errors.Is(err, patterns.ErrNotTaken): // the row says so, or will soon
		return rest, false, nil
	default:
		return rest, false, err
	}
}

// childBegins begins the child and waits until its life in this process ends.
func (f *file) childBegins(ctx context.Context, c *childCall) (rest childRest, done bool, err error) {
	if c.refused != nil { // it was not begun before its process ended
		return childRest{over: true, ended: patterns.Ended{Result: patterns.Result{StopReason: c.refused.Reason}}}, true, nil
	}
	for try := 1; ; try++ {
		r, err := c.begin()
		if err != nil {
			return childRest{lacking: err}, true, nil
		}
		if _, err := f.begin(r); err != nil {
			return rest, false, err
		}
		r.record.file.beside(c.branch.record.file)
		c.live(r)
		select {
		case <-c.life.done:
		case <-ctx.Done():
			return rest, false, ctx.Err()
		}
		refused := r.record.file.entered()
		switch {
		case refused == nil, store.RefusedBy[store.Begin](refused):
			f.waiters.announce(c.id) // the caller looks at it again
			return rest, false, nil
		case !errors.Is(refused, errUnspent) || try == maxTries:
			return rest, false, refused
		}
	}
}

// beside makes a run be stored only if its parent still has the same owner and epoch, and if the run is not stored
// already.
func (t *tail) beside(parent *tail) { t.begin.Parent, t.begin.ParentEpoch = parent.n, parent.epoch }

// rowOf returns a run's row, or nil if there is none.
func (f *file) rowOf(n int64) (r *store.Row, err error) {
	err = f.journal.View(func(s store.Reader) error {
		r, err = s.Row(n)
		return err
	})
	return r, err
}

// childWaits returns the state of a child that waits, with what it waits for; false: the child has continued.
func (f *file) childWaits(r *store.Row) (rest childRest, done bool, err error) {
	now, stored, err := f.read(r.N)
	if err != nil {
		return rest, false, err
	}
	if now == nil || now.Epoch != r.Epoch || now.State != r.State { // it has continued
		f.waiters.announce(r.ID())
		return rest, false, nil
	}
	shown := f.show(now, stored)
	w := shown.Ended.Waiting
	if w == nil {
		w = &patterns.Waiting{Kind: patterns.WaitingKind(r.WaitingKind), Phase: r.Phase, Since: time.UnixMicro(r.Began)}
	}
	rest.waiting, rest.seen = w, store.Standing{N: r.N, Epoch: r.Epoch, State: r.State}
	return rest, true, nil
}

// ended implements keeper. It reads the child's state from its record.
func (f *file) ended(c *childCall) (rest childRest, err error) {
	n, _ := journal.RunNumber(c.id)
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return rest, err
	}
	h, _, err := f.historyOf(n)
	if err != nil {
		return rest, err
	}
	if rest.over = r.State == "ended" || r.State == "broken"; h == nil {
		rest.acted = true // it may have: the record says nothing
	} else {
		rest.learned(h, f.answererOf(r, h))
	}
	if !rest.over {
		return rest, nil
	}
	if !f.hiding().None() {
		if _, known, _, err := f.reveal(n, stored); err == nil {
			c.record.inherits(known)
		}
	}
	shown := f.show(r, stored)
	rest.ended, rest.spec, rest.kept = shown.Ended, shown.Spec, shown.Kept
	if rest.kept != nil && r.Status == "ok" {
		rest.ended.Result.StopReason = patterns.Success
	}
	return rest, nil
}

// answererOf returns the model that answered a child run's own questions where the record names none.
func (f *file) answererOf(r *store.Row, h *history) string {
	job, err := f.job(r, h)
	if err != nil { // only its end may name the model
		if h.end != nil {
			return h.end.Model
		}
		return ""
	}
	return modelOf(job)
}

// dropChildren cancels the child runs in this process that [leavesBehind] marked.
func (f *file) dropChildren(id string) {
	for _, l := range f.livesUnder(id) {
		go l.end(parentOver(l.job.Principal)) // the child may be about to end, and wait for its parent
	}
	f.recall.Store(true)
	f.scheduler.nudge()
}

// livesUnder returns the lives in this process of the child runs of a run.
func (f *file) livesUnder(id string) (list []*life) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lives {
		if p := l.job.Parent; p != nil && p.RunID == id {
			list = append(list, l)
		}
	}
	return list
}

// drops returns the step that cancels the child of a call that is over before it. The step is part of the transaction
// of the call's outcome. nil: the call has no child to cancel.
func (b *branch) drops(e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if !beginsRun(e) || out.State == patterns.OK || out.Order == 0 {
		return nil
	}
	child, _ := journal.RunNumber(patterns.ChildID(b.id, out.Key))
	step := store.DropChild{N: child, Parent: b.record.file.n}
	return func(journal.Event) []store.Step { return []store.Step{step} }
}

// orphans cancels child runs whose parents ended without cancelling them.
func (f *file) orphans() {
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.DropOrphans{}}}) // if this fails, the next process tries again
}

// waitsFor returns what a waiting run waits for, as its rehearsal shows it. It chooses the first by key of the run's
// own questions and those of its child runs.
func (f *file) waitsFor(d *rehearsal) *patterns.Waiting {
	first := d.waitingFor(func(patterns.Effect) (time.Duration, bool) { return 0, false })
	for _, p := range d.open {
		if p.m == nil || !beginsRun(p.effect) {
			continue
		}
		w := f.childWaitsFor(d.id, p)
		if w != nil && (first == nil || compareKeys(w.Key, first.Key) < 0) {
			first = w
		}
	}
	return first
}

// childWaitsFor returns what the child run of a call waits for; nil: it does not wait.
func (f *file) childWaitsFor(parent string, p pending) *patterns.Waiting {
	id := patterns.ChildID(parent, p.key)
	n, _ := journal.RunNumber(id)
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return nil
	}
	shown := f.show(r, stored)
	if shown.State != patterns.Parked || shown.Ended.Waiting == nil {
		return nil
	}
	w := childWaiting(p.key, id, r.Pattern, shown.Ended.Waiting)
	if call, _ := callOf(p.effect); call.SoFar != nil {
		w.SoFar = call.SoFar()
		w.SoFar.StopReason, w.SoFar.Phase = "", ""
	}
	return &w
}

// resumeBelow takes and carries out the child runs that a run waits for, at all levels, the deepest first. After that,
// the run itself can continue.
func (f *file) resumeBelow(n int64) (claimed []*life, err error) {
	var below []int64
	err = f.journal.View(func(s store.Reader) error {
		below, err = s.Below(n)
		return err
	})
	for i := len(below) - 1; i >= 0 && err == nil; i-- {
		l, fault := f.claim(below[i], nil)
		if fault == nil && l != nil {
			claimed = append(claimed, l)
		}
		if unrecorded(fault) {
			err = fmt.Errorf("its child run %s: %w", journal.RunID(below[i]), fault)
		}
	}
	return claimed, err
}

// leavesBehind returns the steps that the end of a run adds to its own transaction. They cancel its child runs and make
// the parent that waits for it ready. parent is 0 if there is none.
func leavesBehind(n, parent int64) []store.Step {
	steps := []store.Step{store.DropChildren{Parent: n}}
	if parent != 0 {
		steps = append(steps, store.Wake{N: parent})
	}
	return steps
}

// hasBelow reports whether a run may have child runs that are not over.
func (l *life) hasBelow() bool {
	if l.callsRuns {
		return true
	}
	for _, m := range l.past {
		if m.intent != nil && m.intent.Kind == patterns.ToolEffect && m.outcome.State == "" {
			return true
		}
	}
	return false
}
