package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/settings"
)

// What is wrong with a policy once its types are known: the very character in CEL, however it is quoted, and the row that fails.
func TestPolicyFaults(t *testing.T) {
	rulesText := func(text ...string) string { return withPolicy(append([]string{"rules:"}, text...)...) }
	ok := "- {id: ok, approve: {}}"
	tests := map[string]faultCase{
		"a misspelt argument": {rulesText("- {id: run_cap, match: refund_charge, when: args.amout_cents > 5, block: {}}", ok),
			"pg.yaml:18:54: policies.refunds.rules.run_cap.when: refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?"},
		"in a folded block": {rulesText("- id: run_cap", "  match: refund_charge", "  when: >-", "    args.amount_cents > 5 &&", "    args.amout_cents > 6", "  block: {}", ok),
			"pg.yaml:22:14: policies.refunds.rules.run_cap.when: refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?"},
		"behind an escape": {rulesText(`- {id: run_cap, match: refund_charge, when: "args.order_id == \"\u00e9\" && args.amout_cents > 5", block: {}}`, ok),
			"pg.yaml:18:86: policies.refunds.rules.run_cap.when: refund_charge has no argument amout_cents (order_id, amount_cents, reason); did you mean amount_cents?"},
		"an unknown tool":           {rulesText("- {id: a, match: refund_chrge, approve: {}}", ok), "pg.yaml:18:22: policies.refunds.rules.a.match"},
		"among several":             {rulesText("- {id: a, match: [read_order, refund_chrge], approve: {}}", ok), "pg.yaml:18:35: policies.refunds.rules.a.match[1]"},
		"a wrong type":              {rulesText(`- {id: a, match: refund_charge, when: 'args.amount_cents > "5"', approve: {}}`, ok), "pg.yaml:18:62: policies.refunds.rules.a.when"},
		"no bool":                   {rulesText("- {id: a, match: refund_charge, when: args.amount_cents, approve: {}}", ok), "pg.yaml:18:43: policies.refunds.rules.a.when"},
		"a literal":                 {rulesText(`- {id: a, match: refund_charge, when: 'args.?reason == optional.of("brokn") || args.reason == "brokn"', block: {}}`, ok), "pg.yaml:18:99: policies.refunds.rules.a.when"},
		"never true":                {rulesText("- {id: a, when: 'false', approve: {}}", ok), "pg.yaml:18:22: policies.refunds.rules.a.when"},
		"twice one id":              {rulesText(ok, "- {id: ok, when: 'true', block: {}}"), "pg.yaml:19:12: policies.refunds.rules.ok.id"},
		"revise of none":            {rulesText("- {id: a, match: refund_charge, revise: {amount: 5}}", ok), "pg.yaml:18:46: policies.refunds.rules.a.revise.amount"},
		"revise to text":            {rulesText("- {id: a, match: refund_charge, revise: {amount_cents: '\"x\"'}}", ok), "pg.yaml:18:61: policies.refunds.rules.a.revise.amount_cents"},
		"revise of final":           {rulesText("- {id: a, match: final, revise: {answer: '\"x\"'}}", ok), "pg.yaml:18:"},
		"vars that read themselves": {withPolicy("vars: {a: vars.a + 1}", "rules:", ok), "pg.yaml:17:"},
		"a window of no tool":       {withPolicy("windows: {today: {tools: [refund_chrge], calendar: day}}", "rules:", ok), "pg.yaml:17:31: policies.refunds.windows.today.tools[0]"},
		"a zone that is none":       {withPolicy("windows: {today: {tools: [refund_charge], calendar: day, timezone: Europe/Berln}}", "rules:", ok), "pg.yaml:17:72: policies.refunds.windows.today.timezone"},
		"a row of no tool":          {withPolicy("rules:", ok, "tests:", "- {name: big, call: {tool: red_order, args: {}}, want: approve}"), "pg.yaml:20:32: policies.refunds.tests.big.call.tool"},
		"a row of no argument":      {withPolicy("rules:", ok, "tests:", "- {name: big, call: {tool: read_order, args: {order: A-1001}}, want: approve}"), "pg.yaml:20:"},
		"a row that fails": {withPolicy("params: {cap: 5}", "rules:", "- {id: run_cap, match: refund_charge, when: args.amount_cents > params.cap, block: {}}", ok, "tests:",
			"- {name: big, call: {tool: refund_charge, args: {order_id: A-1001, amount_cents: 6, reason: late}}, want: escalate}"),
			"pg.yaml:22:7: policies.refunds.tests.big: want escalate, got block run_cap (params.cap 5); change the rule or the test"},
		"a param of another type": {strings.Replace(withPolicy("params: {cap: 5}", "rules:", ok), "policy: refunds}", "policy: refunds, params: {cap: 300.5}}", 1), "pg.yaml:14:99: patterns.supervised_refund.params.cap"},
		"a param of no name":      {strings.Replace(withPolicy("params: {cap: 5}", "rules:", ok), "policy: refunds}", "policy: refunds, params: {cup: 3}}", 1), "pg.yaml:14:94: patterns.supervised_refund.params.cup"},
		"the demo's for others":   {strings.Replace(withPolicy("rules:", ok), "policy: refunds}", "policy: demo_refunds}", 1), "pg.yaml:14:76: patterns.supervised_refund.policy: demo_refunds does not fit: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadText(t, tt.file)
			if err == nil {
				t.Fatalf("it loaded, want %s", tt.want)
			}
			if got := strings.Split(err.Error(), "\n"); !strings.HasPrefix(got[0], tt.want) {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
		})
	}
}

