package gateway_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/refunds"
)

// policy is the demo's: 1000 without a person, 2000 a run, 14 days.
var policy = refunds.Defaults.Judge()

// looked is a look-up of a user that found that charge, so many days ago.
func looked(user, charge, days float64) gateway.Entry {
	return gateway.Entry{Tool: "get_refund_context", Effect: catalog.Read, Status: gateway.Finished, Args: map[string]any{"user_id": user},
		Observation: map[string]any{"billing": map[string]any{"last_charge_usd": charge, "days_since_payment": days}}}
}

// refunded is a refund that was paid.
func refunded(user, amount float64) gateway.Entry {
	return gateway.Entry{Tool: "issue_refund", Effect: catalog.Write, Status: gateway.Finished, Args: map[string]any{"user_id": user, "amount_usd": amount},
		Observation: map[string]any{"status": "ok", "refund": map[string]any{"user_id": user, "amount_usd": gateway.Cents(amount)}}}
}

// ended is a call that ended otherwise.
func ended(e gateway.Entry, status gateway.EffectStatus, observation any) gateway.Entry {
	e.Status, e.Observation = status, observation
	return e
}

func refund(user, amount float64, reason any) gateway.Case {
	args := map[string]any{"user_id": user, "amount_usd": amount}
	if reason != nil {
		args["reason"] = reason
	}
	return gateway.Case{Tool: "issue_refund", Args: args}
}

func after(c gateway.Case, effects ...gateway.Entry) gateway.Case {
	c.Effects = effects
	return c
}

func said(v gateway.Verdict) string {
	text := v.Decision.String() + " " + v.Reason
	if v.Args != nil {
		text += " " + compact(v.Args)
	}
	if v.Need != nil {
		text += " need " + fmt.Sprint(v.Need)
	}
	return text
}

