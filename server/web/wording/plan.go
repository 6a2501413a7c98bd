package wording

import (
	"cmp"
	"fmt"
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
		return "all completed", "good"
	case state.Plan.Last == nil:
		return "not executed yet", ""
	}
	return RunStatus(state.Plan.Last.Status)
}

// PlanHolder says what the run that holds a plan does with it.
func PlanHolder(state patterns.PlanState) string {
	word := map[patterns.PlanVerb]string{
		patterns.DecomposeVerb: "plans its next steps", patterns.ExecuteVerb: "executes it", patterns.ReplanVerb: "replans it",
	}[state.Verb]
	text := cmp.Or(word, "has it")
	switch {
	case state.State == patterns.Parked && state.Waiting == nil:
		text += ", and waits"
	case state.State == patterns.Over:
		text += ", and ended without giving it back"
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
		list = append(list, "a subtask before it failed")
	case "dependency_skipped":
		list = append(list, "a subtask before it was skipped")
	default:
		list = append(list, Name(row.Reason))
	}
	return strings.Join(list, "; ")
}

// Executor says what works on a subtask: a tool, the model or the caller.
func Executor(tool string) string {
	switch tool {
	case planning.ModelExecutor:
		return "the model"
	case planning.CallerExecutor:
		return "the caller"
	}
	return Name(tool)
}

// ResultSource returns the label of a subtask's result, which names where the result is from.
func ResultSource(source string) string {
	switch source {
	case "":
		return "Result"
	case "caller":
		return "Result, as the caller claims it"
	case "model":
		return "Result, as the model wrote it"
	case "tool":
		return "Result of the call"
	}
	return "Result (" + Name(source) + ")"
}

// PlanOrigin says what made a plan.
func PlanOrigin(source string) string {
	return cmp.Or(map[string]string{
		"caller": "the caller", "checklist": "the caller, as a checklist", "model": "a model", "rules": "the offline rules",
	}[source], Name(source))
}

// RevisionKind says what changed a plan.
func RevisionKind(kind string) string {
	return cmp.Or(map[string]string{"decompose": "made", "round": "next round", "replan": "replanned"}[kind], Name(kind))
}

// AttemptNotes returns one line for each further fact about an attempt: its error, at most 8 problems, and the decision and
// comment of a person.
func AttemptNotes(a patterns.AttemptRow) []string {
	var list []string
	if a.Error != "" {
		list = append(list, "It reported: "+Clip(a.Error, 200))
	}
	for i, p := range a.Problems {
		if i == 8 {
			list = append(list, "And "+Grouped(len(a.Problems)-i)+" more problems.")
			break
		}
		list = append(list, fmt.Sprintf("%s: %s; want %s", Clip(string(p.Pointer), 200), Clip(p.Reason, 200), Clip(p.Want, 200)))
	}
	if h := a.HumanApproval; h != nil {
		decision := map[bool]string{true: "approve", false: "reject"}[h.Approved]
		if h.Approved && h.RevisedAction != nil {
			decision = "edit"
		}
		list = append(list, Capitalize(DecidedBy(record.Approved{Decision: decision, By: h.By, Assurance: string(h.Assurance), KeyID: h.KeyID})))
		if h.Comment != "" {
			list = append(list, "Their comment: "+Clip(h.Comment, MaxComment))
		}
	}
	return list
}
