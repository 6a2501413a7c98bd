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
	[]Reason{{Name: "success", Meaning: "The run did what it was asked.", Places: everywhere, Exit: ExitOK, Next: NextAnswer}},
	rows("invalid_request:", knowing, ExitRequest, NextFix,
		"unknown_field:N", "The call has an argument N that the tool does not know."),
	rows("invalid_request:", naming, ExitRequest, NextFix,
		"missing:N", "The argument N is required, and absent or blank."),
	rows("invalid_request:", calls, ExitRequest, NextFix,
		"type:N", "The argument N is of another type.",
		"limit:N", "The argument N holds a number out of range, a word outside its list or too much, or is nested too deep.",
		"too_large:N", "The argument N, or the whole call, is larger than allowed."),
	rows("invalid_request:", finding, ExitRequest, NextCallOrTel,
		"not_found:N", "What the argument N names is not there, or not yours."),
	rows("invalid_request:", continuing, ExitRequest, NextFix,
		"mismatch:N", "The argument N is not what the run began with."),
	rows("invalid_request:", requests, ExitRequest, NextFix,
		"reused:idempotency_key", "The idempotency key was used before, with other arguments."),
	rows("invalid_plan:", at(tdPlan, plPlan), ExitRefused, NextFixOrCall,
		"not_object", "The plan is JSON but no object.",
		"bad_kind", "The plan's kind is not plan.",
		"extra_keys", "The plan has members that it should not have, or not of that type."),
	rows("invalid_plan:", at(tdPlan), ExitRefused, NextFixOrCall,
		"missing_steps", "The plan has no list of steps.",
		"min_steps", "The plan has fewer steps than a decomposition needs.",
		"max_steps", "The plan has more steps than allowed.",
		"duplicate_step_id", "Two steps have the same id.",
		"tool_not_allowed:T", "A step names a tool that is not on the policy allowlist.",
		"step_I_not_object", "Step I is no object.",
		"step_I_extra_keys", "Step I has members beyond id, title, tool and args.",
		"step_I_missing_id", "Step I has no id.",
		"step_I_missing_title", "Step I has no title.",
		"step_I_missing_tool", "Step I names no tool.",
		"step_I_bad_args", "The arguments of step I are no object."),
	rows("invalid_plan:", at(tdPlan, orPlan, plPlan), ExitRefused, NextFixOrCall,
		"non_json", "The plan is no acceptable JSON document."),
	rows("invalid_plan:", at(orPlan), ExitRefused, NextFixOrCall,
		"kind", "The plan's kind is not plan.",
		"tasks", "The plan has no list of tasks.",
		"max_tasks", "The plan has no task or more than allowed.",
		"task_shape", "A task is no object.",
		"missing_keys", "A task lacks id, worker, args or critical.",
		"task_id", "A task's id is no text.",
		"duplicate_task_id", "Two tasks have the same id.",
		"worker", "A task names no worker.",
		"worker_not_allowed:W", "A task names a worker that is not on the policy allowlist.",
		"args", "A task's arguments are no object.",
		"critical", "A task's critical is neither true nor false."),
	rows("invalid_route:", at(rtPlan), ExitRefused, NextFixOrCall,
		"not_object", "The route is JSON but no object.",
		"non_json", "The route is no acceptable JSON document.",
		"bad_kind", "The route's kind is not route.",
		"extra_keys", "The route has members beyond kind, target and args.",
		"missing_target", "The route names no target.",
		"route_not_allowed:T", "The target is not on the policy allowlist.",
		"bad_args", "The route's arguments are no object.",
		"missing_ticket", "The route hands over no ticket.",
		"repeat_target_after_reroute", "The target declined in this run already."),
	rows("invalid_action:", at(svPlan), ExitRefused, NextFixOrCall,
		"not_object", "The action is JSON but no object.",
		"non_json", "The action is no acceptable JSON document.",
		"bad_kind", "The action's kind is neither tool nor final.",
		"extra_keys_final", "The final action has members beyond kind and answer.",
		"bad_final_answer", "The final action has no answer.",
		"extra_keys_tool", "The action has members beyond kind, name and args.",
		"bad_tool_name", "The action names no tool.",
		"bad_tool_args", "The action's arguments are no object.",
		"unknown_tool:N", "The action names a tool that is not on the policy allowlist.",
		"extra_tool_args:N", "The action has an argument that N does not know.",
		"missing_required_arg:N:A", "The action lacks the argument A of N.",
		"bad_arg_type:N:A", "The argument A of N is of another type or blank.",
		"bad_arg_value:N:A", "The argument A of N has a value that its schema does not allow."),
	rows("goal_incomplete:", deciding, ExitRequest, NextTell,
		"T.A", "The goal does not say what the argument A of T should be, and the rules never guess."),
	rows("", at(tdPlan, orPlan, svPlan, plPlan), ExitRequest, NextTell,
		"goal_unclear", "No tool's words meet the goal."),
	rows("", at(rtPlan), ExitRequest, NextTell,
		"route_unclear", "No route's words meet the ticket, or several do equally."),
	rows("llm_", asking, ExitModel, NextCallOrAns,
		"timeout", "The model did not answer in time.",
		"unreachable", "No connection to the model was made, or it broke.",
		"empty", "The model answered nothing.",
		"error:auth", "The model server refused the key.",
		"error:rate_limit", "The model server had too many requests.",
		"error:server", "The model server failed or did not answer with a completion.",
		"error:bad_request", "The model server refused the request.",
		"error:refused", "The model refused to answer.",
		"error:no_choices", "The model's answer held nothing to choose."),
	rows("tool_", executing, ExitRefused, NextFixOrTell,
		"denied:T", "The tool is not on the execution allowlist.",
		"missing:T", "The tool is allowed but does not exist."),
	rows("tool_", executing, ExitRefused, NextFixOrTell,
		"bad_args:T", "The arguments do not fit the tool's schema, or make no business key."),
	rows("tool_", executing, ExitTool, NextTell,
		"error:T", "The tool failed.",
		"bad_result:T", "The tool answered what its schema does not allow.",
		"unavailable:T", "Nothing was sent: the tool is held, its server cannot be reached, or a secret is missing.",
		"timeout:T", "The tool did not answer in time."),
	rows("route_", at(rtRun), ExitRefused, NextFixOrTell,
		"denied:T", "The target is not on the execution allowlist.",
		"missing:T", "The target is allowed but does not exist.",
		"bad_args:T", "The route has arguments that the target does not know."),
	rows("route_", at(rtRun), ExitTool, NextTell,
		"error:T", "The specialist failed.",
		"unavailable:T", "Nothing was sent: the specialist is held or cannot be reached, or a secret is missing.",
		"timeout:T", "The specialist did not answer in time.",
		"bad_observation", "The specialist answered neither done nor needs_reroute."),
	rows("invalid_answer:", at(tdEnd, orEnd, rtEnd, svPlan), ExitModel, NextCallOrAns,
		"non_json", "The final answer is no JSON document, as this pattern's has to be.",
		"bad_schema", "The final answer does not fit the schema that the pattern declares for it, or is longer than 16 KiB."),
	tasks(
		"worker_denied:W", "The worker is not on the execution allowlist.",
		"worker_missing:W", "The worker is allowed but does not exist.",
		"worker_bad_args:W", "The arguments do not fit the worker's schema.",
		"worker_error:W", "The worker failed.",
		"worker_bad_result:W", "The worker answered what its schema does not allow.",
		"worker_unavailable:W", "Nothing was sent: the worker is held or cannot be reached, or a secret is missing.",
		"worker_reported_error:W", "The worker answered with an error.",
		"task_timeout", "The worker did not answer in the task's time.",
		"max_dispatches", "No dispatch was left for the task."),
	rows("", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitTool, NextTell,
		"in_doubt:T", "The call was cut or its answer lost, and nobody said in time whether it happened."),
	rows("", at(orRun), ExitTool, NextTell,
		"critical_task_failed", "A task without which the report is impossible failed."),
	rows("loop_detected", at(tdRun), ExitSpent, NextTell,
		"", "The same call was proposed again."),
	rows("loop_detected:", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell,
		"per_tool_limit", "The tool was called too often."),
	rows("loop_detected:", at(orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell,
		"signature_repeat", "The same call was proposed again."),
	rows("max_", begun, ExitSpent, NextTell, "seconds", "The run's time is over."),
	rows("max_", at(tdRun), ExitSpent, NextFixOrTell, "execute_steps", "The plan has more steps than may be executed."),
	rows("max_", at(tdRun, orRun, rtRun, svRun, plRun, clRun), ExitSpent, NextTell, "tool_calls", "The run's calls are used up."),
	rows("max_", at(rtRun), ExitSpent, NextTell, "delegations", "The run's delegations are used up."),
	rows("max_", at(rtPlan), ExitSpent, NextTell, "route_attempts", "Every attempt was declined."),
	rows("max_", at(svPlan, plRun), ExitSpent, NextTell, "steps", "The run's steps are used up."),
	rows("max_", asking, ExitSpent, NextCallOrAns,
		"llm_calls", "The run's model requests are used up.",
		"tokens", "The run's model tokens are used up, or do not suffice for the next question.",
		"cost_usd", "What the run's models may cost does not suffice for the next question."),
	rows("supervisor_block:", at(svJudge), ExitRefused, NextOfBlock,
		"invalid_refund_amount", "The amount is less than a cent.",
		"refund_requires_context", "The customer was not looked up before the refund.",
		"refund_window_expired", "The payment is too old to be refunded.",
		"refund_budget_exhausted", "The run may refund no more.",
		"refund_exceeds_last_charge", "This customer's refunds of the run would exceed the last charge.",
		"email_before_refund", "No refund of this amount was paid to this customer.",
		"final_requires_context", "Nothing was looked up before the final answer.",
		"revise_not_convergent", "The policy's changes come to no end.",
		"no_rule_matched", "No rule of the policy allows it.",
		"policy_error:R", ruleFailed,
		"R", ruleBlocks,
		"once_reused", "The business key was used before, with other arguments or by a call that nobody knows the end of."),
	rows("policy_block:", at(tdRun, orRun, rtRun, plRun, clRun), ExitRefused, NextOfBlock,
		"policy_error:R", ruleFailed,
		"R", ruleBlocks,
		"once_reused", "The business key was used before, with other arguments or by a call that nobody knows the end of."),
	rows("", put, ExitRefused, NextTell,
		"human_rejected", "The person said no, or nobody may be asked.",
		"approval_consumed", "The approval let a call through before, and each is good for one.",
		"approval_invalid", "The approval does not hold for exactly this call: something was changed, or who gave it does not count."),
	rows("", put, ExitSpent, NextTell, "approval_expired", "Nobody decided in time, which means no."),
	rows("", at(rtPlan, svPlan, plRun), ExitSpent, NextCallOrTel, "caller_expired", "The caller proposed nothing more in time."),
	rows("", begun, ExitStopped, NextTell,
		"kill_switch", "Somebody switched it off; nothing is called until they switch it on again.",
		"cancelled", "The caller took the run back."),
	rows("", begun, ExitFault, NextTell,
		"journal_unavailable", "The run's record could not be written; what was not recorded was not done.",
		"replay_mismatch", "The run's record does not fit this version's code any more; it was not carried on.",
		"record_broken", "The run's record is damaged; it is kept as it is, and the run goes no further."),
	rows("", begun, ExitFault, NextTell, "internal_error", "A fault of ours; its id stands in the summary."),
	planningRows("invalid_plan:", plPlan),
	planningRows("invalid_replan:", plReplan),
	planningReasons,
)

// What holds of every rule: the reasons by which policies block are their own, see [Blocked].
const (
	ruleBlocks = "A rule of the policy blocks the call."
	ruleFailed = "The rule R of the policy could not be evaluated for this call, so that it blocks."
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
