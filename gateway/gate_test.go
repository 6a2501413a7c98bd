package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
)

// lookSchema takes a number, and an id that the pattern sets.
const lookSchema = `{"type":"object","properties":{"n":{"type":"integer"},"id":{"type":"string"},"tags":{"type":"array"}},"required":["n"],"additionalProperties":false}`

// tools makes a catalog of tools that take lookSchema's arguments and do that.
func tools(t testing.TB, do catalog.Func, names ...string) *catalog.Catalog {
	t.Helper()
	schema, err := catalog.CompileSchema([]byte(lookSchema))
	if err != nil {
		t.Fatal(err)
	}
	if do == nil {
		do = func(context.Context, catalog.Call) (any, error) { return map[string]any{}, nil }
	}
	list := make([]catalog.Tool, len(names))
	for i, n := range names {
		list[i] = catalog.Tool{Name: n, Effect: catalog.Write, Input: schema, Do: do}
	}
	c, err := catalog.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func n(x float64) map[string]any { return map[string]any{"n": x} }

// always is a reviewer that says the same of everything.
func always(v gateway.Verdict) gateway.Reviewer {
	return gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return v })
}

func limits(asked, calls, same gateway.Limit) gateway.Config {
	b := gateway.NoBudget()
	b.MaxCallsPerTool, b.MaxSameCall = calls, same
	return gateway.Config{
		Family: gateway.ToolFamily, Budget: b, Execution: []string{"look", "gone"},
		Calls: []gateway.CallBudget{{Limit: asked, Reason: "max_tool_calls"}},
	}
}

func TestAdmitOrder(t *testing.T) {
	const u = gateway.Unlimited
	bad := map[string]any{"n": "x"}
	refusing := always(gateway.Verdict{Reason: "no"})
	tests := map[string]struct {
		config gateway.Config
		tool   string
		args   map[string]any
		want   string // empty: admitted
	}{
		"the budget comes first":     {limits(0, 0, 0), "other", bad, "max_tool_calls"},
		"then the allowlist":         {limits(1, 0, 0), "other", bad, "tool_denied:other"},
		"what exists is no matter":   {limits(1, 0, 0), "hidden", bad, "tool_denied:hidden"},
		"then whether it exists":     {limits(1, 0, 0), "gone", bad, "tool_missing:gone"},
		"then the calls of the tool": {limits(1, 0, u), "look", bad, "loop_detected:per_tool_limit"},
		"then the same call":         {limits(1, u, 0), "look", bad, "loop_detected"},
		"then the arguments":         {limits(1, 1, 1), "look", bad, "tool_bad_args:look"},
		"no arguments at all":        {limits(1, 1, 1), "look", nil, "tool_bad_args:look"},
		"then the policy":            {limits(1, 1, 1), "look", n(1), "policy_block:no"},
		"padded is another name":     {limits(1, 1, 1), "look ", n(1), "tool_denied:look "},
		"no name":                    {limits(1, 1, 1), "", n(1), "tool_denied:"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.config.Catalog, tt.config.Reviewer = tools(t, nil, "look", "hidden"), refusing
			permit, stop := gateway.NewGate(tt.config).Admit(gateway.Proposal{Tool: tt.tool, Args: tt.args})
			if stop == nil || stop.Reason != tt.want {
				t.Errorf("Admit(%q, %v) = %v, want %s", tt.tool, tt.args, stop, tt.want)
			}
			if permit.Valid() {
				t.Errorf("Admit(%q, %v) refused and gave a permit", tt.tool, tt.args)
			}
		})
	}
}

func TestAdmitWordsOfFamilies(t *testing.T) {
	for family, word := range map[gateway.Family]string{"": "tool", gateway.ToolFamily: "tool", gateway.WorkerFamily: "worker", gateway.RouteFamily: "route"} {
		config := limits(9, 9, 9)
		config.Family, config.Catalog = family, tools(t, nil, "look")
		gate := gateway.NewGate(config)
		for _, tt := range []struct{ tool, want string }{{"other", "_denied:other"}, {"gone", "_missing:gone"}, {"look", "_bad_args:look"}} {
			if _, stop := gate.Admit(gateway.Proposal{Tool: tt.tool}); stop == nil || stop.Reason != word+tt.want {
				t.Errorf("family %q: Admit(%s) = %v, want %s", family, tt.tool, stop, word+tt.want)
			}
		}
	}
}

