package outcome

import (
	"fmt"
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
		return sentence.Paragraph(a.refusal(), a.unchanged(), a.standing(), a.planWritten())
	}
	return sentence.Paragraph(a.standing(), a.why(), a.planWritten())
}

// planOutcome says what a successful planning run did.
func (a account) planOutcome(p patterns.Planned) string {
	switch verb := arguments.VerbOf(a.Spec); {
	case p.View == nil:
		return fmt.Sprintf("Carried out in %s.", a.time())
	case p.DryRun:
		return fmt.Sprintf("Plan of %s by %s judged and found good; a dry run, nothing is stored.", sentence.Count(p.View.Counts.Total, "subtask"), a.proposer())
	case verb == patterns.DecomposeVerb:
		return fmt.Sprintf("Plan of %s by %s accepted and stored as %s, revision %d. %s", sentence.Count(p.View.Counts.Total, "subtask"),
			a.proposer(), printable.Name(p.PlanID), p.Revision, whatIsReady(*p.View))
	case verb == patterns.ReplanVerb:
		return fmt.Sprintf("Plan %s now has revision %d: %s kept, %d added by %s, %d removed. %s", printable.Name(p.PlanID), p.Revision,
			sentence.Count(len(p.Preserved), "subtask"), len(p.Added), a.proposer(), len(p.Removed), whatIsReady(*p.View))
	}
	more := ""
	switch a.StopReason {
	case patterns.IterationPending:
		more = " The round is done; the plan wants its next."
	case patterns.SuccessPartial:
		more = " What is missing is not critical."
	}
	return PlanStands(*p.View) + more + " It took " + a.time() + "."
}

// unchanged says what happened to a plan that was refused.
func (a account) unchanged() string {
	if a.planned().View == nil {
		return "Nothing is stored."
	}
	return "The plan is as it was."
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
		return "Nothing ran."
	}
	return ""
}

// whatIsReady says how many subtasks could begin.
func whatIsReady(v patterns.PlanView) string {
	switch len(v.Ready) {
	case 0:
		return "None is ready."
	case 1:
		return "1 is ready."
	}
	return fmt.Sprintf("%d are ready.", len(v.Ready))
}

// PlanStands counts a plan's subtasks in a sentence: "3 of 5 subtasks are completed, 1 failed, 1 is blocked."
func PlanStands(v patterns.PlanView) string {
	c := v.Counts
	said := []string{fmt.Sprintf("%d of %s %s completed", c.Completed, sentence.Count(c.Total, "subtask"), areOf(c.Completed, c.Total))}
	for _, part := range []struct {
		n     int
		words string
	}{
		{c.InProgress, "under way"}, {len(v.Waiting), "waiting for you"}, {c.Failed, "failed"}, {c.Skipped, "skipped"},
		{c.Blocked, "blocked"}, {c.InDoubt, "in doubt"}, {c.Pending - len(v.Waiting), "pending"},
	} {
		switch {
		case part.n <= 0:
		case part.words == "failed":
			said = append(said, fmt.Sprintf("%d failed", part.n))
		default:
			said = append(said, fmt.Sprintf("%d %s %s", part.n, isAre(part.n), part.words))
		}
	}
	return strings.Join(said, ", ") + "."
}

// areOf returns the verb for "n of all".
func areOf(n, all int) string {
	if all == 1 {
		return "is"
	}
	return isAre(n)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// callersSubtasks says what the caller must do and how to send the results.
func (a account) callersSubtasks(e *envelope.Envelope, w *patterns.Waiting) {
	e.WaitingFor = newPlanWait(w)
	asked := fmt.Sprintf("%s yours to do: see waiting_for.ready, then send results.", subtasksAre(len(w.Ready)))
	lapse := ""
	if !w.Until.IsZero() {
		lapse = "Lapses " + sentence.Time(w.Until) + "."
	}
	e.Summary = sentence.Paragraph(a.standing(), asked, a.writtenSoFar(), lapse)
	results, fill := map[string]any{}, []ijson.Pointer{}
	for _, r := range w.Ready {
		results[r.ID] = envelope.EmptyResult()
		fill = append(fill, ijson.Pointer("/results").Member(r.ID))
	}
	e.Next = envelope.Next{
		Action: envelope.ActionCall, Tool: a.planTool(patterns.ExecuteVerb),
		Arguments: envelope.Showable(map[string]any{"plan_id": a.planID(), "results": results}), Fill: fill,
		Say: "Do these subtasks. For each send status completed or failed, and its result.",
	}
}

func subtasksAre(n int) string { return sentence.Count(n, "subtask") + " " + isAre(n) }

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
