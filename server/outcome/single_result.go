package outcome

import (
	"strings"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// This file shows the result of a one-tool call. The observation has its own member. Members that only plans, models
// and rows have are absent.

// withCall changes an envelope to the form of a one-tool call. It does not change envelopes of other kinds.
func withCall(e envelope.Envelope, c arguments.Call) envelope.Envelope {
	if c.Spec.Kind != gateway.Call {
		return e
	}
	e.Trace, e.History, e.Usage, e.Filled = nil, nil, nil, nil
	e.Called = &envelope.Line{Label: "call", Name: c.Spec.Tool, Args: c.CalledWith()}
	if e.Observation == nil && e.Status == envelope.StatusStopped && len(e.Effects) > 0 {
		e.Called.Stop = e.StopReason
	}
	return e
}

// returned adds the result of the call to an envelope.
func (a account) returned(e *envelope.Envelope) {
	if a.Spec.Kind == gateway.Call && (a.OK() || a.Observation != nil) {
		observation := envelope.ShownObservation(a.Observation)
		e.Observation = &observation
	}
	if a.Spec.Kind == gateway.Call && e.Human == nil {
		e.Human = a.singleRow().HumanApproval
	}
}

// singleRow returns the run's trace row of its one call, or a zero row if no call began.
func (a account) singleRow() patterns.CallRow {
	for _, row := range a.Trace {
		if row, ok := row.(patterns.CallRow); ok {
			return row
		}
	}
	return patterns.CallRow{}
}

// singleOutcome says how a one-tool call ended.
func (a account) singleOutcome() string {
	name := printable.Name(a.Spec.Tool)
	if _, failed := gateway.Reported(a.Observation); failed {
		return callReportedError(name, a.time(), a.attempts(), a.longResult())
	}
	if gateway.ResultsOf(a.Ledger).Answered() == gateway.AnsweredNo {
		return callOnlyWarned(name, a.time(), a.attempts(), a.longResult())
	}
	return callAnswered(name, a.time(), a.attempts(), a.longResult())
}

// attempts says how often the tool was called, if more than once.
func (a account) attempts() string {
	if row := a.singleRow(); row.Attempts > 1 {
		return inAttempt(row.Attempts)
	}
	return ""
}

// longResult says where to read the whole of a long result.
func (a account) longResult() string {
	bytes, _, isCut := envelope.CutBefore(envelope.ShownObservation(a.Observation))
	if !isCut || len(a.Ledger) == 0 {
		return ""
	}
	return resultIsLong(int64(bytes), arguments.StatusTool, sentence.Label(a.Ledger[len(a.Ledger)-1].Key))
}

// singleNext advises after a one-tool call. Only the arguments can be fixed, and only if nothing was written.
func (a account) singleNext() envelope.Next {
	switch {
	case a.OK():
		return envelope.Next{Action: envelope.ActionAnswer}
	case !gateway.Wrote(a.Ledger) && strings.HasPrefix(a.StopReason, "tool_bad_args:") && len(a.Problems) > 0:
		return fixed(a.Call, a.Repaired(a.placed()))
	case !gateway.Wrote(a.Ledger) && strings.HasPrefix(a.StopReason, "policy_block:"):
		return a.unblocked()
	}
	return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
}
