package outcome

import (
	"maps"
	"strings"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// busyPause is the wait in seconds before a caller asks again for a plan that another run holds.
const busyPause = 5

// planNext advises the caller after a run of a planning tool. To continue a plan repeats nothing: completed subtasks
// stay completed, and a subtask that may have acted is in doubt and does not run again.
func (a account) planNext() envelope.Next {
	switch {
	case a.OK():
		return a.planWent()
	case strings.HasPrefix(a.StopReason, "invalid_request:"):
		return fixed(a.Call, a.Repaired(a.Problems))
	}
	family, _, _ := strings.Cut(a.StopReason, ":")
	switch family {
	case "plan_complete":
		return envelope.Next{Action: envelope.ActionAnswer}
	case patterns.PlanNotFound:
		return envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.StatusVerb), Arguments: map[string]any{},
			Say: unknownPlan}
	case patterns.PlanBusy:
		return envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.StatusVerb), Arguments: map[string]any{"plan_id": a.planID()}, Wait: busyPause}
	case patterns.PlanConflict:
		return a.withRevision()
	case "invalid_plan", "invalid_replan":
		if a.ByCall {
			return a.fix()
		}
		return a.ownSubtasks()
	case "subtask_failed", "subtask_timeout", "max_retries", "critical_subtask_failed", "blocked_dependencies":
		return a.replanNext(a.planned().LLM)
	case "executor_denied", "executor_missing", "executor_bad_args":
		n := a.replanNext(a.planned().LLM)
		n.Arguments["reason"] = a.StopReason
		if len(n.Fill) > 0 {
			n.Say = restCannotRun
		}
		return n
	case "max_seconds", "max_tool_calls", "max_llm_calls", "max_tokens", "max_cost_usd", "max_steps", "cancelled", "caller_expired":
		return a.resumeNext()
	case "llm_timeout", "llm_unreachable", "llm_empty", "llm_error":
		if a.Phase == patterns.PhaseFinalize {
			return envelope.Next{Action: envelope.ActionAnswer}
		}
		return a.ownSubtasks()
	}
	return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
}

// planWent advises after a run that succeeded.
func (a account) planWent() envelope.Next {
	p := a.planned()
	switch verb := arguments.VerbOf(a.Spec); {
	case p.DryRun:
		return envelope.Next{Action: envelope.ActionDone}
	case verb == patterns.DecomposeVerb:
		args := map[string]any{"plan_id": p.PlanID, "expected_revision": float64(p.Revision)}
		return envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.ExecuteVerb), Arguments: args}
	case verb == patterns.ReplanVerb:
		return a.resume()
	case a.StopReason == patterns.IterationPending:
		args := map[string]any{a.Spec.GoalArgument(): p.Goal, "parent_plan_id": p.PlanID}
		n := envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.DecomposeVerb), Arguments: envelope.Showable(args)}
		if !p.LLM {
			args["plan"] = a.IntentSkeleton()
			n.Arguments, n.Fill = envelope.Showable(args), []ijson.Pointer{"/plan"}
		}
		return n
	}
	return envelope.Next{Action: envelope.ActionAnswer}
}

// resumeNext advises after a run that was cut short. If the plan is stored, the advice is to continue it. If not, the
// advice is to send one.
func (a account) resumeNext() envelope.Next {
	switch p := a.planned(); {
	case p.PlanID == "" || a.planID() == "", arguments.VerbOf(a.Spec) == patterns.DecomposeVerb:
		if a.StopReason == "cancelled" {
			return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
		}
		return a.ownSubtasks()
	case arguments.VerbOf(a.Spec) == patterns.ReplanVerb || a.Phase == patterns.PhaseReplan:
		if a.StopReason != "cancelled" {
			return a.ownSubtasks()
		}
	}
	return a.resume()
}

// resume returns the advice to continue the plan.
func (a account) resume() envelope.Next {
	return envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.ExecuteVerb), Arguments: map[string]any{"plan_id": a.planID()}}
}

// ownSubtasks returns the advice to send your own subtasks in place of those that a model failed to produce. They go
// with the same call, or with a replan if a run could not replan by itself.
func (a account) ownSubtasks() envelope.Next {
	if arguments.VerbOf(a.Spec) == patterns.ExecuteVerb && a.planID() != "" {
		return a.replanNext(false)
	}
	return a.ownIntent(a.IntentSkeleton())
}

// replanNext returns the advice to replace the subtasks that are not completed, by a model or by your own subtasks.
func (a account) replanNext(byModel bool) envelope.Next {
	p := a.planned()
	args := map[string]any{"plan_id": a.planID(), "expected_revision": float64(p.Revision)}
	if p.Failed != "" {
		args["failed_subtask"] = p.Failed
	}
	n := envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.ReplanVerb), Arguments: args}
	if !byModel {
		args["plan"] = a.IntentSkeleton()
		n.Fill, n.Say = []ijson.Pointer{"/plan"}, restOfPlan
	}
	return n
}

// withRevision returns the advice to repeat the call with the plan's current revision.
func (a account) withRevision() envelope.Next {
	if a.planned().Revision == 0 || a.Call.NamedPlan() == "" { // another run has changed the plan
		return envelope.Next{Action: envelope.ActionCall, Tool: a.planTool(patterns.StatusVerb), Arguments: map[string]any{"plan_id": a.planID()}}
	}
	args := maps.Clone(a.Arguments)
	if args == nil {
		args = map[string]any{}
	}
	row := arguments.Change{Pointer: "/expected_revision", To: document.Got(float64(a.planned().Revision))}
	if was, given := args["expected_revision"]; given {
		row.From = document.Got(was)
	}
	args["expected_revision"] = float64(a.planned().Revision)
	return envelope.Next{Action: envelope.ActionCall, Tool: a.Tool, Arguments: envelope.Showable(args), Changed: []arguments.Change{row},
		Say: planChanged}
}

// planned returns what the run's result says about its plan, or an empty Planned.
func (a account) planned() patterns.Planned {
	if a.Planned == nil {
		return patterns.Planned{}
	}
	return *a.Planned
}

// planID returns the id of the run's plan, or "" if it is not known.
func (a account) planID() string {
	if id := a.planned().PlanID; id != "" {
		return id
	}
	return a.Call.NamedPlan()
}

// planWords returns a sentence that names the plan of a run, or "" without a plan.
func planWords(plan string) string {
	if plan == "" {
		return ""
	}
	return planIs(printable.Name(plan))
}

func (a account) planTool(verb patterns.PlanVerb) string {
	return arguments.PlanTool(a.Spec.Plans, verb)
}
