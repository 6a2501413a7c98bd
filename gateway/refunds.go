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
	AutoLimitUSD float64 // a refund above it needs a person
	MaxPerRunUSD float64 // all refunds of a run together
	WindowDays   float64 // a payment older than this is not refunded
}

// refundReason is written where a refund has none (spec/patterns.md section 5).
const refundReason = "Customer requested refund within policy review"

var _ Foreteller = Refunds{}

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

// Asks implements [Foreteller]: a person is asked about refunds above the automatic limit, and a run's sum caps a refund
// before that.
func (p Refunds) Asks(tool string) Asks {
	switch {
	case tool != "issue_refund" || p.MaxPerRunUSD <= p.AutoLimitUSD:
		return AsksNever
	case !(p.AutoLimitUSD >= 0.01): // the least refund
		return AsksAlways
	}
	return AsksMaybe
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
	ofRun, ofUser := refunded(c)
	remaining := p.MaxPerRunUSD - ofRun
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
		return revise(c, "refund_reason_required", "reason", refundReason)
	case !(amount <= p.AutoLimitUSD):
		return Verdict{Decision: Escalate, Reason: "high_refund_requires_human"}
	}
	return Verdict{Decision: Approve, Reason: "refund_within_auto_limit"}
}

// email approves a mail about a refund that was paid: the same user, exactly that amount.
func (p Refunds) email(c Case) Verdict {
	amount, _ := c.Args["amount_usd"].(float64)
	for _, e := range c.Effects {
		if e.Tool == "issue_refund" && e.OK() && sameUser(e, c) && paid(e) == Cents(amount) {
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

// refunded sums what was paid, or may have been, in this run and to the user of the case. Sums are those of doubles and
// not of cents: the contract compares what they come to (spec/patterns.md section 5).
func refunded(c Case) (ofRun, ofUser float64) {
	for _, e := range c.Effects {
		if e.Tool != "issue_refund" || !e.Counts() {
			continue
		}
		asked, _ := e.Args["amount_usd"].(float64)
		amount := max(paid(e), Cents(asked)) // an answer that says less than was asked does not make room for more
		ofRun += amount
		if sameUser(e, c) {
			ofUser += amount
		}
	}
	return ofRun, ofUser
}

// paid is what a refund says that it paid, else what it was told to pay.
func paid(e Entry) float64 {
	amount, _ := e.Args["amount_usd"].(float64)
	observation, _ := e.Observation.(map[string]any)
	refund, _ := observation["refund"].(map[string]any)
	if said, there := refund["amount_usd"].(float64); there {
		amount = said
	}
	return Cents(amount)
}

func sameUser(e Entry, c Case) bool { return ijson.Equal(e.Args["user_id"], c.Args["user_id"]) }

type customer struct{ lastCharge, days float64 }

// refundContext is what the newest successful look-up of this user said.
func refundContext(c Case) (customer, bool) {
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

// Cents rounds an amount to cents as decimal text is rounded (spec/patterns.md section 1).
func Cents(amount float64) float64 {
	if math.IsNaN(amount) || math.IsInf(amount, 0) {
		return amount
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(amount, 'f', 2, 64), 64)
	return v
}
