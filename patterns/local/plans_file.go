package local

import (
	"errors"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// plansIn is the table of a state file, in one transaction.
type plansIn struct {
	*file
	s *session
}

var _ planTable = plansIn{}

// row implements [planTable]. One whose page is damaged is as good as gone.
func (p plansIn) row(n int64) (r *planRow, err error) {
	r, err = p.read(selectPlan, n)
	if sqliteCode(err) == codeCorrupt {
		return nil, nil
	}
	return r, err
}

// planAt is a plan's row with its body, and how far its holder is; nil: there is none. The body may lie on pages of its own,
// which may be damaged.
func (f *file) planAt(n int64) (r *planRow, how stands, err error) {
	look := func(query string) error {
		return f.journal.view(func(s *session) (err error) {
			t := plansIn{f, s}
			if r, err = t.read(query, n); err == nil && r != nil {
				how, err = holder(t, r)
			}
			return err
		})
	}
	err = look(selectPlanBody)
	if sqliteCode(err) == codeCorrupt {
		damage := err
		if err = look(selectPlan); r != nil {
			r.damage = damage
		}
		if sqliteCode(err) == codeCorrupt {
			r, err = nil, nil
		}
	}
	return r, how, err
}

// read reads a row by one of the queries of planColumns.
func (p plansIn) read(query string, n int64) (r *planRow, err error) {
	err = p.s.each(func(row func(...any) error) error {
		r = &planRow{}
		to := []any{&r.n, &r.principal, &r.pattern, &r.version, &r.revision, &r.created, &r.changed, &r.run, &r.under, &r.sum}
		if query == selectPlanBody {
			to = append(to, &r.body)
		}
		return row(to...)
	}, query, n)
	return r, err
}

// orNull is a run's number as it is stored.
func orNull(run int64) any {
	if run == 0 {
		return nil
	}
	return run
}

func (p plansIn) insert(r *planRow) error {
	_, err := p.s.exec(insertPlan, r.n, r.principal, r.pattern, r.version, r.revision, r.created, r.changed, orNull(r.run), r.sum, r.body)
	return err
}

func (p plansIn) hold(r *planRow) error {
	_, err := p.s.exec(updateHolder, orNull(r.run), orNull(r.under), r.n)
	return err
}

func (p plansIn) commit(r *planRow) error {
	_, err := p.s.exec(updatePlan, r.version, r.revision, r.changed, orNull(r.run), orNull(r.under), r.sum, r.body, r.n)
	return err
}

func (p plansIn) stands(run int64) (how stands, err error) {
	err = p.s.each(func(row func(...any) error) error {
		var state, kind, key string
		err := row(&state, &kind, &key)
		how = map[string]stands{"running": runRunning, "ready": runReady, "parked": waitsAs(patterns.WaitingKind(kind), key)}[state]
		return err
	}, selectStands, run)
	return how, err
}

// end has a waiting run cancelled, as who cancels it would. One whose record is broken is marked as that when it is taken.
func (p plansIn) end(run, by int64) error {
	changed, err := p.s.exec(updateCanceled, run)
	if err != nil || changed == 0 {
		return err
	}
	note := patterns.Note{Channel: "engine", Reason: "its plan was changed by " + journal.RunID(by)}
	err = p.noteIn(p.s, run, journal.NoteBody{What: noteCancel, Note: note})
	if _, broken := errors.AsType[refusal](err); broken {
		return nil
	}
	return err
}

// stepInFile performs a load, and judges what the others will do: that is done with the record of their outcome, see
// [branch.stored].
func (b *branch) stepInFile(a planAct) patterns.Outcome {
	f := b.engine.file
	if a.Op == patterns.LoadOp {
		return b.loadInFile(a)
	}
	var reason string
	err := f.journal.view(func(s *session) (err error) {
		reason, err = a.change(judging{plansIn{f, s}})
		return err
	})
	if err != nil {
		b.unwind(err)
	}
	return stepped(reason)
}

// judging is a table in which nothing is changed.
type judging struct{ planTable }

func (judging) insert(*planRow) error  { return nil }
func (judging) hold(*planRow) error    { return nil }
func (judging) commit(*planRow) error  { return nil }
func (judging) end(int64, int64) error { return nil }

// loadInFile reads the plan beside the writer, which has others to serve, and then claims what it read.
func (b *branch) loadInFile(a planAct) patterns.Outcome {
	f := b.engine.file
	for {
		seen, how, err := f.planAt(a.n)
		if err != nil {
			b.unwind(err)
		}
		out := a.read(seen, how)
		if out.State != patterns.OK || !a.Claim {
			return out
		}
		var reason string
		changed := false
		err = b.record.along(func(s *session) (err error) {
			reason, changed, err = a.claim(plansIn{f, s}, seen)
			return err
		})
		switch {
		case err != nil:
			b.unwind(err)
		case reason != "":
			return patterns.Outcome{State: patterns.Failed, Reason: reason, Output: shownBy(reason, out.Output)}
		case !changed:
			return out
		}
	}
}

// stored is what is done with the record of a step's outcome; nil: nothing. Somebody may have changed the plan since it was
// judged.
func (b *branch) stored(e patterns.Effect, out patterns.Outcome) func(*session, journal.Event) error {
	if e.Plan == nil || e.Plan.Op == patterns.LoadOp || out.State != patterns.OK {
		return nil
	}
	a, _ := b.act(*e.Plan)
	return func(s *session, _ journal.Event) error {
		reason, err := a.change(plansIn{b.engine.file, s})
		if err == nil && reason != "" {
			err = refusal{errUnspent}
		}
		return err
	}
}

// kept waits until a step is stored, and tells who may want to know.
func (b *branch) kept(s *patterns.PlanStep) {
	f := b.engine.file
	under := b.beneath(s.Plan)
	nothing := func(*session) error { return nil } // who looks at the run may have flushed the outcome: it is then waited for
	if err := b.record.along(nothing); err != nil {
		b.unwind(err)
	}
	b.engine.waiters.announce(s.Plan)
	if s.Op == patterns.CreateOp {
		return
	}
	if f.nudge(); under == 0 {
		return
	}
	f.waiters.announce(journal.RunID(under))
	if !f.watched.Load() { // nobody here takes up what is ready
		_, _ = f.claim(under, nil) // else another process does
	}
}

// beneath is the run that waits beneath the one that has a plan; 0: none does.
func (b *branch) beneath(plan string) (run int64) {
	n, _ := planNumber(plan)
	_ = b.engine.file.journal.view(func(s *session) error { // it is only told something
		r, err := plansIn{b.engine.file, s}.row(n)
		if r != nil {
			run = r.under
		}
		return err
	})
	return run
}

// reclaim says, with a run's taking, whether it lost a plan that it held. One that another is over is not taken up.
func (f *file) reclaim(s *session, l *loaded) (lost bool, err error) {
	for _, n := range l.history.plans() {
		has, waits, err := keeps(plansIn{f, s}, n, l.n, l.canceled)
		switch {
		case err != nil:
			return false, err
		case waits:
			return false, refusal{patterns.ErrNotTaken}
		}
		lost = lost || !has
	}
	return lost, nil
}

// giveBack gives back the plans of a run that is ended without its code, where all that it did is stored with them. What one did
// that was in the middle of its work stands in its record alone: its plan stays claimed.
func (f *file) giveBack(s *session, l *loaded) error {
	if waitsAs(patterns.WaitingKind(l.waitingKind), l.waitsKey) != runWaits {
		return nil
	}
	t := plansIn{f, s}
	for _, n := range l.history.plans() {
		r, err := t.row(n)
		if err == nil && r != nil {
			_, err = holder(t, r)
		}
		if err == nil {
			err = planAct{run: l.n}.release(t, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
