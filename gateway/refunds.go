package gateway

import (
	"maps"
	"math"
	"strconv"

	"patterngate/ijson"
)

// Refunds is the policy of the refund demo (spec/patterns.md section 0, Supervisor): a decision table in one
// place until policies come from files. Its zero value pays nothing.
type Refunds struct {
	AutoLimitUSD  float64 // a refund above it needs a person
	MaxPerRunUSD  float64 // all refunds of a run together
	WindowDays    float64 // a payment older than this is not refunded
	DefaultReason string  // what is written where no reason was given
}

var _ Reviewer = Refunds{}

// Review judges one action. Rules stand in their order; the first that fires decides.
func (p Refunds) Review(c Case) Verdict {
	switch {
	case c.Final():
		return p.final(c)
	case c.Tool == "get_refund_context":
		return Verdict{Decision: Approve, Reason: "read_only_context"}
	case c.Tool == "issue_refund":
		return p.refund(c)
	case c.Tool == "send_refund_email":
		return p.email(c)
	}
	return Verdict{Reason: NoRuleMatched}
}

func (p Refunds) final(c Case) Verdict {
	for _, e := range c.Effects {
		if e.Tool == "get_refund_context" && e.OK() {
			return Verdict{Decision: Approve, Reason: "final_with_context"}
		}
	}
	return Verdict{Reason: "final_requires_context", Need: []string{"get_refund_context"}}
}

func (p Refunds) refund(c Case) Verdict {
	amount, _ := c.Args["amount_usd"].(float64)
	context, known := refundContext(c)
	remaining := p.MaxPerRunUSD - refunded(c, anyUser)
	ofUser := refunded(c, c.Args["user_id"])
	reason, _ := c.Args["reason"].(string)
	switch {
	case !(amount >= 0.01):
		return Verdict{Reason: "invalid_refund_amount"}
	case !known:
		return Verdict{Reason: "refund_requires_context", Need: []string{"get_refund_context"}}
	case !(context.days <= p.WindowDays):
		return Verdict{Reason: "refund_window_expired"}
	case !(remaining > 0):
		return Verdict{Reason: "refund_budget_exhausted"}
	case ofUser > 0 && ofUser+amount > context.lastCharge:
		return Verdict{Reason: "refund_exceeds_last_charge"}
	case amount > remaining:
		return revise(c, "cap_to_remaining_run_budget", "amount_usd", Cents(remaining))
	case ijson.Blank(reason):
		return revise(c, "refund_reason_required", "reason", p.DefaultReason)
	case amount > p.AutoLimitUSD:
		return Verdict{Decision: Escalate, Reason: "high_refund_requires_human"}
	}
	return Verdict{Decision: Approve, Reason: "refund_within_auto_limit"}
}

// email approves a mail about a refund that was paid: the same user, exactly that amount.
func (p Refunds) email(c Case) Verdict {
	amount, _ := c.Args["amount_usd"].(float64)
	for _, e := range c.Effects {
		paid, user, ok := paidRefund(e)
		if ok && e.OK() && ijson.Equal(user, c.Args["user_id"]) && paid == Cents(amount) {
			return Verdict{Decision: Approve, Reason: "email_after_refund"}
		}
	}
	return Verdict{Reason: "email_before_refund", Need: []string{"issue_refund"}}
}

func revise(c Case, reason, arg string, v any) Verdict {
	args := maps.Clone(c.Args)
	args[arg] = v
	return Verdict{Decision: Revise, Reason: reason, Args: args}
}

// anyUser matches every user in refunded.
var anyUser any = missing{}

// refunded sums what was paid, or may have been, to a user in this run.
func refunded(c Case, user any) float64 {
	total := 0.0
	for _, e := range c.Effects {
		paid, to, ok := paidRefund(e)
		if ok && e.Counts() && (user == anyUser || ijson.Equal(to, user)) {
			total += paid
		}
	}
	return total
}

// paidRefund reads a refund off the ledger: what the tool says it paid, else what it was told to pay.
func paidRefund(e Entry) (amount float64, user any, ok bool) {
	if e.Tool != "issue_refund" {
		return 0, nil, false
	}
	amount, _ = e.Args["amount_usd"].(float64)
	observation, _ := e.Observation.(map[string]any)
	refund, _ := observation["refund"].(map[string]any)
	if paid, there := refund["amount_usd"].(float64); there {
		amount = paid
	}
	return Cents(amount), e.Args["user_id"], true
}

type customer struct{ lastCharge, days float64 }

// refundContext is what the newest successful look-up of this user said.
func refundContext(c Case) (customer, bool) {
	for i := len(c.Effects) - 1; i >= 0; i-- {
		e := c.Effects[i]
		if e.Tool != "get_refund_context" || !e.OK() || !ijson.Equal(e.Args["user_id"], c.Args["user_id"]) {
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

// Cents rounds an amount to cents as decimal text is rounded (spec/patterns.md section 1).
func Cents(amount float64) float64 {
	if math.IsNaN(amount) || math.IsInf(amount, 0) {
		return amount
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(amount, 'f', 2, 64), 64)
	return v
}
