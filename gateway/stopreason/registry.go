package stopreason

import (
	"slices"

	"patterngate/gateway"
)

// Where reasons occur. A nil phase list is that of success, which has none.
var (
	tdPlan, tdRun, tdEnd = Place{gateway.TaskDecomposition, []string{"plan"}}, Place{gateway.TaskDecomposition, []string{"execute"}}, Place{gateway.TaskDecomposition, []string{"finalize"}}
	orPlan, orRun, orEnd = Place{gateway.Orchestrator, []string{"plan"}}, Place{gateway.Orchestrator, []string{"dispatch"}}, Place{gateway.Orchestrator, []string{"finalize"}}
	rtPlan, rtRun, rtEnd = Place{gateway.Routing, []string{"route"}}, Place{gateway.Routing, []string{"delegate"}}, Place{gateway.Routing, []string{"finalize"}}
	svPlan, svJudge      = Place{gateway.Supervisor, []string{"worker"}}, Place{gateway.Supervisor, []string{"supervisor"}}
	clRun, clRequest     = Place{gateway.Call, []string{"call"}}, Place{gateway.Call, []string{"request"}}
	svAsk, svRun         = Place{gateway.Supervisor, []string{"human_approval"}}, Place{gateway.Supervisor, []string{"execution"}}

	dcRequest    = Place{gateway.Catalog, []string{"request"}}
	listRequest  = Place{gateway.RunList, []string{"request"}}
	runsRequests = []Place{{gateway.RunStatus, []string{"request"}}, {gateway.RunWait, []string{"request"}}, {gateway.RunCancel, []string{"request"}}}

	everywhere = []Place{{gateway.TaskDecomposition, nil}, {gateway.Orchestrator, nil}, {gateway.Routing, nil}, {gateway.Supervisor, nil}, {gateway.Planning, nil}, {gateway.Call, nil}, {gateway.Catalog, nil}, {gateway.RunStatus, nil}, {gateway.RunList, nil}}
	requests   = []Place{{gateway.TaskDecomposition, []string{"request"}}, {gateway.Orchestrator, []string{"request"}}, {gateway.Routing, []string{"request"}}, {gateway.Supervisor, []string{"request"}}, plRequest, clRequest}
	calls      = slices.Concat(requests, at(dcRequest), runsRequests, at(listRequest))
	knowing    = slices.DeleteFunc(slices.Clone(calls), ofOneTool) // of one tool the gate knows the arguments
	naming     = slices.DeleteFunc(slices.Concat(requests, runsRequests[1:]), ofOneTool)
	finding    = slices.Concat(at(dcRequest), runsRequests, continuing)
	continuing = []Place{{gateway.Routing, []string{"request"}}, {gateway.Supervisor, []string{"request"}}, plRequest}
	begun      = []Place{tdPlan, tdRun, tdEnd, orPlan, orRun, orEnd, rtPlan, rtRun, rtEnd, svPlan, svJudge, svAsk, svRun, plBegun, clRun}
	deciding   = []Place{tdPlan, orPlan, rtPlan, svPlan, plPlan}
	asking     = []Place{tdPlan, tdEnd, orPlan, orEnd, rtPlan, rtEnd, svPlan, plBegun}
	executing  = []Place{tdRun, svRun, clRun}
	put        = []Place{tdRun, orRun, rtRun, svAsk, plRun, clRun} // to a person; in an orchestrator it ends a task, in a plan perhaps a subtask
)

func at(p ...Place) []Place { return p }

// ofOneTool is the place of requests whose arguments are one tool's, and so the gate's to judge.
func ofOneTool(p Place) bool { return p.Kind == gateway.Call }

