package policy_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// refundTools are the three of the demo.
func refundTools(t testing.TB) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// demoRefunds is the refund policy of the demo as a file.
func demoRefunds(t testing.TB, params map[string]any) *policy.Policy {
	t.Helper()
	names := []string{"get_refund_context", "issue_refund", "send_refund_email"}
	return made(t, sourceFile(t, "demo_refunds", "testdata/demo_refunds.json"), policy.Reach{
		Catalog: refundTools(t), Alone: names,
		Patterns: []policy.Reached{{Name: "supervised_refund", Kind: gateway.Supervisor, Tools: names, Params: params}},
	})
}

// TestDemoRefundRows runs the rows of the demo's policy.
func TestDemoRefundRows(t *testing.T) {
	p := demoRefunds(t, nil)
	rows := sourceFile(t, "demo_refunds", "testdata/demo_refunds.json").Tests
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if r := p.Test(row); !r.Passed || r.Err != nil {
			t.Errorf("%s: %s %v", row.Name, r.Differ, r.Err)
		}
	}
}

// TestDemoRefunds compares the file with the Go code that it stands for, whole reviews over thousands of cases.
func TestDemoRefunds(t *testing.T) {
	tools := refundTools(t)
	limits := []Refunds{{AutoLimitUSD: 1000, MaxPerRunUSD: 2000, WindowDays: 14}, {AutoLimitUSD: 0.3, MaxPerRunUSD: 0.7, WindowDays: 0}, {AutoLimitUSD: 300, MaxPerRunUSD: 250.5, WindowDays: 30}}
	var judges []*policy.Judge
	for _, l := range limits {
		judges = append(judges, demoRefunds(t, map[string]any{
			"auto_refund_limit_usd": l.AutoLimitUSD, "max_refund_per_run_usd": l.MaxPerRunUSD, "refund_window_days": l.WindowDays,
		}).For("supervised_refund"))
	}
	met := map[string]int{}
	same := func(t rapid.TB, which int, c gateway.Case, person bool) {
		tool, _ := tools.Tool(c.Tool)
		old, file := gateway.JudgeAlone(limits[which], tool, c, person), gateway.JudgeAlone(judges[which], tool, c, person)
		if got, want := ruled(file), ruled(old); got != want {
			t.Fatalf("%s %s after %v under %+v:\n got %s\nwant %s", c.Tool, jsonOf(c.Args), c.Effects, limits[which], got, want)
		}
		met[old.Reason]++
		for _, r := range old.Revisions {
			met[r]++
		}
	}
	for _, c := range refundCases() {
		same(t, 0, c, false)
		same(t, 0, c, true)
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			same(t, rapid.IntRange(0, len(limits)-1).Draw(t, "limits"), refundCase(t), rapid.Bool().Draw(t, "person"))
		}
	})
	for _, reason := range []string{
		"read_only_context", "invalid_refund_amount", "refund_requires_context", "refund_window_expired", "refund_budget_exhausted", "refund_exceeds_last_charge",
		"cap_to_remaining_run_budget", "refund_reason_required", "high_refund_requires_human", "refund_within_auto_limit", "email_before_refund",
		"email_after_refund", "final_requires_context", "final_with_context", "revise_not_convergent",
	} {
		if met[reason] == 0 {
			t.Errorf("no case came to %s, so that nothing is said about it (%v)", reason, met)
		}
	}
}

// refundCases are those that are seldom drawn.
func refundCases() []gateway.Case {
	looked := func(charge float64) gateway.Entry {
		return done("get_refund_context", map[string]any{"user_id": 42.0}, map[string]any{"billing": map[string]any{"last_charge_usd": charge, "days_since_payment": 10.0}})
	}
	paid := func(user, amount float64) gateway.Entry {
		return done("issue_refund", map[string]any{"user_id": user, "amount_usd": amount}, map[string]any{"status": "ok", "refund": map[string]any{"amount_usd": amount}})
	}
	call := func(tool string, amount float64, before ...gateway.Entry) gateway.Case {
		return gateway.Case{Tool: tool, Args: map[string]any{"user_id": 42.0, "amount_usd": amount, "reason": "r"}, Effects: before}
	}
	mail := call("send_refund_email", 49, paid(42, 49))
	mail.Args = map[string]any{"user_id": 42.0, "amount_usd": 49.001, "message": "m"}
	return []gateway.Case{
		call("issue_refund", 1871.89, looked(9000), paid(7, 128.11)), call("issue_refund", 0.01, looked(9000), paid(7, 1999.99)),
		call("issue_refund", 2500, looked(9000)), call("issue_refund", 1200, looked(1200)), call("issue_refund", 0.2, looked(0.3), paid(42, 0.1)),
		call("issue_refund", 1, looked(1200), paid(7, 2000)), call("issue_refund", 10, looked(1200)), call("issue_refund", 400.01, looked(1200), paid(42, 800)), mail,
	}
}

