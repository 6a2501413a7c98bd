package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

type userArgs struct {
	UserID int64 `json:"user_id" jsonschema:"example=42" jsonschema_description:"The customer's number."`
}

type refundArgs struct {
	UserID    int64   `json:"user_id" jsonschema:"example=42" jsonschema_description:"The customer's number."`
	AmountUSD float64 `json:"amount_usd" jsonschema:"example=49" jsonschema_description:"How much to pay back, in USD."`
	Reason    string  `json:"reason,omitempty" jsonschema:"example=Refund within policy" jsonschema_description:"Why, in a few words."`
}

type emailArgs struct {
	UserID    int64   `json:"user_id" jsonschema:"example=42" jsonschema_description:"The customer's number."`
	AmountUSD float64 `json:"amount_usd" jsonschema:"example=49" jsonschema_description:"The amount that was refunded, in USD."`
	Message   string  `json:"message" jsonschema:"example=Your refund is on its way." jsonschema_description:"The text of the email."`
}

type policyHint struct {
	AutoRefundLimitUSD float64 `json:"auto_refund_limit_usd"`
	RefundWindowDays   int     `json:"refund_window_days"`
}

type refundContext struct {
	User       *Customer   `json:"user,omitempty"`
	Billing    *Account    `json:"billing,omitempty"`
	PolicyHint *policyHint `json:"policy_hint,omitempty"`
	Error      string      `json:"error,omitempty"`
}

type refund struct {
	UserID        int64   `json:"user_id"`
	Currency      string  `json:"currency"`
	AmountUSD     float64 `json:"amount_usd"`
	Reason        string  `json:"reason"`
	TransactionID string  `json:"transaction_id"`
}

type refundResult struct {
	Status       string  `json:"status"`
	Refund       *refund `json:"refund,omitempty"`
	Error        string  `json:"error,omitempty"`
	MaxRefundUSD float64 `json:"max_refund_usd,omitempty"`
}

type email struct {
	To        string  `json:"to"`
	Template  string  `json:"template"`
	AmountUSD float64 `json:"amount_usd"`
	Message   string  `json:"message"`
	EmailID   string  `json:"email_id"`
}

type emailResult struct {
	Status string `json:"status"`
	Email  *email `json:"email,omitempty"`
	Error  string `json:"error,omitempty"`
}

func (b *builder) addRefunds() {
	add(b, catalog.Tool{
		Name: "get_refund_context", Title: "Refund context",
		Description: "Looks up a user's profile, plan, last charge and days since payment, with hints on the refund policy. Comes before any refund.",
		Phrase:      "looking up the account of user {user_id}",
	}, b.world.getRefundContext)
	addFunc(b, catalog.Tool{
		Name: "issue_refund", Title: "Refund",
		Description: "Refunds an amount in USD of a user's last charge.",
		Phrase:      "refunding {amount_usd} USD to user {user_id}",
		Deed:        "paid",
		Effect:      catalog.Write,
	}, b.world.issueRefund)
	addFunc(b, catalog.Tool{
		Name: "send_refund_email", Title: "Refund email",
		Description: "Sends a user the email that confirms a refund, after the refund was made.",
		Phrase:      "emailing user {user_id} about a refund of {amount_usd} USD",
		Deed:        "sent",
		Effect:      catalog.Write,
	}, b.world.sendRefundEmail)
}

func (w World) getRefundContext(in userArgs) refundContext {
	user, known := w.Customers[in.UserID]
	if !known {
		return refundContext{Error: fmt.Sprintf("context_not_found_for_user:%d", in.UserID)}
	}
	billing := w.Accounts[in.UserID]
	// The hint shows the constants of the reference. The policy of the run decides.
	return refundContext{User: &user, Billing: &billing, PolicyHint: &policyHint{AutoRefundLimitUSD: 1000, RefundWindowDays: 14}}
}

func (w World) issueRefund(_ context.Context, in refundArgs, call catalog.Call) (refundResult, error) {
	id, err := effectID("rf", in.UserID, call.Key)
	if err != nil {
		return refundResult{}, err
	}
	billing, known := w.Accounts[in.UserID]
	switch {
	case !known:
		return refundResult{Status: "error", Error: fmt.Sprintf("refund_user_not_found:%d", in.UserID)}, nil
	case in.AmountUSD <= 0:
		return refundResult{Status: "error", Error: "refund_amount_must_be_positive"}, nil
	case in.AmountUSD > billing.LastChargeUSD:
		return refundResult{Status: "error", Error: "refund_exceeds_last_charge", MaxRefundUSD: billing.LastChargeUSD}, nil
	}
	return refundResult{Status: "ok", Refund: &refund{
		UserID: in.UserID, Currency: billing.Currency, AmountUSD: cents(in.AmountUSD),
		Reason: ijson.Trim(in.Reason), TransactionID: id,
	}}, nil
}

func (w World) sendRefundEmail(_ context.Context, in emailArgs, call catalog.Call) (emailResult, error) {
	id, err := effectID("em", in.UserID, call.Key)
	if err != nil {
		return emailResult{}, err
	}
	user, known := w.Customers[in.UserID]
	if !known {
		return emailResult{Status: "error", Error: fmt.Sprintf("email_user_not_found:%d", in.UserID)}, nil
	}
	return emailResult{Status: "ok", Email: &email{
		To: strings.ToLower(user.Name) + "@example.com", Template: "refund_confirmation_v2",
		AmountUSD: cents(in.AmountUSD), Message: in.Message, EmailID: id,
	}}, nil
}

// effectID returns the id of an effect. It depends on the key of the call: a repeated call gets the same id, and
// another call gets another id.
func effectID(kind string, user int64, key string) (string, error) {
	if key == "" {
		return "", errors.New("a call that writes needs an idempotency key")
	}
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s_%d_%s", kind, user, hex.EncodeToString(sum[:6])), nil
}

// cents rounds an amount to cents. It returns the double that is nearest to the decimal text.
func cents(usd float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(usd, 'f', 2, 64), 64) // a formatted number always parses
	return rounded
}
