package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// TestPolicyFaults holds what is said about policies: the place, what is wrong and what is right.
func TestPolicyFaults(t *testing.T) {
	add := func(r ...policy.RuleSource) func(*policy.Source, *policy.Reach) {
		return func(s *policy.Source, _ *policy.Reach) { s.Rules = append(s.Rules, r...) }
	}
	when := func(text string, match ...string) func(*policy.Source, *policy.Reach) {
		return add(policy.RuleSource{ID: "new", Match: match, When: text, Block: &policy.BlockSource{}})
	}
	revise := func(match []string, set ...policy.ReviseSource) func(*policy.Source, *policy.Reach) {
		return add(policy.RuleSource{ID: "new", Match: match, Revise: append([]policy.ReviseSource{}, set...)})
	}
	row := func(r policy.Row) func(*policy.Source, *policy.Reach) {
		return func(s *policy.Source, _ *policy.Reach) { s.Tests = append(s.Tests, r) }
	}
	charge := map[string]any{"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late parcel"}
	tests := map[string]struct {
		change func(*policy.Source, *policy.Reach)
		want   []string
	}{
		"none": {func(*policy.Source, *policy.Reach) {}, nil},

		"misspelt argument": {when(`vars.spent + args.amout_cents > 1`, "refund_charge"), []string{`rules[6].when: 19: refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?`}},
		"rows compared":     {when(`run.effects[0] == run.effects[1]`), []string{`rules[6].when: 1: run.effects[0] cannot be compared, only its members can; write x.key == y.key`}},
		"lists of rows":     {when(`run.effects != run.effects.filter(e, e.counts)`), []string{`rules[6].when: 1: run.effects cannot be compared, only its members can; write x.key == y.key`}},
		"row in a list":     {when(`run.effects[0] in run.effects`), []string{`rules[6].when: 1: run.effects[0] cannot be compared, only its members can; write x.map(e, e.key)`}},
		"distinct rows":     {when(`run.effects.distinct().size() == 1`), []string{`rules[6].when: 1: run.effects cannot be compared, only its members can; write x.map(e, e.key)`}},
		"sets of rows":      {when(`sets.contains(run.effects.filter(e, e.counts), run.effects)`), []string{`rules[6].when: 15: run.effects.filter(e, e.counts) cannot be compared, only its members can; write x.map(e, e.key)`}},
		"row of a macro":    {when(`run.effects.exists(e, e == run.effects[0])`), []string{`rules[6].when: 23: e cannot be compared, only its members can; write x.key == y.key`}},
		"optional row":      {when(`run.effects[?0] == run.effects[?1]`), []string{`rules[6].when: 12: run.effects[?0] cannot be compared, only its members can; write x.key == y.key`}},
		"rows in a map":     {when(`{"a": run.effects} == {"a": run.effects}`), []string{`rules[6].when: 1: {"a": run.effects} cannot be compared, only its members can; write x.key == y.key`}},
		"hidden row":        {when(`dyn(run.effects[0]) == 1`), []string{`rules[6].when: 5: run.effects[0] cannot be compared, only its members can; write x.map(e, e.key)`}},
		"runs":              {when(`run == run`), []string{`rules[6].when: 1: run cannot be compared, only its members can; write x.key == y.key`}},
		"vars of rows": {func(s *policy.Source, _ *policy.Reach) {
			s.Vars = append(s.Vars, policy.Named{Name: "rows", Text: "run.effects.filter(e, e.counts)"})
			when("vars.rows == run.effects || run.effects.exists(e, e in vars.rows)")(s, nil)
		}, []string{`rules[6].when: 1: vars.rows cannot be compared, only its members can; write x.key == y.key`, `rules[6].when: 51: e cannot be compared, only its members can; write x.map(e, e.key)`}},
		"windows": {func(s *policy.Source, _ *policy.Reach) {
			s.Windows = []policy.WindowSource{{Name: "today", Tools: []string{"refund_charge"}, Calendar: "day"}}
			when("windows.today.effects.distinct().size() > 1 || windows.today == windows.today")(s, nil)
		}, []string{`rules[6].when: 1: windows.today.effects cannot be compared, only its members can; write x.map(e, e.key)`, `rules[6].when: 48: windows.today cannot be compared, only its members can; write x.key == y.key`}},
		"members compared":  {when(`run.effects == [] || run.effects.map(e, e.key).distinct().size() == 1 || run.effects[0].args == run.effects[1].args || "a" in run.effects.map(e, e.key) || run.plan == []`), nil},
		"no such argument":  {when(`args.amount_cents > 1`), []string{`rules[6].when: 6: list_orders has no argument amount_cents (path)`}},
		"another tool's":    {when(`args.path == "x"`, "refund_charge", "read_order"), []string{`rules[6].when: 6: refund_charge has no argument path (order_id, amount_cents, reason)`}},
		"int and double":    {when(`args.amount_cents > 10.5`, "refund_charge"), []string{`rules[6].when: 19: args.amount_cents is int and 10.5 is double; they cannot be mixed; write double(args.amount_cents)`}},
		"misspelt var":      {when(`vars.spnt > 1`), []string{`rules[6].when: 6: vars has no member spnt (spent); did you mean spent?`}},
		"misspelt param":    {when(`params.run_cap_cent > 1`), []string{`rules[6].when: 8: params has no member run_cap_cent (auto_limit_cents, run_cap_cents); did you mean run_cap_cents?`}},
		"misspelt variable": {when(`arg.amount_cents > 1`), []string{`rules[6].when: 1: no variable arg (args, vars, tool, params, input, run, principal, client, windows, now); did you mean args?`}},
		"misspelt run":      {when(`run.effect.size() > 1`), []string{`rules[6].when: 5: run has no member effect (id, pattern, kind, steps, effects, plan, spent, remaining); did you mean effects?`}},
		"misspelt budget":   {when(`run.spent.max_tool_call > 1`), []string{`rules[6].when: 11: run.spent has no member max_tool_call (max_seconds, max_tool_calls, max_llm_calls, max_tokens, max_cost_usd, max_plan_steps, max_execute_steps, max_tasks, max_parallel, max_retries_per_task, max_dispatches, max_route_attempts, ...); did you mean max_tool_calls?`}},
		"unguarded budget":  {when(`run.remaining.max_tool_calls < 1`), []string{`rules[6].when: 15: run.remaining.max_tool_calls may be absent; write has(run.remaining.max_tool_calls) && before it, or run.remaining.?max_tool_calls.orValue(0) (warning)`}},
		"misspelt input":    {when(`input.order == "A-1001"`), []string{`rules[6].when: 7: input has no member order (order_id)`}},
		"misspelt row":      {when(`run.effects.exists(e, e.argz.amount_cents > 1)`), []string{`rules[6].when: 25: e has no member argz (key, run_id, tool, effect, status, ok, counts, args, result, at); did you mean args?`}},
		"row's argument":    {when(`run.effects.exists(e, e.args.amount_cent > 1)`), []string{`rules[6].when: 30: e.args has no member amount_cent (path, order_id, amount_cents, reason); did you mean amount_cents?`}},
		"row's tool":        {when(`run.effects.exists(e, e.tool == "read_orders")`), []string{`rules[6].when: 33: e.tool is never "read_orders" ("list_orders", "read_order", "refund_charge"); did you mean read_order?`}},
		"row's status":      {when(`run.effects.filter(e, e.status == "finished").size() > 1`), []string{`rules[6].when: 35: e.status is never "finished" ("reserved", "done", "failed", "in_doubt")`}},
		"row's effect":      {when(`run.effects.exists(e, e.effect == "wirte")`), []string{`rules[6].when: 35: e.effect is never "wirte" ("read", "write", "destructive"); did you mean write?`}},
		"tool's name":       {when(`tool.name == "refund_chrge"`), []string{`rules[6].when: 14: tool.name is never "refund_chrge" ("list_orders", "read_order", "refund_charge", "final"); did you mean refund_charge?`}},
		"tool's effect":     {when(`tool.effect in ["read", "delete"]`), []string{`rules[6].when: 25: tool.effect is never "delete" ("read", "write", "destructive", "none")`}},
		"kind":              {when(`run.kind == "supervised"`), []string{`rules[6].when: 13: run.kind is never "supervised" ("task_decomposition", "orchestrator", "routing", "supervisor", "planning", "call"); did you mean supervisor?`}},
		"principal's kind":  {when(`principal.kind == "person"`), []string{`rules[6].when: 19: principal.kind is never "person" ("local", "token")`}},
		"window":            {when(`size(windows.today.effects) > 1`), []string{`rules[6].when: 14: windows has no member today (there is none)`}},
		"no bool":           {when(`args.amount_cents`, "refund_charge"), []string{`rules[6].when: 1: int, but bool is needed`}},
		"without args":      {when(`amount_cents > 1`, "refund_charge"), []string{`rules[6].when: 1: no variable amount_cents (args, vars, tool, params, input, run, principal, client, windows, now); did you mean args.amount_cents?`}},
		"syntax":            {when(`args.amount_cents >`, "refund_charge"), []string{`rules[6].when: 20: not an expression: it ends too early`}},
		"constant":          {when(`1 > 2`), []string{`rules[6].when: 1: can never fire: it is false for every call`}},
		"false in any case": {when(`false && args.amount_cents > 1`, "refund_charge"), []string{`rules[6].when: 1: can never fire: it is false for every call`}},
		"errs in any case":  {when(`1 / 0 > 2`), []string{`rules[6].when: 1: can never be evaluated: it fails for every call`}},
		"sum of dyn":        {when(`sum(run.effects.map(e, e.result.cents)) > 1.0`), []string{`rules[6].when: 5: sum of dyn: the type must be known to be int or double; write sum(x.map(e, double(e)))`}},
		"unknown tool":      {when("true", "refund_chrage"), []string{`rules[6].match[0]: 1: no tool refund_chrage (list_orders, read_order, find_refund, refund_charge, final); did you mean refund_charge?`}},
		"unknown tool far":  {when("true", "payout"), []string{`rules[6].match[0]: 1: no tool payout (list_orders, read_order, find_refund, refund_charge, final)`}},
		"not reached":       {when("true", "find_refund"), []string{`rules[6].match: 1: can never fire: no pattern with this policy reaches find_refund`}},
		"one reached":       {when("true", "find_refund", "read_order"), nil},
		"no match":          {add(policy.RuleSource{ID: "new", Match: []string{}, Approve: true}), []string{`rules[6].match: 1: can never fire: it matches no tool; remove match to match every tool`}},
		"no tool in reach": {func(s *policy.Source, r *policy.Reach) {
			s.Vars, s.Rules = nil, append(s.Rules[:1], s.Rules[5])
			r.Patterns[0].Tools = nil
		}, []string{"rules[0]: 1: can never fire: no pattern with this policy reaches a tool"}},
		"final without one": {func(s *policy.Source, r *policy.Reach) { r.Patterns[0].Kind = gateway.Routing }, []string{`rules[5].match: 1: can never fire: no supervisor has this policy, and only supervisors judge a final answer`}},
		"final's argument":  {when(`args.text == ""`, "final"), []string{`rules[6].when: 6: final has no argument text (answer)`}},
		"two outcomes":      {add(policy.RuleSource{ID: "new", Block: &policy.BlockSource{}, Escalate: &policy.EscalateSource{}}), []string{`rules[6]: 1: two outcomes, block and escalate; keep one or write two rules`}},
		"four outcomes":     {add(policy.RuleSource{ID: "new", Block: &policy.BlockSource{}, Escalate: &policy.EscalateSource{}, Approve: true, Revise: []policy.ReviseSource{}}), []string{`rules[6]: 1: four outcomes, block, revise, escalate and approve; keep one or write four rules`}},
		"no outcome":        {add(policy.RuleSource{ID: "new"}), []string{`rules[6]: 1: no outcome; write block, revise, escalate or approve`}},
		"same id":           {add(policy.RuleSource{ID: "run_cap", Approve: true}), []string{`rules[6].id: 1: run_cap is also the id of rule 3`}},
		"id of no policy":   {add(policy.RuleSource{ID: "allowlisted", Approve: true}), []string{`rules[6].id: 1: the reason allowlisted is reserved: calls that no policy judges have it`}},
		"id of no rule":     {add(policy.RuleSource{ID: "no_rule_matched", Approve: true}), []string{`rules[6].id: 1: the reason no_rule_matched is reserved: calls that no rule lets pass have it`}},
		"id of an error":    {add(policy.RuleSource{ID: "policy_error", Approve: true}), []string{`rules[6].id: 1: the reason policy_error is reserved: the reason of rules that cannot be evaluated begins with it`}},
		"reserved reasons": {add(
			policy.RuleSource{ID: "a", Block: &policy.BlockSource{Reason: "no_rule_matched"}},
			policy.RuleSource{ID: "b", Escalate: &policy.EscalateSource{Reason: "revise_not_convergent"}},
			policy.RuleSource{ID: "once_reused", Block: &policy.BlockSource{Reason: "once_reused"}},
			policy.RuleSource{ID: "c", Block: &policy.BlockSource{Reason: "allowlisted"}},
		), []string{
			`rules[6].block.reason: 1: the reason no_rule_matched is reserved: calls that no rule lets pass have it`,
			`rules[7].escalate.reason: 1: the reason revise_not_convergent is reserved: calls that rules change without end have it`,
			`rules[8].id: 1: the reason once_reused is reserved: calls whose business key was used before have it`,
			`rules[8].block.reason: 1: the reason once_reused is reserved: calls whose business key was used before have it`,
			`rules[9].block.reason: 1: the reason allowlisted is reserved: calls that no policy judges have it`,
		}},
		"need":              {add(policy.RuleSource{ID: "new", Match: []string{"refund_charge"}, Block: &policy.BlockSource{Need: []string{"read_order", "reason", "raeson"}}}), []string{`rules[6].block.need[2]: 1: neither a tool nor an argument: raeson (amount_cents, order_id, reason, list_orders, read_order, find_refund, refund_charge); did you mean reason?`}},
		"revise nothing":    {revise([]string{"refund_charge"}), []string{`rules[6].revise: 1: changes nothing; write argument: value`}},
		"revise unknown":    {revise([]string{"refund_charge"}, policy.ReviseSource{Argument: "amount_cent", Value: 5.0}), []string{`rules[6].revise.amount_cent: 1: refund_charge has no argument amount_cent (order_id, amount_cents, reason); did you mean amount_cents?`}},
		"revise fixed":      {revise([]string{"list_orders"}, policy.ReviseSource{Argument: "path", Text: `"/"`}), []string{`rules[6].revise.path: 1: the configuration sets path of list_orders, and no rule can change it`}},
		"revise type":       {revise([]string{"refund_charge"}, policy.ReviseSource{Argument: "amount_cents", Text: `double(args.amount_cents) / 2.0`}), []string{`rules[6].revise.amount_cents: 7: a double, but an int is needed; decide how to round it, because int() drops the fraction`}},
		"revise value":      {revise([]string{"refund_charge"}, policy.ReviseSource{Argument: "amount_cents", Value: 5.5}), []string{`rules[6].revise.amount_cents: 1: got 5.5, but int is needed`}},
		"revise to text":    {revise([]string{"refund_charge"}, policy.ReviseSource{Argument: "amount_cents", Value: "5"}), []string{`rules[6].revise.amount_cents: 1: got "5"; write an expression, a number or a bool`}},
		"revise final":      {revise([]string{"final"}, policy.ReviseSource{Argument: "answer", Text: `"x"`}), []string{`rules[6].revise.answer: 1: a final answer cannot be revised: block it, or say what is needed`}},
		"revise every tool": {revise(nil, policy.ReviseSource{Argument: "reason", Text: `"x"`}), []string{`rules[6].revise.reason: 1: list_orders has no argument reason (there is none)`}},
		"vars below": {func(s *policy.Source, _ *policy.Reach) {
			s.Vars = append([]policy.Named{{Name: "twice", Text: "vars.spent * 2"}}, s.Vars...)
			when("vars.twice > 1")(s, nil)
		}, []string{`vars.twice: 6: vars.spent is defined below; a var reads only those above it`}},
		"vars itself": {func(s *policy.Source, _ *policy.Reach) { s.Vars[0].Text = "vars.spent + 1" }, []string{`vars.spent: 6: vars.spent reads itself`}},
		"var of one tool": {func(s *policy.Source, _ *policy.Reach) {
			s.Vars = append(s.Vars, policy.Named{Name: "cents", Text: "args.amount_cents"})
			when("vars.cents > 1")(s, nil)
		}, []string{`vars.cents: 6: list_orders has no argument amount_cents (path)`}},
		"var nobody reads": {func(s *policy.Source, _ *policy.Reach) {
			s.Vars = append(s.Vars, policy.Named{Name: "idle", Text: "runs.steps"})
		}, []string{`vars.idle: 1: no variable runs (args, vars, tool, params, input, run, principal, client, windows, now)`}},
		"repeated var": {func(s *policy.Source, _ *policy.Reach) {
			s.Vars = append(s.Vars, policy.Named{Name: "spent", Text: "1"})
		}, []string{`vars.spent: 1: repeated var`}},
		"repeated param": {func(s *policy.Source, _ *policy.Reach) {
			s.Params = append(s.Params, policy.Param{Name: "run_cap_cents", Value: 1.0})
		}, []string{`params.run_cap_cents: 1: repeated param`}},
		"mixed list": {func(s *policy.Source, _ *policy.Reach) {
			s.Params = append(s.Params, policy.Param{Name: "list", Value: []any{1.0, "a"}})
		}, []string{`params.list: 1: a param is a number, text, bool or a list of one of these`}},
		"pattern's param": {func(_ *policy.Source, r *policy.Reach) {
			r.Patterns[0].Params = map[string]any{"run_cap_cent": 1.0, "auto_limit_cents": 300.5}
		}, []string{`params.auto_limit_cents: 1: got 300.5, but the policy's is an int; write a whole number`, `params.run_cap_cent: 1: no param run_cap_cent (auto_limit_cents, run_cap_cents); did you mean run_cap_cents?`}},
		"window's tools": {func(s *policy.Source, _ *policy.Reach) {
			s.Windows = []policy.WindowSource{{Name: "today", Tools: []string{"refund_chrge"}, Calendar: "day", Timezone: "Europe/Berln"}}
		}, []string{`windows.today.tools[0]: 1: no tool refund_chrge (list_orders, read_order, find_refund, refund_charge); did you mean refund_charge?`, `windows.today.timezone: 1: no time zone "Europe/Berln"; write an IANA name, such as Europe/Berlin`}},
		"window's span": {func(s *policy.Source, _ *policy.Reach) {
			s.Windows = []policy.WindowSource{{Name: "a", Tools: []string{"refund_charge"}}, {Name: "b", Tools: []string{"refund_charge"}, Seconds: 5}, {Name: "c", Tools: []string{"refund_charge"}, Seconds: 60, Calendar: "day"}, {Name: "d", Tools: []string{"refund_charge"}, Calendar: "dya"}}
		}, []string{`windows.a: 1: the time span is missing; write seconds: 86400, or calendar: day`, `windows.b.seconds: 1: out of bounds; write 60 to 2678400`, `windows.c: 1: seconds and calendar; keep one`, `windows.d.calendar: 1: no calendar dya (day, week, month)`}},
		"held": {func(s *policy.Source, r *policy.Reach) {
			r.Unknown = []string{"pay"}
			r.Patterns[0].Tools = append(r.Patterns[0].Tools, "pay")
			when("args.x == 1.0", "pay")(s, nil)
		}, []string{`rules[6].when: 1: the arguments of pay are not known yet, so they are dyn here (warning)`}},
		"nobody has it":         {func(_ *policy.Source, r *policy.Reach) { r.Patterns = nil }, []string{`: 1: no pattern and no tool uses this policy (warning)`}},
		"row's tool unknown":    {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "refund"}}), []string{`tests[0].call.tool: 1: no tool refund (list_orders, read_order, find_refund, refund_charge, final)`}},
		"row's call not judged": {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "find_refund", Args: map[string]any{"key": "k"}}}), []string{`tests[0].call.tool: 1: no pattern with this policy reaches find_refund`}},
		"row's arguments":       {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "refund_charge", Args: map[string]any{"order_id": "1", "amount_cent": 1.0, "reason": 5.0}}}), []string{`tests[0].call.args.amount_cent: 1: refund_charge has no argument amount_cent (order_id, amount_cents, reason); did you mean amount_cents?`, `tests[0].call.args: 1: refund_charge needs the argument amount_cents; write integer`, `tests[0].call.args.reason: 1: reason of refund_charge does not fit; write string`, `tests[0].call.args.order_id: 1: order_id of refund_charge does not fit; write a text that matches ^A-[0-9]{4}$`}},
		"row's fixed":           {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "list_orders", Args: map[string]any{"path": "/"}}}), []string{`tests[0].call.args.path: 1: list_orders has no argument path (there is none)`}},
		"row's effects":         {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "refund_charge", Args: charge}, Effects: []policy.RowEffect{{Tool: "red_order"}, {Tool: "refund_charge", Status: "finished", Args: map[string]any{"amount_cents": "1", "cents": 1.0}}}}), []string{`tests[0].effects[0].tool: 1: no tool red_order (list_orders, read_order, find_refund, refund_charge); did you mean read_order?`, `tests[0].effects[1].status: 1: no status finished (done, failed, reserved, in_doubt)`, `tests[0].effects[1].args.amount_cents: 1: got "1", but int is needed`, `tests[0].effects[1].args.cents: 1: refund_charge has no argument cents (order_id, amount_cents, reason)`}},
		"row's pattern":         {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "refund_charge", Args: charge}, Pattern: "refund_orders", Params: map[string]any{"cap": 1.0}, Input: map[string]any{"ordr_id": "1"}, WantArgs: map[string]any{"amout": 1.0}}), []string{`tests[0].want_args.amout: 1: refund_charge has no argument amout (order_id, amount_cents, reason)`, `tests[0].pattern: 1: no pattern with this policy: refund_orders (refund_order); did you mean refund_order?`, `tests[0].input.ordr_id: 1: no input ordr_id (order_id); did you mean order_id?`, `tests[0].params.cap: 1: no param cap (auto_limit_cents, run_cap_cents)`}},
		"row's final":           {row(policy.Row{Name: "new", Call: policy.RowCall{Tool: "final", Args: map[string]any{"text": "x"}}}), []string{`tests[0].call.args.text: 1: final has no argument text (answer)`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, r := orders(), orderReach(t)
			tt.change(&s, &r)
			p, faults := policy.New(s, r)
			got := inMembers(faults)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
			if warned := len(got) == 0 || strings.HasSuffix(got[0], "(warning)"); (p != nil) != warned {
				t.Errorf("a policy: %v", p != nil)
			}
		})
	}
}
