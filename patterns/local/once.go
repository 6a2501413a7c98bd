package local

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// A call with a business key acts once over all runs of the state (spec/config.md section 4, once):
//
//	intent ─ one transaction with ─▶ the key is this act's          ──▶ sent ──▶ done: its outcome is kept for the next
//	   │                                                                     └─▶ certainly failed: the key is free again
//	   ├─ it is another act's, with the same arguments, and done ──▶ that one's outcome; nothing is sent
//	   ├─ nobody knows what became of it, its run is over, and a later run of a plan makes it again ──▶ it is this act's: sent
//	   └─ with other arguments, or nobody knows yet             ──▶ once_reused; nothing is sent

// firstAct is the act that has a business key; nil: none has.
type firstAct struct {
	args   []byte // what they were, as sealed by sealedArgs
	run    int64
	act    string // key of the first attempt in its run
	effect string // key of the attempt that took it
	body   []byte // its outcome as the record has it; nil: in flight, or in doubt
	over   bool   // its run has ended
	of     *run   // in memory: whose act it is
}

// standing is how a business key stands for a call.
type standing int

const (
	keyFree  standing = iota // nobody has it
	keyMine                  // this act has it
	keyDone                  // another has it, did the same, and its outcome is known
	keyLeft                  // another has it, nobody knows what became of that, and this one may make it again
	keyTaken                 // another has it
)

// business is a call with a business key.
type business struct {
	tool, once string
	args       []byte // canonical
	run        int64
	key, act   string // of the effect, and of the first attempt at the same act
	again      bool   // an earlier run of the plan began the act, nobody knows what became of it, and it may be repeated
	settled    bool   // it is found out what became of all attempts
	of         *run
}

// businessOf is the call of an effect; false: it has no business key.
func (b *branch) businessOf(key string, e patterns.Effect) (business, bool) {
	if e.Kind != patterns.ToolEffect || e.Permit.Once() == "" {
		return business{}, false
	}
	n, _ := journal.RunNumber(b.id)
	once := e.Permit.Once()
	return business{
		tool: e.Permit.Tool(), once: once, args: e.Input, run: n, key: key, act: cmp.Or(e.Of, key),
		again: e.Before == once && e.Permit.Repeatable(), of: b.run,
	}, true
}

// saltSize is how many bytes of sealed arguments are their salt.
const saltSize = 16

// sealedArgs are arguments as a business key keeps them, for good: to be compared, and not to be guessed with a table, as
// they may be redacted elsewhere.
func sealedArgs(args []byte) []byte {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails, see crypto/rand
	return sealedWith(salt, args)
}

func sealedWith(salt, args []byte) []byte {
	sum := sha256.Sum256(slices.Concat(salt, args))
	return slices.Concat(salt, sum[:])
}

// wants reports whether a call has the arguments of the first act.
func (c business) wants(f *firstAct) bool {
	return len(f.args) > saltSize && bytes.Equal(f.args, sealedWith(f.args[:saltSize], c.args))
}

func (c business) stands(f *firstAct) standing {
	switch {
	case f == nil:
		return keyFree
	case f.run == c.run && f.act == c.act:
		return keyMine
	case f.body != nil && c.wants(f):
		return keyDone
	case f.body == nil && f.over && c.again && c.wants(f): // the same key again acts once at the service
		return keyLeft
	}
	return keyTaken
}

// actTable is where business keys are kept, seen at one time.
type actTable interface {
	first(c business) (*firstAct, error)
	take(c business) error
	// adopt makes the act this call's. No attempt of it frees the key: of the one that took it nobody knows.
	adopt(c business) error
	// keep notes the outcome of the act that has the key; free gives the key back, unless an earlier attempt took it: of that
	// nobody knows yet.
	keep(c business, body []byte) error
	free(c business) error
}

// acted sees the state's table; f reads it only.
func (b *branch) acted(f func(actTable) error) error {
	if file := b.engine.file; file != nil {
		return file.journal.view(func(s *session) error { return f(actsIn{s}) })
	}
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	return f(b.engine)
}

// standsFor is how a call's key stands now, and who has it.
func (b *branch) standsFor(c business) (at standing, f *firstAct) {
	err := b.acted(func(t actTable) (err error) {
		f, err = t.first(c)
		return err
	})
	if err != nil {
		b.unwind(err)
	}
	return c.stands(f), f
}

// isReused reports whether a call's business key is another act's whose outcome it may not have, and says why for the log.
func (b *branch) isReused(key string, e patterns.Effect) bool {
	c, ok := b.businessOf(key, e)
	if !ok {
		return false
	}
	if _, made := b.making[actKey{c.tool, c.once}]; made { // its intent may not be written yet: the table need not know it
		b.report(key, fmt.Errorf("%s: the business key is being used by another call of this run", c.tool))
		return true
	}
	at, f := b.standsFor(c)
	if at != keyTaken {
		return false
	}
	if !b.outwaited && b.isUnderWay(c) { // begun since it was waited for: this one's intent finds it taken, and waits then
		return false
	}
	why := "with other arguments"
	if c.wants(f) {
		why = "and nobody knows yet what became of it"
	}
	b.report(key, fmt.Errorf("%s: the business key was used by %s of %s %s", c.tool, f.act, journal.RunID(f.run), why))
	return true
}