func TestRefundPolicy(t *testing.T) {
	const (
		amount  = "block invalid_refund_amount"
		context = "block refund_requires_context need [get_refund_context]"
		window  = "block refund_window_expired"
		spent   = "block refund_budget_exhausted"
		charge  = "block refund_exceeds_last_charge"
		person  = "escalate high_refund_requires_human"
		auto    = "approve refund_within_auto_limit"
	)
	anna := looked(42, 1200, 10)
	big := looked(42, 9000, 10)
	tests := map[string]struct {
		c    gateway.Case
		want string
	}{
		"a cent":                        {after(refund(42, 0.01, "r"), anna), auto},
		"under a cent":                  {after(refund(42, 0.009999, "r"), anna), amount},
		"half a cent, which would be 1": {after(refund(42, 0.0099999999, "r"), anna), amount},
		"nothing":                       {after(refund(42, 0, "r"), anna), amount},
		"minus nothing":                 {after(refund(42, math.Copysign(0, -1), "r"), anna), amount},
		"negative":                      {after(refund(42, -5, "r"), anna), amount},
		"not a number":                  {after(refund(42, math.NaN(), "r"), anna), "block policy_error:invalid_refund_amount"},
		"minus infinity":                {after(refund(42, math.Inf(-1), "r"), anna), "block policy_error:invalid_refund_amount"},
		"the amount before the context": {refund(42, 0, "r"), amount},
		"no amount":                     {after(gateway.Case{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0}}, anna), "block policy_error:invalid_refund_amount"},
		"amount as a text":              {after(gateway.Case{Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": "5"}}, anna), "block policy_error:invalid_refund_amount"},

		"nobody looked":             {refund(42, 10, "r"), context},
		"looked at another user":    {after(refund(42, 10, "r"), looked(7, 49, 1)), context},
		"looked in vain":            {after(refund(42, 10, "r"), ended(anna, gateway.Finished, map[string]any{"error": "context_not_found_for_user:42"})), context},
		"look-up failed":            {after(refund(42, 10, "r"), ended(anna, gateway.Failed, nil)), context},
		"look-up hangs":             {after(refund(42, 10, "r"), ended(anna, gateway.Reserved, nil)), context},
		"look-up in doubt":          {after(refund(42, 10, "r"), ended(anna, gateway.InDoubt, anna.Observation)), context},
		"unreadable look-up":        {after(refund(42, 10, "r"), ended(anna, gateway.Finished, map[string]any{"billing": "?"})), context},
		"half a look-up":            {after(refund(42, 10, "r"), ended(anna, gateway.Finished, map[string]any{"billing": map[string]any{"last_charge_usd": 10.0}})), context},
		"a failed one after a good": {after(refund(42, 10, "r"), anna, ended(anna, gateway.Finished, map[string]any{"error": "x"})), auto},
		"another tool's words":      {after(refund(42, 10, "r"), gateway.Entry{Tool: "notes", Status: gateway.Finished, Args: anna.Args, Observation: anna.Observation}), context},
		"the newest counts":         {after(refund(42, 10, "r"), looked(42, 1200, 10), looked(42, 1200, 15)), window},

		"the last day":              {after(refund(42, 10, "r"), looked(42, 1200, 14)), auto},
		"a day late":                {after(refund(42, 10, "r"), looked(42, 1200, 15)), window},
		"an hour late":              {after(refund(42, 10, "r"), looked(42, 1200, 14.01)), window},
		"days that are no number":   {after(refund(42, 10, "r"), looked(42, 1200, math.NaN())), "block policy_error:refund_requires_context"},
		"the window before the sum": {after(refund(7, 10, "r"), looked(7, 49, 35), refunded(42, 2000)), window},

		"all spent":                      {after(refund(42, 10, "r"), big, refunded(42, 2000)), spent},
		"all spent on others":            {after(refund(42, 10, "r"), anna, refunded(7, 2000)), spent},
		"more than all":                  {after(refund(42, 10, "r"), anna, refunded(7, 1999.99), refunded(8, 0.02)), spent},
		"spent before the charge":        {after(refund(42, 5000, "r"), anna, refunded(42, 2000)), spent},
		"what is left, in doubles less":  {after(refund(42, 1871.89, "r"), big, refunded(7, 128.11)), `revise cap_to_remaining_run_budget {"amount_usd":1871.89,"reason":"r","user_id":42}`}, // which changes nothing: blocked
		"more than that":                 {after(refund(42, 1871.9, "r"), big, refunded(7, 128.11)), `revise cap_to_remaining_run_budget {"amount_usd":1871.89,"reason":"r","user_id":42}`},
		"a cent is left, in doubles not": {after(refund(42, 0.01, "r"), anna, refunded(7, 1999.99)), `revise cap_to_remaining_run_budget {"amount_usd":0.01,"reason":"r","user_id":42}`},
		"a dollar is left":               {after(refund(42, 1, "r"), anna, refunded(7, 1999)), auto},
		"exactly what is left":           {after(refund(42, 500, "r"), anna, refunded(7, 1500)), auto},
		"a cent more than is left":       {after(refund(42, 500.01, "r"), anna, refunded(7, 1500)), `revise cap_to_remaining_run_budget {"amount_usd":500,"reason":"r","user_id":42}`},
		"a hair more than is left":       {after(refund(42, 500.0000001, "r"), anna, refunded(7, 1500)), `revise cap_to_remaining_run_budget {"amount_usd":500,"reason":"r","user_id":42}`},
		"the cap before the reason":      {after(refund(42, 5000, nil), big, refunded(7, 1500)), `revise cap_to_remaining_run_budget {"amount_usd":500,"user_id":42}`},
		"the cap before the person":      {after(refund(42, 2500, "r"), big), `revise cap_to_remaining_run_budget {"amount_usd":2000,"reason":"r","user_id":42}`},
		"the reason before a person":     {after(refund(42, 1200, nil), anna), `revise refund_reason_required {"amount_usd":1200,"reason":"Customer requested refund within policy review","user_id":42}`},
		"a blank reason":                 {after(refund(42, 10, " \u00a0"), anna), `revise refund_reason_required {"amount_usd":10,"reason":"Customer requested refund within policy review","user_id":42}`},
		"a first one above a charge":     {after(refund(7, 900, "r"), looked(7, 49, 3)), auto}, // the tool itself says no
		"up to the charge in two":        {after(refund(42, 400, "r"), anna, refunded(42, 800)), auto},
		"up to it, in doubles more":      {after(refund(42, 0.2, "r"), looked(42, 0.3, 1), refunded(42, 0.1)), charge},
		"a cent above it in two":         {after(refund(42, 400.01, "r"), anna, refunded(42, 800)), charge},
		"others' do not add up":          {after(refund(42, 900, "r"), anna, refunded(7, 49)), auto},
		"the charge before the cap":      {after(refund(42, 1900, "r"), anna, refunded(42, 800)), charge},
		"the charge before a reason":     {after(refund(42, 900, nil), anna, refunded(42, 800)), charge},
		"one cent paid before counts":    {after(refund(42, 1200, "r"), anna, refunded(42, 0.01)), charge},

		"exactly the limit":    {after(refund(42, 1000, "r"), anna), auto},
		"a cent above it":      {after(refund(42, 1000.01, "r"), anna), person},
		"a hair above it":      {after(refund(42, 1000.0000001, "r"), anna), person},
		"the limit, once more": {after(refund(42, 1000, "r"), big, refunded(42, 1000)), auto},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(tt.c)
			if got := said(policy.Review(tt.c)); got != tt.want {
				t.Errorf("Review(%v) = %s, want %s", tt.c.Args, got, tt.want)
			}
			if fmt.Sprint(tt.c) != before {
				t.Errorf("Review changed its case to %v", tt.c)
			}
		})
	}
}

