package stopreason_test

import (
	"strings"
	"testing"

	"patterngate/gateway/stopreason"
)

// planFaults is what a plan of subtasks may be refused for, in the order in which it is looked for
// (spec/planning-reference.md section 15). Replans have these too, but for min_subtasks; two more are theirs alone.
const planFaults = `non_json not_object bad_kind extra_keys missing_subtasks empty min_subtasks max_subtasks
subtask_3_not_object subtask_3_extra_keys subtask_3_missing_id subtask_3_bad_id subtask_3_missing_description subtask_3_bad_description
subtask_3_bad_dependencies subtask_3_bad_tool subtask_3_bad_args subtask_3_bad_critical subtask_3_bad_parent subtask_3_bad_expect
id_reused:a duplicate_id:a unknown_dependency:a:b self_dependency:a unknown_parent:a:b cycle_detected max_depth
executor_not_allowed:rm_rf bad_args:a bad_reference:a no_progress`

// planningStopReasons are the rows of planning alone, as lines of the table [stopReasons].
func planningStopReasons() string {
	var lines strings.Builder
	line := func(places, reason string) { lines.WriteString("\n" + places + "|3|fix_and_retry or call|" + reason) }
	for _, fault := range strings.Fields(planFaults) {
		switch fault {
		case "non_json", "not_object", "bad_kind", "extra_keys": // of other plans too
		case "id_reused:a", "no_progress":
			line("PL replan", "invalid_replan:"+fault)
			continue
		default:
			line("PL plan", "invalid_plan:"+fault)
		}
		if fault != "min_subtasks" {
			line("PL replan", "invalid_replan:"+fault)
		}
	}
	return lines.String() + `
PL |0|answer_user|success_partial
PL |0|call|iteration_pending
PL plan, PL execute, PL replan|0|answer_user|plan_complete
PL plan, PL execute, PL replan, PL status|2|call or tell_user|plan_not_found
PL plan, PL execute, PL replan|2|call|plan_conflict
PL plan, PL execute, PL replan|7|call|plan_busy
PL plan, PL execute, PL replan, PL status|1|tell_user|plan_corrupt
PL execute|3|call or tell_user|executor_denied:pay executor_missing:pay executor_bad_args:pay
PL execute|6|call or tell_user|subtask_failed:a subtask_timeout:a max_retries:a critical_subtask_failed blocked_dependencies
PL execute, PL replan|4|tell_user|max_replans
PL plan|4|tell_user|max_iterations
PL execute|-||subtask_timeout executor_error:pay executor_bad_result:pay executor_reported_error:pay executor_unavailable:pay caller_failed bad_reference:$results.a./b
`
}

// The reasons of planning as results show them, where an outsider named a part of them.
func TestLookupPlanningStopReason(t *testing.T) {
	for reason, row := range map[string]string{
		"invalid_plan:subtask_12_bad_id":               "invalid_plan:subtask_I_bad_id",
		"invalid_replan:subtask_1_bad_parent":          "invalid_replan:subtask_I_bad_parent",
		"invalid_plan:unknown_dependency:a:b:c d":      "invalid_plan:unknown_dependency:S:D",
		"invalid_plan:executor_not_allowed:rm -rf /:x": "invalid_plan:executor_not_allowed:T",
		"subtask_timeout":                              "subtask_timeout",
		"subtask_timeout:item_1":                       "subtask_timeout:S",
		"bad_reference:$results.a./b/0":                "bad_reference:R",
	} {
		if got, ok := stopreason.Lookup(reason); !ok || got.Name != row {
			t.Errorf("LookupStopReason(%s) = %s, %v, want %s", reason, got.Name, ok, row)
		}
	}
	for _, reason := range []string{
		"invalid_plan:subtask_0_bad_id", "invalid_plan:subtask_1_bad", "invalid_plan:unknown_dependency:a", "invalid_plan:unknown_dependency::b",
		"invalid_replan:min_subtasks", "invalid_plan:id_reused:a", "invalid_plan:no_progress", "invalid_replan", "subtask_failed", "subtask_failed:",
		"plan_complete:x", "executor_unavailable", "llm_refused", "approval_required", "max_subtasks", "executor_denied",
	} {
		if got, ok := stopreason.Lookup(reason); ok {
			t.Errorf("LookupStopReason(%s) = %s, want none", reason, got.Name)
		}
	}
}

// A call that no rule allows is not said to be blocked by a rule.
func TestLookupWithoutARule(t *testing.T) {
	for reason, meaning := range map[string]string{
		"policy_block:no_rule_matched":     "No rule of the policy allows the call.",
		"supervisor_block:no_rule_matched": "No rule of the policy allows the call.",
		"policy_block:run_cap":             "A rule of the policy blocks the call.",
	} {
		if row, _ := stopreason.Lookup(reason); row.Meaning != meaning {
			t.Errorf("%s means %q, want %q", reason, row.Meaning, meaning)
		}
	}
}
