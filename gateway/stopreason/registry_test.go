package stopreason_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
)

// phases are those of each kind (spec/patterns.md section 0), less request, which all have.
var phases = map[gateway.Kind][]string{
	gateway.TaskDecomposition: {"plan", "execute", "finalize"},
	gateway.Orchestrator:      {"plan", "dispatch", "finalize"},
	gateway.Routing:           {"route", "delegate", "finalize"},
	gateway.Supervisor:        {"worker", "supervisor", "human_approval", "execution"},
	gateway.Planning:          {"plan", "execute", "replan", "finalize", "status"},
	gateway.Call:              {"call"},
	gateway.Catalog:           {},
	gateway.RunStatus:         {},
	gateway.RunWait:           {},
	gateway.RunCancel:         {},
	gateway.RunList:           {},
}

// short are the kinds' names in the table below.
var short = map[string]gateway.Kind{
	"TD": gateway.TaskDecomposition, "OR": gateway.Orchestrator, "RT": gateway.Routing, "SV": gateway.Supervisor, "PL": gateway.Planning, "C": gateway.Call,
	"DC": gateway.Catalog, "RS": gateway.RunStatus, "RW": gateway.RunWait, "RC": gateway.RunCancel, "RL": gateway.RunList,
}

// begun is everywhere but in a refused request.
const begun = "TD plan, TD execute, TD finalize, OR plan, OR dispatch, OR finalize, RT route, RT delegate, RT finalize, SV worker, SV supervisor, SV human_approval, SV execution, PL plan, PL execute, PL replan, PL finalize, C call"

// asking are the phases of a model's calls, deciding those of them that end in an intent.
const (
	deciding = "TD plan, OR plan, RT route, SV worker, PL plan"
	asking   = deciding + ", TD finalize, OR finalize, RT finalize, PL execute, PL replan, PL finalize"
)

