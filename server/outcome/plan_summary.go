package outcome

import (
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// planSummary says in one paragraph how a planning run ended and what state its plan is in.
func (a account) planSummary() string {
	p := a.planned()
	switch {
	case a.OK():
		return sentence.Paragraph(a.planOutcome(p), a.planWritten())
	case a.Phase == patterns.PhaseRequest:
		return refusedWords(a.Problems)
	case a.RawName != "":
		refused, _ := a.refusal()
		return sentence.Paragraph(refused, a.unchanged(), a.standing(), a.planWritten())
	}
	why, _ := a.why()
	return sentence.Paragraph(a.standing(), why, a.planWritten())
}

// planOutcome says what a successful planning run did.
func (a account) planOutcome(p patterns.Planned) string {
	switch verb := arguments.VerbOf(a.Spec); {
	case p.View == nil:
		return finished(a.time())
	case p.DryRun:
		return planValid(a.whose(), sentence.Count(p.View.Counts.Total, "subtask"))
	case verb == patterns.DecomposeVerb:
		return planStored(a.whose(), sentence.Count(p.View.Counts.Total, "subtask"), printable.Name(p.PlanID), p.Revision, subtasksReady(len(p.View.Ready)))
	case verb == patterns.ReplanVerb:
		return planReplaced(printable.Name(p.PlanID), p.Revision, sentence.Count(len(p.Preserved), "subtask"), len(p.Added), a.proposer(), len(p.Removed),
			subtasksReady(len(p.View.Ready)))
	}
	more := ""
	switch a.StopReason {
	case patterns.IterationPending:
		more = roundDone
	case patterns.SuccessPartial:
		more = notCritical
	}
	return sentence.Joined(PlanStands(*p.View), more, itTook(a.time()))
}

// unchanged says what happened to a plan that was refused.
func (a account) unchanged() string {
	if a.planned().View == nil {
		return notStored
	}
	return unchanged
}

// standing counts the plan's subtasks by status, or returns "" if no plan is shown.
func (a account) standing() string {
	if v := a.planned().View; v != nil {
		return PlanStands(*v)
	}
	return ""
}

// planWritten says what a plan_execute run changed outside. It returns "" for the other tools, and for a run whose
// subtasks called no tool.
func (a account) planWritten() string {
	switch {
	case arguments.VerbOf(a.Spec) != patterns.ExecuteVerb:
		return ""
	case len(a.Ledger) > 0:
		return a.written()
	case strings.HasPrefix(a.StopReason, "executor_") && len(a.Trace) == 0:
		return nothingRan
	}
	return ""
}

// PlanStands counts a plan's subtasks in a sentence: "3 of 5 subtasks are completed, 1 failed, 1 is blocked."
func PlanStands(v patterns.PlanView) string {
	c := v.Counts
	said := []string{completedOf(c.Completed, c.Total)}
	for _, part := range []struct {
		n     int
		words func(int) string
	}{
		{c.InProgress, someInProgress}, {len(v.Waiting), someWaiting}, {c.Failed, someFailed}, {c.Skipped, someSkipped},
		{c.Blocked, someBlocked}, {c.InDoubt, someUnknown}, {c.Pending - len(v.Waiting), somePending},
	} {
		if part.n > 0 {
			said = append(said, part.words(part.n))
		}
	}
	return strings.Join(said, ", ") + "."
}

// callersSubtasks says what the caller must do and how to send the results.
func (a account) callersSubtasks(e *envelope.Envelope, w *patterns.Waiting) {
	e.WaitingFor = newPlanWait(w)
	until := ""
	if !w.Until.IsZero() {
		until = waitsUntil(sentence.Time(w.Until))
	}
	e.Summary = sentence.Paragraph(a.standing(), yourSubtasks(len(w.Ready)), a.writtenSoFar(), until)
	results, fill := map[string]any{}, []ijson.Pointer{}
	for _, r := range w.Ready {
		results[r.ID] = envelope.EmptyResult()
		fill = append(fill, ijson.Pointer("/results").Member(r.ID))
	}
	e.Next = envelope.Next{
		Action: envelope.ActionCall, Tool: a.planTool(patterns.ExecuteVerb),
		Arguments: envelope.Showable(map[string]any{"plan_id": a.planID(), "results": results}), Fill: fill,
		Say: doSubtasks,
	}
}

// newPlanWait returns which subtasks the caller must do.
func newPlanWait(w *patterns.Waiting) *envelope.PlanWait {
	ready := slices.Clone(w.Ready)
	for i := range ready {
		if ready[i].Inputs == nil {
			ready[i].Inputs = map[string]any{}
		}
	}
	return &envelope.PlanWait{WaitHead: headOf(w), Ready: envelope.Listed(ready)}
}
