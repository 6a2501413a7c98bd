package local

import (
	"fmt"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// ReplayStored runs a pattern's code over a stored record, like [Replay], and returns how the run ended. The start event says what
// the job must be, see [BegunOf]. It also returns an error if the chain of the record is broken or the run has not ended.
func ReplayStored(events []patterns.Event, job patterns.Job) (patterns.Ended, error) {
	begun, err := BegunOf(events)
	if err != nil {
		return patterns.Ended{}, err
	}
	if err := patterns.VerifyChain(begun.RunID, events, 0); err != nil {
		return patterns.Ended{}, err
	}
	r := &Record{}
	for _, e := range events {
		body, err := journal.Decode(e.Kind, e.Body)
		if err != nil {
			return patterns.Ended{}, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		r.events = append(r.events, journal.Event{Seq: int(e.Seq), At: time.UnixMicro(e.At), Kind: e.Kind, Key: e.Key, Body: body})
	}
	h := remembered(r.events)
	if h.end == nil {
		return patterns.Ended{}, fmt.Errorf("%w: the run has not ended", ErrMismatch)
	}
	job = job.Begun(begun.Parent)
	result, err := Replay(r, job.Spec, job.Task, First)
	return patterns.Ended{
		RunID: begun.RunID, Result: result, Phase: result.Phase, Calls: h.calls, Requests: h.asked,
		Began: h.began, Ended: endedAt(r.events), Waited: h.waited.sum + h.idle,
	}, err
}

// endedAt returns when the end was recorded. Late results may follow it.
func endedAt(events []journal.Event) time.Time {
	var at time.Time
	for _, e := range events {
		if e.Kind == patterns.EndEvent {
			at = e.At
		}
	}
	return at
}

// BegunOf returns what a record says about the begin of its run.
func BegunOf(events []patterns.Event) (patterns.Begun, error) {
	if len(events) == 0 || events[0].Kind != patterns.StartEvent {
		return patterns.Begun{}, fmt.Errorf("%w: it does not begin with a start", ErrMismatch)
	}
	body, err := journal.Decode(patterns.StartEvent, events[0].Body)
	if err != nil {
		return patterns.Begun{}, fmt.Errorf("event 1: %w", err)
	}
	start, _ := body.(journal.StartBody)
	return patterns.Begun{
		RunID: start.RunID, Pattern: start.Pattern, Caller: patterns.Caller{Principal: start.Principal, Client: start.Client}, Config: start.Config, Arguments: start.Arguments,
		Parent: start.Parent,
	}, nil
}
