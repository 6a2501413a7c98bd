package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

// payTool is a tool as a configuration declares it: currency is fixed, note has a default, and the upstream's whole schema
// wants less than 500 of EUR.
func payTool(t testing.TB) catalog.Tool {
	t.Helper()
	input, _, wrong := catalog.CompileArguments(json.RawMessage(
		`{"amount":{"type":"integer","minimum":1},"order":{"type":"string","pattern":"^A-[0-9]{4}$"},"note":{"type":"string","default":"none"},"lines":{"optional":true,"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"]}}}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	whole, err := catalog.CompileUpstream(json.RawMessage(
		`{"type":"object","properties":{"amount":{"type":"integer","maximum":500},"currency":{"const":"EUR"},"token":{},"order":{},"note":{},"lines":{}},"required":["currency"],"additionalProperties":false,"not":{"properties":{"note":{"const":"never"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Tool{
		Name: "pay", Effect: catalog.Write, Input: input, Also: []*catalog.Schema{whole}, Server: "shop",
		Fixed: map[string]any{"currency": "EUR", "token": "***"}, Defaults: map[string]any{"note": "none"},
		Do: func(_ context.Context, c catalog.Call) (any, error) { return c.Args, nil },
	}
}

func catalogOf(t testing.TB, tool catalog.Tool) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func payGate(t testing.TB, tool catalog.Tool, policy gateway.Reviewer) *gateway.Gate {
	t.Helper()
	b := gateway.NoBudget()
	b.MaxSameCall = 1
	return gateway.NewGate(gateway.Config{Catalog: catalogOf(t, tool), Execution: []string{"pay"}, Budget: b, Reviewer: policy})
}

func TestWhatIsFixedAndFilled(t *testing.T) {
	var judged []map[string]any
	policy := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		judged = append(judged, c.Args)
		return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
	})
	gate := payGate(t, payTool(t), policy)
	proposed := object(t, `{"amount":5,"order":"A-0001"}`)
	filled := object(t, `{"amount":5,"order":"A-0001","note":"none"}`)
	whole := object(t, `{"amount":5,"order":"A-0001","note":"none","currency":"EUR","token":"***"}`)
	permit, stop := gate.Admit(gateway.Proposal{Tool: "pay", Args: proposed})
	if stop != nil {
		t.Fatal(stop, lines(stop.Problems))
	}
	done := permit.Perform(t.Context(), "k")
	gate.Note(permit, gateway.Entry{Status: gateway.Finished, Order: 1})
	for name, got := range map[string]any{
		"the policy judged": judged[0], "Args": permit.Args(), "the tool was sent": done.Value, "Question": permit.Question().Args,
		"the gate's Question": gate.Question(gateway.Proposal{Tool: "pay", Args: proposed}).Args, "the ledger": gate.Ledger()[0].Args,
	} {
		if diff := cmp.Diff(any(whole), got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(filled, permit.Proposed()); diff != "" || permit.Hash() != ijson.ArgsHash(filled) {
		t.Errorf("Proposed() and Hash() = %s, -want +got:\n%s", permit.Hash(), diff)
	}
	if len(proposed) != 2 || permit.Server() != "shop" {
		t.Errorf("the proposal became %v, the server is %q", proposed, permit.Server())
	}
	// With and without the default it is the same call.
	if _, stop := gate.Admit(gateway.Proposal{Tool: "pay", Args: filled}); stop == nil || stop.Reason != "loop_detected" {
		t.Errorf("the same call with its default: %v", stop)
	}
	// What the pattern sets does not lie over what the configuration does.
	permit, stop = gate.Admit(gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":6,"order":"A-0001"}`), Inject: map[string]any{"currency": "USD", "order": "A-0002"}})
	if stop != nil {
		t.Fatal(stop, lines(stop.Problems))
	}
	if permit.Args()["currency"] != "EUR" || permit.Args()["order"] != "A-0002" || permit.Proposed()["order"] != "A-0001" {
		t.Errorf("Args() = %v, Proposed() = %v", permit.Args(), permit.Proposed())
	}
}

func TestOwnToolsArguments(t *testing.T) {
	const bad = "tool_bad_args:pay"
	tests := map[string]struct {
		args string
		want []string
	}{
		"a fixed one":              {`{"amount":5,"order":"A-0001","currency":"EUR"}`, []string{"/args/currency " + bad}},
		"a fixed secret":           {`{"amount":5,"order":"A-0001","token":"***"}`, []string{"/args/token " + bad}},
		"outside what is shown":    {`{"amount":0,"order":"B-0001"}`, []string{"/args/amount " + bad, "/args/order " + bad}},
		"outside the upstream's":   {`{"amount":501,"order":"A-0001"}`, []string{"/args/amount " + bad}},
		"outside both":             {`{"amount":"x","order":"A-0001"}`, []string{"/args/amount " + bad}},
		"a part that is not shown": {`{"amount":5,"order":"A-0001","note":"never"}`, []string{"/args " + bad}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, stop := payGate(t, payTool(t), nil).Admit(gateway.Proposal{Tool: "pay", Args: object(t, tt.args), At: "/args"})
			if stop == nil || stop.Reason != bad {
				t.Fatalf("Admit(%s): %v", tt.args, stop)
			}
			if diff := cmp.Diff(tt.want, lines(stop.Problems)); diff != "" {
				t.Errorf("Admit(%s), -want +got:\n%s", tt.args, diff)
			}
			if text := compact(stop.Problems); strings.Contains(text, "EUR") && !strings.Contains(tt.args, "EUR") {
				t.Errorf("the problems tell what is fixed: %s", text)
			}
		})
	}
}

func TestRevisionsDoNotTouchWhatIsFixed(t *testing.T) {
	proposed := `{"amount":5,"order":"A-0001"}`
	revising := func(change func(args map[string]any)) gateway.Reviewer {
		return gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
			if c.Args["amount"] == 4.0 {
				return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
			}
			c.Args["amount"] = 4.0
			change(c.Args)
			return gateway.Verdict{Decision: gateway.Revise, Reason: "less", Args: c.Args}
		})
	}
	tests := map[string]struct {
		policy gateway.Reviewer
		want   string // stop reason
	}{
		"another amount":     {revising(func(map[string]any) {}), ""},
		"another currency":   {revising(func(a map[string]any) { a["currency"] = "USD" }), "policy_block:no_rule_matched"},
		"without the fixed":  {revising(func(a map[string]any) { delete(a, "currency") }), "policy_block:no_rule_matched"},
		"outside the schema": {revising(func(a map[string]any) { a["order"] = "B" }), "tool_bad_args:pay"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			permit, stop := payGate(t, payTool(t), tt.policy).Admit(gateway.Proposal{Tool: "pay", Args: object(t, proposed)})
			switch {
			case tt.want == "" && stop != nil, tt.want != "" && (stop == nil || stop.Reason != tt.want):
				t.Fatalf("Admit: %v, want %q", stop, tt.want)
			case tt.want == "":
				if permit.Args()["amount"] != 4.0 || permit.Args()["currency"] != "EUR" || permit.Proposed()["currency"] != nil {
					t.Errorf("Args() = %v, Proposed() = %v", permit.Args(), permit.Proposed())
				}
			}
		})
	}
}

// A person sees the whole call; what they leave is judged without what is fixed, which they cannot change.
func TestPeopleSeeAndLeaveWhatIsFixed(t *testing.T) {
	gate := payGate(t, payTool(t), always(gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}))
	p := gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`)}
	_, stop := gate.Admit(p)
	if stop == nil || stop.Asks == nil {
		t.Fatalf("Admit: %v", stop)
	}
	asked := gate.Question(p)
	for name, edit := range map[string]map[string]any{
		"as it was": nil, "edited": {"amount": 7.0}, "another currency": {"currency": "USD"},
	} {
		left := map[string]any{}
		for _, name := range sorted(asked.Args) {
			left[name] = asked.Args[name]
		}
		for _, name := range sorted(edit) {
			left[name] = edit[name]
		}
		call := p
		call.Args = gate.Proposed("pay", left)
		permit, stop := gate.Approved(call, gate.ReviewApproved(gateway.Case{Tool: "pay", Args: call.Args}, "ap_0123456789abcdef"))
		if name == "another currency" {
			if stop == nil || permit.Valid() {
				t.Errorf("%s was let through", name)
			}
			continue
		}
		if stop != nil {
			t.Fatalf("%s: %v %v", name, stop, lines(stop.Problems))
		}
		if permit.Question().Digest() != asked.With(left).Digest() {
			t.Errorf("%s: what is sent is not what was shown:\n%s", name, cmp.Diff(left, permit.Args()))
		}
	}
}

func TestPlansShowWhatIsFixed(t *testing.T) {
	tool := payTool(t)
	tool.Also, tool.Fixed = nil, map[string]any{"currency": "EUR", "ref": "$results.a", "list": []any{"$$x"}}
	c := catalogOf(t, tool)
	step := planning.NewEnvelopeStep(planning.Subtask{ID: "s", Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`)}, c)
	want := object(t, `{"amount":5,"order":"A-0001","note":"none","currency":"EUR","ref":"$$results.a","list":["$$$x"]}`)
	if diff := cmp.Diff(want, step.Args); diff != "" {
		t.Errorf("NewEnvelopeStep shows, -want +got:\n%s", diff)
	}
	gate := gateway.NewGate(gateway.Config{Catalog: c, Execution: []string{"pay"}, Budget: gateway.NoBudget()})
	permit, stop := gate.Admit(gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`)})
	if stop != nil {
		t.Fatal(stop)
	}
	if e := (planning.Envelope{Steps: []planning.EnvelopeStep{step}}); !e.Covers("s", permit.Question()) {
		t.Errorf("the plan does not cover its own step, sent as %v", permit.Args())
	}
}

func TestOnce(t *testing.T) {
	long := strings.Repeat("k", 129)
	tests := map[string]struct {
		key  string
		err  error
		want string
		got  string // as the problem shows it
	}{
		"a key":       {key: "order:A-0001~x.y_z"},
		"128":         {key: long[:128]},
		"129":         {key: long, want: "tool_bad_args:pay", got: quote(long)},
		"none":        {key: "", want: "tool_bad_args:pay", got: `""`},
		"a blank":     {key: "a b", want: "tool_bad_args:pay", got: `"a b"`},
		"a line":      {key: "a\n", want: "tool_bad_args:pay", got: `"a\n"`},
		"an error":    {key: "x", err: errors.New("no such member secret"), want: "tool_bad_args:pay"},
		"it breaks":   {key: "panic", want: "tool_bad_args:pay"},
		"other signs": {key: "ä", want: "tool_bad_args:pay", got: `"ä"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := payTool(t)
			tool.Once = func(args map[string]any) (string, error) {
				if args["currency"] != "EUR" || args["note"] != "none" {
					t.Errorf("the key is made of %v, want the whole arguments", args)
				}
				if tt.key == "panic" {
					panic("broken")
				}
				return tt.key, tt.err
			}
			permit, stop := payGate(t, tool, nil).Admit(gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`), At: "/args"})
			if tt.want == "" {
				if stop != nil || permit.Once() != tt.key {
					t.Errorf("Once() = %q, %v, want %q", permit.Once(), stop, tt.key)
				}
				return
			}
			if stop == nil || stop.Reason != tt.want || len(stop.Problems) != 1 || string(stop.Problems[0].Got) != tt.got || stop.Problems[0].Pointer != "/args" {
				t.Errorf("Admit: %v %s", stop, compact(stop))
			}
			if strings.Contains(compact(stop), "secret") {
				t.Errorf("the stop tells the error: %s", compact(stop))
			}
		})
	}
	if (gateway.Permit{}).Once() != "" || (gateway.Permit{}).Server() != "" || (gateway.Permit{}).Proposed() != nil || (gateway.Permit{}).Timeout() != 0 {
		t.Error("the zero Permit says something")
	}
}

func TestPerformTellsFaultsApart(t *testing.T) {
	type row struct{ read, write gateway.DoneState }
	tests := map[catalog.FaultKind]row{
		catalog.Declined:      {gateway.DoneError, gateway.DoneError},
		catalog.NotSent:       {gateway.DoneUnavailable, gateway.DoneUnavailable},
		catalog.TimedOut:      {gateway.DoneTimeout, gateway.DoneTimeout},
		catalog.NoAnswer:      {gateway.DoneError, gateway.DoneLost},
		catalog.Unreadable:    {gateway.DoneBadResult, gateway.DoneLost},
		catalog.FaultKind(77): {gateway.DoneError, gateway.DoneLost},
	}
	for kind, want := range tests {
		for _, effect := range []catalog.Effect{catalog.Read, catalog.Write, catalog.Destructive} {
			cause := errors.New("cause")
			tool := payTool(t)
			tool.Effect, tool.Timeout, tool.Retry = effect, time.Second, catalog.Retry{Max: 2}
			tool.Do = func(context.Context, catalog.Call) (any, error) {
				return map[string]any{}, &catalog.Fault{Kind: kind, Again: true, After: time.Minute, Cause: cause}
			}
			permit, stop := payGate(t, tool, nil).Admit(gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`)})
			if stop != nil {
				t.Fatal(stop)
			}
			done, state := permit.Perform(t.Context(), "k"), want.write
			if effect == catalog.Read {
				state = want.read
			}
			if done.State != state || !done.Again || done.After != time.Minute || !errors.Is(done.Cause, cause) || done.Value != nil {
				t.Errorf("%s of a %s: %+v, want %s", kind, effect, done, state)
			}
			if permit.Timeout() != time.Second || permit.Retry().Max != 2 {
				t.Errorf("Timeout() = %v, Retry() = %+v", permit.Timeout(), permit.Retry())
			}
		}
	}
}

