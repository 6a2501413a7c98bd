package settings_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/policy"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// refundTools are the tools of the policies in these tests: lines 2 to 15 of a file.
const refundTools = `version: 1
catalog:
  http:
    read_order:
      description: Reads an order.
      effect: read
      request: {method: GET, url: "https://a.example/orders/{order_id}"}
      input: {order_id: {type: string, pattern: "^A-[0-9]{4}$"}}
    refund_charge:
      description: Pays money back.
      effect: write
      request: {method: POST, url: "https://a.example/refunds"}
      input: {order_id: {type: string}, amount_cents: {type: integer, minimum: 1}, reason: {type: string, enum: [late, broken], optional: true}}
patterns: {supervised_refund: {tools: [read_order, refund_charge], policy: refunds}}
policies:
  refunds:
`

// withPolicy is a file with these members of the policy refunds, from line 17 on.
func withPolicy(members ...string) string {
	text := refundTools
	for _, m := range members {
		text += "    " + strings.ReplaceAll(m, "\n", "\n    ") + "\n"
	}
	return text
}

// What the grammar of a policy refuses, with its place: before anything is compiled.
func TestPolicyGrammarFaults(t *testing.T) {
	rule := func(text string) string { return withPolicy("rules:", "- "+text) }
	row := func(text string) string {
		return withPolicy("rules:", "- {id: ok, approve: {}}", "tests:", "- "+text)
	}
	const call = "call: {tool: read_order, args: {order_id: A-1001}}"
	tests := map[string]faultCase{
		"name of a policy":     {refundTools + "    rules: []\n  Refunds: {rules: []}\n", "pg.yaml:18:3: policies.Refunds: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"no mapping":           {"version: 1\npolicies: {refunds: [a]}\n", "pg.yaml:2:21: policies.refunds: got a list; write a mapping with rules, or {file: PATH}"},
		"unknown member":       {withPolicy("rule: []"), "pg.yaml:17:5: policies.refunds.rule: unknown key; did you mean rules?"},
		"unknown key of rule":  {rule("{id: a, wen: 'true', approve: {}}"), "pg.yaml:18:15: policies.refunds.rules.a.wen: unknown key; did you mean when?"},
		"repeated key of rule": {rule("{id: a, id: b, approve: {}}"), "pg.yaml:18:15: policies.refunds.rules[0].id: repeated key, first at line 18, column 8"},
		"no id":                {rule("{approve: {}}"), "pg.yaml:18:7: policies.refunds.rules[0].id: missing; write a name; records use it"},
		"bad id":               {rule("{id: Big-Refund, approve: {}}"), `pg.yaml:18:12: policies.refunds.rules[0].id: got "Big-Refund"; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _`},
		"rules no list":        {withPolicy("rules: {a: {approve: {}}}"), "pg.yaml:17:12: policies.refunds.rules: got a mapping; write a list, [] for none"},
		"no outcome":           {rule("{id: a, when: 'true'}"), "pg.yaml:18:7: policies.refunds.rules.a: no outcome; write one of block, revise, escalate or approve"},
		"an outcome of null":   {rule("{id: a, approve: null}"), "pg.yaml:18:7: policies.refunds.rules.a: no outcome; write one of block, revise, escalate or approve"},
		"two outcomes":         {rule("{id: big_refund, match: refund_charge, block: {}, escalate: {}}"), "pg.yaml:18:57: policies.refunds.rules.big_refund: two outcomes, block and escalate; keep one or write two rules"},
		"three outcomes":       {rule("{id: a, approve: {}, revise: {x: 1}, block: {}}"), "pg.yaml:18:28: policies.refunds.rules.a: 3 outcomes, approve, revise and block; keep one or write two rules"},
		"approve with more":    {rule("{id: a, approve: {reason: x}}"), "pg.yaml:18:25: policies.refunds.rules.a.approve.reason: unknown key; write {}"},
		"approve true":         {rule("{id: a, approve: true}"), "pg.yaml:18:24: policies.refunds.rules.a.approve: got true; write {}"},
		"revise nothing":       {rule("{id: a, revise: {}}"), "pg.yaml:18:23: policies.refunds.rules.a.revise: changes nothing; write the arguments that it changes"},
		"revise to a list":     {rule("{id: a, revise: {x: [1]}}"), "pg.yaml:18:27: policies.refunds.rules.a.revise.x: got a list; write CEL in quotes, a number, true or false"},
		"match nothing":        {rule("{id: a, match: [], approve: {}}"), "pg.yaml:18:22: policies.refunds.rules.a.match: matches nothing; write names, or remove it"},
		"match a number":       {rule("{id: a, match: [1], approve: {}}"), "pg.yaml:18:23: policies.refunds.rules.a.match[0]: got 1; write a name: 1 to 64 letters, digits, _ and -"},
		"when no text":         {rule("{id: a, when: true, approve: {}}"), "pg.yaml:18:21: policies.refunds.rules.a.when: got true; write an expression in quotes"},
		"when blank":           {rule("{id: a, when: ' ', approve: {}}"), "pg.yaml:18:21: policies.refunds.rules.a.when: blank; write an expression, or remove the key"},
		"say too long":         {rule("{id: a, say: '" + strings.Repeat("é", 301) + "', approve: {}}"), "pg.yaml:18:20: policies.refunds.rules.a.say: got 301 characters; write at most 300"},
		"reason":               {rule("{id: a, block: {reason: No Way}}"), `pg.yaml:18:31: policies.refunds.rules.a.block.reason: got "No Way"; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _`},
		"need no list":         {rule("{id: a, block: {need: read_order}}"), `pg.yaml:18:29: policies.refunds.rules.a.block.need: got "read_order"; write a list, [] for none`},
		"retryable":            {rule("{id: a, block: {retryable: yes}}"), `pg.yaml:18:34: policies.refunds.rules.a.block.retryable: got "yes"; write true`},
		"expires too soon":     {rule("{id: a, escalate: {expires_seconds: 59}}"), "pg.yaml:18:43: policies.refunds.rules.a.escalate.expires_seconds: got 59; write a whole number of seconds from 60 to 2592000"},
		"expires too late":     {rule("{id: a, escalate: {expires_seconds: 2592001}}"), "pg.yaml:18:43: policies.refunds.rules.a.escalate.expires_seconds: got 2592001; write a whole number of seconds from 60 to 2592000"},
		"assurance":            {rule("{id: a, escalate: {min_assurance: sign}}"), `pg.yaml:18:41: policies.refunds.rules.a.escalate.min_assurance: got "sign"; write user or signed`},
		"param of a mapping":   {withPolicy("params: {a: {b: 1}}"), "pg.yaml:17:17: policies.refunds.params.a: got a mapping; write a number, text, true or false, or a list of one of these"},
		"param of two types":   {withPolicy("params: {a: [1, x]}"), `pg.yaml:17:21: policies.refunds.params.a[1]: got "x"; write a number, text, true or false, or a list of one of these`},
		"param's name":         {withPolicy("params: {runCap: 1}"), "pg.yaml:17:14: policies.refunds.params.runCap: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"var no text":          {withPolicy("vars: {a: 1}"), "pg.yaml:17:15: policies.refunds.vars.a: got 1; write an expression in quotes"},
		"window without span":  {withPolicy("windows: {today: {tools: [read_order]}}"), "pg.yaml:17:22: policies.refunds.windows.today: no time span; write seconds, or calendar: day, week or month"},
		"window of two spans":  {withPolicy("windows: {today: {tools: [read_order], seconds: 60, calendar: day}}"), "pg.yaml:17:67: policies.refunds.windows.today.calendar: both seconds and calendar; keep one"},
		"window too short":     {withPolicy("windows: {today: {tools: [read_order], seconds: 59}}"), "pg.yaml:17:53: policies.refunds.windows.today.seconds: got 59; write a number of seconds from 60 to 2678400"},
		"window too long":      {withPolicy("windows: {today: {tools: [read_order], seconds: 2678401}}"), "pg.yaml:17:53: policies.refunds.windows.today.seconds: got 2678401; write a number of seconds from 60 to 2678400"},
		"window's calendar":    {withPolicy("windows: {today: {tools: [read_order], calendar: year}}"), `pg.yaml:17:54: policies.refunds.windows.today.calendar: got "year"; write day, week or month`},
		"window's scope":       {withPolicy("windows: {today: {tools: [read_order], calendar: day, scope: me}}"), `pg.yaml:17:66: policies.refunds.windows.today.scope: got "me"; write everyone or principal`},
		"window's zone":        {withPolicy("windows: {today: {tools: [read_order], seconds: 60, timezone: UTC}}"), "pg.yaml:17:67: policies.refunds.windows.today.timezone: a timezone without a calendar; remove it"},
		"window of no tools":   {withPolicy("windows: {today: {calendar: day}}"), "pg.yaml:17:22: policies.refunds.windows.today.tools: missing; write the tools whose calls it holds"},
		"test without name":    {row("{" + call + ", want: approve}"), "pg.yaml:20:7: policies.refunds.tests[0].name: missing; write what the test shows"},
		"test without call":    {row("{name: big, want: approve}"), "pg.yaml:20:7: policies.refunds.tests.big.call: missing; write the call that is judged: {tool, args}"},
		"test without want":    {row("{name: two words, " + call + "}"), `pg.yaml:20:7: policies.refunds.tests."two words".want: missing; write approve, revise, escalate or block`},
		"test wants a word":    {row("{name: big, " + call + ", want: aprove}"), `pg.yaml:20:77: policies.refunds.tests.big.want: got "aprove"; write approve, revise, escalate or block; did you mean approve?`},
		"test of a status":     {row("{name: big, " + call + ", want: block, effects: [{tool: read_order, status: gone}]}"), `pg.yaml:20:121: policies.refunds.tests.big.effects[0].status: got "gone"; write reserved, done, failed or in_doubt; did you mean done?`},
		"test at a time":       {row("{name: big, " + call + ", want: block, now: noon}"), `pg.yaml:20:89: policies.refunds.tests.big.now: got "noon"; write a time: "2026-11-22T09:30:00Z"`},
		"final without answer": {row("{name: end, call: {tool: final, args: {text: x}}, want: block}"), "pg.yaml:20:25: policies.refunds.tests.end.call: wrong form for final; write {tool: final, args: {answer: TEXT}}"},
		"file and more":        {withPolicy("file: a.yaml", "rules: []"), "pg.yaml:18:5: policies.refunds.rules: not allowed next to file; move it to that file, or remove file"},
		"no policy":            {strings.Replace(refundTools, "policy: refunds", "policy: refund", 1) + "    rules: [{id: ok, approve: {}}]\n", "pg.yaml:14:76: patterns.supervised_refund.policy: no policy refund; did you mean refunds?"},
		"no policy of a tool":  {strings.Replace(refundTools, "effect: read\n", "effect: read\n      policy: orders\n", 1) + "    rules: [{id: ok, approve: {}}]\n", "pg.yaml:7:15: catalog.http.read_order.policy: no policy orders; write refunds, or add policies: {orders: {rules: [...]}}"},
		"no policy at all":     {"version: 1\npatterns:\n  supervised_refund: {policy: orders}\n", "pg.yaml:3:31: patterns.supervised_refund.policy: no policy orders; add policies: {orders: {rules: [...]}}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := readText(t, tt.file)
			if err == nil {
				t.Fatalf("it loaded, want %s", tt.want)
			}
			lines := strings.Split(err.Error(), "\n")
			for _, line := range lines { // what was told of a place is not told again by who compiles it
				if line == tt.want {
					return
				}
			}
			t.Errorf("\n got %s\nwant %s", err, tt.want)
		})
	}
}

// A policy may have a file of its own; its faults carry that file's name.
func TestPolicyFile(t *testing.T) {
	const file = "version: 1\npolicies: {refunds: {file: rules/refunds.policy.yaml}}\n"
	load := func(t *testing.T, text string, mode os.FileMode) (settings.Document, string) {
		t.Helper()
		dir := t.TempDir()
		at := filepath.Join(dir, "rules")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string]string{filepath.Join(dir, "pg.yaml"): file, filepath.Join(at, "refunds.policy.yaml"): text} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(at, "refunds.policy.yaml"), mode); err != nil {
			t.Fatal(err)
		}
		loaded, _, err := read(settings.Sources{Path: filepath.Join(dir, "pg.yaml")})
		if err != nil {
			return loaded, strings.ReplaceAll(err.Error(), at+string(filepath.Separator), "")
		}
		return loaded, ""
	}
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"a second document": {"rules: []\n---\nrules: []\n", 0o600, "refunds.policy.yaml:2:1: a second document; keep one document in each file"},
		"an alias loop":     {"rules: &a [*a]\n", 0o600, "refunds.policy.yaml:1:12: rules[0]: the alias a is inside its own anchor; write the value out"},
		"a tag":             {"rules: !!seq []\n", 0o600, "refunds.policy.yaml:1:8: rules: the YAML tag !!seq; remove the tag"},
		"an unknown key":    {"\n\nrule: []\n", 0o600, "refunds.policy.yaml:3:1: policies.refunds.rule: unknown key; did you mean rules?"},
		"a file in a file":  {"file: other.yaml\n", 0o600, "refunds.policy.yaml:1:1: policies.refunds.file: unknown key; write description, params, vars, windows, rules or tests"},
		"a list":            {"- a\n", 0o600, "refunds.policy.yaml:1:1: policies.refunds: got a list; write a mapping with rules"},
		"JSON":              {`{"rules": [{"id": "a", "wen": "true", "approve": {}}]}`, 0o600, "refunds.policy.yaml:1:24: policies.refunds.rules.a.wen: unknown key; did you mean when?"},
		"everyone's":        {"rules: []\n", 0o602, "refunds.policy.yaml: policies.refunds: everyone can write to this file; run chmod o-w on it"},
		"too large":         {"description: x\n" + strings.Repeat("# 456789 123456\n", 1<<16), 0o600, "refunds.policy.yaml: policies.refunds: larger than 1 MiB; write a smaller file"},
		"control":           {"rules: []\x00\n", 0o600, "refunds.policy.yaml:1:10: "},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.mode&2 != 0 && runtime.GOOS == "windows" {
				t.Skip("Windows has no such modes")
			}
			if _, got := load(t, tt.text, tt.mode); !strings.HasPrefix(got, tt.want) {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		_, _, err := readText(t, file)
		if err == nil || !strings.HasPrefix(err.Error(), "pg.yaml:2:28: policies.refunds.file: no such file ") {
			t.Errorf("Load with a missing policy file: %v", err)
		}
	})
}

