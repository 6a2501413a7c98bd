package local

import (
	"fmt"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// ring returns the approver keys of a state file. A key that nobody vouches for is not in it. The step holds while the keys are the same.
func (f *file) ring() (keys gateway.Ring, same store.Step, err error) {
	err = f.journal.View(func(s store.Reader) error {
		stored, err := s.Keys()
		keys, same = gateway.NewRing(stored.Stored), store.KeysAre{Mark: stored.Mark}
		return err
	})
	return keys, same, err
}

// ringIn is the ring of one state of the file.
func ringIn(s store.Reader) (gateway.Ring, error) {
	stored, err := s.Keys()
	return gateway.NewRing(stored.Stored), err
}

// Keys implements [patterns.Approvals].
func (a approvals) Keys() (keys gateway.Ring, err error) {
	if a.file == nil {
		return keys, nil
	}
	keys, _, err = a.file.ring()
	return keys, err
}

// Enroll implements [patterns.Approvals].
func (a approvals) Enroll(k gateway.PublicKey) error {
	if a.file == nil {
		return patterns.ErrNoKey
	}
	now := a.file.journal.Now()
	return a.file.whileKeys(func() ([]store.Step, error) {
		var stored store.Keys
		err := a.file.journal.View(func(s store.Reader) (err error) {
			stored, err = s.Keys()
			return err
		})
		if err != nil {
			return nil, err
		}
		before := gateway.NewRing(stored.Stored)
		after := gateway.NewRing(append(stored.Stored, k))
		_, known := before.Find(k.ID)
		added, ok := after.Find(k.ID)
		if known || !ok || k.Vouched.Fresh(now) != nil || !k.Removed.IsZero() {
			return nil, patterns.ErrForged
		}
		if before.Counts(now) && before.Check(added.Vouched, now) != nil {
			return nil, patterns.ErrForged
		}
		return []store.Step{store.KeysAre{Mark: stored.Mark}, actOnce(k.Vouched.Act, now), store.AddKey{Key: k}}, nil
	}, &store.Change{Durable: true})
}

// RemoveKey implements [patterns.Approvals].
func (a approvals) RemoveKey(id string, by gateway.SignedAct) error {
	if a.file == nil {
		return patterns.ErrNoKey
	}
	now := a.file.journal.Now()
	return a.file.whileKeys(func() ([]store.Step, error) {
		keys, same, err := a.file.ring()
		if err != nil {
			return nil, err
		}
		k, known := keys.Find(id)
		if !known || !k.Removed.IsZero() {
			return nil, patterns.ErrNoKey
		}
		steps, err := allowed(keys, by, wanted{gateway.ActRemove, gateway.RemoveSubject(id)}, now)
		return append([]store.Step{same}, append(steps, store.DropKey{ID: id, By: by})...), err
	}, &store.Change{Durable: true})
}

// wanted is what somebody is about to do that needs a key where one is enrolled.
type wanted struct {
	act     string
	subject map[string]any
}

// allowed returns the steps that note a signed act. Where only signed acts count, it refuses others with [patterns.ErrUnsigned],
// [patterns.ErrForged] or [patterns.ErrKeyRemoved].
func allowed(keys gateway.Ring, by gateway.SignedAct, want wanted, now time.Time) ([]store.Step, error) {
	switch {
	case by.Key == "" && by.Signature == "" && !keys.Counts(now):
		return nil, nil
	case by.Key == "" || by.Signature == "":
		return nil, patterns.ErrUnsigned
	case by.Act.Act != want.act, !ijson.Equal(by.Subject, want.subject), keys.Check(by, now) != nil:
		return nil, unheard(keys, by.Key)
	}
	return []store.Step{actOnce(by.Act, now)}, nil
}

// unheard is why what a key has signed does not count: [patterns.ErrForged], or [patterns.ErrKeyRemoved] where it did once.
func unheard(keys gateway.Ring, id string) error {
	if k, known := keys.Find(id); known && !k.Removed.IsZero() {
		return patterns.ErrKeyRemoved
	}
	return patterns.ErrForged
}

// signed makes a change that needs the signature of an approver key, if one is enrolled. The errors are those of allowed,
// [patterns.ErrUsed], and those of the change.
func (f *file) signed(by gateway.SignedAct, want wanted, c *store.Change, more ...store.Step) error {
	return f.whileKeys(func() ([]store.Step, error) {
		keys, same, err := f.ring()
		if err != nil {
			return nil, err
		}
		steps, err := allowed(keys, by, want, f.journal.Now())
		return append(append([]store.Step{same}, steps...), more...), err
	}, c)
}

// whileKeys makes a change with steps that were made of the keys. It makes them again if the keys change in between.
func (f *file) whileKeys(steps func() ([]store.Step, error), c *store.Change) error {
	before := c.Steps
	for try := 1; ; try++ {
		more, err := steps()
		if err != nil {
			return err
		}
		c.Steps = append(slices.Clip(more), before...)
		err = f.journal.Do(c)
		switch {
		case store.RefusedBy[store.UseAct](err):
			return patterns.ErrUsed
		case !store.RefusedBy[store.KeysAre](err):
			return err
		case try == maxTries:
			return fmt.Errorf("%w: the keys of approvers change too fast", patterns.ErrJournal)
		}
	}
}

// actOnce notes that a signed act is done. It holds if it was not done before.
func actOnce(a gateway.Act, now time.Time) store.Step {
	return store.UseAct{Nonce: a.Nonce, At: now.UnixMicro()}
}
