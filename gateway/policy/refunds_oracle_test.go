package policy_test

import (
	"maps"

	"patterngate/gateway"
	"patterngate/ijson"
)

// Refunds is the policy of the refund demo (spec/patterns.md section 0, Supervisor) as it was written in Go before policies came
// from files: the oracle of the embedded one. Its zero value pays nothing.
type Refunds struct {
	AutoLimitUSD float64 // a refund above it needs a person
	MaxPerRunUSD float64 // all refunds of a run together
	WindowDays   float64 // a payment older than this is not refunded
}

// refundReason is written where a refund has none (spec/patterns.md section 5).
const refundReason = "Customer requested refund within policy review"

// Review judges one action. Rules stand in their order; the first that fires decides.
func (p Refunds) Review(c gateway.Case) gateway.Verdict {
	switch {
	case c.Final():
		return p.final(c)
	case c.Tool == "get_refund_context":
		return gateway.Verdict{Decision: gateway.Approve, Reason: "read_only_context"}
	case c.Tool == "issue_refund":
		return p.refund(c)
	case c.Tool == "send_refund_email":
		return p.email(c)
	}
	return gateway.Verdict{Reason: gateway.NoRuleMatched}
}

func (p Refunds) final(c gateway.Case) gateway.Verdict {
	for _, e := range c.Effects {
		if e.Tool == "get_refund_context" && e.OK() {
			return gateway.Verdict{Decision: gateway.Approve, Reason: "final_with_context"}
		}
	}
	return gateway.Verdict{Reason: "final_requires_context", Need: []string{"get_refund_context"}}
}

func (p Refunds) refund(c gateway.Case) gateway.Verdict {
	amount, _ := c.Args["amount_usd"].(float64)
	context, known := refundContext(c)
	ofRun, ofUser := refunded(c)
	remaining := p.MaxPerRunUSD - ofRun
	reason, _ := c.Args["reason"].(string)
	switch {
	case !(amount >= 0.01):
		return gateway.Verdict{Reason: "invalid_refund_amount"}
	case !known:
		return gateway.Verdict{Reason: "refund_requires_context", Need: []string{"get_refund_context"}}
	case !(context.days <= p.WindowDays):
		return gateway.Verdict{Reason: "refund_window_expired"}
	case !(remaining > 0):
		return gateway.Verdict{Reason: "refund_budget_exhausted"}
	case ofUser > 0 && ofUser+amount > context.lastCharge:
		return gateway.Verdict{Reason: "refund_exceeds_last_charge"}
	case amount > remaining:
		return revise(c, "cap_to_remaining_run_budget", "amount_usd", gateway.Cents(remaining))
	case ijson.Blank(reason):
		return revise(c, "refund_reason_required", "reason", refundReason)
	case !(amount <= p.AutoLimitUSD):
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "high_refund_requires_human"}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "refund_within_auto_limit"}
}

// email approves a mail about a refund that was paid: the same user, exactly that amount.
func (p Refunds) email(c gateway.Case) gateway.Verdict {
	amount, _ := c.Args["amount_usd"].(float64)
	for _, e := range c.Effects {
		if e.Tool == "issue_refund" && e.OK() && sameUser(e, c) && paid(e) == gateway.Cents(amount) {
			return gateway.Verdict{Decision: gateway.Approve, Reason: "email_after_refund"}
		}
	}
	return gateway.Verdict{Reason: "email_before_refund", Need: []string{"issue_refund"}}
}

func revise(c gateway.Case, reason, arg string, v any) gateway.Verdict {
	args := maps.Clone(c.Args)
	args[arg] = v
	return gateway.Verdict{Decision: gateway.Revise, Reason: reason, Args: args}
}

// refunded sums what was paid, or may have been, in this run and to the user of the case. Sums are those of doubles and
// not of cents: the contract compares what they come to (spec/patterns.md section 5).
func refunded(c gateway.Case) (ofRun, ofUser float64) {
	for _, e := range c.Effects {
		if e.Tool != "issue_refund" || !e.Counts() {
			continue
		}
		asked, _ := e.Args["amount_usd"].(float64)
		amount := max(paid(e), gateway.Cents(asked)) // an answer that says less than was asked does not make room for more
		ofRun += amount
		if sameUser(e, c) {
			ofUser += amount
		}
	}
	return ofRun, ofUser
}

// paid is what a refund says that it paid, else what it was told to pay.
func paid(e gateway.Entry) float64 {
	amount, _ := e.Args["amount_usd"].(float64)
	observation, _ := e.Observation.(map[string]any)
	refund, _ := observation["refund"].(map[string]any)
	if said, there := refund["amount_usd"].(float64); there {
		amount = said
	}
	return gateway.Cents(amount)
}

func sameUser(e gateway.Entry, c gateway.Case) bool {
	return ijson.Equal(e.Args["user_id"], c.Args["user_id"])
}

type customer struct{ lastCharge, days float64 }

// refundContext is what the newest successful look-up of this user said.
func refundContext(c gateway.Case) (customer, bool) {
	for i := len(c.Effects) - 1; i >= 0; i-- {
		e := c.Effects[i]
		if e.Tool != "get_refund_context" || !e.OK() || !sameUser(e, c) {
			continue
		}
		observation, _ := e.Observation.(map[string]any)
		billing, _ := observation["billing"].(map[string]any)
		charge, ok1 := billing["last_charge_usd"].(float64)
		days, ok2 := billing["days_since_payment"].(float64)
		return customer{charge, days}, ok1 && ok2
	}
	return customer{}, false
}
