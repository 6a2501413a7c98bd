package decisions

import (
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// Keys implements [patterns.Approvals].
func (a Approvals) Keys() (keys gateway.Ring, err error) {
	if a.Store == nil {
		return keys, nil
	}
	keys, _, err = Signer{a.Store}.Ring()
	return keys, err
}

// Enroll implements [patterns.Approvals].
func (a Approvals) Enroll(k gateway.PublicKey) error {
	if a.Store == nil {
		return patterns.ErrNoKey
	}
	now := a.Store.Now()
	return Signer{a.Store}.whileKeys(func() ([]store.Step, error) {
		var stored store.Keys
		err := a.Store.View(func(s store.Reader) (err error) {
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
func (a Approvals) RemoveKey(id string, by gateway.SignedAct) error {
	if a.Store == nil {
		return patterns.ErrNoKey
	}
	now := a.Store.Now()
	return Signer{a.Store}.whileKeys(func() ([]store.Step, error) {
		keys, same, err := Signer{a.Store}.Ring()
		if err != nil {
			return nil, err
		}
		k, known := keys.Find(id)
		if !known || !k.Removed.IsZero() {
			return nil, patterns.ErrNoKey
		}
		steps, err := allowed(keys, by, Wanted{Act: gateway.ActRemove, Subject: gateway.RemoveSubject(id)}, now)
		return append([]store.Step{same}, append(steps, store.DropKey{ID: id, By: by})...), err
	}, &store.Change{Durable: true})
}