// stopReasons is spec/surface.md section 4 as far as the eighth capability goes: places | exit | next | reasons. The
// supervisor has tool_bad_args only where no business key can be made, as its arguments are judged at admission. A dash is for tasks' own reasons. Every
// kind may be given max_tool_calls (spec/config.md section 7); in an orchestrator it, in_doubt and what a person
// did not approve end tasks.
const stopReasons = `
TD , OR , RT , SV , PL , C , DC , RS , RL |0|answer_user|success
TD request, OR request, RT request, SV request, PL request, RW request, RC request|2|fix_and_retry|invalid_request:missing:goal
TD request, OR request, RT request, SV request, PL request, DC request, RS request, RW request, RC request, RL request|2|fix_and_retry|invalid_request:unknown_field:gaol
TD request, OR request, RT request, SV request, PL request, C request, DC request, RS request, RW request, RC request, RL request|2|fix_and_retry|invalid_request:type:plan invalid_request:limit:turn invalid_request:too_large:goal
RT request, SV request, PL request, DC request, RS request, RW request, RC request|2|call or tell_user|invalid_request:not_found:names
RT request, SV request, PL request|2|fix_and_retry|invalid_request:mismatch:goal
TD request, OR request, RT request, SV request, PL request, C request|2|fix_and_retry|invalid_request:reused:idempotency_key
TD plan, PL plan|3|fix_and_retry or call|invalid_plan:not_object invalid_plan:bad_kind invalid_plan:extra_keys
TD plan|3|fix_and_retry or call|invalid_plan:missing_steps invalid_plan:min_steps invalid_plan:max_steps invalid_plan:duplicate_step_id invalid_plan:tool_not_allowed:pay
TD plan|3|fix_and_retry or call|invalid_plan:step_1_not_object invalid_plan:step_2_extra_keys invalid_plan:step_10_missing_id invalid_plan:step_3_missing_title invalid_plan:step_9999_missing_tool invalid_plan:step_6_bad_args
TD plan, OR plan, PL plan|3|fix_and_retry or call|invalid_plan:non_json
OR plan|3|fix_and_retry or call|invalid_plan:kind invalid_plan:tasks invalid_plan:max_tasks invalid_plan:task_shape invalid_plan:missing_keys invalid_plan:task_id invalid_plan:duplicate_task_id invalid_plan:worker invalid_plan:worker_not_allowed:fraud_worker invalid_plan:args invalid_plan:critical
RT route|3|fix_and_retry or call|invalid_route:not_object invalid_route:non_json invalid_route:bad_kind invalid_route:extra_keys invalid_route:missing_target invalid_route:route_not_allowed:legal invalid_route:bad_args invalid_route:missing_ticket invalid_route:repeat_target_after_reroute
SV worker|3|fix_and_retry or call|invalid_action:not_object invalid_action:non_json invalid_action:bad_kind invalid_action:extra_keys_final invalid_action:bad_final_answer invalid_action:extra_keys_tool invalid_action:bad_tool_name invalid_action:bad_tool_args invalid_action:unknown_tool:drop_table invalid_action:extra_tool_args:pay invalid_action:missing_required_arg:pay:user_id invalid_action:bad_arg_type:pay:user_id invalid_action:bad_arg_value:pay:user_id
` + deciding + `|2|tell_user|goal_incomplete:get_manager_profile.manager_id
TD plan, OR plan, SV worker, PL plan|2|tell_user|goal_unclear
RT route|2|tell_user|route_unclear
` + asking + `|5|call or answer_user|llm_timeout llm_unreachable llm_empty llm_error:auth llm_error:rate_limit llm_error:server llm_error:bad_request llm_error:refused llm_error:no_choices
TD finalize, OR finalize, RT finalize, SV worker|5|call or answer_user|invalid_answer:non_json invalid_answer:bad_schema
TD execute, SV execution, C call|3|fix_and_retry or tell_user|tool_denied:pay tool_missing:pay tool_bad_args:pay
RT delegate|3|fix_and_retry or tell_user|route_denied:legal route_missing:legal route_bad_args:legal
TD execute, SV execution, C call|6|tell_user|tool_error:pay tool_bad_result:pay tool_unavailable:pay tool_timeout:pay
RT delegate|6|tell_user|route_error:legal route_bad_observation route_unavailable:legal route_timeout:legal
OR dispatch|-||worker_denied:w worker_missing:w worker_bad_args:w worker_error:w worker_bad_result:w worker_reported_error:w worker_unavailable:w task_timeout max_dispatches
OR dispatch|6|tell_user|critical_task_failed
TD execute, OR dispatch, RT delegate, SV execution, PL execute, C call|6|tell_user|in_doubt:pay
TD execute|4|tell_user|loop_detected
TD execute, OR dispatch, RT delegate, SV execution, PL execute, C call|4|tell_user|loop_detected:per_tool_limit
OR dispatch, RT delegate, SV execution, PL execute, C call|4|tell_user|loop_detected:signature_repeat
` + begun + `|4|tell_user|max_seconds
TD execute|4|fix_and_retry or tell_user|max_execute_steps
TD execute, OR dispatch, RT delegate, SV execution, PL execute, C call|4|tell_user|max_tool_calls
RT delegate|4|tell_user|max_delegations
RT route|4|tell_user|max_route_attempts
SV worker, PL execute|4|tell_user|max_steps
` + asking + `|4|call or answer_user|max_llm_calls max_tokens max_cost_usd
SV supervisor|3|call, fix_and_retry or tell_user|supervisor_block:invalid_refund_amount supervisor_block:refund_requires_context supervisor_block:refund_window_expired supervisor_block:refund_budget_exhausted supervisor_block:refund_exceeds_last_charge supervisor_block:email_before_refund supervisor_block:final_requires_context supervisor_block:revise_not_convergent supervisor_block:no_rule_matched supervisor_block:once_reused supervisor_block:policy_error:run_cap supervisor_block:run_cap
TD execute, OR dispatch, RT delegate, PL execute, C call|3|call, fix_and_retry or tell_user|policy_block:no_rule_matched policy_block:once_reused policy_block:policy_error:run_cap
TD execute, OR dispatch, RT delegate, SV human_approval, PL execute, C call|3|tell_user|human_rejected approval_consumed approval_invalid
TD execute, OR dispatch, RT delegate, SV human_approval, PL execute, C call|4|tell_user|approval_expired
RT route, SV worker, PL execute|4|call or tell_user|caller_expired
` + begun + `|8|tell_user|cancelled kill_switch
` + begun + `|1|tell_user|journal_unavailable replay_mismatch record_broken internal_error`

