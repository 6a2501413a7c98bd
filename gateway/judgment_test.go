package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
	"patterngate/ijson"
)

// What stands in the record about a permitted call: who let it through, by which rule, after how many passes.
func TestPermitCarriesItsVerdict(t *testing.T) {
	policy := refunds.Defaults.Judge()
	named := `,"policy":"` + policy.Hash() + `",`
	refund := func(amount float64, reason any) map[string]any {
		args := map[string]any{"user_id": 42.0, "amount_usd": amount}
		if reason != nil {
			args["reason"] = reason
		}
		return args
	}
	tests := map[string]struct {
		policy gateway.Reviewer
		args   map[string]any
		person bool
		want   string
	}{
		"no policy": {nil, refund(10, "r"), false, `{"decision":"approve","reason":"allowlisted"}`},
		"approved":  {policy, refund(10, "r"), false, `{"decision":"approve","passes":1` + named + `"reason":"refund_within_auto_limit","rule":"refund_within_auto_limit"}`},
		"revised": {policy, refund(10, nil), false, `{"decision":"revise","passes":2` + named +
			`"reason":"refund_reason_required","revisions":["refund_reason_required"],"rule":"refund_reason_required"}`},
		"approved by a person": {policy, refund(1200, "r"), true, `{"decision":"escalate","passes":1` + named + `"reason":"high_refund_requires_human","rule":"high_refund_requires_human"}`},
		"lowered by a person":  {policy, refund(800, "r"), true, `{"decision":"approve","passes":1` + named + `"reason":"refund_within_auto_limit","rule":"refund_within_auto_limit"}`},
		"a policy without a hash": {gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"} }), refund(1, "r"), false,
			`{"decision":"approve","passes":1,"reason":"fine","rule":"fine"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := demoCatalog(t)
			gate := gateway.NewGate(gateway.Config{Catalog: c, Execution: c.Names(), Budget: gateway.NoBudget(), Reviewer: tt.policy})
			look, stop := gate.AdmitRuled(gateway.Proposal{Tool: "get_refund_context", Args: map[string]any{"user_id": 42.0}},
				gate.Review(gateway.Case{Tool: "get_refund_context", Args: map[string]any{"user_id": 42.0}}))
			if stop != nil {
				t.Fatal(stop)
			}
			gate.Note(look, gateway.Entry{Key: "k", Status: gateway.Finished, Observation: looked(42, 1200, 10).Observation, Order: 1})
			review := gate.Review
			if tt.person {
				review = func(c gateway.Case) gateway.Ruling { return gate.ReviewApproved(c, "") }
			}
			ruling := review(gateway.Case{Tool: "issue_refund", Args: tt.args})
			permit, stop := gate.AdmitRuled(gateway.Proposal{Tool: "issue_refund", Args: ruling.Args}, ruling)
			if stop != nil {
				t.Fatal(stop)
			}
			verdict := permit.Verdict()
			if asked := verdict.Decision != gateway.Approve; asked != (verdict.Text != "") || asked && name == "approved by a person" && len(verdict.Values) == 0 {
				t.Errorf("a rule that %ss says %q by %v", verdict.Decision, verdict.Text, verdict.Values)
			}
			verdict.Text, verdict.Values = "", nil // the policy's own words
			if got := string(ijson.Canonical(verdict.Value())); got != tt.want {
				t.Errorf("verdict\n%s, want\n%s", got, tt.want)
			}
			if len(ruling.Revisions) > 0 {
				return // Admit changes nothing
			}
			if permit, stop := gate.Admit(gateway.Proposal{Tool: "get_refund_context", Args: map[string]any{"user_id": 42.0}}); stop != nil || permit.Verdict().Decision != gateway.Approve {
				t.Errorf("Admit: %v, %+v", stop, permit.Verdict())
			}
		})
	}
	if v := (gateway.Permit{}).Verdict(); v.Decision != gateway.Block || string(ijson.Canonical(v.Value())) != `{"decision":"block"}` {
		t.Errorf("the zero permit's verdict is %v, want block", v.Value())
	}
}

// The policy's hash is the one that approvals are bound to (spec/surface.md section 8): other figures, another hash.
func TestPolicyHash(t *testing.T) {
	policy := refunds.Defaults.Judge()
	if got := gateway.PolicyHash(policy); len(got) != len("sha256:")+64 || got != refunds.Defaults.Judge().Hash() {
		t.Errorf("PolicyHash = %s, and made again %s", got, refunds.Defaults.Judge().Hash())
	}
	seen := map[string]bool{}
	for _, l := range []refunds.Limits{refunds.Defaults, {AutoUSD: 1001, PerRunUSD: 2000, Days: 14}, {AutoUSD: 1000, PerRunUSD: 2001, Days: 14}, {AutoUSD: 1000, PerRunUSD: 2000, Days: 15}, {}} {
		if hash := l.Judge().Hash(); seen[hash] {
			t.Errorf("%+v has the hash of another policy", l)
		} else {
			seen[hash] = true
		}
	}
	if got := gateway.PolicyHash(nil); got != "" {
		t.Errorf("no policy has the hash %s", got)
	}
}

// ledgered is a catalog with a payment that can be looked up.
func ledgered(t *testing.T, change func(*catalog.Reconcile)) *catalog.Catalog {
	t.Helper()
	input := func(text string) *catalog.Schema {
		s, err := catalog.CompileSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	do := func(_ context.Context, c catalog.Call) (any, error) { return c.Args, nil }
	r := &catalog.Reconcile{Tool: "paid", Settle: time.Minute,
		Args:     catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey, "to": catalog.ArgOf + "to", "limit": 1.0}),
		Happened: func(_ catalog.Doubt, v any) (bool, bool) { return v.(bool), true },
	}
	if change != nil {
		change(r)
	}
	c, err := catalog.New(
		catalog.Tool{Name: "pay", Effect: catalog.Write, Do: do, Reconcile: r, Output: input(`{"type":"object"}`),
			Input: input(`{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`)},
		catalog.Tool{Name: "paid", Effect: catalog.Read, Do: do,
			Input: input(`{"type":"object","properties":{"key":{"type":"string"},"to":{"type":"string"},"limit":{"type":"integer"}},"required":["key"],"additionalProperties":false}`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A look-up is permitted by the declaration alone, counts against nothing, and asks for the act by its key.
func TestReconcile(t *testing.T) {
	c := ledgered(t, nil)
	budget := gateway.NoBudget()
	budget.MaxSameCall = 1
	gate := gateway.NewGate(gateway.Config{Catalog: c, Execution: []string{"pay"}, Budget: budget, Calls: []gateway.CallBudget{{Limit: 1, Reason: "max_tool_calls"}}})
	pay, stop := gate.Admit(gateway.Proposal{Tool: "pay", Args: map[string]any{"to": "Anna"}})
	if stop != nil {
		t.Fatal(stop)
	}
	for range 3 {
		p, ok := gate.Reconcile(pay, catalog.Doubt{Key: "run_1/pay#1", Args: pay.Args()})
		if !ok || !p.LooksUp() || pay.LooksUp() || p.Tool() != "paid" || p.Effect() != catalog.Read || p.Verdict().Reason != gateway.Reconciling || p.Verdict().Decision != gateway.Approve {
			t.Fatalf("Reconcile = %v, %s, %+v", ok, p.Tool(), p.Verdict())
		}
		if got := string(ijson.Canonical(p.Args())); got != `{"key":"run_1/pay#1","limit":1,"to":"Anna"}` {
			t.Errorf("asked for %s", got)
		}
	}
	if gate.Asked() != 1 {
		t.Errorf("%d calls count, want 1", gate.Asked())
	}
	if happened, known := pay.Happened(catalog.Doubt{}, true); !happened || !known || pay.Settle() != time.Minute {
		t.Errorf("Happened(true) = %v, %v", happened, known)
	}
	if happened, known := pay.Happened(catalog.Doubt{}, "no bool"); happened || known {
		t.Errorf("words that break tell %v, %v, want nothing", happened, known)
	}
	if done := pay.Judge("text"); done.State != gateway.DoneBadResult {
		t.Errorf("a text is judged %s, want bad_result", done.State)
	}
	if done := pay.Judge(map[string]any{"n": strings.Repeat("x", 70<<10)}); done.State != gateway.DoneOK || len(ijson.Canonical(done.Value)) > 64<<10 {
		t.Errorf("a large result is judged %s", done.State)
	}
}

func TestNothingToReconcileBy(t *testing.T) {
	gate := gateway.NewGate(gateway.Config{Catalog: demoCatalog(t), Execution: []string{"issue_refund"}, Budget: gateway.NoBudget()})
	refund, stop := gate.Admit(gateway.Proposal{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": 1.0, "reason": "r"}})
	if stop != nil {
		t.Fatal(stop)
	}
	other := ledgered(t, func(r *catalog.Reconcile) { r.Args = catalog.ArgsFrom(map[string]any{"to": catalog.ArgOf + "to"}) }) // the key is missing
	odd := gateway.NewGate(gateway.Config{Catalog: other, Execution: []string{"pay"}, Budget: gateway.NoBudget()})
	pay, stop := odd.Admit(gateway.Proposal{Tool: "pay", Args: map[string]any{"to": "Anna"}})
	if stop != nil {
		t.Fatal(stop)
	}
	elsewhere := gateway.NewGate(gateway.Config{Catalog: demoCatalog(t)})
	for name, try := range map[string]func() (gateway.Permit, bool){
		"no permit":                     func() (gateway.Permit, bool) { return gate.Reconcile(gateway.Permit{}, catalog.Doubt{}) },
		"nothing declared":              func() (gateway.Permit, bool) { return gate.Reconcile(refund, catalog.Doubt{}) },
		"arguments that it cannot take": func() (gateway.Permit, bool) { return odd.Reconcile(pay, catalog.Doubt{}) },
		"a tool that is not there":      func() (gateway.Permit, bool) { return elsewhere.Reconcile(pay, catalog.Doubt{Key: "k"}) },
	} {
		if p, ok := try(); ok || p.Valid() {
			t.Errorf("%s: permitted %s", name, p.Tool())
		}
	}
	if happened, known := (gateway.Permit{}).Happened(catalog.Doubt{}, true); happened || known || (gateway.Permit{}).Judge(nil).State != gateway.DoneRefused || refund.Settle() != 0 {
		t.Error("the zero permit knows something")
	}
}

// A call that was in doubt and is now known has one entry, and a ruling from before counts no more.
func TestNoteSettles(t *testing.T) {
	gate := gateway.NewGate(gateway.Config{Catalog: demoCatalog(t), Execution: []string{"issue_refund", "get_refund_context"}, Budget: gateway.NoBudget()})
	refund, stop := gate.Admit(gateway.Proposal{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": 1.0, "reason": "r"}})
	if stop != nil {
		t.Fatal(stop)
	}
	gate.Note(refund, gateway.Entry{Key: "issue_refund#1", Status: gateway.InDoubt, Order: 2})
	before := gate.Ledger()
	ruling := gate.Review(gateway.Case{Tool: "get_refund_context", Args: map[string]any{"user_id": 42.0}})
	gate.Note(refund, gateway.Entry{Key: "issue_refund#1", Status: gateway.Finished, Order: 2})
	if l := gate.Ledger(); len(l) != 1 || l[0].Status != gateway.Finished || before[0].Status != gateway.InDoubt {
		t.Errorf("ledger %+v, before %+v", l, before)
	}
	if _, stop := gate.AdmitRuled(gateway.Proposal{Tool: "get_refund_context", Args: map[string]any{"user_id": 42.0}}, ruling); stop == nil {
		t.Error("a ruling from before the settlement admits a call")
	}
	gate.Note(refund, gateway.Entry{Key: "issue_refund#2", Status: gateway.Finished, Order: 2})
	if l := gate.Ledger(); len(l) != 2 {
		t.Errorf("another call took the place of the first: %+v", l)
	}
}

// TestJudgmentOfWhatWasChanged keeps what was proposed beside the verdict of a call that the policy changed and let through.
func TestJudgmentOfWhatWasChanged(t *testing.T) {
	c := demoCatalog(t)
	policy := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Args["user_id"] == 7.0 {
			return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
		}
		return gateway.Verdict{Decision: gateway.Revise, Reason: "one", Args: map[string]any{"user_id": 7.0}}
	})
	for proposed, want := range map[float64]string{
		42: `{"decision":"revise","passes":2,"proposed":{"args":{"user_id":42}},"reason":"one","revisions":["one"],"rule":"one"}`,
		7:  `{"decision":"approve","passes":1,"reason":"fine","rule":"fine"}`,
	} {
		gate := gateway.NewGate(gateway.Config{Catalog: c, Execution: c.Names(), Budget: gateway.NoBudget(), Reviewer: policy})
		permit, stop := gate.Admit(gateway.Proposal{Tool: "get_refund_context", Args: map[string]any{"user_id": proposed}})
		if stop != nil {
			t.Fatal(stop)
		}
		if got := string(ijson.Canonical(permit.Verdict().Value())); got != want {
			t.Errorf("of %v\n got %s\nwant %s", proposed, got, want)
		}
	}
	large := gateway.Judgment{Decision: gateway.Revise, Proposed: map[string]any{"text": strings.Repeat("x", 20_000)}}.Value()
	if got := string(ijson.Canonical(large["proposed"])); got != `{"bytes":20020,"head":"","truncated":true}` {
		t.Errorf("a large one: %.200s", got)
	}
}
