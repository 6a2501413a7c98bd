package execution

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// A call with a business key acts at most once over all runs of the state (spec/config.md section 4, once):
//
//	intent ─ one transaction with ─▶ the key is this act's          ──▶ sent ──▶ done: its outcome is kept for the next
//	   │                                                                     └─▶ certainly failed: the key is free again
//	   ├─ it is another act's, with the same arguments, and done ──▶ that one's outcome; nothing is sent
//	   ├─ its outcome is unknown, its run is over, and a later run of a plan makes it again ──▶ it is this act's: sent
//	   └─ with other arguments, or its outcome is not known yet ──▶ once_reused; nothing is sent

// firstAct is the act that has a business key. A nil firstAct means that no act has the key.
type firstAct struct{ store.Act }

// standing is the state of a business key for a call.
type standing int

const (
	keyFree  standing = iota // no act has it
	keyMine                  // this act has it
	keyDone                  // another has it, with the same arguments and a known outcome
	keyLeft                  // another has it with unknown outcome, and this one may repeat it
	keyTaken                 // another has it in any other state
)

// business is a call with a business key.
type business struct {
	tool, once string
	args       []byte // canonical
	run        int64
	key, act   string // of the effect, and of the first attempt at the same act
	again      bool   // an earlier run of the plan began the act with unknown outcome, and it may be repeated
	settled    bool   // the outcome of all attempts is known
}

// businessOf returns the business call of an effect. It returns false if the effect has no business key.
func (b *branch) businessOf(key string, e patterns.Effect) (business, bool) {
	call, _ := callOf(e)
	once := call.Permit.Once()
	if once == "" {
		return business{}, false
	}
	return business{
		tool: call.Permit.Tool(), once: once, args: e.Input, run: b.N, key: key, act: cmp.Or(call.Attempt.Of, key),
		again: call.Attempt.Before == once && call.Permit.Repeatable(),
	}, true
}

// saltSize is the length of the salt of sealed arguments, in bytes.
const saltSize = 16

// sealedArgs returns a salted hash of arguments, which is stored with a business key for good. It can be compared, and a table of
// hashes does not reveal the arguments, which may be redacted elsewhere.
func sealedArgs(args []byte) []byte {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails, see crypto/rand
	return sealedWith(salt, args)
}

func sealedWith(salt, args []byte) []byte {
	sum := sha256.Sum256(slices.Concat(salt, args))
	return slices.Concat(salt, sum[:])
}

// wants reports whether a call has the same arguments as the first act.
func (c business) wants(f *firstAct) bool {
	return len(f.Args) > saltSize && bytes.Equal(f.Args, sealedWith(f.Args[:saltSize], c.args))
}

func (c business) stands(f *firstAct) standing {
	switch {
	case f == nil:
		return keyFree
	case f.Run == c.run && f.Act.Act == c.act:
		return keyMine
	case f.Body != nil && c.wants(f):
		return keyDone
	case f.Body == nil && f.Over && c.again && c.wants(f): // the same key sent again acts once at the service
		return keyLeft
	}
	return keyTaken
}

// standsFor returns the present state of a call's key and the act that has it.
func (b *branch) standsFor(c business) (at standing, f *firstAct) {
	err := b.Backing.Store().View(func(s store.Reader) error {
		a, err := s.Act(c.tool, c.once)
		if a != nil {
			f = &firstAct{Act: *a}
		}
		return err
	})
	if err != nil {
		b.unwind(err)
	}
	return c.stands(f), f
}

// isReused reports whether another act has a call's business key and this call must not get its outcome. It writes the reason to
// the log.
func (b *branch) isReused(key string, e patterns.Effect) bool {
	c, ok := b.businessOf(key, e)
	if !ok {
		return false
	}
	if _, made := b.making[actKey{c.tool, c.once}]; made { // its intent may not be written yet, so the table may not have it
		b.report(key, fmt.Errorf(keyInUse, c.tool))
		return true
	}
	at, f := b.standsFor(c)
	if at != keyTaken {
		return false
	}
	if !b.outwaited && b.isUnderWay(c) { // begun since the wait: this call's intent finds the key taken and waits then
		return false
	}
	why := otherArguments
	if c.wants(f) {
		why = outcomeUnknown
	}
	b.report(key, fmt.Errorf(keyUsed, c.tool, f.Act.Act, journal.RunID(f.Run), why))
	return true
}