func ruled(r gateway.Ruling) string {
	return fmt.Sprintf("%s %s by %s, %v, %s, need %v", r.Decision, r.Reason, r.Rule, r.Revisions, jsonOf(r.Args), r.Need)
}

// amounts are drawn from few, so that they meet.
func amount(t *rapid.T) float64 {
	if rapid.IntRange(0, 3).Draw(t, "which") == 0 {
		return float64(rapid.IntRange(-5, 300_000).Draw(t, "thousandths")) / 1000
	}
	return rapid.SampledFrom([]float64{0, 0.009, 0.01, 0.1, 0.2, 0.3, 2.675, 49, 128.11, 1000, 1000.01, 1200, 1871.89, 1999.99, 2000, 2500}).Draw(t, "amount")
}

func refundCase(t *rapid.T) gateway.Case {
	user := func() float64 { return float64(rapid.SampledFrom([]int{42, 42, 7}).Draw(t, "user")) }
	c := gateway.Case{Tool: rapid.SampledFrom([]string{"issue_refund", "issue_refund", "issue_refund", "send_refund_email", "get_refund_context", ""}).Draw(t, "tool")}
	switch c.Tool {
	case "issue_refund":
		c.Args = map[string]any{"user_id": user(), "amount_usd": amount(t)}
		if reason := rapid.SampledFrom([]string{"none", "", " \u00a0\u2003", "\x1c\u3000\u0085", "\u200b", "late", "late", "late", "late"}).Draw(t, "reason"); reason != "none" {
			c.Args["reason"] = reason
		}
	case "send_refund_email":
		c.Args = map[string]any{"user_id": user(), "amount_usd": amount(t), "message": "m"}
	case "get_refund_context":
		c.Args = map[string]any{"user_id": user()}
	default:
		c.Answer = "done"
	}
	for range rapid.IntRange(0, 5).Draw(t, "effects") {
		c.Effects = append(c.Effects, refundEffect(t, user()))
	}
	return c
}

func refundEffect(t *rapid.T, user float64) gateway.Entry {
	e := gateway.Entry{Effect: catalog.Write, Tool: rapid.SampledFrom([]string{"get_refund_context", "get_refund_context", "issue_refund", "issue_refund", "send_refund_email"}).Draw(t, "effect")}
	e.Status = rapid.SampledFrom([]gateway.EffectStatus{gateway.Finished, gateway.Finished, gateway.Finished, gateway.Reserved, gateway.Failed, gateway.InDoubt}).Draw(t, "status")
	e.Duplicate = rapid.IntRange(0, 9).Draw(t, "duplicate") == 0
	e.Args = map[string]any{"user_id": user}
	if e.Tool != "get_refund_context" {
		e.Args["amount_usd"] = max(0.01, amount(t))
	}
	if e.Status != gateway.Finished && rapid.Bool().Draw(t, "nothing said") {
		return e
	}
	billing := map[string]any{"plan": "p", "currency": "USD", "last_charge_usd": amount(t) * 2, "days_since_payment": float64(rapid.SampledFrom([]int{0, 10, 14, 15}).Draw(t, "days"))}
	refund := map[string]any{"user_id": user, "currency": "USD", "amount_usd": amount(t), "reason": "r", "transaction_id": "x"}
	if asked, _ := e.Args["amount_usd"].(float64); rapid.IntRange(0, 2).Draw(t, "as asked") > 0 {
		refund["amount_usd"] = asked
	}
	observation := map[string]any{"status": "ok"}
	switch {
	case rapid.IntRange(0, 5).Draw(t, "error") == 0:
		observation = map[string]any{"error": "no"}
	case e.Tool == "get_refund_context":
		observation = map[string]any{"billing": billing}
	case rapid.IntRange(0, 5).Draw(t, "silent") > 0:
		observation["refund"] = refund
	}
	e.Observation = observation
	return e
}
