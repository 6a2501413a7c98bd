package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"patterngate/server/assembly"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/settings/yamldoc"
)

// paysConfig is a configuration with one policy over one tool of its own, and two patterns that call it.
const paysConfig = `version: 1
catalog:
  http:
    pay:
      description: Pays.
      effect: write
      phrase: paying {cents} cents
      request: {method: POST, url: 'https://bank.example/pay', body: args}
      input: {cents: {type: integer, minimum: 1}, to: {type: string}}
policies:
  pays:
    params: {cap: 500}
    rules:
    - {id: unread, match: pay, when: 'args.to == "nobody" && run.effects[0].args.cents > 5', say: Nobody is paid twice., block: {}}
    - {id: cap, match: pay, when: args.cents > params.cap, revise: {cents: params.cap}}
    - {id: ask, match: pay, when: args.cents > 300, say: A person looks at such an amount., escalate: {expires_seconds: 600}}
    - {id: pay, match: pay, approve: {}}
    tests:
    - {name: capped, params: {cap: 200}, call: {tool: pay, args: {cents: 900, to: ann}}, want: revise}
    - {name: small, call: {tool: pay, args: {cents: 250, to: ann}}, want: approve}
patterns:
  pay_one: {kind: call, tool: pay, policy: pays, params: {cap: 400}}
`

func TestPolicyExplainHoldsWhatIsInForce(t *testing.T) {
	path := writeConfig(t, paysConfig)
	run := func(args string) (int, string) {
		code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "explain", "--config", path, "--tool", "pay", "--args", args)
		return code, out + errs
	}
	if code, out := run(`{"cents":900,"to":"ann"}`); code != 0 || !strings.Contains(out, "with the params of pay_one") || !strings.Contains(out, `"cents":400`) {
		t.Errorf("the only pattern's params: %d\n%s", code, out)
	}
	for args, want := range map[string]string{
		`{"cent":9,"to":"ann"}`:            "did you mean cents?",
		`{"cents":9}`:                      "/to is missing",
		`{"cents":"nine","to":"ann"}`:      "/cents does not fit",
		`{"cents":0,"to":"ann"}`:           "/cents does not fit",
		`{"cents":9,"to":"ann","zzzzz":1}`: "pay has no argument zzzzz",
	} {
		if code, out := run(args); code != console.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: %d\n%s\nwant 2 and %s", args, code, out, want)
		}
	}
	if code, out := run(`{"cents":9,"to":"nobody"}`); code != 0 || !strings.Contains(out, "block policy_error:unread") || strings.Contains(out, "Nobody is paid twice.") {
		t.Errorf("a rule that errs: %d\n%s", code, out)
	}
}

// Tests with params of their own run with each pattern's below them too.
func TestPolicyTestWarnsOfRowsWithParams(t *testing.T) {
	text := strings.Replace(paysConfig, "{cap: 500}", "{cap: 500, more: 0}", 1)
	text = strings.Replace(text, "args.cents > params.cap,", "args.cents > params.cap + params.more,", 1)
	text = strings.Replace(text, "params: {cap: 400}", "params: {more: 1000}", 1)
	path := writeConfig(t, text)
	code, out, _ := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "test", "--config", path)
	if want := `with the params of pay_one: escalate ask, within 600 s, and not revise as {"cents":200,"to":"ann"}`; code != 0 || !strings.Contains(out, want) {
		t.Errorf("%d\n%s\nwant %s", code, out, want)
	}
}

