package web

import (
	"cmp"
	"fmt"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/record"
)

// standing words how a plan stands, and how it is coloured.
func standing(state patterns.PlanState, v patterns.PlanView) (text, class string) {
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
	return statusWords(state.Plan.Last.Status)
}

// holderWords say what the run that has a plan does with it.
func holderWords(state patterns.PlanState) string {
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

// causeWords say why a subtask did not come to a result; "": it did, or was not tried.
func causeWords(row patterns.SubtaskRow) string {
	var list []string
	if row.StopReason != "" {
		text := clip(row.StopReason, 2*maxName)
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
		list = append(list, name(row.Reason))
	}
	return strings.Join(list, "; ")
}

// toolWords say who works on a subtask.
func toolWords(tool string) string {
	switch tool {
	case planning.ModelExecutor:
		return "the model"
	case planning.CallerExecutor:
		return "the caller"
	}
	return name(tool)
}

// sourceWords say whose claim a result is.
func sourceWords(source string) string {
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
	return "Result (" + name(source) + ")"
}

// originWords say who made a plan.
func originWords(source string) string {
	return cmp.Or(map[string]string{
		"caller": "the caller", "checklist": "the caller, as a checklist", "model": "a model", "rules": "the offline rules",
	}[source], name(source))
}

// revisionWord says what changed a plan.
func revisionWord(kind string) string {
	return cmp.Or(map[string]string{"decompose": "made", "round": "next round", "replan": "replanned"}[kind], name(kind))
}

// attemptNotes are what else is known of an attempt.
func attemptNotes(a patterns.AttemptRow) []string {
	var list []string
	if a.Error != "" {
		list = append(list, "It reported: "+clip(a.Error, 200))
	}
	for i, p := range a.Problems {
		if i == 8 {
			list = append(list, "And "+grouped(len(a.Problems)-i)+" more problems.")
			break
		}
		list = append(list, fmt.Sprintf("%s: %s; want %s", clip(string(p.Pointer), 200), clip(p.Reason, 200), clip(p.Want, 200)))
	}
	if h := a.HumanApproval; h != nil {
		decision := map[bool]string{true: "approve", false: "reject"}[h.Approved]
		if h.Approved && h.RevisedAction != nil {
			decision = "edit"
		}
		list = append(list, capital(personWords(record.Approved{Decision: decision, By: h.By, Assurance: string(h.Assurance), KeyID: h.KeyID})))
		if h.Comment != "" {
			list = append(list, "Their comment: "+clip(h.Comment, maxWords))
		}
	}
	return list
}
