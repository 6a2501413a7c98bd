package sqlite

import (
	"bytes"
	"errors"
	"slices"

	"patterngate/patterns/store"
)

// begin adds the row of a new run, if its parent still runs and it joins no other run.
func (j *Store) begin(s store.Begin) error {
	if s.ParentEpoch > 0 {
		above, err := j.writer.Standing(s.Parent)
		switch {
		case err != nil:
			return err
		case above.State != "running" || above.Epoch != s.ParentEpoch:
			return store.ErrFenced
		}
		switch there, err := j.writer.Standing(s.N); {
		case err != nil:
			return err
		case there.State != "":
			return &store.Refused{Steps: []store.Step{s}, Joined: s.N}
		}
	}
	var request, args []byte
	if s.Equal != nil {
		if err := j.joins(s); err != nil {
			return err
		}
		request, args = s.Equal.Request, s.Equal.Args
	}
	if err := j.addConfigs(s.Configs); err != nil {
		return err
	}
	return j.exec(insertRow, s.N, s.Pattern, s.Kind, s.Principal, s.Client, s.Config, request, args, s.Began, s.Owner, s.Newest, orNull(s.Parent))
}

// joins refuses a run whose call must join another one, see [store.Equal].
func (j *Store) joins(s store.Begin) error {
	type before struct {
		n, ended            int64
		state, reason       string
		args                []byte
		delivered, canceled bool
	}
	var r *before
	err := j.writer.Each(func(row func(...any) error) error {
		r = &before{}
		return row(&r.n, &r.state, &r.args, &r.ended, &r.delivered, &r.canceled, &r.reason)
	}, selectEqual, s.Equal.Request)
	if err != nil || r == nil {
		return err
	}
	over := r.state == "ended" || r.state == "broken"
	e := s.Equal
	if e.ByKey {
		if !bytes.Equal(r.args, e.Args) {
			return store.Refuse(s)
		}
		return &store.Refused{Steps: []store.Step{s}, Joined: r.n}
	}
	if e.Plan != 0 {
		p, err := j.writer.Plan(e.Plan)
		if err != nil {
			return err
		}
		if p != nil {
			lost := r.canceled && p.Run != r.n && p.Under != r.n
			if stale := slices.Contains(e.Outdated, r.reason) || p.Changed > r.ended; !over && lost || over && stale {
				return nil
			}
		}
	}
	if !over || r.state == "ended" && !r.delivered && r.ended > e.Since {
		return &store.Refused{Steps: []store.Step{s}, Joined: r.n}
	}
	return nil
}

func (j *Store) addConfigs(list []store.Config) error {
	for _, c := range list {
		if err := j.exec(insertConfig, c.Hash, c.Body); err != nil {
			return err
		}
	}
	return nil
}

func (j *Store) setLength(s store.SetLength) error {
	query := updateLength
	if s.Resting {
		query = updateLate
	}
	return j.exec(query, s.Events, s.Hash, s.Newest, s.N)
}

func (j *Store) park(s store.Park) error {
	goesOn, err := j.goesOn(s)
	if err != nil {
		return err
	}
	return j.exec(updateParked, goesOn, orNull(s.Wake), s.Events, s.Hash, s.Newest, s.Kind, s.Turn, s.Key, orNull(s.Expires), s.Phase, s.Summary, s.N)
}

// goesOn reports whether a run that is about to wait can continue at once: a question was answered, or a child run changed.
func (j *Store) goesOn(s store.Park) (bool, error) {
	if len(s.Questions) > 0 {
		rows, err := j.writer.Answered(s.N)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(rows, func(a store.Answered) bool { return slices.Contains(s.Questions, a.Approval) }) {
			return true, nil
		}
	}
	for _, seen := range s.Children {
		if now, err := j.writer.Standing(seen.N); err != nil || now != seen {
			return true, err
		}
	}
	return false, nil
}

// addEvent adds an event to the record of another run than the change's own.
func (j *Store) addEvent(s store.AddEvent) error {
	var last int64
	if err := j.writer.Each(func(row func(...any) error) error { return row(&last) }, selectLast, s.N); err != nil {
		return err
	}
	e := &s.Event
	if last != e.Seq-1 {
		return store.Refuse(s)
	}
	return j.exec(insert1, s.N, e.Seq, e.At, string(e.Kind), e.Key, []byte(e.Body), e.Hash)
}

func (j *Store) bury(s store.Bury) error {
	var err error
	if s.RunID != "" {
		err = j.exec(insertTombstone, s.RunID, s.Pattern, s.Principal, s.StopReason, s.Began, s.Ended, s.Events, s.Hash)
	}
	for _, query := range []string{deleteEvents, deleteRedacted, deleteShares, deleteAsked, deleteSettlings, deleteRun} {
		if err == nil {
			err = j.exec(query, s.N)
		}
	}
	return err
}

func (j *Store) addHidden(s store.AddHidden) error {
	for _, v := range s.Values {
		if err := j.exec(insertRedacted, s.N, v.Hash, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// dropHidden deletes the hidden values of a run and of the child runs below it. The values of a child run stay until its parent is
// over.
func (j *Store) dropHidden(s store.DropHidden) error {
	if s.Parent != 0 {
		above, err := j.writer.Standing(s.Parent)
		if err != nil || above.State == "running" || above.State == "ready" || above.State == "parked" {
			return err
		}
	}
	return j.dropHiddenBelow(s.N, s.Itself)
}

// dropHiddenBelow deletes the hidden values of those runs below a run that are over, and with itself also those of the run. A run that
// must still be cancelled needs its values until then, and drops them at its end.
func (j *Store) dropHiddenBelow(n int64, itself bool) error {
	list := []int64{}
	if itself {
		list = append(list, n)
	}
	err := j.writer.Each(func(row func(...any) error) error {
		var n int64
		err := row(&n)
		list = append(list, n)
		return err
	}, selectOverBelow, n)
	for _, n := range list {
		if err == nil {
			err = j.dropHiddenOne(n)
		}
	}
	return err
}

func (j *Store) dropHiddenOne(n int64) error {
	changed, err := j.writer.Exec(deleteRedacted, n)
	if err != nil || changed == 0 {
		return err
	}
	j.stale.Store(true)               // see Tidy
	return j.exec(updateForgotten, n) // the comment of an answer may hold such a value
}

func (j *Store) dropHiddenOf(s store.DropHiddenOf) error {
	changed, err := j.writer.Exec(deleteRedacted, s.N)
	if changed > 0 {
		j.stale.Store(true)
	}
	if err != nil {
		return errors.Join(store.Refuse(s), err)
	}
	if s.Below {
		return j.dropHiddenBelow(s.N, false)
	}
	return nil
}

func (j *Store) runIs(s store.RunIs) error {
	now, err := j.writer.Stands(s.N)
	if err == nil && now != s {
		return store.Refuse(s)
	}
	return err
}
