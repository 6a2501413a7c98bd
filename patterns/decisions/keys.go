package decisions

import (
	"fmt"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// tries is how often a change is tried if the keys or the run change in between.
const tries = 8

// Signer makes changes that need the signature of an approver key while one is enrolled. It is safe for concurrent use.
type Signer struct{ Store store.Store }

// Ring returns the approver keys of a store. It leaves out keys whose enrolment has no valid signature, see [gateway.NewRing]. The step
// holds while the keys are the same.
func (k Signer) Ring() (keys gateway.Ring, same store.Step, err error) {
	err = k.Store.View(func(s store.Reader) error {
		stored, err := s.Keys()
		keys, same = gateway.NewRing(stored.Stored), store.KeysAre{Mark: stored.Mark}
		return err
	})
	return keys, same, err
}

// RingIn returns the ring of one state of a store.
func RingIn(s store.Reader) (gateway.Ring, error) {
	stored, err := s.Keys()
	return gateway.NewRing(stored.Stored), err
}

// Wanted is an act that needs a signature while a key is enrolled.
type Wanted struct {
	Act     string
	Subject map[string]any
}

// allowed returns the steps that note a signed act. Where only signed acts count, it refuses others with [patterns.ErrUnsigned],
// [patterns.ErrForged] or [patterns.ErrKeyRemoved].
func allowed(keys gateway.Ring, by gateway.SignedAct, want Wanted, now time.Time) ([]store.Step, error) {
	switch {
	case by.Key == "" && by.Signature == "" && !keys.Counts(now):
		return nil, nil
	case by.Key == "" || by.Signature == "":
		return nil, patterns.ErrUnsigned
	case by.Act.Act != want.Act, !ijson.Equal(by.Subject, want.Subject), keys.Check(by, now) != nil:
		return nil, unheard(keys, by.Key)
	}
	return []store.Step{actOnce(by.Act, now)}, nil
}

// unheard returns why a signature of a key does not count: [patterns.ErrKeyRemoved] for a removed key, otherwise [patterns.ErrForged].
func unheard(keys gateway.Ring, id string) error {
	if k, known := keys.Find(id); known && !k.Removed.IsZero() {
		return patterns.ErrKeyRemoved
	}
	return patterns.ErrForged
}

// Signed makes a change that needs the signature of an approver key, if one is enrolled. The errors are those of allowed,
// [patterns.ErrUsed], and those of the change.
func (k Signer) Signed(by gateway.SignedAct, want Wanted, c *store.Change, more ...store.Step) error {
	return k.whileKeys(func() ([]store.Step, error) {
		keys, same, err := k.Ring()
		if err != nil {
			return nil, err
		}
		steps, err := allowed(keys, by, want, k.Store.Now())
		return append(append([]store.Step{same}, steps...), more...), err
	}, c)
}

// whileKeys makes a change with steps that depend on the keys. If the keys change in between, it calls steps again and retries.
func (k Signer) whileKeys(steps func() ([]store.Step, error), c *store.Change) error {
	before := c.Steps
	for try := 1; ; try++ {
		more, err := steps()
		if err != nil {
			return err
		}
		c.Steps = append(slices.Clip(more), before...)
		err = k.Store.Do(c)
		switch {
		case store.RefusedBy[store.UseAct](err):
			return patterns.ErrUsed
		case !store.RefusedBy[store.KeysAre](err):
			return err
		case try == tries:
			return fmt.Errorf(keysChanging, patterns.ErrJournal)
		}
	}
}

// actOnce notes that a signed act is done. It holds if it was not done before.
func actOnce(a gateway.Act, now time.Time) store.Step {
	return store.UseAct{Nonce: a.Nonce, At: now.UnixMicro()}
}
