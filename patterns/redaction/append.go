package redaction

import (
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Append returns an event in its stored form, and the steps that add it to the end of a record. No process may own the run. The event
// hides the values that the run hides. Append sets its number and its time, which is not before now. The record must not be empty.
func (r Rules) Append(s store.Reader, n int64, stored []patterns.Event, e journal.Event, now time.Time) (patterns.Event, []store.Step, error) {
	_, h, _, err := r.Reveal(s, n, stored)
	if err != nil {
		return patterns.Event{}, nil, err
	}
	last := stored[len(stored)-1]
	e.Seq, e.At = int(last.Seq)+1, time.UnixMicro(max(last.At, now.UnixMicro()))
	sealed := h.Seal(journal.RunID(n), e, last.Hash)
	var steps []store.Step
	if fresh := h.Fresh(); len(fresh) > 0 {
		steps = append(steps, store.AddHidden{N: n, Values: fresh})
	}
	return sealed, append(steps, store.AddEvent{N: n, Event: sealed}), nil
}