// duplicated returns the outcome of a call whose act was done before. It returns false if the call must be sent.
func (b *branch) duplicated(key string, e patterns.Effect) (patterns.Outcome, bool) {
	c, ok := b.businessOf(key, e)
	if !ok {
		return patterns.Outcome{}, false
	}
	at, f := b.standsFor(c)
	if at != keyDone {
		return patterns.Outcome{}, false
	}
	v, err := journal.DecodeTrusted(f.Body)
	obj, _ := v.(map[string]any)
	if err != nil || obj == nil { // another program changed it
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonBadResult, Duplicate: true}, true
	}
	out := journal.DecodeOutcome(obj).Outcome()
	out.Duplicate, out.Again, out.After = true, false, 0
	return out, true
}

// unsent reports whether a call that was begun was certainly not sent, because its key is another act's.
func (b *branch) unsent(key string, e patterns.Effect) bool {
	c, ok := b.businessOf(key, e)
	if !ok {
		return false
	}
	at, _ := b.standsFor(c)
	return at == keyTaken || at == keyLeft // otherwise its intent would have adopted the key
}

// taking is what a call does with its business key when it begins.
type taking int

const (
	takesNothing taking = iota // it has no key
	takesFree                  // it takes the key, which is free or this act's already
	takesLeft                  // it repeats the act that has the key
	takesDone                  // the act that has the key was done; its outcome is this call's
	takesRefused               // another act has the key
)

// takingOf returns what a call does with a key of a given state.
func takingOf(at standing, duplicate bool) taking {
	switch {
	case !duplicate && (at == keyFree || at == keyMine):
		return takesFree
	case !duplicate && at == keyLeft:
		return takesLeft
	case duplicate && at == keyDone:
		return takesDone
	}
	return takesRefused
}

// takes returns the steps that take a call's business key in a state file, together with its intent; nil: it has no key. It unwinds
// if another act has the key by now. The run is then replayed and finds that.
func (b *branch) takes(key string, e patterns.Effect, duplicate bool) []store.Step {
	steps, ok := b.takingSteps(key, e, duplicate)
	if !ok {
		b.unwind(ErrUnspent)
	}
	return steps
}

// takingSteps returns the steps that take a call's business key; nil: it has no key. It returns false if another act has the key.
func (b *branch) takingSteps(key string, e patterns.Effect, duplicate bool) (steps []store.Step, ok bool) {
	c, ok := b.businessOf(key, e)
	if !ok {
		return nil, true
	}
	at, f := b.standsFor(c)
	switch takingOf(at, duplicate) {
	case takesFree:
		return []store.Step{store.TakeKey{Tool: c.tool, Once: c.once, Args: sealedArgs(c.args), Run: c.run, Act: c.act, Effect: c.key}}, true
	case takesLeft:
		return []store.Step{store.AdoptKey{Tool: c.tool, Once: c.once, Run: c.run, Act: c.act, FromRun: f.Run, FromAct: f.Act.Act}}, true
	case takesDone:
		return []store.Step{store.KeyDone{Tool: c.tool, Once: c.once, Run: f.Run, Act: f.Act.Act}}, true
	}
	return nil, false
}

// Settled implements [patterns.Run].
func (b *branch) Settled(e patterns.Effect, out patterns.Outcome) {
	b.conclude(e, out, true)
	b.foundOut(e, out)
}

// conclude records the outcome of a call's act for its business key. settled says that the outcome was found out later.
func (b *branch) conclude(e patterns.Effect, out patterns.Outcome, settled bool) {
	c, ok := b.businessOf(out.Key, e)
	if !ok || out.Duplicate || out.State == patterns.Unknown || b.dry != nil {
		return
	}
	c.settled = settled
	didNothing := out.State == patterns.Canceled || out.State == patterns.Failed && out.Reason != patterns.ReasonBadResult
	if didNothing {
		b.Backing.take(b, store.FreeKey{Tool: c.tool, Once: c.once, Run: c.run, Act: c.act, Settled: c.settled, Effect: c.key})
		return
	}
	body := b.Record.sink.sealed(journal.OutcomeOf(e, out))
	b.Backing.take(b, store.KeepOutcome{Tool: c.tool, Once: c.once, Run: c.run, Act: c.act, Body: body})
}

// foundOut stores what happened to a call that ended in doubt. out is the outcome that was found out later.
func (b *branch) foundOut(e patterns.Effect, out patterns.Outcome) {
	call, _ := callOf(e)
	once, effect := cmp.Or(out.Once, call.Once), call.Permit.Effect()
	if b.dry != nil || once == "" || out.State == patterns.Unknown || effect == catalog.Read {
		return
	}
	state := patterns.Failed
	if windows.StatusOf(effect, out) == gateway.Finished {
		state = patterns.OK
	}
	b.Backing.foundOut(b, once, store.Settled{State: state, Attempt: out.Newest()})
}

// actKey names a business key.
type actKey struct{ tool, once string }
