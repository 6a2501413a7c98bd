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

// child implements keeper: the run of a call is begun where there is none, carried on where nobody does, and waited for until it
// rests. Its error is ctx's, the journal's, or why the parent cannot go on.
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

// childNow looks at the child once, and does what can be done about it; false: it goes on.
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
	case errors.Is(err, journal.ErrBroken), errors.Is(err, ErrMismatch), errors.Is(err, patterns.ErrNotTaken): // its row says so, or will
		return rest, false, nil
	default:
		return rest, false, err
	}
}

// childBegins begins the child and waits for its life here to end.
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
			f.waiters.announce(c.id) // it is looked at again
			return rest, false, nil
		case !errors.Is(refused, errUnspent) || try == maxTries:
			return rest, false, refused
		}
	}
}

// beside has a run be entered only while the one that calls it is in the same hands, and not when it is there already.
func (t *tail) beside(parent *tail) { t.begin.Parent, t.begin.ParentEpoch = parent.n, parent.epoch }

// rowOf is a run's row; nil: there is none.
func (f *file) rowOf(n int64) (r *store.Row, err error) {
	err = f.journal.View(func(s store.Reader) error {
		r, err = s.Row(n)
		return err
	})
	return r, err
}

// childWaits is a child that rests, with what it waits for.
func (f *file) childWaits(r *store.Row) (rest childRest, done bool, err error) {
	now, stored, err := f.read(r.N)
	if err != nil {
		return rest, false, err
	}
	if now == nil || now.Epoch != r.Epoch || now.State != r.State { // it goes on
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

// ended implements keeper: what the child came to, as its record says.
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
		rest.acted = true // nobody knows
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

// answererOf is who answered a child run's own questions where its record does not say.
func (f *file) answererOf(r *store.Row, h *history) string {
	job, err := f.job(r, h)
	if err != nil { // what it ended with is all that is known
		if h.end != nil {
			return h.end.Model
		}
		return ""
	}
	return modelOf(job)
}

// dropChildren has those be cancelled here that [file.leavesBehind] marked.
func (f *file) dropChildren(id string) {
	for _, l := range f.livesUnder(id) {
		go l.end(parentOver(l.job.Principal)) // it may be about to end, and wait for this one
	}
	f.recall.Store(true)
	f.scheduler.nudge()
}

// livesUnder are the lives here of what a run began.
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

// drops cancels the child of a call that is over before it, in the transaction of the call's outcome; nil: it is over too.
func (b *branch) drops(e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if !beginsRun(e) || out.State == patterns.OK || out.Order == 0 {
		return nil
	}
	child, _ := journal.RunNumber(patterns.ChildID(b.id, out.Key))
	step := store.DropChild{N: child, Parent: b.record.file.n}
	return func(journal.Event) []store.Step { return []store.Step{step} }
}

// orphans has child runs be cancelled whose parents did not live to do it.
func (f *file) orphans() {
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.DropOrphans{}}}) // the next process tries it again
}

// waitsFor is what a run waits for that rests, as its rehearsal shows it: for whom it asked itself, or its child runs did.
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

// childWaitsFor is what the child run of a call waits for; nil: it goes on.
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
	if p.effect.SoFar != nil {
		w.SoFar = p.effect.SoFar()
		w.SoFar.StopReason, w.SoFar.Phase = "", ""
	}
	return &w
}

// resumeBelow carries on what a run waits for below it, so that the run itself can be carried on: the deepest first.
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

// leavesBehind is what the end of a run does to others, in its transaction: its own child runs are cancelled, and the run that rests
// with it is ready.
func leavesBehind(n, parent int64) []store.Step {
	steps := []store.Step{store.DropChildren{Parent: n}}
	if parent != 0 {
		steps = append(steps, store.Wake{N: parent})
	}
	return steps
}

// hasBelow reports whether a run may have child runs that go on.
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
