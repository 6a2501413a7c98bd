package record

import (
	"fmt"
	"strings"
	"testing"
)

// TestProposals reads what a policy judged back out of a record, with what it could see then.
func TestProposals(t *testing.T) {
	s := Read(events(
		`0 start - {"run_id":"run_1","pattern":"refund_order","pattern_kind":"supervisor","principal":"token:ci","client":{"name":"c","version":"2"},"budget":{"max_tool_calls":5}}`,
		`1 intent read#1 {"effect_kind":"tool","name":"read_order","effect":"read","input":{"path":"A"},"verdict":{"decision":"approve","rule":"reading","reason":"reading","policy":"sha256:1"}}`,
		`2 outcome read#1 {"state":"ok","output":{"text":"{}"}}`,
		`3 judged pay#1 {"phase":"supervisor","proposal":{"kind":"tool","name":"pay","args":{"cents":900}},"decision":"revise","rule":"cap","reason":"capped"}`,
		`3 judged pay#1 {"phase":"supervisor","proposal":{"kind":"tool","name":"pay","args":{"cents":500}},"decision":"escalate","rule":"big","reason":"big"}`,
		`4 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}},"rule":"big"}`,
		`5 outcome approve#1 {"state":"ok","decision":"approve","by":"local:1","assurance":"user","channel":"cli"}`,
		`6 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k1","input":{"cents":500},"grant":"ap_1","verdict":{"decision":"escalate","rule":"big","reason":"big","policy":"sha256:1"}}`,
		`7 outcome pay#1 {"state":"unknown","reason":"interrupted"}`,
		`8 intent pay#2 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k1","input":{"cents":500},"verdict":{"decision":"escalate","rule":"big","reason":"big"}}`,
		`9 outcome pay#2 {"state":"ok","output":{}}`,
		`9 judged pay#3 {"phase":"supervisor","proposal":{"kind":"tool","name":"pay","args":{"cents":7}},"decision":"escalate","rule":"big","reason":"big"}`,
		`9 intent approve#2 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}},"rule":"big"}`,
		`9 outcome approve#2 {"state":"ok","decision":"reject","by":"local:1","assurance":"user","channel":"cli"}`,
		`9 judged - {"phase":"supervisor","proposal":{"kind":"tool","name":"pay","args":{"cents":{"$redacted":"sha256:00"}}},"decision":"block","rule":"late","reason":"policy_block:too_late"}`,
		`9 judged - {"phase":"execution","proposal":{"tool":"pay","args":{}},"decision":"refused","reason":"max_tool_calls"}`,
		`9 judged - {"phase":"supervisor","proposal":{"kind":"final","name":"final","answer":"Done."},"decision":"block","rule":"no","reason":"no"}`,
	))
	var got []string
	for _, p := range s.Proposals() {
		var before []string
		for _, e := range p.Effects {
			before = append(before, fmt.Sprintf("%s %s", e.Key, e.Status))
		}
		got = append(got, fmt.Sprintf("%d %s %v%s %s %s/%s approved %t after [%s] hidden %q now %d steps %d left %v", p.Seq, p.Tool, p.Args, p.Answer, p.Decision,
			p.Rule, p.Reason, p.Approved, strings.Join(before, ", "), p.Hidden, p.Facts.Now.Unix(), p.Facts.Steps, p.Facts.Remaining["max_tool_calls"]))
	}
	want := []string{
		`2 read_order map[path:A] approve reading/reading approved false after [] hidden "" now 0 steps 0 left 5`,
		`4 pay map[cents:900] escalate big/big approved true after [read#1 done] hidden "" now 2 steps 1 left 4`,
		`12 pay map[cents:7] escalate big/big approved false after [read#1 done, pay#1 done] hidden "" now 9 steps 3 left 2`,
		`15 pay map[cents:map[$redacted:sha256:00]] block late/too_late approved false after [read#1 done, pay#1 done] hidden "some of its values are redacted in the record" now 9 steps 3 left 2`,
		`17  map[]Done. block no/no approved false after [read#1 done, pay#1 done] hidden "" now 9 steps 3 left 2`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d proposals, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("proposal %d\n got %s\nwant %s", i, got[i], want[i])
		}
	}
	p := s.Proposals()[1]
	if p.Facts.Principal.Kind != "token" || p.Facts.Principal.Name != "ci" || p.Facts.Client.Version != "2" || p.Policy != "sha256:1" {
		t.Errorf("facts %+v, policy %q", p.Facts, p.Policy)
	}
}

