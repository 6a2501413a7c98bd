package gateway

import "testing"

// The refund tools are judged as anywhere else, and what no rule of that policy is for is left to the allowlists.
func TestRefundsAmong(t *testing.T) {
	policy := Refunds{AutoLimitUSD: 1000, MaxPerRunUSD: 2000, WindowDays: 14}
	among := RefundsAmong{policy}
	for name, tt := range map[string]struct {
		c        Case
		decision Decision
		reason   string
	}{
		"a look-up of the report":  {Case{Tool: "fetch_sales_data"}, Approve, Allowlisted},
		"a tool that nobody knows": {Case{Tool: "issue_refunds"}, Approve, Allowlisted},
		"the refund's look-up":     {Case{Tool: "get_refund_context"}, Approve, "read_only_context"},
		"a refund of nothing":      {Case{Tool: "issue_refund"}, Block, "invalid_refund_amount"},
		"a refund out of the blue": {Case{Tool: "issue_refund", Args: map[string]any{"amount_usd": 5.0, "user_id": 42.0}}, Block, "refund_requires_context"},
		"a mail about no refund":   {Case{Tool: "send_refund_email", Args: map[string]any{"amount_usd": 5.0, "user_id": 42.0}}, Block, "email_before_refund"},
	} {
		if got := among.Review(tt.c); got.Decision != tt.decision || got.Reason != tt.reason {
			t.Errorf("%s: Review(%+v) = %v %s, want %v %s", name, tt.c, got.Decision, got.Reason, tt.decision, tt.reason)
		}
	}
	if among.Hash() != policy.Hash() {
		t.Errorf("Hash = %s, want the refund policy's %s", among.Hash(), policy.Hash())
	}
	for tool, want := range map[string]Asks{"issue_refund": AsksMaybe, "fetch_sales_data": AsksNever} {
		if got := AsksBefore(among, tool); got != want {
			t.Errorf("AsksBefore(%s) = %s, want %s", tool, got, want)
		}
	}
	gate := NewGate(Config{Reviewer: among})
	if got := gate.Review(Case{Tool: "fetch_sales_data"}).Judgment(); got.Rule != "" || got.Reason != Allowlisted || got.Decision != Approve {
		t.Errorf("the judgment of a tool without a rule is %+v; want one of the allowlists, by no rule", got)
	}
	for _, tool := range refundTools {
		if v := policy.Review(Case{Tool: tool}); v.Reason == NoRuleMatched || !JudgesRefunds(tool) {
			t.Errorf("the refund policy has no rule for its tool %s: %+v", tool, v)
		}
	}
}