// places lists where a row occurs, by asking for every place there is.
func places(row stopreason.Reason) []string {
	var list []string
	for name, kind := range short {
		for _, phase := range append([]string{"", "request"}, phases[kind]...) {
			if row.Occurs(kind, phase) {
				list = append(list, name+" "+phase)
			}
		}
	}
	slices.Sort(list)
	return list
}

func TestRegistryIsTheContract(t *testing.T) {
	met := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(stopReasons) + planningStopReasons()) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		want := strings.Split(cells[0], ", ")
		slices.Sort(want)
		for reason := range strings.FieldsSeq(cells[3]) {
			row, ok := stopreason.Lookup(reason)
			if !ok {
				t.Errorf("LookupStopReason(%s) finds nothing", reason)
				continue
			}
			met[row.Name] = true
			if diff := cmp.Diff(want, places(row)); diff != "" {
				t.Errorf("%s (row %s) occurs, -want +got:\n%s", reason, row.Name, diff)
			}
			exit := fmt.Sprint(int(row.Exit))
			if row.Exit == stopreason.ExitNone {
				exit = "-"
			}
			if exit != cells[1] || string(row.Next) != cells[2] {
				t.Errorf("%s (row %s): exit %s, next %q, want %s, %q", reason, row.Name, exit, row.Next, cells[1], cells[2])
			}
			if task := cells[1] == "-"; row.Task != task || (row.Level() == "task") != task {
				t.Errorf("%s (row %s) is of level %s", reason, row.Name, row.Level())
			}
		}
	}
	for _, row := range stopreason.All() {
		if !met[row.Name] {
			t.Errorf("row %s is not of the contract, or not of the first capability", row.Name)
		}
	}
}

func TestRegistryRowsAreWhole(t *testing.T) {
	name := regexp.MustCompile(`^[a-z_I]+(:[a-z_I]+)*(:[A-Z](\.[A-Z])?)*$`)
	seen := map[string]bool{}
	for _, row := range stopreason.All() {
		if seen[row.Name] || !name.MatchString(row.Name) {
			t.Errorf("row %q is there twice or oddly named", row.Name)
		}
		seen[row.Name] = true
		if len(row.Meaning) < 10 || !strings.HasSuffix(row.Meaning, ".") || strings.Contains(row.Meaning, "\n") {
			t.Errorf("%s means %q, want a sentence", row.Name, row.Meaning)
		}
		if len(row.Places) == 0 {
			t.Errorf("%s occurs nowhere", row.Name)
		}
		for _, p := range row.Places {
			if len(p.Phases) == 0 && row.Exit != stopreason.ExitOK {
				t.Errorf("%s has no phase in %s; every stop has one", row.Name, p.Kind)
			}
			for _, phase := range p.Phases {
				if !slices.Contains(append([]string{"request"}, phases[p.Kind]...), phase) {
					t.Errorf("%s occurs in phase %q, which %s does not have", row.Name, phase, p.Kind)
				}
			}
		}
		if found, ok := stopreason.Lookup(strings.NewReplacer("_I_", "_7_", ":R", ":rule").Replace(row.Name)); !ok || found.Name != row.Name {
			t.Errorf("LookupStopReason(%s) = %s, %v", row.Name, found.Name, ok)
		}
	}
	list := stopreason.All()
	list[0].Name = "changed"
	if _, ok := stopreason.Lookup("changed"); ok {
		t.Error("the list of StopReasons is the registry itself")
	}
}

