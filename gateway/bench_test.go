package gateway_test

import (
	"testing"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

// sixSteps is a plan as models write it.
const sixSteps = `{
  "kind": "plan",
  "steps": [
    {"id": "step_1", "title": "Find out who asks for the report", "tool": "get_manager_profile", "args": {"manager_id": 42}},
    {"id": "step_2", "title": "Get the sales of the month", "tool": "fetch_sales_data", "args": {"month": "2026-04"}},
    {"id": "step_3", "title": "Get the refunds of the month", "tool": "fetch_refund_data", "args": {"month": "2026-04"}},
    {"id": "step_4", "title": "Compute the figures of the month", "tool": "calculate_monthly_kpis", "args": {"month": "2026-04"}},
    {"id": "step_5", "title": "Look for what may go wrong", "tool": "detect_risk_signals", "args": {"month": "2026-04"}},
    {"id": "step_6", "title": "Compare with the month before", "tool": "calculate_monthly_kpis", "args": {"month": "2026-03"}}
  ]
}`

// BenchmarkParseAdmitHash is all that the gate does to a plan of six steps: decode, judge, admit each call, hash it.
func BenchmarkParseAdmitHash(b *testing.B) {
	config := gateway.Config{
		Family: gateway.ToolFamily, Catalog: demoCatalog(b), Execution: demo.DecompositionTools, Budget: gateway.DefaultBudget(gateway.TaskDecomposition),
		Calls: []gateway.CallBudget{{Limit: 8, Reason: "max_tool_calls"}},
	}
	rules := gateway.PlanRules{Min: 3, Max: 6, Allowed: demo.DecompositionTools}
	b.ReportAllocs()
	b.SetBytes(int64(len(sixSteps)))
	for b.Loop() {
		plan, refusal := gateway.ParsePlan(document.ReadReply(sixSteps), rules)
		if refusal != nil {
			b.Fatal(refusal)
		}
		gate := gateway.NewGate(config)
		for _, step := range plan.Steps {
			permit, stop := gate.Admit(gateway.Proposal{Tool: step.Tool, Args: step.Args, Attempt: 1})
			if stop != nil || permit.Hash() == "" {
				b.Fatal(stop)
			}
		}
	}
}

func BenchmarkParseAction(b *testing.B) {
	rules := actionRules(b)
	const reply = `{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"Annual plan, asked within a week"}}`
	b.ReportAllocs()
	for b.Loop() {
		if _, refusal := gateway.ParseAction(document.ReadReply(reply), rules); refusal != nil {
			b.Fatal(refusal)
		}
	}
}

// BenchmarkReview is the refund policy to its fixed point, a revision included.
func BenchmarkReview(b *testing.B) {
	policy := policy
	gate := gateway.NewGate(gateway.Config{Reviewer: gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		c.Effects = []gateway.Entry{looked(42, 1200, 10)}
		return policy.Review(c)
	})})
	c := refund(42, 900, nil)
	b.ReportAllocs()
	for b.Loop() {
		if r := gate.Review(c); r.Decision != gateway.Approve {
			b.Fatal(r)
		}
	}
}

func BenchmarkRefuseHostilePlan(b *testing.B) {
	members := make(map[string]any, 10000)
	for i := range 10000 {
		members[string(ijson.Canonical(float64(i)))+"_steps"] = float64(i)
	}
	reply := string(ijson.Canonical(members))
	b.SetBytes(int64(len(reply)))
	for b.Loop() {
		if _, refusal := gateway.ParsePlan(document.ReadReply(reply), planRules); refusal == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkLookupStopReason(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := stopreason.Lookup("invalid_action:bad_arg_type:get_refund_context:user_id"); !ok {
			b.Fatal("not found")
		}
	}
}
