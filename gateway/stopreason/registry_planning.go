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
		"success_partial", "All that is left out failed or waits for what failed, and nothing of it is critical."),
	rows("", at(plWithoutPhase), ExitOK, NextCall,
		"iteration_pending", "The round is done; plan_decompose plans the next one."),
	rows("", at(plChanging), ExitOK, NextAnswer,
		"plan_complete", "All subtasks were completed before; nothing is left to do."),
	rows("", at(plFinding), ExitRequest, NextCallOrTel,
		"plan_not_found", "There is no such plan, or it is not yours."),
	rows("", at(plChanging), ExitRequest, NextCall,
		"plan_conflict", "The plan was changed since; look at it as it is now."),
	rows("", at(plChanging), ExitBusy, NextCall,
		"plan_busy", "Another call works on the plan."),
	rows("", at(plFinding), ExitFault, NextTell,
		"plan_corrupt", "The stored plan is damaged; it is kept as it is."),
	rows("executor_", at(plRun), ExitRefused, NextCallOrTel,
		"denied:T", "The tool of a subtask is not on the execution allowlist.",
		"missing:T", "The tool of a subtask is allowed but does not exist.",
		"bad_args:T", "The arguments of a subtask do not fit its tool's schema."),
	rows("", at(plRun), ExitTool, NextCallOrTel,
		"subtask_failed:S", "The subtask failed; its row says why.",
		"subtask_timeout:S", "The subtask's tool did not answer in time.",
		"max_retries:S", "The subtask failed at every attempt.",
		"critical_subtask_failed", "A critical subtask failed and was skipped.",
		"blocked_dependencies", "A critical subtask waits for one that failed."),
	rows("max_", at(plRunOrReplan), ExitSpent, NextTell, "replans", "The plan was replanned as often as it may be."),
	rows("max_", at(plPlan), ExitSpent, NextTell, "iterations", "The plan has had all its rounds."),
	partial(plRun,
		"subtask_timeout", "The subtask's tool did not answer in time.",
		"executor_error:T", "The tool failed.",
		"executor_bad_result:T", "The tool answered no object, or what its schema does not allow.",
		"executor_unavailable:T", "Nothing was sent: the tool is held, its server cannot be reached, or a secret is missing.",
		"executor_reported_error:T", "The tool answered with an error.",
		"bad_reference:R", "A reference found nothing in the result that it refers to.",
		"caller_failed", "The caller said that it failed."),
)

// planningRows are the faults of a plan or of the subtasks that replace others. What other kinds have too stands with them.
func planningRows(family string, place Place) []Reason {
	list := rows(family, at(place), ExitRefused, NextFixOrCall,
		"missing_subtasks", "The plan has no list of subtasks.",
		"empty", "The plan has no subtask.",
		"max_subtasks", "The plan has more subtasks than allowed, or the round has.",
		"subtask_I_not_object", "Subtask I is no object.",
		"subtask_I_extra_keys", "Subtask I has members that it should not have.",
		"subtask_I_missing_id", "Subtask I has no id.",
		"subtask_I_bad_id", "The id of subtask I is not of a-z, 0-9, _ and -.",
		"subtask_I_missing_description", "Subtask I does not say what to do.",
		"subtask_I_bad_description", "The description of subtask I is too long.",
		"subtask_I_bad_dependencies", "The dependencies of subtask I are no list of different ids.",
		"subtask_I_bad_tool", "The tool of subtask I is no text.",
		"subtask_I_bad_args", "The arguments of subtask I are no object.",
		"subtask_I_bad_critical", "The critical of subtask I is neither true nor false.",
		"subtask_I_bad_parent", "The parent of subtask I is no text.",
		"subtask_I_bad_expect", "What subtask I expects is no schema, or its tool is not caller.",
		"duplicate_id:S", "Two subtasks have the same id.",
		"unknown_dependency:S:D", "Subtask S depends on one that is not there.",
		"self_dependency:S", "Subtask S depends on itself.",
		"unknown_parent:S:P", "The parent of subtask S is not there.",
		"cycle_detected", "Subtasks wait for one another.",
		"max_depth", "The tree of subtasks is deeper than allowed.",
		"executor_not_allowed:T", "A subtask names a tool that is not on the policy allowlist.",
		"bad_args:S", "The arguments of subtask S do not fit its tool's schema.",
		"bad_reference:S", "Subtask S refers to a result that it cannot have.")
	if strings.HasPrefix(family, "invalid_plan") {
		return append(list, rows(family, at(place), ExitRefused, NextFixOrCall,
			"min_subtasks", "The plan has fewer subtasks than it needs.")...)
	}
	return append(list, rows(family, at(place), ExitRefused, NextFixOrCall,
		"non_json", "The plan is no acceptable JSON document.",
		"not_object", "The plan is JSON but no object.",
		"bad_kind", "The plan's kind is not plan.",
		"extra_keys", "The plan has members that it should not have, or not of that type.",
		"id_reused:S", "A subtask has the id of an earlier one.",
		"no_progress", "The plan only repeats the subtasks that it should replace.")...)
}
