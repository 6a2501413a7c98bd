package stopreason

import (
	"slices"
	"strings"

	"patterngate/gateway"
)

// Where reasons occur in planning. Every call is one of four tools: plan is that of plan_decompose, and of plan_execute as
// far as it stores a plan of the caller's; replan is that of plan_replan, and of plan_execute as far as it replans.
var (
	plPlan, plRun  = Place{gateway.Planning, []string{"plan"}}, Place{gateway.Planning, []string{"execute"}}
	plReplan       = Place{gateway.Planning, []string{"replan"}}
	plBegun        = Place{gateway.Planning, []string{"plan", "execute", "replan", "finalize"}}
	plChanging     = Place{gateway.Planning, []string{"plan", "execute", "replan"}}
	plFinding      = Place{gateway.Planning, []string{"plan", "execute", "replan", "status"}}
	plRequest      = Place{gateway.Planning, []string{"request"}}
	plRunOrReplan  = Place{gateway.Planning, []string{"execute", "replan"}}
	plWithoutPhase = Place{gateway.Planning, nil}
)

// planningReasons are the reasons of planning that are no faults of a document (spec/planning-reference.md section 15).
var planningReasons = slices.Concat(
	rows("", at(plWithoutPhase), ExitOK, NextAnswer,
		"success_partial", "All critical subtasks are completed. Others failed, or wait for one that failed."),
	rows("", at(plWithoutPhase), ExitOK, NextCall,
		"iteration_pending", "This round of the plan is complete. plan_decompose plans the next one."),
	rows("", at(plChanging), ExitOK, NextAnswer,
		"plan_complete", "All subtasks were completed before, so nothing is left to do."),
	rows("", at(plFinding), ExitRequest, NextCallOrTel,
		"plan_not_found", "The plan does not exist or is not yours."),
	rows("", at(plChanging), ExitRequest, NextCall,
		"plan_conflict", "The plan has changed since you read it. Read its current revision."),
	rows("", at(plChanging), ExitBusy, NextCall,
		"plan_busy", "Another call is working on the plan."),
	rows("", at(plFinding), ExitFault, NextTell,
		"plan_corrupt", "The stored plan is damaged. It is kept unchanged."),
	rows("executor_", at(plRun), ExitRefused, NextCallOrTel,
		"denied:T", "The tool of a subtask is not on the execution allow list.",
		"missing:T", "The tool of a subtask is allowed but does not exist.",
		"bad_args:T", "The arguments of a subtask do not fit its tool's schema."),
	rows("", at(plRun), ExitTool, NextCallOrTel,
		"subtask_failed:S", "The subtask failed. Its row says why.",
		"subtask_timeout:S", "The subtask's tool did not answer in time.",
		"max_retries:S", "The subtask failed at every attempt.",
		"critical_subtask_failed", "A critical subtask failed and was skipped.",
		"blocked_dependencies", "A critical subtask depends on one that failed."),
	rows("max_", at(plRunOrReplan), ExitSpent, NextTell, "replans", "The plan reached its limit of replans."),
	rows("max_", at(plPlan), ExitSpent, NextTell, "iterations", "The plan reached its limit of rounds."),
	partial(plRun,
		"subtask_timeout", "The subtask's tool did not answer in time.",
		"executor_error:T", "The tool failed.",
		"executor_bad_result:T", "The result is not an object, does not fit the tool's schema, or an expression of its output fails on it.",
		"executor_unavailable:T", "Nothing was sent: the tool is held, its server cannot be reached, or a secret is missing.",
		"executor_reported_error:T", "The tool reported an error.",
		"bad_reference:R", "A reference points to a value that its result does not have.",
		"caller_failed", "The caller reported that the subtask failed."),
)

// planningRows are the faults of a plan or of the subtasks that replace others. What other kinds have too stands with them.
func planningRows(family string, place Place) []Reason {
	list := rows(family, at(place), ExitRefused, NextFixOrCall,
		"missing_subtasks", "The plan has no list of subtasks.",
		"empty", "The plan has no subtask.",
		"max_subtasks", "The plan or the round has more subtasks than allowed.",
		"subtask_I_not_object", "Subtask I is not an object.",
		"subtask_I_extra_keys", "Subtask I has unknown members.",
		"subtask_I_missing_id", "Subtask I has no id.",
		"subtask_I_bad_id", "The id of subtask I has characters other than a-z, 0-9, _ and -.",
		"subtask_I_missing_description", "Subtask I has no description of what to do.",
		"subtask_I_bad_description", "The description of subtask I is too long.",
		"subtask_I_bad_dependencies", "The dependencies of subtask I are not a list of different ids.",
		"subtask_I_bad_tool", "The tool of subtask I is not text.",
		"subtask_I_bad_args", "The arguments of subtask I are not an object.",
		"subtask_I_bad_critical", "The \"critical\" of subtask I is neither true nor false.",
		"subtask_I_bad_parent", "The parent of subtask I is not text.",
		"subtask_I_bad_expect", "The \"expect\" of subtask I is not a schema, or its tool is not \"caller\".",
		"duplicate_id:S", "Two subtasks have the same id.",
		"unknown_dependency:S:D", "Subtask S depends on a subtask that does not exist.",
		"self_dependency:S", "Subtask S depends on itself.",
		"unknown_parent:S:P", "The parent of subtask S does not exist.",
		"cycle_detected", "Subtasks depend on each other in a cycle.",
		"max_depth", "The tree of subtasks is deeper than allowed.",
		"executor_not_allowed:T", "A subtask names a tool that is not on the allow list of the policy.",
		"bad_args:S", "The arguments of subtask S do not fit its tool's schema.",
		"bad_reference:S", "Subtask S refers to a result that is not available to it.")
	if strings.HasPrefix(family, "invalid_plan") {
		return append(list, rows(family, at(place), ExitRefused, NextFixOrCall,
			"min_subtasks", "The plan has fewer subtasks than required.")...)
	}
	return append(list, rows(family, at(place), ExitRefused, NextFixOrCall,
		"non_json", "The plan is not valid JSON.",
		"not_object", "The plan is JSON but not an object.",
		"bad_kind", "The plan's \"kind\" is not \"plan\".",
		"extra_keys", "The plan has unknown members, or members of the wrong type.",
		"id_reused:S", "A subtask has the id of an earlier subtask.",
		"no_progress", "The plan only repeats the subtasks that it should replace.")...)
}
