package planclaims

import (
	"errors"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// Claims decides about the stored plans of one store. It is safe for concurrent use.
type Claims struct {
	Store store.Store
	// Canceled returns the steps that note in the record of a waiting run that another run canceled it. nil: the run
	// notes that itself when it continues.
	Canceled func(s store.Reader, run, by int64) ([]store.Step, error)
}

// At returns a plan's row with its body, and the state of its holder; nil: there is no such plan.
func (c Claims) At(n int64) (r *store.Plan, how Stands, err error) {
	look := func(read func(s store.Reader) (*store.Plan, error)) error {
		return c.Store.View(func(s store.Reader) (err error) {
			if r, err = read(s); err == nil && r != nil {
				how, err = holder(&table{Claims: c, s: s}, r)
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

// Claim claims a plan that was read before. reason says why the run does not get it; "": it does. again is true if the
// plan has changed since it was read.
func (c Claims) Claim(a Act, seen *store.Plan) (steps []store.Step, reason string, again bool, err error) {
	steps, err = c.decide(func(t *table) (err error) {
		reason, again, err = a.claim(t, seen)
		return err
	})
	return steps, reason, again, err
}

// Change performs a step that is not a load. reason says why it is not done; "": it is.
func (c Claims) Change(a Act) (steps []store.Step, reason string, err error) {
	steps, err = c.decide(func(t *table) (err error) {
		reason, err = a.change(t)
		return err
	})
	return steps, reason, err
}

// Reclaim reports whether a run that is about to be taken lost a plan that it held. It returns the steps that belong to
// the same change. The error is [patterns.ErrNotTaken] if another run has claimed such a plan over it. A canceled run
// gets its plans back.
func (c Claims) Reclaim(run int64, plans []int64, canceled bool) (steps []store.Step, lost bool, err error) {
	if len(plans) == 0 {
		return nil, false, nil
	}
	steps, err = c.decide(func(t *table) error {
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

// GiveBack returns the steps that release the plans of a waiting run that is ended without its code. kind and key say
// what the run waits for. GiveBack releases the plans only if all work of the run is stored with them. If the run was
// in the middle of its work, only its record has that work, and its plans stay claimed.
func (c Claims) GiveBack(run int64, plans []int64, kind patterns.WaitingKind, key string) ([]store.Step, error) {
	if len(plans) == 0 || waitsAs(kind, key) != waits {
		return nil, nil
	}
	return c.decide(func(t *table) error {
		for _, n := range plans {
			r, err := t.row(n)
			if err == nil && r != nil {
				_, err = holder(t, r)
			}
			if err == nil {
				err = Act{Run: run}.release(t, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// decide makes a decision about the present table and returns its steps.
func (c Claims) decide(decide func(*table) error) (steps []store.Step, err error) {
	err = c.Store.View(func(s store.Reader) error {
		t := &table{Claims: c, s: s}
		err := decide(t)
		steps = t.steps
		return err
	})
	return steps, err
}

// table is the plans of one state of a store. It writes nothing, and collects the steps of a decision.
type table struct {
	Claims
	s     store.Reader
	steps []store.Step
}

// row returns a plan's row without its body; nil: there is no such plan.
func (t *table) row(n int64) (*store.Plan, error) {
	r, err := t.s.Plan(n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		t.steps = append(t.steps, store.PlanIs{N: n, Missing: true})
		return nil, nil
	}
	t.steps = append(t.steps, store.PlanIs{N: n, Version: r.Version, Run: r.Run, Under: r.Under, Sum: r.Sum})
	return r, nil
}

func (t *table) insert(r *store.Plan) error {
	t.steps = append(t.steps, store.AddPlan{Plan: *r})
	return nil
}

// hold stores the claim of the plan.
func (t *table) hold(r *store.Plan) error {
	t.steps = append(t.steps, store.HoldPlan{N: r.N, Run: r.Run, Under: r.Under})
	return nil
}

// commit stores all that can change in the plan.
func (t *table) commit(r *store.Plan) error {
	t.steps = append(t.steps, store.SetPlan{Plan: *r})
	return nil
}

func (t *table) stands(run int64) (Stands, error) {
	is, err := t.s.Stands(run)
	t.steps = append(t.steps, is)
	return standsAs(is), err
}

// standsAs converts a stored run's state for a run that wants its plan.
func standsAs(is store.RunIs) Stands {
	switch is.State {
	case "running":
		return running
	case "ready":
		return ready
	case "parked":
		return waitsAs(patterns.WaitingKind(is.Kind), is.Key)
	}
	return Over
}

// end cancels a waiting run whose plan another run changed, like any other cancellation. A run whose record is broken is
// marked as that when a process takes it.
func (t *table) end(run, by int64) error {
	r, err := t.s.Row(run)
	if err != nil || r == nil || r.Canceled || r.State != "ready" && r.State != "parked" {
		return err
	}
	t.steps = append(t.steps, store.CancelResting{N: run, Epoch: r.Epoch})
	if t.Canceled == nil {
		return nil
	}
	steps, err := t.Canceled(t.s, run, by)
	if err != nil && !errors.Is(err, patterns.ErrJournal) {
		return nil
	}
	t.steps = append(t.steps, steps...)
	return err
}