func TestPerformBoundsByTheTool(t *testing.T) {
	for _, limit := range []int{0, 1, 100, 2000, 65536} {
		tool := payTool(t)
		tool.MaxResult = limit
		tool.Output, _ = catalog.CompileSchema([]byte(`{"type":"object","properties":{"text":{"type":"string","minLength":90000}}}`))
		tool.Do = func(context.Context, catalog.Call) (any, error) {
			return map[string]any{"text": strings.Repeat(`"`, 90_000)}, nil
		}
		permit, stop := payGate(t, tool, nil).Admit(gateway.Proposal{Tool: "pay", Args: object(t, `{"amount":5,"order":"A-0001"}`)})
		if stop != nil {
			t.Fatal(stop)
		}
		done := permit.Perform(t.Context(), "k")
		cut, _ := done.Value.(map[string]any)
		most := max(limit, len(`{"bytes":180011,"head":"","truncated":true}`))
		if limit == 0 {
			most = 64 << 10
		}
		if n := len(ijson.Canonical(done.Value)); done.State != gateway.DoneOK || cut["truncated"] != true || done.Bytes != 180_011 || n > most {
			t.Errorf("max_result_bytes %d: %s, %d bytes of %d", limit, done.State, n, done.Bytes)
		}
	}
}

func TestParseActionJudgesValues(t *testing.T) {
	const bad = "invalid_action:bad_arg_value:pay:"
	rules := gateway.ActionRules{Allowed: []string{"pay"}, Catalog: catalogOf(t, payTool(t))}
	action := func(args string) string { return `{"kind":"tool","name":"pay","args":` + args + `}` }
	tests := map[string]struct {
		args string
		want []string
	}{
		"all is well": {`{"amount":5,"order":"A-0001"}`, nil},
		"a bound":     {`{"amount":0,"order":"A-0001"}`, []string{bad + "amount", "/args/amount bad_arg_value:pay:amount"}},
		"a pattern, after types": {`{"amount":"x","order":"B"}`, []string{"invalid_action:bad_arg_type:pay:amount",
			"/args/amount bad_arg_type:pay:amount", "/args/order bad_arg_value:pay:order"}},
		"the upstream's own bound": {`{"amount":501,"order":"A-0001"}`, []string{bad + "amount", "/args/amount bad_arg_value:pay:amount"}},
		"deep":                     {`{"amount":5,"order":"A-0001","lines":[{"sku":"a"},{"sk":1}]}`, []string{bad + "lines", "/args/lines/1/sk bad_arg_value:pay:lines", "/args/lines/1/sku bad_arg_value:pay:lines"}},
		"a fixed one":              {`{"amount":5,"order":"A-0001","currency":"EUR"}`, []string{"invalid_action:extra_tool_args:pay", "/args/currency extra_tool_args:pay"}},
		"missing, told once":       {`{"order":"A-0001"}`, []string{"invalid_action:missing_required_arg:pay:amount", "/args/amount missing_required_arg:pay:amount"}},
		"the whole":                {`{"amount":5,"order":"A-0001","note":"never"}`, []string{"invalid_action:bad_tool_args", "/args bad_tool_args"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, refusal := gateway.ParseAction(document.ReadReply(action(tt.args)), rules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseAction(%s), -want +got:\n%s", tt.args, diff)
			}
			if refusal == nil && got.Args["note"] != nil {
				t.Errorf("the action shows what was not proposed: %v", got.Args)
			}
			if refusal != nil {
				if _, ok := stopreason.Lookup(refusal.Reason); !ok {
					t.Errorf("%s is no stop reason", refusal.Reason)
				}
			}
		})
	}
}