func TestNothingIsAdmittedByDefault(t *testing.T) {
	looks := tools(t, nil, "look")
	for name, gate := range map[string]*gateway.Gate{
		"zero Config":                 gateway.NewGate(gateway.Config{}),
		"zero Gate":                   {},
		"a catalog alone":             gateway.NewGate(gateway.Config{Catalog: looks}),
		"an allowlist alone":          gateway.NewGate(gateway.Config{Execution: []string{"look"}}),
		"both, but the zero Budget":   gateway.NewGate(gateway.Config{Execution: []string{"look"}, Catalog: looks}),
		"a budget of calls of nought": gateway.NewGate(gateway.Config{Execution: []string{"look"}, Catalog: looks, Budget: gateway.NoBudget(), Calls: []gateway.CallBudget{{Reason: "max_tool_calls"}}}),
		"a reviewer without verdict":  gateway.NewGate(gateway.Config{Execution: []string{"look"}, Catalog: looks, Budget: gateway.NoBudget(), Reviewer: always(gateway.Verdict{})}),
	} {
		permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(1)})
		if stop == nil || permit.Valid() {
			t.Errorf("%s: Admit gave a permit: %v", name, permit.Valid())
		}
		ruled, stop := gate.AdmitRuled(gateway.Proposal{Tool: "look", Args: n(1)}, gateway.Ruling{Decision: gateway.Approve, Args: n(1)})
		if stop == nil || ruled.Valid() {
			t.Errorf("%s: AdmitRuled gave a permit: %v", name, ruled.Valid())
		}
	}
}

func TestAdmitCounts(t *testing.T) {
	type call struct {
		tool string
		args map[string]any
		want string
	}
	const u = gateway.Unlimited
	per := func(c gateway.Config, tool string, calls, same gateway.Limit) gateway.Config {
		c.Budget.PerTool = map[string]gateway.CallLimit{tool: {MaxCalls: calls, MaxSameCall: same}}
		return c
	}
	split := func(c gateway.Config) gateway.Config { c.SplitLoops = true; return c }
	two := func(c gateway.Config) gateway.Config {
		c.Calls = append(c.Calls, gateway.CallBudget{Limit: 1, Reason: "max_delegations"})
		return c
	}
	tests := map[string]struct {
		config gateway.Config
		calls  []call
		asked  int
	}{
		"refused calls count":      {limits(2, u, u), []call{{"other", nil, "tool_denied:other"}, {"look", n(0.5), "tool_bad_args:look"}, {"look", n(1), "max_tool_calls"}, {"look", n(1), "max_tool_calls"}}, 2},
		"two budgets, in order":    {two(limits(1, u, u)), []call{{"look", n(1), ""}, {"look", n(1), "max_tool_calls"}}, 1},
		"the second budget":        {two(limits(2, u, u)), []call{{"look", n(1), ""}, {"look", n(1), "max_delegations"}}, 1},
		"same call":                {limits(u, u, 1), []call{{"look", n(1), ""}, {"look", n(2), ""}, {"look", n(1), "loop_detected"}, {"more", n(1), ""}, {"look", n(3), ""}}, 5},
		"same but for white space": {limits(u, u, 1), []call{{"look", map[string]any{"n": 1.0, "id": " a  b"}, ""}, {"look", map[string]any{"n": 1.0, "id": "a\u00a0b\n"}, "loop_detected"}}, 2},
		"a refused call's hash":    {limits(u, u, 1), []call{{"look", n(0.5), "tool_bad_args:look"}, {"look", n(0.5), "loop_detected"}}, 2},
		"denied calls loop not":    {limits(u, u, 1), []call{{"other", n(1), "tool_denied:other"}, {"other", n(1), "tool_denied:other"}}, 2},
		"calls of a tool":          {limits(u, 2, u), []call{{"look", n(1), ""}, {"look", n(1), ""}, {"look", n(2), "loop_detected:per_tool_limit"}, {"more", n(1), ""}}, 4},
		"split, signature":         {split(limits(u, 2, 1)), []call{{"look", n(1), ""}, {"look", n(1), "loop_detected:signature_repeat"}, {"look", n(2), ""}, {"look", n(3), "loop_detected:per_tool_limit"}}, 4},
		"split, both":              {split(limits(u, 1, 1)), []call{{"look", n(1), ""}, {"look", n(1), "loop_detected:per_tool_limit"}}, 2},
		"a tool's own limits":      {split(per(limits(u, 1, 1), "look", 3, 2)), []call{{"look", n(1), ""}, {"look", n(1), ""}, {"look", n(1), "loop_detected:signature_repeat"}, {"more", n(1), ""}, {"more", n(2), "loop_detected:per_tool_limit"}, {"look", n(2), ""}, {"look", n(3), "loop_detected:per_tool_limit"}}, 7},
		"no limits":                {limits(u, u, u), []call{{"look", n(1), ""}, {"look", n(1), ""}, {"look", n(1), ""}}, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.config.Catalog, tt.config.Execution = tools(t, nil, "look", "more"), []string{"look", "more"}
			gate := gateway.NewGate(tt.config)
			for i, c := range tt.calls {
				permit, stop := gate.Admit(gateway.Proposal{Tool: c.tool, Args: c.args})
				got := ""
				if stop != nil {
					got = stop.Reason
				}
				if got != c.want || permit.Valid() != (c.want == "") {
					t.Errorf("call %d: Admit(%s, %v) = %q, permit %v, want %q", i+1, c.tool, c.args, got, permit.Valid(), c.want)
				}
			}
			if gate.Asked() != tt.asked {
				t.Errorf("Asked() = %d, want %d", gate.Asked(), tt.asked)
			}
		})
	}
}

