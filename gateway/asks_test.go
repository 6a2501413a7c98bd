package gateway_test

import (
	"testing"

	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
)

func TestAsksBefore(t *testing.T) {
	tests := map[string]struct {
		policy gateway.Reviewer
		tool   string
		want   gateway.Asks
	}{
		"no policy":                {nil, "issue_refund", gateway.AsksNever},
		"a policy that cannot say": {gateway.ReviewerFunc(policy.Review), "issue_refund", gateway.AsksMaybe},
		"a refund":                 {policy, "issue_refund", gateway.AsksMaybe},
		"a look-up":                {policy, "get_refund_context", gateway.AsksNever},
		"a mail":                   {policy, "send_refund_email", gateway.AsksNever},
		"no rule for it":           {policy, "pay", gateway.AsksNever},
		"nothing without a person": {foretold(gateway.AsksAlways), "issue_refund", gateway.AsksAlways},
		"never a person":           {foretold(gateway.AsksNever), "issue_refund", gateway.AsksNever},
	}
	for name, tt := range tests {
		if got := gateway.AsksBefore(tt.policy, tt.tool); got != tt.want {
			t.Errorf("%s: AsksBefore(%s) = %q, want %q", name, tt.tool, got, tt.want)
		}
	}
}

// foretold is a policy that says beforehand whether it asks.
type foretold gateway.Asks

func (foretold) Review(gateway.Case) gateway.Verdict { return gateway.Verdict{} }

func (f foretold) Asks(string) gateway.Asks { return gateway.Asks(f) }

// What the refund policy says beforehand holds for every call that it then reviews.
func TestRefundsKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		usd := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.001, 0.01, 10, 999.995, 1000, 1000.004, 2000}), rapid.Float64Range(0, 3000))
		p := refunds.Limits{AutoUSD: usd.Draw(t, "limit"), PerRunUSD: usd.Draw(t, "of a run"), Days: 14}.Judge()
		effects := []gateway.Entry{looked(42, 5000, 10)}
		if paid := usd.Draw(t, "paid"); paid > 0 {
			effects = append(effects, refunded(7, paid))
		}
		g := gateway.NewGate(gateway.Config{Reviewer: having(p, effects)})
		r := g.Review(refund(42, usd.Draw(t, "amount"), rapid.SampledFrom([]any{nil, "r"}).Draw(t, "reason")))
		switch asks := p.Asks("issue_refund"); {
		case asks == gateway.AsksNever && r.Decision == gateway.Escalate, asks == gateway.AsksAlways && r.Decision == gateway.Approve:
			t.Fatalf("%+v asks %s, and then: %s (%s)", p, asks, r.Decision, r.Reason)
		}
	})
}

// having reviews as if these calls were made before.
func having(p gateway.Reviewer, effects []gateway.Entry) gateway.Reviewer {
	return gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict { return p.Review(after(c, effects...)) })
}
