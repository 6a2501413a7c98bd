package local

import (
	"fmt"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/kinds"
)

// replayOf runs the pattern of a job over recorded events, see [execution.Replay].
func replayOf(events []journal.Event, job patterns.Job, pick execution.Pick) (patterns.Result, error) {
	code, ok := kinds.Of(job.Spec.Kind)
	if !ok {
		return patterns.Result{}, fmt.Errorf(noPatternFor, execution.ErrMismatch, job.Spec.Kind)
	}
	return execution.Replay(events, code, job, pick)
}

// ReplayStored runs a pattern's code over a stored record, like [execution.Replay], and returns how the run ended. The start event says what
// the job must be, see [BegunOf]. It also returns an error if the chain of the record is broken or the run has not ended.
func ReplayStored(events []patterns.Event, job patterns.Job) (patterns.Ended, error) {
	begun, err := BegunOf(events)
	if err != nil {
		return patterns.Ended{}, err
	}
	if err := patterns.VerifyChain(begun.RunID, events, 0); err != nil {
		return patterns.Ended{}, err
	}
	decoded, err := execution.Decode(events)
	if err != nil {
		return patterns.Ended{}, err
	}
	h := execution.Remember(decoded)
	if h.End == nil {
		return patterns.Ended{}, fmt.Errorf(notEnded, execution.ErrMismatch)
	}
	job = job.Begun(begun.Parent)
	result, err := replayOf(decoded, patterns.Job{Spec: job.Spec, Task: job.Task}, execution.First)
	return patterns.Ended{
		RunID: begun.RunID, Result: result, Phase: result.Phase, Calls: h.Calls, Requests: h.Asked,
		Began: h.Began, Ended: endedAt(decoded), Waited: h.Rested(),
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
		return patterns.Begun{}, fmt.Errorf(noStart, execution.ErrMismatch)
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