// The reasons of the worked cases, and of what an outsider may name.
func TestLookupStopReason(t *testing.T) {
	long := strings.Repeat("x", 4096)
	tests := []struct{ kind, phase, reason, row string }{
		{"TD", "plan", "invalid_plan:tool_not_allowed:detect_risk_signals", "invalid_plan:tool_not_allowed:T"},
		{"TD", "plan", "invalid_plan:tool_not_allowed:" + long, "invalid_plan:tool_not_allowed:T"},
		{"TD", "plan", "invalid_plan:tool_not_allowed:a:b c\nd", "invalid_plan:tool_not_allowed:T"},
		{"TD", "plan", "invalid_plan:step_3_not_object", "invalid_plan:step_I_not_object"},
		{"TD", "plan", "invalid_plan:step_10_bad_args", "invalid_plan:step_I_bad_args"},
		{"TD", "execute", "tool_bad_args:fetch_refund_data", "tool_bad_args:T"},
		{"TD", "execute", "tool_bad_args:success", "tool_bad_args:T"},
		{"TD", "execute", "loop_detected", "loop_detected"},
		{"TD", "request", "invalid_request:unknown_field:gaol", "invalid_request:unknown_field:N"},
		{"TD", "request", "invalid_request:unknown_field:a:b", "invalid_request:unknown_field:N"},
		{"OR", "plan", "invalid_plan:worker", "invalid_plan:worker"},
		{"OR", "plan", "invalid_plan:worker_not_allowed:worker", "invalid_plan:worker_not_allowed:W"},
		{"OR", "dispatch", "worker_reported_error:sales_worker", "worker_reported_error:W"},
		{"OR", "dispatch", "max_seconds", "max_seconds"},
		{"RT", "route", "invalid_route:route_not_allowed:legal_specialist", "invalid_route:route_not_allowed:T"},
		{"RT", "delegate", "route_missing:legal_specialist", "route_missing:T"},
		{"RT", "delegate", "route_bad_observation", "route_bad_observation"},
		{"SV", "worker", "invalid_action:bad_arg_type:get_refund_context:user_id", "invalid_action:bad_arg_type:N:A"},
		{"SV", "worker", "invalid_action:bad_arg_type:pay:a:b", "invalid_action:bad_arg_type:N:A"},
		{"SV", "worker", "invalid_action:missing_required_arg:pay:x", "invalid_action:missing_required_arg:N:A"},
		{"SV", "worker", "goal_incomplete:issue_refund.amount.usd", "goal_incomplete:T.A"},
		{"SV", "execution", "loop_detected:per_tool_limit", "loop_detected:per_tool_limit"},
		{"SV", "supervisor", "supervisor_block:no_rule_matched", "supervisor_block:no_rule_matched"},
		{"SV", "supervisor", "supervisor_block:run_cap", "supervisor_block:R"},
		{"SV", "supervisor", "supervisor_block:policy_error:run_cap", "supervisor_block:policy_error:R"},
		{"TD", "execute", "policy_block:policy_error:run_cap", "policy_block:policy_error:R"},
		{"OR", "dispatch", "policy_block:" + strings.Repeat("x", 64), "policy_block:R"},
		{"SV", "execution", "tool_denied:issue_refund", "tool_denied:T"},
		{"SV", "", "success", "success"},
	}
	for _, tt := range tests {
		row, ok := stopreason.Lookup(tt.reason)
		if !ok || row.Name != tt.row {
			t.Errorf("LookupStopReason(%.80q) = %s, %v, want %s", tt.reason, row.Name, ok, tt.row)
			continue
		}
		if !row.Occurs(short[tt.kind], tt.phase) {
			t.Errorf("%.80s does not occur in %s %s", tt.reason, tt.kind, tt.phase)
		}
	}
}

