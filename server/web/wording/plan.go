package wording

import (
	"cmp"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/record"
)

// PlanStatus says in what state a plan is. class is the CSS class of its colour; "" is the plain colour.
func PlanStatus(state patterns.PlanState, v patterns.PlanView) (text, class string) {
	switch {
	case state.Holder != "" && state.State == patterns.Parked:
		return "waiting", "wait"
	case state.Holder != "":
		return "running", "busy"
	case v.Counts.Total > 0 && v.Counts.Completed == v.Counts.Total:
		return planCompleted, "good"
	case state.Plan.Last == nil:
		return planNotExecuted, ""
	}
	return RunStatus(state.Plan.Last.Status)
}

// PlanHolder says what the run that holds a plan does with it.
func PlanHolder(state patterns.PlanState) string {
	word := map[patterns.PlanVerb]string{
		patterns.DecomposeVerb: holderPlans, patterns.ExecuteVerb: holderExecutes, patterns.ReplanVerb: holderReplans,
	}[state.Verb]
	text := cmp.Or(word, holderHas)
	switch {
	case state.State == patterns.Parked && state.Waiting == nil:
		text += holderWaits
	case state.State == patterns.Over:
		text += holderEnded
	}
	return text
}

// SubtaskCause says why a subtask has no result. It returns "" if the subtask succeeded or was not tried.
func SubtaskCause(row patterns.SubtaskRow) string {
	var list []string
	if row.StopReason != "" {
		text := Clip(row.StopReason, 2*MaxName)
		if known, ok := stopreason.Lookup(row.StopReason); ok {
			text += ": " + known.Meaning
		}
		list = append(list, text)
	}
	switch row.Reason {
	case "":
	case "dependency_failed":
		list = append(list, beforeFailed)
	case "dependency_skipped":
		list = append(list, beforeSkipped)
	default:
		list = append(list, Name(row.Reason))
	}
	return strings.Join(list, "; ")
}

// Executor says what works on a subtask: a tool, the model or the caller.
func Executor(tool string) string {
	switch tool {
	case planning.ModelExecutor:
		return theModel
	case planning.CallerExecutor:
		return theCaller
	}
	return Name(tool)
}

// ResultSource returns the label of a subtask's result, which names where the result is from.
func ResultSource(source string) string {
	switch source {
	case "":
		return resultAny
	case "caller":
		return resultClaim
	case "model":
		return resultModel
	case "tool":
		return resultOfCall
	}
	return resultFrom(Name(source))
}

// PlanOrigin says what made a plan.
func PlanOrigin(source string) string {
	return cmp.Or(map[string]string{
		"caller": theCaller, "checklist": aChecklist, "model": aModel, "rules": theRules,
	}[source], Name(source))
}

// RevisionKind says what changed a plan.
func RevisionKind(kind string) string {
	return cmp.Or(map[string]string{"decompose": kindMade, "round": kindRound, "replan": kindReplanned}[kind], Name(kind))
}

// AttemptNotes returns one line for each further fact about an attempt: its error, at most 8 problems, and the decision and
// comment of a person.
func AttemptNotes(a patterns.AttemptRow) []string {
	var list []string
	if a.Error != "" {
		list = append(list, itReported(Clip(a.Error, 200)))
	}
	for i, p := range a.Problems {
		if i == 8 {
			list = append(list, More(len(a.Problems)-i, "more problem"))
			break
		}
		list = append(list, problemWas(Clip(string(p.Pointer), 200), Clip(p.Reason, 200), Clip(p.Want, 200)))
	}
	if h := a.HumanApproval; h != nil {
		decision := map[bool]string{true: "approve", false: "reject"}[h.Approved]
		if h.Approved && h.RevisedAction != nil {
			decision = "edit"
		}
		list = append(list, Capitalize(DecidedBy(record.Approved{Decision: decision, By: h.By, Assurance: string(h.Assurance), KeyID: h.KeyID})))
		if h.Comment != "" {
			list = append(list, theirComment(Clip(h.Comment, MaxComment)))
		}
	}
	return list
}
