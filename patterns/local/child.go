package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// childOf makes the run of a call. It does not store the run yet. Its error is a [patterns.Lacking] if this process
// cannot run the pattern.
func (e *Engine) childOf(parent *run, c *execution.ChildCall) (*run, error) {
	source, of := e.keeper().source(), c.Begun()
	if source == nil {
		return nil, &patterns.Lacking{Cause: "config_missing", Needs: []string{of.Config}}
	}
	job, err := source.Job(of)
	if err != nil {
		return nil, err
	}
	job.Principal, job.Client, job.Config, job.Arguments = of.Principal, of.Client, of.Config, of.Arguments
	job.ClientVersion, job.Era = parent.Job.ClientVersion, parent.Job.Era
	job = job.Begun(of.Parent)
	if e.codeOf(job.Spec.Kind) == nil || job.Spec.Name != of.Pattern {
		return nil, &patterns.Lacking{Cause: "tool_missing", Needs: []string{of.Pattern}}
	}
	r := e.newRun(of.RunID, job)
	r.within = parent
	return r, nil
}

// child implements keeper. It begins the run of a call if there is none, carries it out if no process does, and waits
// until it ends or waits. Its error is the error of ctx, an error of the store, or the reason why the parent cannot
// continue.
func (f *file) child(ctx context.Context, parent *run, c *execution.ChildCall) (execution.ChildRest, error) {
	n, _ := journal.RunNumber(c.ID())
	defer f.scheduler.follow(c.ID(), c.Progress())()
	for {
		changed, off := f.waiters.on(c.ID())
		rest, done, err := f.childAt(ctx, parent, c, n)
		if done || err != nil {
			off()
			return rest, err
		}
		select {
		case <-changed:
			off()
		case <-ctx.Done():
			off()
			return execution.ChildRest{}, ctx.Err()
		}
	}
}

// childAt looks at the child once and does what can be done now; false: the child is still running.
func (f *file) childAt(ctx context.Context, parent *run, c *execution.ChildCall, n int64) (rest execution.ChildRest, done bool, err error) {
	r, err := f.rowOf(n)
	switch {
	case err != nil:
		return rest, false, err
	case r == nil:
		return f.childBegins(ctx, parent, c)
	case r.Parent != parent.N:
		return execution.ChildRest{Lacking: errNoChild}, true, nil
	case r.State == "ended", r.State == "broken":
		rest, err = f.childNow(parent, c)
		return rest, true, err
	case r.State == "parked" && (r.Wake == 0 || r.Wake > f.journal.Now().UnixMicro()):
		return f.childWaits(r)
	case r.State == "running", f.life(c.ID()) != nil:
		return rest, false, nil
	}
	switch _, err := f.claim(n, c.Progress()); {
	case isLacking(err):
		return f.childWaits(r)
	case errors.Is(err, journal.ErrBroken), errors.Is(err, execution.ErrMismatch), errors.Is(err, patterns.ErrNotTaken): // the row says so, or will soon
		return rest, false, nil
	default:
		return rest, false, err
	}
}

// childBegins begins the child and waits until its life in this process ends.
func (f *file) childBegins(ctx context.Context, parent *run, c *execution.ChildCall) (rest execution.ChildRest, done bool, err error) {
	if reason := c.Refused(); reason != "" { // it was not begun before its process ended
		return execution.ChildRest{Over: true, Ended: patterns.Ended{Result: patterns.Result{StopReason: reason}}}, true, nil
	}
	for try := 1; ; try++ {
		r, err := f.childOf(parent, c)
		if err != nil {
			return execution.ChildRest{Lacking: err}, true, nil
		}
		if _, err := f.begin(r); err != nil {
			return rest, false, err
		}
		r.tail.Beside(parent.tail)
		l := r.live(nil, c.Progress())
		c.Carry(l)
		select {
		case <-l.Done():
		case <-ctx.Done():
			return rest, false, ctx.Err()
		}
		refused := r.tail.Entered()
		switch {
		case refused == nil, store.RefusedBy[store.Begin](refused):
			f.waiters.announce(c.ID()) // the caller looks at it again
			return rest, false, nil
		case !errors.Is(refused, execution.ErrUnspent) || try == execution.MaxTries:
			return rest, false, refused
		}
	}
}