// How a policy is written does not matter: in the file, in a file of its own, or as it is shown.
func TestPolicySource(t *testing.T) {
	const members = `
params: {cap: 1000.0, per_usd: 3, limit: 2e3, days: 14, words: [a, b], flag: true, ratios: [1.0, 2], x: [1, 2]}
vars: {b: 'a', a: '1 + 1'}
windows: {today: {tools: [read_order], calendar: day, timezone: Europe/Berlin, scope: principal}, hour: {tools: [read_order], seconds: 3600}}
rules:
- {id: one, match: read_order, say: Äh, when: |-
    args.order_id
     == "x"
  , block: {reason: r, retryable: true, need: [read_order, order_id]}}
- {id: two, match: [read_order, final], revise: {order_id: '"x"', flag: true, n: 1.5}}
- {id: three, escalate: {expires_seconds: 60, min_assurance: signed, reason: x}}
- {id: four, approve: {}, block: null}
tests:
- {name: it, call: {tool: read_order, args: {order_id: A}}, want: revise, want_reason: r, want_rule: one, want_args: {order_id: x}, want_need: [], pattern: p,
   effects: [{tool: read_order, status: in_doubt, ok: false, args: {a: 1}, result: {b: [null]}, seconds_ago: 1.5, other_run: true}], params: {a: 1}, input: {b: 2},
   principal: {id: "token:ci", kind: token, name: ci}, client: {name: c, version: "1"}, now: "2026-11-22T09:30:00.5+01:00", approved: true}
`
	indented := strings.ReplaceAll(strings.TrimSpace(members), "\n", "\n    ")
	indented = strings.Replace(indented, "when: |-\n        args.order_id\n         == \"x\"\n      , block", "when: \"args.order_id\\n == \\\"x\\\"\", block", 1)
	read := func(t *testing.T, text string) policy.Source {
		t.Helper()
		faults := &yamldoc.Faults{}
		r := grammar.NewReader(faults, nil)
		var list []rules.Policy
		root := yamldoc.Read("pg.yaml", []byte(text), faults)
		if at := root.Member("policies"); at != nil {
			rules.PoliciesKey("policies", &list).Read(r, at, nil)
		}
		if err := faults.Err(); err != nil || len(list) != 1 {
			t.Fatalf("%d policies of\n%s\n%v", len(list), text, err)
		}
		return list[0].Source
	}
	want := read(t, "policies:\n  refunds:\n    "+indented+"\n")
	if got := want.Params; len(got) != 8 || !got[0].Fraction || got[1].Fraction || !got[2].Fraction || got[3].Fraction || !got[6].Fraction || got[7].Fraction {
		t.Errorf("params %+v", got)
	}
	if want.Vars[0].Name != "b" || len(want.Rules) != 4 || len(want.Rules[1].Revise) != 3 || want.Rules[0].When != "args.order_id\n == \"x\"" {
		t.Errorf("the policy was read as %+v", want)
	}
	p := rules.Policy{Source: want}
	kept := rules.Policy{Source: policy.Source{Name: "refunds"}}
	faults := &yamldoc.Faults{}
	rules.ReadPolicy(grammar.NewReader(faults, nil), &kept, yamldoc.NodeOf(string(p.Kept())), nil)
	if diff := cmp.Diff(string(p.Kept()), string(kept.Kept())); diff != "" || len(faults.Found) > 0 {
		t.Errorf("what a snapshot keeps is read otherwise (-want +got): %v\n%s", faults.Found, diff)
	}
	shown := settings.Config{Policies: []rules.Policy{p}}
	again := read(t, string(shown.YAML()))
	sorted := func(s policy.Source) policy.Source { return s }
	if diff := cmp.Diff(string(p.Kept()), string((&rules.Policy{Source: again}).Kept())); diff != "" {
		t.Errorf("what is shown is read otherwise (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Tests, sorted(again).Tests); diff != "" {
		t.Errorf("tests are shown otherwise (-want +got):\n%s", diff)
	}
}

// Faults of the configuration and of policy files stand together, each file's by place.
func TestFaultsOfTwoFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("b.policy.yaml", "rules:\n- {id: a, wen: true, approve: {}}\n- {id: b, approve: {}, block: {}}\n")
	path := write("a.yaml", "version: 1\n"+
		"policies: {one: {file: b.policy.yaml}, two: {rules: [{id: x}]}}\n"+
		"patterns: {supervised_refund: {policy: one, budget: {max_stepz: 1}}}\n")
	_, _, err := read(settings.Sources{Path: path})
	if err == nil {
		t.Fatal("no fault")
	}
	var places []string
	for _, line := range strings.Split(err.Error(), "\n") {
		place := strings.SplitN(strings.TrimPrefix(line, dir+"/"), ":", 3)
		places = append(places, strings.Join(place[:2], ":"))
	}
	got := strings.Join(places, " ")
	if want := "a.yaml:2 a.yaml:3 b.policy.yaml:2 b.policy.yaml:3"; got != want {
		t.Errorf("faults at %s, want %s\n%v", got, want, err)
	}
}