// What may have been paid counts; what certainly was not, does not.
func TestRefundsThatCount(t *testing.T) {
	paid := refunded(42, 1500)
	tests := map[string]struct {
		entry  gateway.Entry
		counts bool
	}{
		"paid":                    {paid, true},
		"reserved":                {ended(paid, gateway.Reserved, nil), true},
		"in doubt":                {ended(paid, gateway.InDoubt, nil), true},
		"nobody knows":            {ended(paid, "", nil), true},
		"failed":                  {ended(paid, gateway.Failed, nil), false},
		"refused by the tool":     {ended(paid, gateway.Finished, map[string]any{"status": "error", "error": "refund_exceeds_last_charge"}), false},
		"an answer without sum":   {ended(paid, gateway.Finished, map[string]any{}), true},
		"an odd answer":           {ended(paid, gateway.Finished, []any{"ok"}), true},
		"an answer of less":       {ended(paid, gateway.Finished, map[string]any{"status": "ok", "refund": map[string]any{"amount_usd": 0.0}}), true},
		"an answer of minus that": {ended(paid, gateway.Finished, map[string]any{"status": "ok", "refund": map[string]any{"amount_usd": -1500.0}}), true},
		"another tool":            {gateway.Entry{Tool: "send_refund_email", Status: gateway.Finished, Args: paid.Args}, false},
	}
	tight := refunds.Limits{AutoUSD: 1000, PerRunUSD: 1500, Days: 14}.Judge()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want, odd := "approve refund_within_auto_limit", ""
			if tt.counts {
				want = "block refund_budget_exhausted"
			}
			if _, object := tt.entry.Observation.([]any); object { // what is no answer of the tool cannot be summed
				want, odd = "block policy_error:refund_budget_exhausted", "block policy_error:refund_budget_exhausted"
			}
			if got := said(tight.Review(after(refund(7, 10, "r"), looked(7, 49, 3), tt.entry))); got != want {
				t.Errorf("after a refund that was %s: %s, want %s", name, got, want)
			}
			want = "approve refund_within_auto_limit"
			if tt.counts {
				want = "block refund_exceeds_last_charge"
			}
			want = cmp.Or(odd, want)
			if got := said(policy.Review(after(refund(42, 10, "r"), looked(42, 1500, 3), tt.entry))); got != want {
				t.Errorf("the same user's, after a refund that was %s: %s, want %s", name, got, want)
			}
		})
	}
	more := ended(paid, gateway.Finished, map[string]any{"refund": map[string]any{"amount_usd": 1999.0}})
	if got, want := said(policy.Review(after(refund(7, 10, "r"), looked(7, 49, 3), more))), `revise cap_to_remaining_run_budget {"amount_usd":1,"reason":"r","user_id":7}`; got != want {
		t.Errorf("after an answer of more than was asked: %s, want %s", got, want)
	}
}

