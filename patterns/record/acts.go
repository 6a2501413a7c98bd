package record

import (
	"math"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Act is one call of a run with the time at which its end was known. Further attempts at the same act replace its values, but keep the
// first attempt's key, order and start time.
type Act struct {
	Entry     gateway.Entry // as it ended
	Ended     time.Time     // zero: it has not
	Principal string        // the principal of the run
	Hidden    bool          // some of its values are redacted or cut
}

// Acts lists the run's calls in the order of their intents, in the form that the windows of other runs see.
func (s Story) Acts() []Act {
	var list []Act
	first := map[string]int{}
	for _, row := range s.Rows {
		if !row.isCall() || row.State == string(patterns.Canceled) {
			continue
		}
		var p Proposal
		a := Act{Entry: s.entry(row, math.MaxInt64, &p), Principal: s.Principal, Hidden: p.Hidden != ""}
		if a.Entry.RunID = s.RunID; row.ended > 0 {
			a.Ended = time.UnixMicro(row.ended).UTC()
		}
		act := row.actOf()
		if at, again := first[act]; again && act != "" {
			a.Entry.Key, a.Entry.Order, a.Entry.At = list[at].Entry.Key, list[at].Entry.Order, list[at].Entry.At
			list[at] = a
			continue
		}
		first[act] = len(list)
		list = append(list, a)
	}
	return list
}

// At returns the call in its state at a time; false: it was not begun.
func (a Act) At(at time.Time) (gateway.Entry, bool) {
	e := a.Entry
	if a.Ended.IsZero() || a.Ended.After(at) {
		e.Status, e.Observation, e.Duplicate = gateway.Reserved, nil, false
	}
	return e, !e.At.After(at)
}
