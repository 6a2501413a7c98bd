package outcome

import (
	"cmp"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// Ended presents a run that ended.
func Ended(c arguments.Call, ended patterns.Ended) envelope.Envelope {
	a := newAccount(c, ended)
	e := envelope.Envelope{
		Status: envelope.StatusOK, StopReason: a.StopReason, Phase: a.Phase, RunID: ended.RunID,
		Summary: a.summary(), Next: a.next(), Problems: a.placed(),
		Answer: answerOf(a.Result), AnswerBytes: a.AnswerBytes, Plan: a.Plan, Human: a.Human,
		Trace: rows(a.Trace), History: rows(a.History),
		Budget: a.Budget, Usage: &envelope.Usage{Model: a.Model, Usage: a.Usage}, Filled: a.Filled, Simulated: c.Spec.Simulated(),
		Tool: c.Tool, Author: a.speaker(), Joins: a.Spec.ShowsAggregate,
	}
	if !a.OK() {
		e.Status = envelope.StatusStopped
	}
	e.Route, e.SelectedRoute, e.Action = a.Route, a.SelectedRoute, a.Action
	e.Aggregate, e.FailedCritical = a.Aggregate, a.FailedCritical
	if a.Bad {
		e.Expected, e.Received, e.BadObservation = a.Expected, &a.Received, &a.BadObservation
	}
	e.ShowRaw(a.Result)
	e.ShowPlan(a.Planned)
	if a.Planned != nil && arguments.VerbOf(a.Spec) == patterns.DecomposeVerb && a.OK() {
		e.SubtaskCount = &a.Planned.Count
	}
	e.Effects, e.EffectsOmitted = effects(a.Ledger)
	e.Block = a.block()
	a.returned(&e)
	if a.Spec.Kind == gateway.Call && a.OK() {
		a.tellCall(&e)
	} else {
		tellResults(&e, a.Ledger)
	}
	return withCall(e, c)
}

// answerOf returns a run's final answer as results show it, or nil if there is none.
func answerOf(r patterns.Result) any {
	switch {
	case r.AnswerValue != nil:
		return r.AnswerValue
	case r.Answer != "":
		return r.Answer
	}
	return nil
}

// Fault presents a run that an internal fault ended. fault is the opaque id under which the log has the cause.
func Fault(c arguments.Call, ended patterns.Ended, fault string) envelope.Envelope {
	did := onlyReads
	if mayWrite(c) {
		did = perhapsWrote
	}
	if c.Spec.Kind == "" { // the run's pattern is unknown here
		did = whatStaysDone
	}
	return untold(c, ended, "internal_error", internalFault(phaseOf(c, ended), fault), internalFaultSay(fault), did)
}

// Broken presents a run with a damaged record, which does not say what the run did.
func Broken(c arguments.Call, ended patterns.Ended) envelope.Envelope {
	return untold(c, ended, RecordBroken, recordBroken(phaseOf(c, ended), meaning(RecordBroken), RecordBroken), recordBrokenSay, whatStaysDone)
}

// RecordBroken is the stop reason of a run whose record is damaged.
const RecordBroken = "record_broken"

// phaseOf returns the phase in which a run ended.
func phaseOf(c arguments.Call, ended patterns.Ended) string {
	return cmp.Or(ended.Phase, ended.Result.Phase, firstPhaseOf(c))
}

// untold returns the envelope of a run that ended without an account of its calls. why is for the summary, say for the
// person, and did is for both.
func untold(c arguments.Call, ended patterns.Ended, reason, why, say, did string) envelope.Envelope {
	return withCall(envelope.Envelope{
		Status: envelope.StatusStopped, StopReason: reason, Phase: phaseOf(c, ended), RunID: ended.RunID, Summary: sentence.Paragraph(why, did),
		Next:  envelope.Next{Action: envelope.ActionTell, Say: sentence.Paragraph(say, did)},
		Trace: []any{}, History: []any{}, Simulated: c.Spec.Simulated(), Tool: c.Tool,
	}, c)
}

// Refused presents a call that was rejected before anything ran. There must be at least one problem.
func Refused(c arguments.Call, problems []document.Problem) envelope.Envelope {
	e := envelope.Envelope{
		Status: envelope.StatusStopped, StopReason: "invalid_request:" + problems[0].Reason, Phase: patterns.PhaseRequest,
		Summary: refusedWords(problems),
		Next:    fixed(c, c.Repaired(problems)), Problems: problems, Trace: []any{}, History: []any{}, Tool: c.Tool,
	}
	if c.Run != nil {
		e.RunID = c.Run.RunID
	}
	if e.StopReason == "invalid_request:"+arguments.NotFound.Reason("run_id") {
		// A second run could repeat a payment, so the caller looks for the run first.
		e.Next = envelope.Next{Action: envelope.ActionCall, Tool: arguments.ListTool, Arguments: map[string]any{},
			Say: unknownRun}
	}
	if c.Spec.Kind == gateway.Call { // nothing was called
		e.Trace, e.History = nil, nil
	}
	return e
}

// refusedWords says that a request was rejected.
func refusedWords(problems []document.Problem) string {
	return requestRefused(sentence.Count(arguments.CountProblems(problems), "problem"))
}

// speaker returns the source of the answer. For a supervised run that the caller proposed, it is the caller; otherwise
// it is the model or the rules.
func (a account) speaker() string {
	if a.ByCall && a.Spec.Kind == gateway.Supervisor {
		return "caller"
	}
	return a.author()
}

// rows returns the list, or an empty list for nil.
func rows(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

// effects returns at most 100 calls of a run, and how many were left out. It leaves out the oldest reads first.
func effects(ledger []gateway.Entry) ([]envelope.Effect, int) {
	const most = 100
	excess := max(0, len(ledger)-most)
	reads := 0
	for _, e := range ledger {
		if e.Effect == catalog.Read {
			reads++
		}
	}
	skipReads := min(excess, reads)
	skipOthers := excess - skipReads
	var list []envelope.Effect
	for _, e := range ledger {
		skip := &skipOthers
		if e.Effect == catalog.Read {
			skip = &skipReads
		}
		if *skip > 0 {
			*skip--
			continue
		}
		list = append(list, envelope.Effect{Key: e.Key, Tool: e.Tool, Effect: string(e.Effect), ArgsHash: e.Hash, Status: string(e.Status)})
	}
	return list, excess
}

// firstPhaseOf returns the phase in which a run of this call begins.
func firstPhaseOf(c arguments.Call) string {
	switch arguments.VerbOf(c.Spec) {
	case patterns.ExecuteVerb:
		return patterns.PhaseExecute
	case patterns.ReplanVerb:
		return patterns.PhaseReplan
	}
	return FirstPhase(c.Spec.Kind)
}

// FirstPhase returns the phase in which a run of a kind begins.
func FirstPhase(kind gateway.Kind) string {
	switch kind {
	case gateway.Routing:
		return patterns.PhaseRoute
	case gateway.Supervisor:
		return patterns.PhaseWorker
	case gateway.Call:
		return patterns.PhaseCall
	}
	return patterns.PhasePlan
}

// mayWrite reports whether a tool that the pattern may call changes anything.
func mayWrite(c arguments.Call) bool {
	return slices.ContainsFunc(c.Spec.Execution, func(name string) bool {
		t, ok := c.Spec.Catalog.Tool(name)
		return ok && t.Effect != catalog.Read
	})
}

// Unrecorded presents a call whose run could not begin, because nothing can be recorded.
func Unrecorded(c arguments.Call) envelope.Envelope {
	return withCall(envelope.Envelope{
		Status: envelope.StatusStopped, StopReason: "journal_unavailable", Phase: firstPhaseOf(c), Summary: unrecorded,
		Next: envelope.Next{Action: envelope.ActionTell, Say: unrecordedSay}, Trace: []any{}, History: []any{}, Simulated: c.Spec.Simulated(), Tool: c.Tool,
	}, c)
}