func TestRefundEmails(t *testing.T) {
	const yes, no = "approve email_after_refund", "block email_before_refund need [issue_refund]"
	email := func(user, amount float64) gateway.Case {
		return gateway.Case{Tool: "send_refund_email", Args: map[string]any{"user_id": user, "amount_usd": amount, "message": "m"}}
	}
	paid := refunded(42, 800)
	tests := map[string]struct {
		c    gateway.Case
		want string
	}{
		"after the refund":          {after(email(42, 800), paid), yes},
		"rounded to the same cent":  {after(email(42, 800.004), paid), yes},
		"the cent above":            {after(email(42, 800.006), paid), no},
		"a refund that was rounded": {after(email(42, 10.13), refunded(42, 10.126)), yes},
		"as it was asked, rounded":  {after(email(42, 10.126), refunded(42, 10.126)), yes},
		"another amount":            {after(email(42, 799.99), paid), no},
		"minus that":                {after(email(42, -800), paid), no},
		"nothing":                   {after(email(42, 0), paid), no},
		"another user":              {after(email(7, 800), paid), no},
		"before any refund":         {email(42, 800), no},
		"after a look-up alone":     {after(email(42, 800), looked(42, 1200, 10)), no},
		"the sum of two":            {after(email(42, 1200), paid, refunded(42, 400)), no},
		"the second of two":         {after(email(42, 400), paid, refunded(42, 400)), yes},
		"a refund in doubt":         {after(email(42, 800), ended(paid, gateway.InDoubt, paid.Observation)), no},
		"a reserved refund":         {after(email(42, 800), ended(paid, gateway.Reserved, nil)), no},
		"a failed refund":           {after(email(42, 800), ended(paid, gateway.Failed, nil)), no},
		"a refused refund":          {after(email(42, 800), ended(paid, gateway.Finished, map[string]any{"status": "error"})), no},
		"the tool paid less":        {after(email(42, 800), ended(paid, gateway.Finished, map[string]any{"refund": map[string]any{"amount_usd": 500.0}})), no},
		"what it really paid":       {after(email(42, 500), ended(paid, gateway.Finished, map[string]any{"refund": map[string]any{"amount_usd": 500.0}})), yes},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := said(policy.Review(tt.c)); got != tt.want {
				t.Errorf("Review(%v) = %s, want %s", tt.c.Args, got, tt.want)
			}
		})
	}
}