// The arguments of an approver are part of the proposal if the policy blocked them.
func TestProposalThatAnApproverChanged(t *testing.T) {
	for args, want := range map[string]map[string]any{`{"cents":600}`: {"cents": 600.0}, `{"cents":500}`: nil} {
		list := Read(events(
			`0 start - {"run_id":"run_1","pattern":"pays","pattern_kind":"call","principal":"local:1"}`,
			`1 judged pay#1 {"phase":"execution","proposal":{"args":{"cents":500},"tool":"pay"},"decision":"escalate","rule":"big","reason":"big"}`,
			`2 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}},"rule":"big"}`,
			`3 outcome approve#1 {"state":"ok","decision":"edit","by":"local:1","assurance":"user","channel":"cli"}`,
			`4 judged pay#1 {"phase":"execution","proposal":{"args":`+args+`,"tool":"pay"},"decision":"block","rule":"max","reason":"policy_block:max"}`,
		)).Proposals()
		if len(list) != 1 || list[0].Rule != "max" || list[0].Args["cents"] != 500.0 || fmt.Sprint(list[0].Edited) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want one proposal, edited to %v", args, list, want)
		}
	}
}

// What a policy changed is judged again as it was proposed, and a call that earlier runs were looked at for is one proposal.
func TestProposalsThatWereChanged(t *testing.T) {
	const (
		start  = `0 start - {"run_id":"run_1","pattern":"pays","pattern_kind":"call","principal":"local:1"}`
		intent = `"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k1","input":{"cents":500},"verdict":{"decision":"revise","reason":"capped","rule":"cap","revisions":["capped"]`
		judge  = `"windows":{"p.day":{"effects":0}},"phase":"execution","proposal":{"args":{"cents":900},"tool":"pay"}`
		block  = `"phase":"execution","proposal":{"args":{"cents":900},"tool":"pay"},"decision":"block","rule":"day"`
	)
	tests := map[string]struct{ events, want []string }{
		"at once":   {[]string{`1 intent pay#1 {` + intent + `,"proposed":{"args":{"cents":900}}}}`}, []string{`900 sent 500 revise capped ""`}},
		"redacted":  {[]string{`1 intent pay#1 {` + intent + `,"proposed":{"args":{"cents":{"$redacted":"sha256:00"}}}}}`}, []string{`map[$redacted:sha256:00] sent 500 revise capped "` + HiddenRedacted + `"`}},
		"too large": {[]string{`1 intent pay#1 {` + intent + `,"proposed":{"truncated":true,"bytes":20000,"head":""}}}`}, []string{`<nil> sent 500 revise capped "` + HiddenCut + `"`}},
		"not kept":  {[]string{`1 intent pay#1 {` + intent + `}}`}, []string{`<nil> sent 500 revise capped "` + HiddenRevised + `"`}},
		"by earlier runs": {
			[]string{`1 judged judge#1 {` + judge + `,"decision":"approve","revisions":["capped"],"changed":{"cents":500}}`, `2 intent pay#1 {` + intent + `}}`},
			[]string{`900 sent 500 revise capped ""`},
		},
		"stale, judged again": {
			[]string{`1 judged judge#1 {` + judge + `,"decision":"approve"}`, `2 judged judge#2 {` + judge + `,"decision":"approve","revisions":["capped"],"changed":{"cents":500}}`, `3 intent pay#1 {` + intent + `}}`},
			[]string{`900 sent 500 revise capped ""`},
		},
		"one more attempt": {
			[]string{
				`1 judged judge#1 {` + judge + `,"decision":"approve","revisions":["capped"],"changed":{"cents":500}}`, `2 intent pay#1 {` + intent + `}}`, `3 outcome pay#1 {"state":"failed"}`,
				`4 judged judge#2 {"windows":{"p.day":{"effects":1}},"proposal":{"args":{"cents":500},"tool":"pay"},"decision":"approve"}`, `5 intent pay#2 {` + intent + `}}`,
			},
			[]string{`900 sent 500 revise capped ""`},
		},
		"one block": {
			[]string{`1 judged judge#1 {` + judge + `,"decision":"block","rule":"day","reason":"day"}`, `1 judged pay#1 {` + block + `,"reason":"policy_block:day"}`},
			[]string{`900 sent <nil> block day ""`},
		},
		"two blocks": {
			[]string{
				`1 judged judge#1 {` + judge + `,"decision":"block","rule":"day","reason":"day"}`, `1 judged pay#1 {` + block + `,"reason":"policy_block:day"}`,
				`2 judged judge#2 {` + judge + `,"decision":"block","rule":"day","reason":"day"}`, `2 judged pay#2 {` + block + `,"reason":"policy_block:day"}`,
			},
			[]string{`900 sent <nil> block day ""`, `900 sent <nil> block day ""`},
		},
		"blocked, then another call": {
			[]string{`1 judged judge#1 {` + judge + `,"decision":"block","rule":"day","reason":"day"}`, `2 intent pay#1 {` + intent + `,"proposed":{"args":{"cents":800}}}}`},
			[]string{`900 sent <nil> block day ""`, `800 sent 500 revise capped ""`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Read(events(append([]string{start}, tt.events...)...)).Proposals() {
				got = append(got, fmt.Sprintf("%v sent %v %s %s %q", p.Args["cents"], p.Sent["cents"], p.Decision, p.Reason, p.Hidden))
			}
			if strings.Join(got, "; ") != strings.Join(tt.want, "; ") {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}