func TestDefaultBudgets(t *testing.T) {
	for kind, want := range map[gateway.Kind]string{
		gateway.TaskDecomposition: "calls 8, same 1, per tool -1, context {-1 1}",
		gateway.Orchestrator:      "calls -1, same -1, per tool -1, context {-1 -1}",
		gateway.Routing:           "calls -1, same -1, per tool -1, context {-1 -1}",
		gateway.Supervisor:        "calls 5, same 1, per tool 2, context {3 2}",
		"":                        "calls 0, same 0, per tool 0, context {0 0}",
	} {
		b := gateway.DefaultBudget(kind)
		context, own := b.PerTool["get_refund_context"]
		if !own {
			context = gateway.CallLimit{MaxCalls: b.MaxCallsPerTool, MaxSameCall: b.MaxSameCall}
		}
		got := fmt.Sprintf("calls %d, same %d, per tool %d, context %v", b.MaxToolCalls, b.MaxSameCall, b.MaxCallsPerTool, context)
		if got != want {
			t.Errorf("DefaultBudget(%q): %s, want %s", kind, got, want)
		}
	}
	if l := gateway.Limit(0); l.Allows(1) || !l.Allows(0) || !l.Named() {
		t.Error("the zero Limit allows one, or is none")
	}
	if l := gateway.Limit(-2); l.Allows(1) {
		t.Error("a negative limit that is not Unlimited allows one")
	}
}

func TestAdmitInjects(t *testing.T) {
	var sent map[string]any
	do := func(_ context.Context, c catalog.Call) (any, error) { sent = c.Args; return nil, nil }
	config := limits(9, 9, 1)
	config.Catalog = tools(t, do, "look")
	gate := gateway.NewGate(config)
	proposed := map[string]any{"n": 1.0, "id": "the model's"}
	permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: proposed, Inject: map[string]any{"id": "the run's"}})
	if stop != nil {
		t.Fatal(stop)
	}
	if done := permit.Perform(context.Background(), "k"); done.State != gateway.DoneOK {
		t.Fatalf("Perform = %+v", done)
	}
	want := map[string]any{"n": 1.0, "id": "the run's"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("the tool was sent, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, permit.Args()); diff != "" {
		t.Errorf("Args(), -want +got:\n%s", diff)
	}
	if proposed["id"] != "the model's" {
		t.Errorf("Admit changed the proposal to %v", proposed)
	}
	// The hash, and so the loop check, is that of what was proposed.
	if bare, _ := gate.Admit(gateway.Proposal{Tool: "look", Args: n(1), Inject: map[string]any{"id": "the run's"}}); bare.Hash() == permit.Hash() {
		t.Errorf("with and without an id of its own the hash is %s", bare.Hash())
	}
	if _, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: proposed, Inject: map[string]any{"id": "another run's"}}); stop == nil || stop.Reason != "loop_detected" {
		t.Errorf("the same proposal with another injected id: %v", stop)
	}
	if _, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(7), Inject: map[string]any{"id": 7.0}}); stop == nil || stop.Reason != "tool_bad_args:look" {
		t.Errorf("an injected value is checked like any: %v", stop)
	}
}

