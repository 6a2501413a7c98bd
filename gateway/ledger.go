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

// Entry is one admitted call and its outcome. It is a row in a result's effects, and rules see it in run.effects.
type Entry struct {
	Key         string // the effect's path in the run
	Tool        string
	Effect      catalog.Effect
	Args        map[string]any
	Hash        string
	Status      EffectStatus
	Observation any
	Order       int       // of the intent in the run
	At          time.Time // time of the intent
	RunID       string    // of an earlier run; "": of this run
	// Duplicate says that nothing was sent. An earlier call with the same business key had acted, and the observation
	// is what that call returned.
	Duplicate bool
	// Unfit says that the tool answered with a value that its output schema does not allow.
	Unfit bool
	// Assumed says that the call was not made: a dry run assumes it, so that rules see it before later calls. Its
	// arguments are known and its observation is not. Well says how the call is supposed to have ended.
	Assumed bool
	Well    Supposed
}

// Supposed is how a dry run supposes that an assumed call ended. The zero value supposes nothing.
type Supposed uint8

// The suppositions.
const (
	SupposedWell  Supposed = iota + 1 // it is done and reports no error
	SupposedError                     // it reports an error
)

// OK reports whether the call was done, its observation carries no error, and no error is supposed.
func (e Entry) OK() bool {
	if e.Status != Finished {
		return false
	}
	_, failed := Reported(e.Observation)
	return !failed && e.Well != SupposedError
}

// Counts reports whether a spending cap must count the call: it succeeded, or its outcome is unknown. A duplicate does
// not count, because the earlier call counts.
func (e Entry) Counts() bool {
	return !e.Duplicate && (e.OK() || e.Status != Finished && e.Status != Failed)
}

// Reserve makes the policy see a permitted call as one that may happen, until it is noted or released. So the policy
// sees calls that run at the same time when it reviews each of them.
func (g *Gate) Reserve(p Permit) { g.ReserveAgain(p, "") }

// ReserveAgain is Reserve for one more attempt at the call that was noted under the key of. The policy sees the attempt
// instead of that call.
func (g *Gate) ReserveAgain(p Permit, of string) {
	if p.Valid() {
		g.under = append(g.under, underway{permit: p, of: of, entry: entryOf(p)})
		g.noted++
	}
}

// ReserveIn is Reserve for a call with its own slot. It replaces what is reserved in the slot. A proposal with the same
// [Proposal.Slot] does not see the reservation.
func (g *Gate) ReserveIn(slot string, p Permit) {
	if p.Valid() {
		g.place(underway{permit: p, slot: slot, entry: entryOf(p)})
	}
}

// ReserveAsked reserves a call that waits for a person, with its current arguments: it may happen too.
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

// ReleaseIn removes the reservation in a slot: that call was not made.
func (g *Gate) ReleaseIn(slot string) {
	g.takeBack(func(o underway) bool { return slot != "" && o.slot == slot })
}

// takeBack removes reservations. Rulings that were made with them do not count any more.
func (g *Gate) takeBack(which func(underway) bool) {
	before := len(g.under)
	g.under = slices.DeleteFunc(g.under, which)
	if len(g.under) < before {
		g.noted++
	}
}

// underway is a call that may happen.
type underway struct {
	permit Permit // the zero Permit: the call waits for a person
	of     string // key of the call if this is one more attempt at it; "" if not
	slot   string // "" for none
	entry  Entry
}

func entryOf(p Permit) Entry {
	return Entry{Tool: p.Tool(), Effect: p.Effect(), Args: p.Args(), Hash: p.Hash(), Status: Reserved}
}

// Release removes the reservation of a call: it was not made.
func (g *Gate) Release(p Permit) {
	g.takeBack(func(o underway) bool { return p.Valid() && o.permit == p })
}

// effects returns what the policy sees: the calls of earlier runs, the ledger, then the reserved calls. If the judged
// call or a reserved one is a further attempt, the earlier attempt is left out: both are one call.
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

// Begun returns how many calls of this run were begun.
func (g *Gate) Begun() int { return len(g.ledger) + len(g.under) }

// Note adds the outcome of a permitted call to the ledger, in the order of intents. If the ledger has an entry with the
// same key and order, that call was in doubt and its outcome is now known. The new entry replaces it. Without a valid
// permit, Note does nothing.
func (g *Gate) Note(p Permit, e Entry) {
	if !p.Valid() {
		return
	}
	e.Tool, e.Effect, e.Args, e.Hash = p.Tool(), p.Effect(), p.Args(), p.Hash()
	g.Release(p)
	g.noted++
	at, there := slices.BinarySearchFunc(g.ledger, e.Order, func(a Entry, order int) int { return a.Order - order })
	if there && e.Key != "" && g.ledger[at].Key == e.Key {
		g.ledger = slices.Clone(g.ledger) // earlier results still hold the old list
		g.ledger[at] = e
		return
	}
	g.ledger = slices.Insert(g.ledger, at, e)
}

// Ledger returns the run's calls in the order of their intents. The list must not be changed.
func (g *Gate) Ledger() []Entry { return g.ledger }

// Remember makes rules see calls of earlier runs, which this run continues, before the run's own calls. They do not
// count against budgets or as repetitions. Call it before the first call is admitted. The list must not be changed
// afterwards.
func (g *Gate) Remember(earlier []Entry) { g.earlier = earlier }

// Wrote reports whether a write or destructive call was made or may have been made. If so, nothing may be offered that
// could do it again (spec/surface.md section 1).
func Wrote(ledger []Entry) bool {
	return slices.ContainsFunc(ledger, func(e Entry) bool {
		return e.Effect != catalog.Read && e.Status != Failed
	})
}
