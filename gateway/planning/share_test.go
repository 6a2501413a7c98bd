package planning_test

import (
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/planning"
)

// A call that the policy puts to a person is admitted by the share of its step where they were shown all of it, and nothing
// changes it; then it spends that share. Else they must be asked.
func TestAdmitShared(t *testing.T) {
	const ref = "$results.l./n"
	type args = map[string]any
	policy := func(c gateway.Case) gateway.Verdict {
		switch n, _ := c.Args["n"].(float64); {
		case n == 13:
			return gateway.Verdict{Reason: "unlucky"}
		case n > 50:
			return gateway.Verdict{Decision: gateway.Revise, Reason: "capped", Args: args{"n": 50.0}}
		}
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	}
	tests := map[string]struct {
		shown, sent args
		approval    string
		step        string
		want        bool
	}{
		"as shown":             {args{"n": 5.0}, args{"n": 5.0}, asked, "p", true},
		"within bounds":        {args{"n": ref}, args{"n": 5.0}, asked, "p", true},
		"without bounds":       {args{"n": 5.0, "to": ref}, args{"n": 5.0, "to": "x"}, asked, "p", false},
		"not as shown":         {args{"n": 5.0}, args{"n": 6.0}, asked, "p", false},
		"another step":         {args{"n": 5.0}, args{"n": 5.0}, asked, "l", false},
		"blocked":              {args{"n": 13.0}, args{"n": 13.0}, asked, "p", false},
		"changed":              {args{"n": 60.0}, args{"n": 60.0}, asked, "p", false},
		"nobody's approval":    {args{"n": 5.0}, args{"n": 5.0}, "", "p", false},
		"beyond what it takes": {args{"n": ref}, args{"n": 101.0}, asked, "p", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := payCatalog(t)
			g := gateway.NewGate(gateway.Config{
				Catalog: c, Execution: c.Names(), Budget: gateway.NoBudget(), Reviewer: gateway.ReviewerFunc(policy),
			})
			plan := planning.ApprovedPlan{Approval: tt.approval, Envelope: payEnvelope(t, tt.shown)}
			p, ok := planning.AdmitShared(g, gateway.Proposal{Tool: "pay", Args: tt.sent}, plan, tt.step)
			if ok != tt.want || p.Valid() != tt.want {
				t.Fatalf("AdmitShared(%v) of %v = %+v, %t; want %t", tt.sent, tt.shown, p, ok, tt.want)
			}
			if ok && (p.Approval() != asked || p.Share() != tt.step || p.Verdict().Decision != gateway.Escalate) {
				t.Errorf("it spends %q of %q, judged %+v", p.Share(), p.Approval(), p.Verdict())
			}
		})
	}
	g := gateway.NewGate(gateway.Config{})
	if p := g.Share(gateway.Permit{}, asked, "p"); p.Valid() || p.Share() != "" || p.Approval() != "" {
		t.Errorf("no permit became %+v", p)
	}
}
