package local

import (
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// ring reads the approver keys of a state file. What nobody vouches for is no key of it.
func ring(s *session) (gateway.Ring, error) {
	stored, err := storedKeys(s)
	return gateway.NewRing(stored), err
}

func storedKeys(s *session) (list []gateway.PublicKey, err error) {
	err = s.each(func(row func(...any) error) error {
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
		list = append(list, k)
		return err
	}, selectKeys)
	return list, err
}

// Keys implements [patterns.Approvals].
func (a approvals) Keys() (keys gateway.Ring, err error) {
	if a.file == nil {
		return keys, nil
	}
	err = a.file.journal.view(func(s *session) error {
		keys, err = ring(s)
		return err
	})
	return keys, err
}

// Enroll implements [patterns.Approvals].
func (a approvals) Enroll(k gateway.PublicKey) error {
	if a.file == nil {
		return patterns.ErrNoKey
	}
	now := a.file.journal.now()
	return a.file.journal.do(&change{sync: true, also: func(s *session) error {
		stored, err := storedKeys(s)
		if err != nil {
			return err
		}
		before := gateway.NewRing(stored)
		after := gateway.NewRing(append(stored, k))
		_, known := before.Find(k.ID)
		added, ok := after.Find(k.ID)
		if known || !ok || k.Vouched.Fresh(now) != nil || !k.Removed.IsZero() {
			return refusal{patterns.ErrForged}
		}
		if before.Counts(now) && before.Check(added.Vouched, now) != nil {
			return refusal{patterns.ErrForged}
		}
		if err := actOnce(s, k.Vouched.Act, now); err != nil {
			return err
		}
		_, err = s.exec(insertKey, k.ID, k.Name, []byte(k.Public), k.Enrolled.Unix(), k.Vouched.Key, k.Vouched.Nonce, k.Vouched.Signature)
		return err
	}})
}

// RemoveKey implements [patterns.Approvals].
func (a approvals) RemoveKey(id string, by gateway.SignedAct) error {
	if a.file == nil {
		return patterns.ErrNoKey
	}
	now := a.file.journal.now()
	return a.file.journal.do(&change{sync: true, also: func(s *session) error {
		keys, err := ring(s)
		if err != nil {
			return err
		}
		k, known := keys.Find(id)
		if !known || !k.Removed.IsZero() {
			return refusal{patterns.ErrNoKey}
		}
		if err := allowed(s, keys, by, wanted{gateway.ActRemove, gateway.RemoveSubject(id)}, now); err != nil {
			return err
		}
		_, err = s.exec(updateKey, by.At.Unix(), by.Key, by.Nonce, by.Signature, id)
		return err
	}})
}

// wanted is what somebody is about to do that needs a key where one is enrolled.
type wanted struct {
	act     string
	subject map[string]any
}

// allowed refuses what is not signed where only what is signed counts: with [patterns.ErrUnsigned], [patterns.ErrForged] or
// [patterns.ErrUsed].
func allowed(s *session, keys gateway.Ring, by gateway.SignedAct, want wanted, now time.Time) error {
	switch {
	case by.Key == "" && by.Signature == "" && !keys.Counts(now):
		return nil
	case by.Key == "" || by.Signature == "":
		return refusal{patterns.ErrUnsigned}
	case by.Act.Act != want.act, !ijson.Equal(by.Subject, want.subject), keys.Check(by, now) != nil:
		return unheard(keys, by.Key)
	}
	return actOnce(s, by.Act, now)
}

// unheard is why what a key has signed does not count: [patterns.ErrForged], or [patterns.ErrKeyRemoved] where it did once.
func unheard(keys gateway.Ring, id string) error {
	if k, known := keys.Find(id); known && !k.Removed.IsZero() {
		return refusal{patterns.ErrKeyRemoved}
	}
	return refusal{patterns.ErrForged}
}

// signed is allowed for the keys that the file has now.
func (f *file) signed(s *session, by gateway.SignedAct, want wanted) error {
	keys, err := ring(s)
	if err != nil {
		return err
	}
	return allowed(s, keys, by, want, f.journal.now())
}

// actOnce notes that a signed act is done.
func actOnce(s *session, a gateway.Act, now time.Time) error {
	changed, err := s.exec(insertAct, a.Nonce, now.UnixMicro())
	if err == nil && changed == 0 {
		err = refusal{patterns.ErrUsed}
	}
	return err
}
