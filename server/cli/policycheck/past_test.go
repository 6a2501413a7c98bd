package policycheck

import (
	"fmt"

	"patterngate/server/settings"

	_ "embed"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/assembly"
)

// What was revised and made is the same only where it would be made with the same arguments.
func TestBacktestComparesArguments(t *testing.T) {
	body := func(verdict string) []patterns.Event {
		return []patterns.Event{
			{Seq: 1, At: 1, Kind: patterns.StartEvent, Body: []byte(`{"run_id":"run_0000000000000001","pattern":"pay_one","pattern_kind":"call","principal":"local:1"}`)},
			{Seq: 2, At: 2, Kind: patterns.IntentEvent, Key: "pay#1", Body: []byte(`{"effect_kind":"tool","effect":"write","idempotency_key":"k","name":"pay","input":{"cents":250,"to":"ann"},"verdict":{` + verdict + `}}`)},
		}
	}
	const revised = `"decision":"revise","reason":"cap","rule":"cap","revisions":["cap"],"proposed":{"args":{"cents":900,"to":"ann"}}`
	for limit, want := range map[string]string{"250": "", "240": "revise as {\"cents\":250,\"to\":\"ann\"}, now revise as {\"cents\":240,\"to\":\"ann\"}; it would have sent other arguments"} {
		loaded, _, err := load(t, strings.Replace(pays, "params: {cap: 400}", "params: {cap: "+limit+"}", 1))
		if err != nil {
			t.Fatal(err)
		}
		d, err := assembly.Declare(loaded, nil)
		if err != nil {
			t.Fatal(err)
		}
		past := &pastRuns{}
		past.add(body(revised), time.Time{})
		past.sort()
		got := past.backtest(d, 1)
		said := ""
		for _, diff := range got.Differences {
			said += diff.Was.String() + ", now " + diff.Now.String() + "; " + diff.Ends
		}
		if got.Calls != 1 || said != want {
			t.Errorf("limit %s: %d calls, %q, want %q", limit, got.Calls, said, want)
		}
	}
}

// What a window held is the same by the short way and by the long one.
func TestPastWindow(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	p := &pastRuns{acts: map[string][]record.Act{}}
	add := func(run string, order, begun, ended int, who string) {
		a := record.Act{Entry: gateway.Entry{RunID: run, Order: order, Tool: "pay", Key: run, At: at(begun), Status: gateway.Finished}, Principal: who}
		if ended > 0 {
			a.Ended = at(ended)
		}
		p.acts["pay"] = append(p.acts["pay"], a)
	}
	add("a", 2, 10, 11, "x")
	add("b", 2, 20, 40, "y")
	add("c", 2, 30, 31, "x")
	add("c", 9, 50, 51, "x")
	p.sort()
	for name, tt := range map[string]struct {
		since, now int
		own        bool
		want       string
	}{
		"before":          {0, 5, false, ""},
		"the first":       {0, 15, false, "a done"},
		"one in flight":   {0, 35, false, "a done, b reserved, c done"},
		"from the middle": {20, 45, false, "b done, c done"},
		"of one's own":    {0, 45, true, "a done, c done"},
		"not after it":    {0, 60, false, "a done, b done, c done"},
		"not this one":    {0, 50, false, "a done, b done, c done"},
	} {
		t.Run(name, func(t *testing.T) {
			w := gateway.Window{Tools: []string{"pay"}, OfPrincipal: tt.own, Since: func(time.Time) time.Time { return at(tt.since) }}
			of := record.Proposal{RunID: "c", Seq: 5, At: at(tt.now), Facts: gateway.Facts{Principal: gateway.Principal{ID: "x"}}}
			var got []string
			for _, e := range p.window(w, of).Effects {
				got = append(got, e.Key+" "+string(e.Status))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%v, want %s", got, tt.want)
			}
		})
	}
}