// registry holds every stop reason there is (spec/surface.md section 4). A row is added with the code that can
// return it and with the test that gets it over MCP.
var registry = slices.Concat(
	[]Reason{{Name: "success", Meaning: "The run finished its work.", Places: everywhere, Exit: ExitOK, Next: NextAnswer}},
	rows("invalid_request:", knowing, ExitRequest, NextFix,
		"unknown_field:N", "The call has an argument N that the tool does not have."),
	rows("invalid_request:", naming, ExitRequest, NextFix,
		"missing:N", "The required argument N is missing or blank."),
	rows("invalid_request:", calls, ExitRequest, NextFix,
		"type:N", "The argument N has the wrong type.",
		"limit:N", "The value of the argument N is out of range, not in its list of words, too long or nested too deeply.",
		"too_large:N", "The argument N or the whole call is larger than allowed."),
	rows("invalid_request:", finding, ExitRequest, NextCallOrTel,
		"not_found:N", "The argument N names something that does not exist or is not yours."),
	rows("invalid_request:", continuing, ExitRequest, NextFix,
		"mismatch:N", "The argument N differs from the value with which the run began."),
	rows("invalid_request:", requests, ExitRequest, NextFix,
		"reused:idempotency_key", "The idempotency key was used before with other arguments."),
	rows("invalid_plan:", at(tdPlan, plPlan), ExitRefused, NextFixOrCall,
		"not_object", "The plan is JSON but not an object.",
		"bad_kind", "The plan's \"kind\" is not \"plan\".",
		"extra_keys", "The plan has unknown members, or members of the wrong type."),
	rows("invalid_plan:", at(tdPlan), ExitRefused, NextFixOrCall,
		"missing_steps", "The plan has no list of steps.",
		"min_steps", "The plan has fewer steps than required.",
		"max_steps", "The plan has more steps than allowed.",
		"duplicate_step_id", "Two steps have the same id.",
		"tool_not_allowed:T", "A step names a tool that is not on the allow list of the policy.",
		"step_I_not_object", "Step I is not an object.",
		"step_I_extra_keys", "Step I has members other than id, title, tool and args.",
		"step_I_missing_id", "Step I has no id.",
		"step_I_missing_title", "Step I has no title.",
		"step_I_missing_tool", "Step I names no tool.",
		"step_I_bad_args", "The arguments of step I are not an object."),
	rows("invalid_plan:", at(tdPlan, orPlan, plPlan), ExitRefused, NextFixOrCall,
		"non_json", "The plan is not valid JSON."),
	rows("invalid_plan:", at(orPlan), ExitRefused, NextFixOrCall,
		"kind", "The plan's \"kind\" is not \"plan\".",
		"tasks", "The plan has no list of tasks.",
		"max_tasks", "The plan has no task, or more tasks than allowed.",
		"task_shape", "A task is not an object.",
		"missing_keys", "A task lacks one of its members id, worker, args and critical.",
		"task_id", "The id of a task is not text.",
		"duplicate_task_id", "Two tasks have the same id.",
		"worker", "A task names no worker.",
		"worker_not_allowed:W", "A task names a worker that is not on the allow list of the policy.",
		"args", "The arguments of a task are not an object.",
		"critical", "The \"critical\" of a task is neither true nor false."),
	rows("invalid_route:", at(rtPlan), ExitRefused, NextFixOrCall,
		"not_object", "The route is JSON but not an object.",
		"non_json", "The route is not valid JSON.",
		"bad_kind", "The route's \"kind\" is not \"route\".",
		"extra_keys", "The route has members other than kind, target and args.",
		"missing_target", "The route names no target.",
		"route_not_allowed:T", "The target is not on the allow list of the policy.",
		"bad_args", "The arguments of the route are not an object.",
		"missing_ticket", "The arguments of the route have no ticket.",
		"repeat_target_after_reroute", "The target already declined the request in this run."),
	rows("invalid_action:", at(svPlan), ExitRefused, NextFixOrCall,
		"not_object", "The action is JSON but not an object.",
		"non_json", "The action is not valid JSON.",
		"bad_kind", "The action's \"kind\" is neither \"tool\" nor \"final\".",
		"extra_keys_final", "The final action has members other than kind and answer.",
		"bad_final_answer", "The final action has no answer.",
		"extra_keys_tool", "The action has members other than kind, name and args.",
		"bad_tool_name", "The action names no tool.",
		"bad_tool_args", "The arguments of the action are not an object.",
		"unknown_tool:N", "The action names a tool that is not on the allow list of the policy.",
		"extra_tool_args:N", "The action has an argument that the tool N does not have.",
		"missing_required_arg:N:A", "The action lacks the argument A of the tool N.",
		"bad_arg_type:N:A", "The argument A of the tool N has the wrong type or is blank.",
		"bad_arg_value:N:A", "The argument A of the tool N has a value that its schema does not allow."),
	rows("goal_incomplete:", deciding, ExitRequest, NextTell,
		"T.A", "The goal does not say what the argument A of the tool T should be, and the offline rules do not guess."),
	rows("", at(tdPlan, orPlan, svPlan, plPlan), ExitRequest, NextTell,
		"goal_unclear", "The offline rules could not match the goal to enough tools."),
	rows("", at(rtPlan), ExitRequest, NextTell,
		"route_unclear", "The offline rules could not match the ticket to one route: none matches, or several match equally."),
	rows("llm_", asking, ExitModel, NextCallOrAns,
		"timeout", "The model did not answer in time.",
		"unreachable", "The connection to the model could not be made, or it broke.",
		"empty", "The model returned an empty answer.",
		"error:auth", "The key for the model could not be read, or the model server refused it.",
		"error:rate_limit", "The model server received too many requests.",
		"error:server", "The model server failed, or its answer was not a completion.",
		"error:bad_request", "The model server refused the request.",
		"error:refused", "The model refused to answer.",
		"error:no_choices", "The answer of the model server contained no choices."),
	rows("tool_", executing, ExitRefused, NextFixOrTell,
		"denied:T", "The tool is not on the execution allow list.",
		"missing:T", "The tool is allowed but does not exist."),
	rows("tool_", executing, ExitRefused, NextFixOrTell,
		"bad_args:T", "The arguments do not fit the tool's schema, or no business key can be made from them."),
	rows("tool_", executing, ExitTool, NextTell,
		"error:T", "The tool failed.",
		"bad_result:T", "The result does not fit the tool's schema, or an expression of its output fails on it.",
		"unavailable:T", "Nothing was sent: the tool is held, its server cannot be reached, or a secret is missing.",
		"timeout:T", "The tool did not answer in time."),
	rows("route_", at(rtRun), ExitRefused, NextFixOrTell,
		"denied:T", "The target is not on the execution allow list.",
		"missing:T", "The target is allowed but does not exist.",
		"bad_args:T", "The route has arguments that the target does not have."),
	rows("route_", at(rtRun), ExitTool, NextTell,
		"error:T", "The specialist failed.",
		"unavailable:T", "Nothing was sent: the specialist is held or cannot be reached, or a secret is missing.",
		"timeout:T", "The specialist did not answer in time.",
		"bad_observation", "The specialist returned a status other than \"done\" and \"needs_reroute\"."),
	rows("invalid_answer:", at(tdEnd, orEnd, rtEnd, svPlan), ExitModel, NextCallOrAns,
		"non_json", "The final answer is not JSON, as this pattern requires.",
		"bad_schema", "The final answer does not fit the schema of the pattern, or is longer than 16 KiB."),
	tasks(
		"worker_denied:W", "The worker is not on the execution allow list.",
		"worker_missing:W", "The worker is allowed but does not exist.",
		"worker_bad_args:W", "The arguments do not fit the worker's schema.",
		"worker_error:W", "The worker failed.",
		"worker_bad_result:W", "The result does not fit the worker's schema, or an expression of its output fails on it.",
		"worker_unavailable:W", "Nothing was sent: the worker is held or cannot be reached, or a secret is missing.",
		"worker_reported_error:W", "The worker reported an error.",
		"task_timeout", "The worker did not answer before the timeout of the task.",
		"max_dispatches", "The run had no dispatch left for the task."),
	rows("", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitTool, NextTell,
		"in_doubt:T", "The call was cut off or its reply was lost, and its outcome was not settled before the deadline."),
	rows("", at(orRun), ExitTool, NextTell,
		"critical_task_failed", "A critical task failed."),
	rows("loop_detected", at(tdRun), ExitSpent, NextTell,
		"", "The same call was proposed again."),
	rows("loop_detected:", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell,
		"per_tool_limit", "The tool was called more often than allowed."),
	rows("loop_detected:", at(orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell,
		"signature_repeat", "The same call was proposed again."),
	rows("max_", begun, ExitSpent, NextTell, "seconds", "The run used up its time."),
	rows("max_", at(tdRun), ExitSpent, NextFixOrTell, "execute_steps", "The plan has more steps than the run can execute."),
	rows("max_", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell, "tool_calls", "The run used up its tool calls."),
	rows("max_", at(rtRun), ExitSpent, NextTell, "delegations", "The run used up its delegations."),
	rows("max_", at(rtPlan), ExitSpent, NextTell, "route_attempts", "Every attempt was declined."),
	rows("max_", at(svPlan, plRun), ExitSpent, NextTell, "steps", "The run used up its steps."),
	rows("max_", asking, ExitSpent, NextCallOrAns,
		"llm_calls", "The run used up its model requests.",
		"tokens", "The run used up its model tokens, or too few are left for the next request.",
		"cost_usd", "The cost limit of the run leaves too little for the next model request."),
	rows("supervisor_block:", at(svJudge), ExitRefused, NextOfBlock,
		"invalid_refund_amount", "The amount is less than a cent.",
		"refund_requires_context", "The customer was not looked up before the refund.",
		"refund_window_expired", "The payment is too old for a refund.",
		"refund_budget_exhausted", "The run reached its refund limit.",
		"refund_exceeds_last_charge", "The refunds of this run to this customer would exceed the last charge.",
		"email_before_refund", "The run paid no refund of this amount to this customer.",
		"final_requires_context", "The run looked up nothing before the final answer.",
		"revise_not_convergent", "The policy changed the call again and again without a final result.",
		noRule, noRuleAllows,
		"policy_error:R", ruleFailed,
		"R", ruleBlocks,
		"once_reused", "The business key was used before, with other arguments or by a call whose outcome is unknown."),
	rows("policy_block:", at(tdRun, orRun, rtRun, plRun, clRun), ExitRefused, NextOfBlock,
		"policy_error:R", ruleFailed,
		"R", ruleBlocks,
		"once_reused", "The business key was used before, with other arguments or by a call whose outcome is unknown."),
	rows("", put, ExitRefused, NextTell,
		"human_rejected", "A person rejected the call, or the configuration rejects such calls without asking.",
		"approval_consumed", "The approval was already used for a call, and each approval is valid for one call.",
		"approval_invalid", "The approval is not valid for exactly this call: the call changed, or the approver is not accepted."),
	rows("", put, ExitSpent, NextTell, "approval_expired", "No one decided before the deadline, so the call was rejected."),
	rows("", at(rtPlan, svPlan, plRun), ExitSpent, NextCallOrTel, "caller_expired", "The caller sent no further proposal before the deadline."),
	rows("", begun, ExitStopped, NextTell,
		"kill_switch", "A kill switch is on. The calls that it covers are blocked until a person turns it off.",
		"cancelled", "The run was cancelled."),
	rows("", begun, ExitFault, NextTell,
		"journal_unavailable", "The run's record could not be written. A call that was not recorded was not made.",
		"replay_mismatch", "The run's record does not match the code of this version, so the run was not resumed.",
		"record_broken", "The run's record is damaged. It is kept unchanged, and the run is not resumed."),
	rows("", begun, ExitFault, NextTell, "internal_error", "Patterngate had an internal fault. The summary shows the id of the fault."),
	planningRows("invalid_plan:", plPlan),
	planningRows("invalid_replan:", plReplan),
	planningReasons,
)

// What holds of every rule: the reasons by which policies block are their own, see [Blocked].
const (
	ruleBlocks = "A rule of the policy blocks the call."
	// noRule is the one reason in place of R that is not the reason of a rule.
	noRule       = "no_rule_matched"
	noRuleAllows = "No rule of the policy allows the call."
	ruleFailed   = "The rule R of the policy could not be evaluated for this call, so it blocks the call."
)

// rows makes registry rows with a common beginning, places, exit code and advice, from pairs of name and meaning.
func rows(prefix string, places []Place, exit Exit, next Next, pairs ...string) []Reason {
	var list []Reason
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Reason{Name: prefix + pairs[i], Meaning: pairs[i+1], Places: places, Exit: exit, Next: next})
	}
	return list
}

// tasks makes rows of reasons that end a task of an orchestrator.
func tasks(pairs ...string) []Reason { return partial(orRun, pairs...) }

// partial makes rows of reasons that end a part of a run, never the run.
func partial(place Place, pairs ...string) []Reason {
	list := rows("", at(place), ExitNone, NextNone, pairs...)
	for i := range list {
		list[i].Task = true
	}
	return list
}
