package redaction

import (
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Append returns an event and the steps that add it to the record of a run that no process has, behind what is stored. What the run hides
// is hidden in it too. The event has no number and no time before; now is its earliest time. The record must not be empty.
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