// TestBacktestFindsWhatChanges judges recorded refunds again by the policy that stands in the program: those above the automatic
// limit would have waited for a person.
func TestBacktestFindsWhatChanges(t *testing.T) {
	loaded, _, err := assembly.Load(settings.Sources{Environ: []string{"HOME=" + t.TempDir()}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := assembly.Declare(loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	past := &pastRuns{}
	for _, n := range []int{0, 899, 900, 901, 1000} { // 100, 999, 1000, 1001 and 1100 USD
		past.add(pastRefund(n), time.Time{})
	}
	past.sort()
	got := past.backtest(d, 5)
	var changed []string
	for _, diff := range got.Differences {
		changed = append(changed, fmt.Sprintf("%s %s %s, was %s; %s", diff.RunID, diff.Tool, diff.Now, diff.Was, diff.Ends))
	}
	want := []string{
		"run_0000000000000385 issue_refund escalate high_refund_requires_human, was approve; it would have waited for a person (high_refund_requires_human)",
		"run_00000000000003e8 issue_refund escalate high_refund_requires_human, was approve; it would have waited for a person (high_refund_requires_human)",
	}
	if fmt.Sprint(changed) != fmt.Sprint(want) || got.Calls != 20 || len(got.Elsewhere) != 2 || got.Unjudged != nil {
		t.Errorf("%d calls, elsewhere %v, not judged %v\n got %q\nwant %q", got.Calls, got.Elsewhere, got.Unjudged, changed, want)
	}
}

// The policy also judged what an approver changed. A rule that decided only then is not dead.
func TestCoverageCountsWhatAnApproverChanged(t *testing.T) {
	text := strings.Replace(pays, "- {id: unread, match: pay, when: 'args.to == \"nobody\" && run.effects[0].args.cents > 5', say: Nobody is paid twice., block: {}}", "- {id: nemo, match: pay, when: 'args.to == \"nemo\"', block: {}}", 1)
	loaded, _, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	const (
		start = `{"run_id":"run_0000000000000001","pattern":"pay_one","pattern_kind":"call","principal":"local:1"}`
		asks  = `{"phase":"execution","proposal":{"args":{"cents":350,"to":"ann"},"tool":"pay"},"decision":"escalate","rule":"ask","reason":"ask"}`
	)
	for to, dead := range map[string]bool{"nemo": false, "bob": true} {
		past := &pastRuns{}
		past.add([]patterns.Event{
			{Seq: 1, At: 1, Kind: patterns.StartEvent, Body: []byte(start)},
			{Seq: 2, At: 2, Kind: patterns.JudgedEvent, Key: "pay#1", Body: []byte(asks)},
			{Seq: 3, At: 3, Kind: patterns.IntentEvent, Key: "approve#1", Body: []byte(`{"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}},"rule":"ask"}`)},
			{Seq: 4, At: 4, Kind: patterns.OutcomeEvent, Key: "approve#1", Body: []byte(`{"state":"ok","decision":"edit","by":"local:1","assurance":"user","channel":"cli"}`)},
			{Seq: 5, At: 5, Kind: patterns.JudgedEvent, Key: "pay#1", Body: []byte(`{"phase":"execution","proposal":{"args":{"cents":350,"to":"` + to + `"},"tool":"pay"},"decision":"block","rule":"nemo","reason":"policy_block:nemo"}`)},
		}, time.Time{})
		past.sort()
		c, err := cover(loaded, nil, past)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(c.text(), "rule nemo: "); got != dead {
			t.Errorf("edited to %s: finding %t, want %t:\n%s", to, got, dead, c.text())
		}
	}
}

// A rule about final answers names the test that it needs.
func TestCoverageNamesTheTestOfAFinalAnswer(t *testing.T) {
	text := strings.Replace(pays, "    tests:\n", "    - {id: short, match: final, when: size(args.answer) < 500, approve: {}}\n    tests:\n", 1)
	text = strings.Replace(text, "pay_one: {kind: call, tool: pay, policy: pays, params: {cap: 400}}", "pay_one: {kind: supervisor, title: Pays, description: Pays., tools: [pay], policy: pays}", 1)
	for add, want := range map[string]string{
		"": "dead      pays: rule short: no test has a final answer, and records show only blocked ones; add a test with call: {tool: final, args: {answer: TEXT}}, or --ignore dead\n",
		"    - {name: ends, call: {tool: final, args: {answer: Done.}}, want: approve}\npatterns:\n": "",
	} {
		changed := text
		if add != "" {
			changed = strings.Replace(text, "patterns:\n", add, 1)
		}
		loaded, _, err := load(t, changed)
		if err != nil {
			t.Fatal(err)
		}
		c, err := cover(loaded, nil, &pastRuns{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.text(); want == "" && strings.Contains(got, "rule short") || !strings.Contains(got, want) {
			t.Errorf("with test %q: want %q\n%s", add, want, got)
		}
	}
}