// rowOf returns a run's row, or nil if there is none.
func (f *file) rowOf(n int64) (r *store.Row, err error) {
	err = f.journal.View(func(s store.Reader) error {
		r, err = s.Row(n)
		return err
	})
	return r, err
}

// childWaits returns the state of a child that waits, with what it waits for; false: the child has continued.
func (f *file) childWaits(r *store.Row) (rest execution.ChildRest, done bool, err error) {
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
	rest.Waiting, rest.Seen = w, store.Standing{N: r.N, Epoch: r.Epoch, State: r.State}
	return rest, true, nil
}

// childNow implements keeper. It reads the child's state from its record.
func (f *file) childNow(parent *run, c *execution.ChildCall) (rest execution.ChildRest, err error) {
	n, _ := journal.RunNumber(c.ID())
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return rest, err
	}
	h, _, err := f.historyOf(n)
	if err != nil {
		return rest, err
	}
	if rest.Over = r.State == "ended" || r.State == "broken"; h == nil {
		rest.Acted = true // it may have: the record says nothing
	} else {
		rest.Learn(h, f.answererOf(r, h))
	}
	if !rest.Over {
		return rest, nil
	}
	if !f.hiding().None() {
		if _, known, _, err := f.reveal(n, stored); err == nil {
			parent.tail.Inherits(known)
		}
	}
	shown := f.show(r, stored)
	rest.Ended, rest.Spec, rest.Kept = shown.Ended, shown.Spec, shown.Kept
	if rest.Kept != nil && r.Status == "ok" {
		rest.Ended.Result.StopReason = patterns.Success
	}
	return rest, nil
}

// answererOf returns the model that answered a child run's own questions where the record names none.
func (f *file) answererOf(r *store.Row, h *execution.History) string {
	job, err := f.job(r, h)
	if err != nil { // only its end may name the model
		if h.End != nil {
			return h.End.Model
		}
		return ""
	}
	return execution.ModelOf(job)
}

// dropChildren cancels the child runs in this process that [leavesBehind] marked.
func (f *file) dropChildren(id string) {
	for _, l := range f.livesUnder(id) {
		go l.life.End(parentOver(l.Job.Principal)) // the child may be about to end, and wait for its parent
	}
	f.back.Recalled.Store(true)
	f.scheduler.nudge()
}

// livesUnder returns the lives in this process of the child runs of a run.
func (f *file) livesUnder(id string) (list []*lived) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.living {
		if p := l.Job.Parent; p != nil && p.RunID == id {
			list = append(list, l)
		}
	}
	return list
}

// orphans cancels child runs whose parents ended without cancelling them.
func (f *file) orphans() {
	_ = f.journal.Do(&store.Change{Steps: []store.Step{store.DropOrphans{}}}) // if this fails, the next process tries again
}

// childWaitsFor returns what a child run waits for, and its pattern; nil: it does not wait.
func (f *file) childWaitsFor(id string) (w *patterns.Waiting, pattern string) {
	n, _ := journal.RunNumber(id)
	r, stored, err := f.read(n)
	if err != nil || r == nil {
		return nil, ""
	}
	shown := f.show(r, stored)
	if shown.State != patterns.Parked {
		return nil, ""
	}
	return shown.Ended.Waiting, r.Pattern
}

// resumeBelow takes and carries out the child runs that a run waits for, at all levels, the deepest first. After that,
// the run itself can continue.
func (f *file) resumeBelow(n int64) (claimed []*lived, err error) {
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
			err = fmt.Errorf(itsChild, journal.RunID(below[i]), fault)
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

// childRested implements keeper.
func (f *file) childRested(id string) (time.Duration, error) {
	n, _ := journal.RunNumber(id)
	h, _, err := f.historyOf(n)
	if h == nil || err != nil {
		return 0, err
	}
	return h.Rested(), nil
}

// historyOf returns what a run's record says, as far as it can be read; nil: there is none, or it is broken.
func (f *file) historyOf(n int64) (*execution.History, *store.Row, error) {
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
	events, err := execution.Decode(open)
	if err != nil {
		return nil, r, nil //nolint:nilerr // its record is broken, which its end says
	}
	return execution.Remember(events), r, nil
}

var errNoChild = errors.New("local: another run has the child's id")

// source implements keeper.
func (f *file) source() patterns.Source { return f.options.Source }