// duplicated is the outcome of a call whose act was done before; false: it is to be sent.
func (b *branch) duplicated(key string, e patterns.Effect) (patterns.Outcome, bool) {
	c, ok := b.businessOf(key, e)
	if !ok {
		return patterns.Outcome{}, false
	}
	at, f := b.standsFor(c)
	if at != keyDone {
		return patterns.Outcome{}, false
	}
	v, err := journal.DecodeTrusted(f.body)
	obj, _ := v.(map[string]any)
	if err != nil || obj == nil { // somebody wrote it
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonBadResult, Duplicate: true}, true
	}
	out := journal.DecodeOutcome(obj).Outcome()
	out.Duplicate, out.Again, out.After = true, false, 0
	return out, true
}

// unsent reports whether a call that was begun was certainly not sent: its key is another act's.
func (b *branch) unsent(key string, e patterns.Effect) bool {
	c, ok := b.businessOf(key, e)
	if !ok {
		return false
	}
	at, _ := b.standsFor(c)
	return at == keyTaken || at == keyLeft // it would have been adopted with its intent
}

// takes has a call's business key taken with its intent; nil: it has none. In a state file that is done in the transaction
// of the intent, and refused where the key has come to stand otherwise.
func (b *branch) takes(key string, e patterns.Effect, duplicate bool) func(actTable) error {
	c, ok := b.businessOf(key, e)
	if !ok {
		return nil
	}
	return func(t actTable) error {
		f, err := t.first(c)
		if err != nil {
			return err
		}
		switch at := c.stands(f); {
		case at == keyFree && !duplicate:
			return t.take(c)
		case at == keyLeft && !duplicate:
			return t.adopt(c)
		case at == keyMine && !duplicate, at == keyDone && duplicate:
			return nil
		}
		return refusal{errUnspent}
	}
}

// takesHere takes a call's business key in memory; false: another call has it by now. In a state file its intent does.
func (b *branch) takesHere(key string, e patterns.Effect, duplicate bool) bool {
	takes := b.takes(key, e, duplicate)
	return takes == nil || b.engine.file != nil || b.acted(takes) == nil
}

// concludes notes what became of the act that has the business key; nil: nothing is to be noted.
func (b *branch) concludes(key string, e patterns.Effect, out patterns.Outcome, settled bool) func(t actTable, body []byte) error {
	c, ok := b.businessOf(key, e)
	c.settled = settled
	switch {
	case !ok, out.Duplicate, out.State == patterns.Unknown:
		return nil
	case out.State == patterns.Canceled, out.State == patterns.Failed && out.Reason != patterns.ReasonBadResult: // it did nothing
		return func(t actTable, _ []byte) error { return t.free(c) }
	}
	return func(t actTable, body []byte) error { return t.keep(c, body) }
}

// Settled implements [patterns.Run].
func (b *branch) Settled(e patterns.Effect, out patterns.Outcome) {
	b.conclude(e, out, true)
	b.foundOut(e, out)
}

// conclude has it noted what became of the act of a call, by its own outcome or because it was found out.
func (b *branch) conclude(e patterns.Effect, out patterns.Outcome, settled bool) {
	does := b.concludes(out.Key, e, out, settled)
	if does == nil || b.dry != nil {
		return
	}
	if b.engine.file == nil {
		_ = b.acted(func(t actTable) error { return does(t, journal.Encode(journal.OutcomeOf(e, out))) })
		return
	}
	b.record.also(journal.OutcomeOf(e, out), func(s *session, body []byte) error { return does(actsIn{s}, body) })
}

// actsIn are the business keys of a state file.
type actsIn struct{ *session }

func (t actsIn) first(c business) (f *firstAct, err error) {
	err = t.each(func(row func(...any) error) error {
		f = &firstAct{}
		return row(&f.args, &f.run, &f.act, &f.effect, &f.body, &f.over)
	}, selectActed, c.tool, c.once)
	return f, err
}

func (t actsIn) take(c business) error {
	_, err := t.exec(insertActed, c.tool, c.once, sealedArgs(c.args), c.run, c.act, c.key)
	return err
}

func (t actsIn) adopt(c business) error {
	_, err := t.exec(updateAdopted, c.run, c.act, c.tool, c.once)
	return err
}

func (t actsIn) keep(c business, body []byte) error {
	_, err := t.exec(updateActed, body, c.tool, c.once, c.run, c.act)
	return err
}

func (t actsIn) free(c business) error {
	_, err := t.exec(deleteActed, c.tool, c.once, c.run, c.act, c.settled, c.key)
	return err
}

// actKey names an act in memory.
type actKey struct{ tool, once string }

func (e *Engine) first(c business) (*firstAct, error) {
	f := e.acts[actKey{c.tool, c.once}]
	if f == nil {
		return nil, nil
	}
	seen := *f // it changes while others look at it
	seen.over = f.of.state == patterns.Over
	return &seen, nil
}

func (e *Engine) take(c business) error {
	if e.acts == nil {
		e.acts = map[actKey]*firstAct{}
	}
	e.acts[actKey{c.tool, c.once}] = &firstAct{args: sealedArgs(c.args), run: c.run, act: c.act, effect: c.key, of: c.of}
	return nil
}

func (e *Engine) adopt(c business) error {
	f := e.acts[actKey{c.tool, c.once}]
	f.run, f.act, f.effect, f.of = c.run, c.act, "", c.of
	return nil
}

func (e *Engine) keep(c business, body []byte) error {
	if f := e.acts[actKey{c.tool, c.once}]; c.stands(f) == keyMine {
		f.body = body
	}
	return nil
}

func (e *Engine) free(c business) error {
	if f := e.acts[actKey{c.tool, c.once}]; c.stands(f) == keyMine && (c.settled || f.effect == c.key) && f.body == nil {
		delete(e.acts, actKey{c.tool, c.once})
	}
	return nil
}
