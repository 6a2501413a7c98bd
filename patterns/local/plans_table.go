package local

import (
	"errors"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// plannedIn is a planTable over one state of the store. It writes nothing. It collects steps: conditions that must still hold,
// and changes. The steps later become a part of a change.
type plannedIn struct {
	*Engine
	s     store.Reader
	steps []store.Step
}

var _ planTable = (*plannedIn)(nil)

// row implements [planTable].
func (p *plannedIn) row(n int64) (*store.Plan, error) {
	r, err := p.s.Plan(n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		p.steps = append(p.steps, store.PlanIs{N: n, Missing: true})
		return nil, nil
	}
	p.steps = append(p.steps, store.PlanIs{N: n, Version: r.Version, Run: r.Run, Under: r.Under, Sum: r.Sum})
	return r, nil
}

func (p *plannedIn) insert(r *store.Plan) error {
	p.steps = append(p.steps, store.AddPlan{Plan: *r})
	return nil
}

func (p *plannedIn) hold(r *store.Plan) error {
	p.steps = append(p.steps, store.HoldPlan{N: r.N, Run: r.Run, Under: r.Under})
	return nil
}

func (p *plannedIn) commit(r *store.Plan) error {
	p.steps = append(p.steps, store.SetPlan{Plan: *r})
	return nil
}

func (p *plannedIn) stands(run int64) (stands, error) {
	is, err := p.s.Stands(run)
	p.steps = append(p.steps, is)
	return standsAs(is), err
}

// standsAs converts a stored run's state for a run that wants its plan.
func standsAs(is store.RunIs) stands {
	switch is.State {
	case "running":
		return runRunning
	case "ready":
		return runReady
	case "parked":
		return waitsAs(patterns.WaitingKind(is.Kind), is.Key)
	}
	return runOver
}

// end cancels a waiting run, like any other cancellation. A run whose record is broken is marked as that when a process takes it.
func (p *plannedIn) end(run, by int64) error {
	r, err := p.s.Row(run)
	if err != nil || r == nil || r.Canceled || r.State != "ready" && r.State != "parked" {
		return err
	}
	p.steps = append(p.steps, store.CancelResting{N: run, Epoch: r.Epoch})
	if p.file == nil { // it continues at once and records who cancelled it
		return nil
	}
	note := patterns.Note{Channel: "engine", Reason: "its plan was changed by " + journal.RunID(by)}
	steps, err := p.file.noteSteps(p.s, run, journal.NoteBody{What: noteCancel, Note: note})
	if err != nil && !unrecorded(err) {
		return nil
	}
	p.steps = append(p.steps, steps...)
	return err
}

// planAt returns a plan's row with its body, and the state of its holder; nil: there is no such plan.
func (e *Engine) planAt(n int64) (r *store.Plan, how stands, err error) {
	look := func(read func(s store.Reader) (*store.Plan, error)) error {
		return e.state().View(func(s store.Reader) (err error) {
			if r, err = read(s); err == nil && r != nil {
				how, err = holder(&plannedIn{Engine: e, s: s}, r)
			}
			return err
		})
	}
	err = look(func(s store.Reader) (*store.Plan, error) { return s.PlanBody(n) })
	if errors.Is(err, store.ErrDamaged) {
		damage := err
		if err = look(func(s store.Reader) (*store.Plan, error) { return s.Plan(n) }); r != nil {
			r.Damage = damage
		}
	}
	return r, how, err
}

// planned makes a decision about the present table and returns its steps. The steps are refused if the table has changed since.
func (e *Engine) planned(decide func(planTable) error) (steps []store.Step, err error) {
	err = e.state().View(func(s store.Reader) error {
		p := &plannedIn{Engine: e, s: s}
		err := decide(p)
		steps = p.steps
		return err
	})
	return steps, err
}

// changePlan performs a step that is not a load. In a state file it only decides: the change is stored together with the record of its
// outcome, see [branch.stored].
func (b *branch) changePlan(a planAct) patterns.Outcome {
	for {
		var reason string
		steps, err := b.engine.planned(func(t planTable) (err error) {
			reason, err = a.change(t)
			return err
		})
		if err != nil {
			b.unwind(err)
		}
		if b.engine.file != nil {
			b.planned = steps
			return stepped(reason)
		}
		switch err := b.engine.write(steps...); {
		case store.IsRefused(err): // another run changed the plan in between
			continue
		case err != nil:
			b.unwind(err)
		case reason == "":
			b.changedHere(a.Plan, steps)
		}
		return stepped(reason)
	}
}

// changedHere notifies those that wait for a plan in memory, and lets runs continue that the change cancelled.
func (b *branch) changedHere(plan string, steps []store.Step) {
	e := b.engine
	e.waiters.announce(plan)
	for _, s := range steps {
		if c, ok := s.(store.CancelResting); ok {
			note := patterns.Note{Channel: "engine", Reason: "its plan was changed by " + b.id}
			_ = inMemory{e}.recall(b.job.Principal, journal.RunID(c.N), note) // a run that has ended since needs nothing
		}
	}
}

// loadPlan reads the plan without blocking the writer, and then claims what it read.
func (b *branch) loadPlan(a planAct) patterns.Outcome {
	for {
		seen, how, err := b.engine.planAt(a.n)
		if err != nil {
			b.unwind(err)
		}
		out := a.read(seen, how)
		if out.State != patterns.OK || !a.Claim {
			return b.weighed(out)
		}
		var reason string
		changed := false
		steps, err := b.engine.planned(func(t planTable) (err error) {
			reason, changed, err = a.claim(t, seen)
			return err
		})
		if err == nil && !changed {
			err = b.claims(steps)
		}
		switch {
		case b.engine.file == nil && store.IsRefused(err): // another run changed the plan in between
		case err != nil: // also if another run changed the plan in between
			b.unwind(err)
		case reason != "":
			return b.weighed(patterns.Outcome{State: patterns.Failed, Reason: reason, Output: shownBy(reason, out.Output)})
		case !changed:
			return b.weighed(out)
		}
	}
}

// claims stores the claim of a plan. In a state file, the events that are pending are stored with it.
func (b *branch) claims(steps []store.Step) error {
	if b.engine.file == nil {
		return b.engine.write(steps...)
	}
	return b.record.along(steps...)
}

// weighed adds the size of a load's output to the run's size, because the run's record keeps it.
func (b *branch) weighed(out patterns.Outcome) patterns.Outcome {
	if b.engine.file != nil { // the size counts in memory only
		return out
	}
	more := weightOf(out.Output)
	b.engine.mu.Lock()
	b.run.size += more
	b.engine.mu.Unlock()
	return out
}

// stored returns the steps of a plan's change, which are stored with the record of its outcome; nil: none. If another run has
// changed the plan since the decision, the run is replayed.
func (b *branch) stored(s *patterns.PlanStep, out patterns.Outcome) func(journal.Event) []store.Step {
	steps := b.planned
	b.planned = nil
	if s.Op == patterns.LoadOp || out.State != patterns.OK {
		return nil
	}
	return func(journal.Event) []store.Step { return steps }
}

// kept waits until a step is stored, and notifies those that wait for the plan or for the run under this one.
func (b *branch) kept(s *patterns.PlanStep) {
	f := b.engine.file
	under := b.beneath(s.Plan)
	if err := b.record.settled(); err != nil { // a reader of the run may have flushed the outcome: wait for that
		b.unwind(err)
	}
	b.engine.waiters.announce(s.Plan)
	if s.Op == patterns.CreateOp {
		return
	}
	if f.scheduler.nudge(); under == 0 {
		return
	}
	f.waiters.announce(journal.RunID(under))
	if !f.scheduler.serves.Load() { // this process does not serve ready runs
		_, _ = f.claim(under, nil) // otherwise another process does
	}
}

// beneath returns the run that waits under the holder of a plan; 0: none.
func (b *branch) beneath(plan string) (run int64) {
	n, _ := journal.PlanNumber(plan)
	_ = b.engine.file.journal.View(func(s store.Reader) error { // the result is only used to notify a run
		r, err := s.Plan(n)
		if r != nil {
			run = r.Under
		}
		return err
	})
	return run
}

// reclaims reports whether a run that is about to be taken lost a plan that it held. It returns the steps that belong to the same
// change. The error is [patterns.ErrNotTaken] if another run has claimed such a plan over it.
func (e *Engine) reclaims(run int64, plans []int64, canceled bool) (steps []store.Step, lost bool, err error) {
	if len(plans) == 0 {
		return nil, false, nil
	}
	steps, err = e.planned(func(t planTable) error {
		for _, n := range plans {
			has, waits, err := keeps(t, n, run, canceled)
			switch {
			case err != nil:
				return err
			case waits:
				return patterns.ErrNotTaken
			}
			lost = lost || !has
		}
		return nil
	})
	return steps, lost, err
}

// givesBack returns the steps that release the plans of a run that is ended without its code. It does so only if all work of the
// run is stored with the plans. If the run was in the middle of its work, only its record has that work, and its plans stay
// claimed.
func (f *file) givesBack(l *loaded) ([]store.Step, error) {
	plans := l.history.plans()
	if len(plans) == 0 || waitsAs(patterns.WaitingKind(l.WaitingKind), l.WaitsKey) != runWaits {
		return nil, nil
	}
	return f.planned(func(t planTable) error {
		for _, n := range plans {
			r, err := t.row(n)
			if err == nil && r != nil {
				_, err = holder(t, r)
			}
			if err == nil {
				err = planAct{run: l.N}.release(t, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
