package sqlite

import (
	"bytes"
	"slices"

	"patterngate/patterns/store"
)

func (j *Store) closeQuestion(s store.CloseQuestion) error {
	rows, err := j.writer.Answered(s.Run)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(a store.Answered) bool { return a.Approval == s.Approval }) {
		return store.Refuse(s)
	}
	return j.exec(updateClosed, s.State, s.Approval, s.Run)
}

func (j *Store) spendApproval(s store.SpendApproval) error {
	g, found, err := j.writer.Grant(s.Approval, s.Run)
	if err != nil {
		return err
	}
	if !found || !bytes.Equal(g.Answer, s.Answer) || g.Signature != s.Signature {
		return store.Refuse(s)
	}
	if s.Share == "" {
		return j.must(s, updateSpent, s.Once, s.Approval, s.Run, s.Once)
	}
	if err := j.must(s, insertShare, s.Approval, s.Share, s.Once); err != nil {
		return err
	}
	return j.exec(updateBegun, s.Once, s.Approval, s.Run)
}

func (j *Store) keysAre(s store.KeysAre) error {
	now, err := j.writer.Keys()
	if err == nil && now.Mark != s.Mark {
		return store.Refuse(s)
	}
	return err
}

func (j *Store) addReload(s store.AddReload) error {
	if err := j.exec(insertReload, s.At, s.Path, s.Hash, s.Asked, s.By, s.Channel, orNoBytes(s.Act), s.Signature); err != nil {
		return err
	}
	n, err := j.writer.NewestReload()
	if err != nil {
		return err
	}
	if s.N != nil {
		*s.N = n
	}
	if s.Answer == nil {
		return nil
	}
	return j.step(store.AddReloadAnswer{N: n, ReloadAnswer: *s.Answer})
}

func (j *Store) takeKey(s store.TakeKey) error {
	a, err := j.writer.Act(s.Tool, s.Once)
	switch {
	case err != nil:
		return err
	case a == nil:
		return j.exec(insertActed, s.Tool, s.Once, s.Args, s.Run, s.Act, s.Effect)
	case a.Run == s.Run && a.Act == s.Act:
		return nil
	}
	return store.Refuse(s)
}

func (j *Store) keyDone(s store.KeyDone) error {
	a, err := j.writer.Act(s.Tool, s.Once)
	if err == nil && (a == nil || a.Run != s.Run || a.Act != s.Act || a.Body == nil) {
		return store.Refuse(s)
	}
	return err
}

func (j *Store) planIs(s store.PlanIs) error {
	p, err := j.writer.Plan(s.N)
	switch {
	case err != nil:
		return err
	case s.Missing:
		if p != nil {
			return store.Refuse(s)
		}
		return nil
	case p == nil, p.Version != s.Version, p.Run != s.Run, p.Under != s.Under, !bytes.Equal(p.Sum, s.Sum):
		return store.Refuse(s)
	}
	return nil
}
