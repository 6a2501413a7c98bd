package record

import (
	"math"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Act is one call of a run with the time at which its end was known; further attempts are entered in the first one's place.
type Act struct {
	Entry     gateway.Entry // as it ended
	Ended     time.Time     // zero: it has not
	Principal string        // whose run it is
	Hidden    bool          // values of it are not what they were
}

// Acts lists the run's calls in the order of their intents, as other runs' windows see them.
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

// At is the call as it was seen at a time; false: it was not begun.
func (a Act) At(at time.Time) (gateway.Entry, bool) {
	e := a.Entry
	if a.Ended.IsZero() || a.Ended.After(at) {
		e.Status, e.Observation, e.Duplicate = gateway.Reserved, nil, false
	}
	return e, !e.At.After(at)
}