func TestLookupRefusesWhatIsNoStopReason(t *testing.T) {
	none := []string{
		"", " ", "success:x", "success ", " success", "Success", "successes", "unknown", "ok", "stopped",
		"invalid_plan", "invalid_plan:", "invalid_plan:other", "invalid_plan:non_json:x", "invalid_plan:not_object ", "invalid_route:step_1_bad_args",
		"invalid_plan:step_missing_id", "invalid_plan:step__missing_id", "invalid_plan:step_0_missing_id", "invalid_plan:step_01_missing_id",
		"invalid_plan:step_x_missing_id", "invalid_plan:step_-1_missing_id", "invalid_plan:step_1missing_id", "invalid_plan:step_1_missing_ids",
		"invalid_plan:step_1_2_missing_id", "invalid_plan:step_I_missing_id", "invalid_plan:step_1", "invalid_plan:step_١_missing_id",
		"invalid_plan:tool_not_allowed", "invalid_plan:tool_not_allowed:", "tool_denied", "tool_denied:", "Tool_denied:x", "worker_error:",
		"tool_", "tool_other:x", "route_bad_observation:x", "loop_detected:", "loop_detected:other", "max_", "max_secondss",
		"llm_error", "llm_error:", "llm_error:teapot", "llm_error:auth:x", "llm_other",
		"goal_incomplete", "goal_incomplete:", "goal_incomplete:tool", "goal_incomplete:tool.", "goal_incomplete:.arg", "goal_incomplete:.",
		"invalid_action:missing_required_arg", "invalid_action:missing_required_arg:", "invalid_action:missing_required_arg:pay",
		"invalid_action:missing_required_arg:pay:", "invalid_action:missing_required_arg::x", "invalid_action:missing_required_arg::",
		"supervisor_block", "supervisor_block:", "supervisor_block:Other", "supervisor_block:_other", "supervisor_block:1st", "supervisor_block:o ther",
		"supervisor_block:no_rule_matched:x", "supervisor_block:policy_error:", "supervisor_block:policy_error:A",
		"policy_block:policy_error:a:b", "policy_block:a:b", "policy_block:a\n", "policy_block:" + strings.Repeat("x", 65),
		// Rows of later capabilities, which come with the code that returns them.
		"policy_block", "policy_block:", "kill_switch:pay", "approval_", "approval_expired:x", "in_doubt", "in_doubt:", "max_cost", "tool_timeout",
		"invalid_request:reused", "invalid_request:reused:goal",
		"invalid_action:bad_arg_value:pay", "invalid_answer:bad_schema:x", "invalid_answer", "supervisor_block:once_reused:x",
	}
	for _, reason := range none {
		if row, ok := stopreason.Lookup(reason); ok {
			t.Errorf("LookupStopReason(%q) = %s, want none", reason, row.Name)
		}
	}
	row, _ := stopreason.Lookup("tool_denied:x")
	for kind, in := range map[gateway.Kind][]string{
		gateway.TaskDecomposition: {"", "plan", "request", "execution"}, gateway.Orchestrator: {"dispatch"}, gateway.Routing: {"delegate"},
		gateway.Supervisor: {"", "worker"}, "": {"", "execute"},
	} {
		for _, phase := range in {
			if row.Occurs(kind, phase) {
				t.Errorf("tool_denied occurs in %q %q", kind, phase)
			}
		}
	}
}

// A policy's reason has a row in every kind that it may block, under the registry's own meaning where it has one.
func TestBlockedIsARowOfItsOwn(t *testing.T) {
	tests := []struct {
		kind         gateway.Kind
		reason, name string
		own          bool // the registry says what it means
	}{
		{gateway.Supervisor, "run_cap", "supervisor_block:run_cap", false},
		{gateway.Supervisor, "refund_window_expired", "supervisor_block:refund_window_expired", true},
		{gateway.Routing, "refund_window_expired", "policy_block:refund_window_expired", false},
		{gateway.Call, "policy_error:run_cap", "policy_block:policy_error:R", true},
		{gateway.Planning, "run_cap", "policy_block:run_cap", false},
	}
	general, _ := stopreason.Lookup("policy_block:anything")
	for _, tt := range tests {
		row, ok := stopreason.Blocked(tt.kind, tt.reason)
		if !ok || row.Name != tt.name || (row.Meaning != general.Meaning) != tt.own || row.Exit != stopreason.ExitRefused {
			t.Errorf("Blocked(%s, %s) = %+v, %v, want %s", tt.kind, tt.reason, row, ok, tt.name)
		}
	}
	for _, kind := range []gateway.Kind{gateway.Catalog, gateway.RunWait, "", "other"} {
		if row, ok := stopreason.Blocked(kind, "run_cap"); ok {
			t.Errorf("Blocked(%q) = %+v, want none", kind, row)
		}
	}
	if row, ok := stopreason.Blocked(gateway.Supervisor, "Run cap"); ok {
		t.Errorf("a reason that is no name has the row %+v", row)
	}
}

// TestRuleThatFailedIsNamed holds that people read the rule's id, and never a placeholder.
func TestRuleThatFailedIsNamed(t *testing.T) {
	const want = "The rule run_cap of the policy could not be evaluated for this call, so it blocks the call."
	for _, reason := range []string{"supervisor_block:policy_error:run_cap", "policy_block:policy_error:run_cap"} {
		if row, ok := stopreason.Lookup(reason); !ok || row.Meaning != want {
			t.Errorf("%s means %q", reason, row.Meaning)
		}
	}
	for _, kind := range []gateway.Kind{gateway.Supervisor, gateway.Routing} {
		if row, ok := stopreason.Blocked(kind, "policy_error:run_cap"); !ok || row.Meaning != want {
			t.Errorf("%s: blocked by a rule that failed means %q", kind, row.Meaning)
		}
	}
}
