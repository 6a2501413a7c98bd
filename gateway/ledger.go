package gateway

import (
	"slices"

	"patterngate/catalog"
)

// EffectStatus says what is known about a call (spec/surface.md section 1, effects).
type EffectStatus string

// The states of an effect.
const (
	Reserved EffectStatus = "reserved" // recorded, no outcome yet
	Finished EffectStatus = "done"
	Failed   EffectStatus = "failed"   // it certainly did nothing
	InDoubt  EffectStatus = "in_doubt" // it may have happened
)

// Entry is one admitted call with what became of it: a row of a result's effects, and what rules see as
// run.effects.
type Entry struct {
	Key         string // the effect's path in the run
	Tool        string
	Effect      catalog.Effect
	Args        map[string]any
	Hash        string
	Status      EffectStatus
	Observation any
	Order       int // of the intent, in the run
}

// OK reports whether the call was done and its observation carries no error.
func (e Entry) OK() bool {
	if e.Status != Finished {
		return false
	}
	_, failed := Reported(e.Observation)
	return !failed
}

// Counts reports whether a spending cap must count the call: it was done well, or nobody can say that it was not.
func (e Entry) Counts() bool { return e.OK() || e.Status != Finished && e.Status != Failed }

// Note adds what became of a permitted call to the ledger, at its place in the order of intents. A call that is there
// under the same key and order was in doubt and is now known: its entry is replaced. Without a permit nothing was
// called, and nothing is noted.
func (g *Gate) Note(p Permit, e Entry) {
	if !p.Valid() {
		return
	}
	e.Tool, e.Effect, e.Args, e.Hash = p.Tool(), p.Effect(), p.Args(), p.Hash()
	g.noted++
	at, there := slices.BinarySearchFunc(g.ledger, e.Order, func(a Entry, order int) int { return a.Order - order })
	if there && e.Key != "" && g.ledger[at].Key == e.Key {
		g.ledger = slices.Clone(g.ledger) // results so far hold the one before
		g.ledger[at] = e
		return
	}
	g.ledger = slices.Insert(g.ledger, at, e)
}

// Ledger lists the run's calls in the order of their intents. It must not be changed.
func (g *Gate) Ledger() []Entry { return g.ledger }