// Two files differ where a call is made with other arguments, or a person is asked otherwise.
func TestPolicyDiffComparesWhatIsSentAndAsked(t *testing.T) {
	a := writeConfig(t, paysConfig)
	for name, tt := range map[string]struct{ was, is, want string }{
		"arguments": {"revise: {cents: params.cap}", "revise: {cents: params.cap - 1}", `revise as {"cents":200,"to":"ann"}, then revise as {"cents":199,"to":"ann"}`},
		"expiry":    {"expires_seconds: 600", "expires_seconds: 700", "escalate ask, within 600 s, then escalate ask, within 700 s"},
		"assurance": {"expires_seconds: 600", "expires_seconds: 600, min_assurance: signed", "escalate ask, within 600 s, then escalate ask, signed, within 600 s"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(paysConfig, "    tests:\n", "    tests:\n    - {name: asked, call: {tool: pay, args: {cents: 350, to: ann}}, want: escalate}\n", 1)
			b := writeConfig(t, strings.Replace(text, tt.was, tt.is, 1))
			code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "diff", "--state", ":memory:", a, b)
			if code != console.ExitFault || !strings.Contains(out, tt.want) {
				t.Errorf("%d\n%s%s\nwant %s", code, out, errs, tt.want)
			}
		})
	}
}

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
		loaded, _, err := loadText(t, strings.Replace(paysConfig, "params: {cap: 400}", "params: {cap: "+limit+"}", 1))
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

// Rows are added only where the file that holds them can be loaded with them.
func TestPolicyRecordKeepsTheFileLoadable(t *testing.T) {
	row := func(name, want string) map[string]any {
		return map[string]any{"name": name, "call": map[string]any{"tool": "pay", "args": map[string]any{"cents": 5.0, "to": "ann"}}, "want": want}
	}
	var many []map[string]any
	for i := range 1000 {
		many = append(many, row(strings.Repeat("x", i%50+1)+yamldoc.NumberText(float64(i)), "approve"))
	}
	for name, tt := range map[string]struct {
		rows []map[string]any
		fine bool
	}{
		"fine":           {[]map[string]any{row("one", "approve")}, true},
		"a name twice":   {[]map[string]any{row("small", "approve")}, false},
		"one that fails": {[]map[string]any{row("one", "block")}, false},
		"too many":       {many, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeConfig(t, paysConfig)
			var out, errs strings.Builder
			a := &app{invocation: &invocation{Console: console.Console{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: []string{"HOME=" + t.TempDir()}}}}
			a.config = path
			loaded, err := (&policyCommands{a.opener()}).loadUntested("policy record", nil)
			if err != nil {
				t.Fatal(err)
			}
			err = (&policyCommands{a.opener()}).addRows(loaded, loaded.PolicyNamed("pays"), tt.rows, false)
			text, readErr := os.ReadFile(path)
			if (err == nil) != tt.fine || readErr != nil || (string(text) == paysConfig) == tt.fine {
				t.Errorf("%v, changed %t\n%s", err, string(text) != paysConfig, errs.String())
			}
		})
	}
}

// A run that was recorded once adds nothing when it is recorded again, and its times stay as they were.
func TestPolicyRecordTwice(t *testing.T) {
	path := writeConfig(t, paysConfig)
	events := []patterns.Event{
		{Seq: 1, At: 1_700_000_000_123_456, Kind: patterns.StartEvent, Body: []byte(`{"run_id":"run_0000000000000001","pattern":"pay_one","pattern_kind":"call","principal":"local:1"}`)},
		{Seq: 2, At: 1_700_000_000_223_456, Kind: patterns.IntentEvent, Key: "pay#1", Body: []byte(`{"effect_kind":"tool","effect":"write","idempotency_key":"k","name":"pay","input":{"cents":250,"to":"ann"},"verdict":{"decision":"approve","reason":"pay","rule":"pay"}}`)},
	}
	var out, errs strings.Builder
	a := &app{invocation: &invocation{Console: console.Console{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: []string{"HOME=" + t.TempDir()}}}}
	a.config = path
	if err := (&policyCommands{a.opener()}).recordRows(events, "", false); err != nil {
		t.Fatal(err, errs.String())
	}
	once, _ := os.ReadFile(path)
	if !strings.Contains(string(once), ".123456Z") || !strings.Contains(string(once), "pattern: pay_one") {
		t.Errorf("written:\n%s", once)
	}
	if err := (&policyCommands{a.opener()}).recordRows(events, "", false); err == nil || !strings.Contains(errs.String(), "it is among the tests already") {
		t.Errorf("again: %v\n%s", err, errs.String())
	}
	if twice, _ := os.ReadFile(path); string(twice) != string(once) {
		t.Errorf("again changed the file:\n%s", twice)
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
