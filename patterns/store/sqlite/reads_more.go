package sqlite

import (
	"errors"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// Question implements [store.Reader].
func (s *session) Question(ap int64) (a *store.Asked, err error) {
	err = s.questions(func(found *store.Asked) error { a = found; return nil }, selectApproval, ap)
	return a, err
}

// Questions implements [store.Reader].
func (s *session) Questions(q store.QuestionPage, keep func(*store.Asked) bool) error {
	each := func(a *store.Asked) error {
		if !keep(a) {
			return errEnough
		}
		return nil
	}
	var err error
	if q.All {
		err = s.questions(each, selectAsked, q.Since, q.Since, q.Approval)
	} else {
		err = s.questions(each, selectOpen, q.Since, q.Since, q.Approval, q.Now)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (s *session) questions(each func(*store.Asked) error, query string, args ...any) error {
	return s.Each(func(row func(...any) error) error {
		a := &store.Asked{}
		err := row(&a.Approval, &a.Run, &a.Seq, &a.Digest, &a.Since, &a.Expires, &a.Shown, &a.State, &a.Answer, &a.Args, &a.Signature, &a.Channel,
			&a.Refused, &a.Consumed, &a.RunState, &a.Canceled, &a.Pattern, &a.Principal, &a.Rule, &a.Parent)
		if err != nil {
			return err
		}
		return each(a)
	}, query, args...)
}

// CountOpen implements [store.Reader].
func (s *session) CountOpen(now int64) (n int, err error) {
	err = s.Each(func(row func(...any) error) error { return row(&n) }, countOpen, now)
	return n, err
}

// QuestionSchema implements [store.Reader].
func (s *session) QuestionSchema(ap int64) (schema []byte, err error) {
	err = s.Each(func(row func(...any) error) error { return row(&schema) }, selectSchema, ap)
	return schema, err
}

// QuestionsBetween implements [store.Reader].
func (s *session) QuestionsBetween(low, high int64) ([]int64, error) {
	return s.numbers(selectApBetween, low, high)
}

// Answered implements [store.Reader].
func (s *session) Answered(run int64) (list []store.Answered, err error) {
	err = s.Each(func(row func(...any) error) error {
		var a store.Answered
		err := row(&a.Approval, &a.Answer, &a.Args, &a.Signature, &a.Channel)
		list = append(list, a)
		return err
	}, selectAnswered, run)
	return list, err
}

// Grant implements [store.Reader].
func (s *session) Grant(ap, run int64) (g store.Grant, found bool, err error) {
	err = s.Each(func(row func(...any) error) error {
		found = true
		return row(&g.Answer, &g.Signature, &g.Consumed)
	}, selectGrant, ap, run)
	return g, found, err
}

// Share implements [store.Reader].
func (s *session) Share(ap int64, share string) (once string, err error) {
	err = s.Each(func(row func(...any) error) error { return row(&once) }, selectShare, ap, share)
	return once, err
}

// Keys implements [store.Reader].
func (s *session) Keys() (keys store.Keys, err error) {
	err = s.Each(func(row func(...any) error) error {
		var k gateway.PublicKey
		var enrolled, removed int64
		err := row(&k.ID, &k.Name, (*[]byte)(&k.Public), &enrolled, &k.Vouched.Key, &k.Vouched.Nonce, &k.Vouched.Signature,
			&removed, &k.Dropped.Key, &k.Dropped.Nonce, &k.Dropped.Signature)
		k.Enrolled = time.Unix(enrolled, 0).UTC()
		k.Vouched.Act.Act, k.Vouched.Subject, k.Vouched.At = gateway.ActEnroll, k.EnrolSubject(), k.Enrolled
		if removed != 0 {
			k.Removed = time.Unix(removed, 0).UTC()
			k.Dropped.Act.Act, k.Dropped.Subject, k.Dropped.At = gateway.ActRemove, gateway.RemoveSubject(k.ID), k.Removed
		}
		keys.Stored = append(keys.Stored, k)
		return err
	}, selectKeys)
	keys.Mark = keysMark(keys.Stored)
	return keys, err
}

// Act implements [store.Reader].
func (s *session) Act(tool, once string) (a *store.Act, err error) {
	err = s.Each(func(row func(...any) error) error {
		a = &store.Act{}
		return row(&a.Args, &a.Run, &a.Act, &a.Effect, &a.Body, &a.Over)
	}, selectActed, tool, once)
	return a, err
}

// Plan implements [store.Reader]. A row whose page is damaged counts as missing.
func (s *session) Plan(n int64) (p *store.Plan, err error) {
	p, err = s.plan(selectPlan, n)
	if sqliteCode(err) == codeCorrupt {
		return nil, nil
	}
	return p, err
}

// PlanBody implements [store.Reader]. The body may be on pages of its own.
func (s *session) PlanBody(n int64) (*store.Plan, error) {
	p, err := s.plan(selectPlanBody, n)
	if sqliteCode(err) == codeCorrupt {
		err = errors.Join(store.ErrDamaged, err)
	}
	return p, err
}

func (s *session) plan(query string, n int64) (p *store.Plan, err error) {
	err = s.Each(func(row func(...any) error) error {
		p = &store.Plan{}
		to := []any{&p.N, &p.Principal, &p.Pattern, &p.Version, &p.Revision, &p.Created, &p.Changed, &p.Run, &p.Under, &p.Sum}
		if query == selectPlanBody {
			to = append(to, &p.Body)
		}
		return row(to...)
	}, query, n)
	return p, err
}

// Plans implements [store.Reader].
func (s *session) Plans(q store.PlanPage) ([]int64, error) {
	if q.Principal != "" && q.Pattern != "" {
		return s.numbers(selectMyPlans, q.Principal, q.Pattern, q.Created, q.Created, q.N, q.Most)
	}
	return s.numbers(selectAllPlans, q.Created, q.Created, q.N, q.Principal, q.Principal, q.Pattern, q.Pattern, q.Most)
}

// CallsSince implements [store.Calls].
func (s *session) CallsSince(tool string, since time.Time, but int64, principal string, to func(store.CallEvent) error) (pruned bool, err error) {
	var ended int64
	if err := s.Each(func(row func(...any) error) error { return row(&ended) }, selectBuried, since.UnixMicro()); err != nil || ended != 0 {
		return ended != 0, err
	}
	query, args := selectCalls, []any{tool, since.UnixMicro(), but}
	if principal != "" {
		query, args = selectCallsOf, append(args, principal)
	}
	return false, s.Each(func(row func(...any) error) error {
		var e store.CallEvent
		if err := row(&e.Run, &e.At, &e.Kind, &e.Key, &e.Body); err != nil {
			return err
		}
		return to(e)
	}, query, args...)
}

// maxMarked is how many events of a tool are counted at most: two more than the intents and outcomes of a full window.
const maxMarked = 2*gateway.MaxWindow + 2

// CallsMark implements [store.Calls]. The mark holds the number of events of each tool, the newest one with its hash, and the number of
// runs pruned since then. Events are only added, so no other event has the id of the newest one while that is there. The mark is "" if
// a tool has more events than a window holds.
func (s *session) CallsMark(tools []string, since time.Time) (string, error) {
	var all []byte
	crowded := false
	for _, tool := range tools {
		var number, newest int64
		err := s.Each(func(row func(...any) error) error { return row(&number, &newest) }, selectCallsMark, tool, since.UnixMicro(), maxMarked)
		if err != nil {
			return "", err
		}
		crowded = crowded || number == maxMarked
		var hash []byte
		if err := s.Each(func(row func(...any) error) error { return row(&hash) }, selectEventHash, newest); err != nil {
			return "", err
		}
		all = fmt.Appendf(all, "%d %d %x,", number, newest, hash)
	}
	if crowded {
		return "", nil
	}
	var number, newest int64
	err := s.Each(func(row func(...any) error) error { return row(&number, &newest) }, selectBuriedMark, since.UnixMicro())
	return string(fmt.Appendf(all, "%d %d", number, newest)), err
}

// SettledCall implements [store.Calls].
func (s *session) SettledCall(run int64, once string) (f store.Settled, err error) {
	err = s.Each(func(row func(...any) error) error {
		var state string
		err := row(&state, &f.Attempt)
		f.State = patterns.State(state)
		return err
	}, selectSettled, run, once)
	return f, err
}