func TestAdmitSaysWhatIsWrong(t *testing.T) {
	const at = "/plan/steps/0/args"
	tests := map[string]struct {
		args string
		want []string
	}{
		"missing": {`{}`, []string{at + "/n tool_bad_args:look"}},
		"unknown, missing, types": {`{"x":1,"N":1,"id":null,"tags":7}`, []string{
			at + "/N tool_bad_args:look ?n " + at + "/n<" + at + "/N", at + "/x tool_bad_args:look", at + "/n tool_bad_args:look", at + "/id tool_bad_args:look", at + "/tags tool_bad_args:look"}},
		"sure repairs": {`{"n":"42","id":42}`, []string{at + "/n tool_bad_args:look " + at + "/n=42", at + "/id tool_bad_args:look " + at + `/id="42"`}},
		"a fraction":   {`{"n":1.5}`, []string{at + "/n tool_bad_args:look"}},
		"true":         {`{"n":true}`, []string{at + "/n tool_bad_args:look"}},
		"beyond":       {`{"n":1e22}`, []string{at + "/n tool_bad_args:look"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config := limits(9, 9, 9)
			config.Catalog = tools(t, nil, "look")
			_, stop := gateway.NewGate(config).Admit(gateway.Proposal{Tool: "look", Args: object(t, tt.args), At: at})
			if stop == nil {
				t.Fatalf("Admit(%s) gave a permit", tt.args)
			}
			if diff := cmp.Diff(tt.want, lines(stop.Problems)); diff != "" {
				t.Errorf("Admit(%s), -want +got:\n%s", tt.args, diff)
			}
		})
	}
	config := limits(9, 9, 9)
	config.Catalog = tools(t, nil, "look", "hidden")
	for tool, want := range map[string]string{
		"other": `[{"pointer":"/tool","reason":"tool_denied:other","got":"other","want":"one of look"}]`,
		"gone":  `[{"pointer":"/tool","reason":"tool_missing:gone","got":"gone","want":"one of look"}]`,
	} {
		_, stop := gateway.NewGate(config).Admit(gateway.Proposal{Tool: tool, ToolAt: "/tool"})
		if got := compact(stop.Problems); got != want {
			t.Errorf("Admit(%s) shows %s, want %s", tool, got, want)
		}
		if stop.Error() != stop.Reason {
			t.Errorf("Error() = %q, want %q", stop.Error(), stop.Reason)
		}
	}
}

// What was judged is what is sent: neither the proposer nor the tool can change it afterwards.
func TestPermitOwnsItsArguments(t *testing.T) {
	var seen []any
	do := func(_ context.Context, c catalog.Call) (any, error) {
		seen = append(seen, c.Args["tags"].([]any)[0])
		c.Args["n"] = 99.0
		c.Args["tags"].([]any)[0] = "changed by the tool"
		return nil, nil
	}
	config := limits(9, 9, 9)
	config.Catalog = tools(t, do, "look")
	gate := gateway.NewGate(config)
	args := map[string]any{"n": 1.0, "tags": []any{"judged"}}
	permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: args})
	if stop != nil {
		t.Fatal(stop)
	}
	args["n"] = 2.0
	args["tags"].([]any)[0] = "changed by the proposer"
	for range 2 {
		permit.Perform(context.Background(), "k")
	}
	if diff := cmp.Diff([]any{"judged", "judged"}, seen); diff != "" {
		t.Errorf("the tool was sent, -want +got:\n%s", diff)
	}
	gate.Note(permit, gateway.Entry{Status: gateway.Finished, Order: 1})
	if diff := cmp.Diff(map[string]any{"n": 1.0, "tags": []any{"judged"}}, gate.Ledger()[0].Args); diff != "" {
		t.Errorf("the ledger holds, -want +got:\n%s", diff)
	}
}