// A policy judges the calls of the patterns and tools that name it; where a tool has another than its pattern, both do.
func TestPolicyJudges(t *testing.T) {
	const file = `    params: {cap: 5}
    rules:
    - {id: reads, match: read_order, approve: {}}
    - {id: cap, match: refund_charge, when: args.amount_cents > params.cap, say: Too much., block: {reason: too_much}}
    - {id: pays, match: refund_charge, approve: {}}
    - {id: answer, match: final, approve: {}}
  late:
    rules:
    - {id: late, match: refund_charge, when: 'args.?reason.orValue("") != "late"', say: The reason is another one., escalate: {}}
    - {id: fine, match: refund_charge, approve: {}}
`
	text := strings.Replace(refundTools, "effect: write\n", "effect: write\n      policy: late\n      phrase: refunding a charge\n", 1) + file
	text = strings.Replace(text, "policy: refunds}", "policy: refunds, params: {cap: 7}}, refund_charge: {kind: call, tool: refund_charge}", 1)
	loaded, warnings, err := loadText(t, text)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Load: %v, warnings %v", err, warnings)
	}
	pay := func(cents float64, reason string) gateway.Case {
		return gateway.Case{Tool: "refund_charge", Args: map[string]any{"order_id": "A", "amount_cents": cents, "reason": reason}}
	}
	again, err := reloaded(loaded)
	if err != nil {
		t.Fatalf("its snapshot: %v", err)
	}
	if err := again.makeOwn(nil, nil); err != nil {
		t.Fatal(err)
	}
	for where, c := range map[string]Loaded{"the file": loaded, "its snapshot": again} {
		for _, tt := range []struct {
			pattern string
			c       gateway.Case
			want    string
		}{
			{"supervised_refund", pay(7, "late"), "approve pays"},
			{"supervised_refund", pay(8, "late"), "block too_much"},
			{"supervised_refund", pay(8, "broken"), "block too_much"},
			{"supervised_refund", pay(7, "broken"), "escalate late"},
			{"refund_charge", pay(8, "late"), "approve fine"},
			{"refund_charge", pay(8, "broken"), "escalate late"},
		} {
			v := reviewerIn(t, c, tt.pattern).Review(tt.c)
			if got := v.Decision.String() + " " + v.Reason; got != tt.want {
				t.Errorf("%s: %s of %v: %s, want %s", where, tt.pattern, tt.c.Args, got, tt.want)
			}
		}
	}
	if got, want := policyHash(reviewerIn(t, again, "supervised_refund")), policyHash(reviewerIn(t, loaded, "supervised_refund")); got != want {
		t.Errorf("the policy's hash is %s after a snapshot, before %s", got, want)
	}
}

