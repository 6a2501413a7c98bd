package gateway

import (
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
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
	Order       int       // of the intent, in the run
	At          time.Time // of the intent
	RunID       string    // of an earlier run; "": this one's
	// Duplicate says that nothing was sent: an earlier call with the same business key had done it, and this is what it returned.
	Duplicate bool
	// Unfit says that the tool answered, but with what its output schema does not allow.
	Unfit bool
	// Assumed says that the call was not made: a dry run sees what it would do before. Its arguments are known, and of its
	// observation nothing is, but whether it went Well, where that is supposed.
	Assumed bool
	Well    Supposed
}

// Supposed is what a dry run supposes of a call that it assumes. The zero value is nothing.
type Supposed uint8

// The suppositions.
const (
	SupposedWell  Supposed = iota + 1 // it is done, and reports no error
	SupposedError                     // it reports an error
)

// OK reports whether the call was done and its observation carries no error.
func (e Entry) OK() bool {
	if e.Status != Finished {
		return false
	}
	_, failed := Reported(e.Observation)
	return !failed && e.Well != SupposedError
}

// Counts reports whether a spending cap must count the call: it was done well, or nobody can say that it was not. What was
// done before, by another call, was counted there.
func (e Entry) Counts() bool {
	return !e.Duplicate && (e.OK() || e.Status != Finished && e.Status != Failed)
}

// Reserve has the policy see a permitted call as one that may happen, until it is noted or released: calls that are made at
// once are judged by one another.
func (g *Gate) Reserve(p Permit) { g.ReserveAgain(p, "") }

// ReserveAgain is Reserve for one more attempt at the call that was noted under a key: policy sees the attempt in its place.
func (g *Gate) ReserveAgain(p Permit, of string) {
	if p.Valid() {
		g.under = append(g.under, underway{permit: p, of: of, entry: entryOf(p)})
		g.noted++
	}
}

// ReserveIn is Reserve for a call that has a place of its own: what is reserved there is replaced, and a proposal with that
// [Proposal.Slot] does not see it.
func (g *Gate) ReserveIn(slot string, p Permit) {
	if p.Valid() {
		g.place(underway{permit: p, slot: slot, entry: entryOf(p)})
	}
}

// ReserveAsked reserves a call that a person is asked about, as it stands: it may happen too.
func (g *Gate) ReserveAsked(slot string, p Proposal) {
	if tool, there := g.config.Catalog.Tool(p.Tool); there {
		g.place(underway{slot: slot, entry: Entry{
			Tool: tool.Own(), Effect: tool.Effect, Args: owned(tool.Whole(p.free(tool))), Hash: ijson.ArgsHash(p.Args), Status: Reserved,
		}})
	}
}

func (g *Gate) place(u underway) {
	g.noted++
	if at := slices.IndexFunc(g.under, func(o underway) bool { return o.slot == u.slot }); at >= 0 {
		g.under[at] = u
		return
	}
	g.under = append(g.under, u)
}

// ReleaseIn takes back what is reserved in a place: it was not made.
func (g *Gate) ReleaseIn(slot string) {
	g.takeBack(func(o underway) bool { return slot != "" && o.slot == slot })
}

// takeBack takes back what may happen. A ruling that saw it does not count any more.
func (g *Gate) takeBack(which func(underway) bool) {
	before := len(g.under)
	g.under = slices.DeleteFunc(g.under, which)
	if len(g.under) < before {
		g.noted++
	}
}

// underway is a call that may happen.
type underway struct {
	permit Permit // the zero one: a person is asked about it
	of     string // key of the call of which it is one more attempt; ""
	slot   string // its place; "" for none
	entry  Entry
}

func entryOf(p Permit) Entry {
	return Entry{Tool: p.Tool(), Effect: p.Effect(), Args: p.Args(), Hash: p.Hash(), Status: Reserved}
}

// Release takes back that a call may happen: it was not made.
func (g *Gate) Release(p Permit) {
	g.takeBack(func(o underway) bool { return p.Valid() && o.permit == p })
}

// effects are what the policy sees: the ledger, then what is under way. The call of which the judged one, or one under way, is
// a further attempt is not seen beside it: it is one act.
func (g *Gate) effects(c Case) []Entry {
	list := slices.Concat(g.earlier, g.ledger)
	list = slices.DeleteFunc(list, func(e Entry) bool {
		again := func(key string) bool { return key != "" && key == e.Key }
		return again(c.Of) || slices.ContainsFunc(g.under, func(u underway) bool { return again(u.of) })
	})
	for _, u := range g.under {
		if u.slot != "" && u.slot == c.Slot {
			continue
		}
		e := u.entry
		e.RunID, e.At = g.facts.RunID, g.facts.Now
		list = append(list, e)
	}
	return list
}

// Begun is how many calls of this run were begun.
func (g *Gate) Begun() int { return len(g.ledger) + len(g.under) }

// Note adds what became of a permitted call to the ledger, at its place in the order of intents. A call that is there
// under the same key and order was in doubt and is now known: its entry is replaced. Without a permit nothing was
// called, and nothing is noted.
func (g *Gate) Note(p Permit, e Entry) {
	if !p.Valid() {
		return
	}
	e.Tool, e.Effect, e.Args, e.Hash = p.Tool(), p.Effect(), p.Args(), p.Hash()
	g.Release(p)
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

// Remember has rules see calls of earlier runs, of whose work this run goes on, before the run's own. They take no share of
// a budget and are no repetition. It is called before anything is admitted; what it is given must not be changed.
func (g *Gate) Remember(earlier []Entry) { g.earlier = earlier }

// Wrote reports whether a write or destructive call was made or may have been: then nothing may be offered that
// could do it again (spec/surface.md section 1).
func Wrote(ledger []Entry) bool {
	return slices.ContainsFunc(ledger, func(e Entry) bool {
		return e.Effect != catalog.Read && e.Status != Failed
	})
}