func TestRefundsOtherActions(t *testing.T) {
	tests := map[string]struct {
		c    gateway.Case
		want string
	}{
		"look-up":                {gateway.Case{Tool: "get_refund_context", Args: map[string]any{"user_id": 1.0}}, "approve read_only_context"},
		"answer too early":       {gateway.Case{Answer: "Done."}, "block final_requires_context need [get_refund_context]"},
		"answer":                 {after(gateway.Case{Answer: "Done."}, looked(7, 49, 35)), "approve final_with_context"},
		"answer, looked in vain": {after(gateway.Case{Answer: "Done."}, ended(looked(7, 49, 35), gateway.Finished, map[string]any{"error": "x"})), "block final_requires_context need [get_refund_context]"},
		"answer after a refund":  {after(gateway.Case{Answer: "Done."}, refunded(42, 1)), "block final_requires_context need [get_refund_context]"},
		"another tool":           {gateway.Case{Tool: "drop_table"}, "block no_rule_matched"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := said(policy.Review(tt.c)); got != tt.want {
				t.Errorf("Review = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRefundsOddSettings(t *testing.T) {
	anna := looked(42, 1200, 0)
	nan := math.NaN()
	tests := map[string]struct {
		policy gateway.Reviewer
		want   string
	}{
		"the zero policy":       {refunds.Limits{}.Judge(), "block refund_budget_exhausted"},
		"window of no days":     {refunds.Limits{PerRunUSD: 2000, AutoUSD: 1000}.Judge(), "approve refund_within_auto_limit"},
		"no limit without one":  {refunds.Limits{PerRunUSD: 2000}.Judge(), "escalate high_refund_requires_human"},
		"limit not a number":    {refunds.Limits{PerRunUSD: 2000, AutoUSD: nan}.Judge(), "block no_rule_matched"},
		"sum not a number":      {refunds.Limits{PerRunUSD: nan, AutoUSD: 1000}.Judge(), "block no_rule_matched"},
		"window not a number":   {refunds.Limits{PerRunUSD: 2000, AutoUSD: 1000, Days: nan}.Judge(), "block no_rule_matched"},
		"negative sum of a run": {refunds.Limits{PerRunUSD: -1, AutoUSD: 1000}.Judge(), "block refund_budget_exhausted"},
	}
	for name, tt := range tests {
		if got := said(tt.policy.Review(after(refund(42, 10, "r"), anna))); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// The policy under the review to a fixed point: the reference's ways around the person are closed.
func TestRefundsToAFixedPoint(t *testing.T) {
	tests := map[string]struct {
		policy gateway.Reviewer
		c      gateway.Case
		before []gateway.Entry
		want   string
	}{
		"no reason, then a person": {policy, refund(42, 1200, nil), []gateway.Entry{looked(42, 1200, 10)},
			`escalate high_refund_requires_human [refund_reason_required] {"amount_usd":1200,"reason":"Customer requested refund within policy review","user_id":42}`},
		"capped, then a person": {refunds.Limits{AutoUSD: 1000, PerRunUSD: 1100, Days: 14}.Judge(), refund(42, 1200, "r"), []gateway.Entry{looked(42, 1200, 10)},
			`escalate high_refund_requires_human [cap_to_remaining_run_budget] {"amount_usd":1100,"reason":"r","user_id":42}`},
		"capped, given a reason, approved": {refunds.Limits{AutoUSD: 1000, PerRunUSD: 500, Days: 14}.Judge(), refund(42, 600, nil), []gateway.Entry{looked(42, 1200, 10)},
			`approve refund_within_auto_limit [cap_to_remaining_run_budget refund_reason_required] {"amount_usd":500,"reason":"Customer requested refund within policy review","user_id":42}`},
		"what is left rounds up": {refunds.Limits{AutoUSD: 1000, PerRunUSD: 999.995, Days: 14}.Judge(), refund(42, 1000, "r"), []gateway.Entry{looked(42, 1200, 10)},
			`block revise_not_convergent [] {"amount_usd":1000,"reason":"r","user_id":42}`},
		"what is left is a hair under half a cent": {refunds.Limits{AutoUSD: 1000, PerRunUSD: 500.005, Days: 14}.Judge(), refund(42, 10, "r"), []gateway.Entry{looked(42, 1200, 10), refunded(42, 500)},
			`block invalid_refund_amount [cap_to_remaining_run_budget] {"amount_usd":0,"reason":"r","user_id":42}`},
		"what is left is under a cent": {refunds.Limits{AutoUSD: 1000, PerRunUSD: 0.004, Days: 14}.Judge(), refund(42, 10, "r"), []gateway.Entry{looked(42, 1200, 10)},
			`block invalid_refund_amount [cap_to_remaining_run_budget] {"amount_usd":0,"reason":"r","user_id":42}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			with := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
				c.Effects = tt.before
				return tt.policy.Review(c)
			})
			r := gateway.NewGate(gateway.Config{Reviewer: with}).Review(tt.c)
			if got := fmt.Sprintf("%s %s %v %s", r.Decision, r.Reason, r.Revisions, compact(r.Args)); got != tt.want {
				t.Errorf("Review(%v) =\n%s, want\n%s", tt.c.Args, got, tt.want)
			}
		})
	}
}

func TestCents(t *testing.T) {
	for amount, want := range map[float64]float64{0: 0, 0.005: 0.01, 0.004: 0, 1.005: 1, 2.675: 2.67, 999.995: 1000, 1e300: 1e300, -0.014: -0.01, math.Inf(1): math.Inf(1)} {
		if got := gateway.Cents(amount); got != want {
			t.Errorf("Cents(%v) = %v, want %v", amount, got, want)
		}
	}
	if got := gateway.Cents(math.NaN()); !math.IsNaN(got) {
		t.Errorf("Cents(NaN) = %v", got)
	}
}

// Whatever was paid before, a review allows no more than what is left, as the contract reckons it: in doubles. There the
// cap may come to the cent above, which never fits (spec/patterns.md sections 0 and 5).
func TestRefundCap(t *testing.T) {
	const lookUp, most = 1e6, 2000.0
	policy := refunds.Limits{AutoUSD: lookUp, PerRunUSD: most, Days: 14}.Judge()
	capped, blocked := 0, 0
	step := 70
	if os.Getenv("CI") != "" {
		step = 7
	}
	for cents := 1; cents < 200000; cents += step {
		paid := float64(cents) / 100
		with := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
			c.Effects = []gateway.Entry{looked(42, lookUp, 1), refunded(7, paid)}
			return policy.Review(c)
		})
		r := gateway.NewGate(gateway.Config{Reviewer: with}).Review(refund(42, most, "r"))
		left := most - paid
		fits := gateway.Cents(left) <= left
		switch amount := r.Args["amount_usd"]; {
		case fits && r.Decision == gateway.Approve && amount == gateway.Cents(left):
			capped++
		case !fits && r.Decision == gateway.Block && r.Reason == gateway.ReviseNotConvergent:
			blocked++
		default:
			t.Fatalf("%v of 2000 are paid, %v left: refunding 2000: %s %s %v", paid, left, r.Decision, r.Reason, amount)
		}
	}
	if capped == 0 || blocked == 0 {
		t.Errorf("%d were capped, %d blocked; want some of each", capped, blocked)
	}
}