// A run keeps the rules that it was begun under: the configuration's hash is another once a policy's file is, and the snapshot of the
// first judges as that did.
func TestPolicyFileReplaced(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("pg.yaml", strings.TrimSuffix(refundTools, "  refunds:\n")+"  refunds: {file: refunds.policy.yaml}\n")
	load := func(rule string) Loaded {
		write("refunds.policy.yaml", "rules:\n- {id: cap, match: refund_charge, "+rule+"}\n- {id: rest, approve: {}}\n")
		loaded, _, err := Load(settings.Sources{Path: config}, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	strict := load("block: {}")
	files := strict.Files()
	if len(files) != 3 || files[2] != filepath.Join(dir, "refunds.policy.yaml") {
		t.Errorf("the files that are watched: %+v", files)
	}
	loose := load("approve: {}")
	if strict.Hash() == loose.Hash() {
		t.Error("another rule, and the configuration has the same hash")
	}
	if got := loosens(strict.judged(), loose.judged()); len(got) != 1 || got[0] != "policies.refunds.rules.cap: block rule changed" {
		t.Errorf("it loosens %q", got)
	}
	if got := loosens(strict.judged(), load("block: {}").judged()); len(got) > 0 {
		t.Errorf("the same policy loosens %q", got)
	}
	begun, err := reloaded(strict)
	if err != nil {
		t.Fatal(err)
	}
	if err := begun.makeOwn(nil, nil); err != nil {
		t.Fatal(err)
	}
	c := gateway.Case{Tool: "refund_charge", Args: map[string]any{"order_id": "A", "amount_cents": 5.0}}
	for name, tt := range map[string]struct {
		c    Loaded
		want gateway.Decision
	}{"begun before": {begun, gateway.Block}, "begun now": {loose, gateway.Approve}} {
		if v := reviewerIn(t, tt.c, "supervised_refund").Review(c); v.Decision != tt.want {
			t.Errorf("a run %s: %s %s, want %s", name, v.Decision, v.Reason, tt.want)
		}
	}
}

// What destroys needs a policy; what writes is warned of.
func TestActsWithoutPolicy(t *testing.T) {
	bare := strings.Replace(strings.TrimSuffix(refundTools, "policies:\n  refunds:\n"), ", policy: refunds", "", 1)
	_, warnings, err := loadText(t, bare)
	if want := "warning: pg.yaml:14:52: patterns.supervised_refund.tools[1]: refund_charge writes, and no policy judges it; write policy: NAME in patterns.supervised_refund or in catalog.http.refund_charge"; err != nil || len(warnings) != 1 || warnings[0].String() != want {
		t.Errorf("Load: %v, warnings %v, want %s", err, warnings, want)
	}
	_, _, err = loadText(t, strings.Replace(bare, "effect: write", "effect: destructive", 1))
	if want := "pg.yaml:14:52: patterns.supervised_refund.tools[1]: refund_charge is destructive, and no policy judges it; write policy: NAME in patterns.supervised_refund or in catalog.http.refund_charge, or remove it"; err == nil || err.Error() != want {
		t.Errorf("Load: %v, want %s", err, want)
	}
	judged := withPolicy("rules: [{id: ok, approve: {}}, {id: answer, match: final, approve: {}}]")
	alone := withPolicy("rules: [{id: ok, approve: {}}]") // no pattern has it, so no final answer is judged
	for name, text := range map[string]string{
		"the pattern's": judged,
		"the tool's":    strings.Replace(strings.Replace(alone, ", policy: refunds", "", 1), "effect: write", "effect: write\n      policy: refunds", 1),
	} {
		if _, warnings, err := loadText(t, strings.Replace(text, "effect: write", "effect: destructive", 1)); err != nil || len(warnings) > 0 {
			t.Errorf("%s policy: %v, warnings %v", name, err, warnings)
		}
	}
}

// A file may replace the refund policy whole, and name its own params; a snapshot of before policies has the embedded one.
func TestDemoPolicyReplaced(t *testing.T) {
	loaded, _, err := loadText(t, "version: 1\npolicies: {demo_refunds: {params: {most: 5.0}, rules: [{id: some, match: issue_refund, when: args.amount_usd <= params.most, approve: {}}]}}\n"+
		"patterns: {supervised_refund: {params: {most: 7.0}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	pay := gateway.Case{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": 7.0}}
	if v := reviewerIn(t, loaded, "supervised_refund").Review(pay); v.Reason != "some" {
		t.Errorf("the policy that replaces it: %s %s", v.Decision, v.Reason)
	}
	_, _, err = loadText(t, "version: 1\npolicies: {demo_refunds: {rules: [{id: some, approve: {}}]}}\npatterns: {supervised_refund: {params: {auto_refund_limit_usd: 5}}}\n")
	if err == nil || !strings.HasPrefix(err.Error(), "pg.yaml:3:41: patterns.supervised_refund.params.auto_refund_limit_usd: no param auto_refund_limit_usd") {
		t.Errorf("params of the policy that was replaced: %v", err)
	}
	before := embedded(t)
	want := policyHash(reviewerIn(t, before, "supervised_refund"))
	before.Policies, before.Patterns[3].Judge = nil, "" // as it was written without them
	old, err := reloaded(before)
	if err != nil {
		t.Fatal(err)
	}
	if got := policyHash(reviewerIn(t, old, "supervised_refund")); got != want {
		t.Errorf("a snapshot of before policies is judged by %s, want %s", got, want)
	}
}
