package demo

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patterngate/catalog"
)

type ticketArgs struct {
	Ticket string `json:"ticket" jsonschema:"example=My invoice of last week is wrong (user_id=42)" jsonschema_description:"What the customer wrote, with user_id=NUMBER if known."`
}

// answer is the answer of every specialist: a result, or the reason why the ticket needs another specialist.
type answer[Result any] struct {
	Status string  `json:"status"`
	Reason string  `json:"reason,omitempty"`
	Domain string  `json:"domain"`
	Result *Result `json:"result,omitempty"`
}

// refundDays is how many days a pro_monthly subscription can be refunded.
const refundDays = 14

type billingAnswer struct {
	UserName        string   `json:"user_name,omitempty"`
	Plan            string   `json:"plan,omitempty"`
	Currency        string   `json:"currency,omitempty"`
	RefundEligible  *bool    `json:"refund_eligible,omitempty"`
	RefundAmountUSD *float64 `json:"refund_amount_usd,omitempty"`
	Reason          string   `json:"reason,omitempty"`
	Error           string   `json:"error,omitempty"`
}

type incident struct {
	IncidentID          string `json:"incident_id"`
	Service             string `json:"service"`
	State               string `json:"state"`
	NextUpdateInMinutes int    `json:"next_update_in_minutes"`
}

type offer struct {
	RecommendedPlan string  `json:"recommended_plan"`
	Currency        string  `json:"currency"`
	MonthlyPriceUSD float64 `json:"monthly_price_usd"`
	Reason          string  `json:"reason"`
}

var (
	billingWords   = []string{"refund", "charge", "billing", "invoice"}
	technicalWords = []string{"error", "bug", "incident", "api", "latency"}
	salesWords     = []string{"price", "pricing", "quote", "plan", "discount"}
)

func (b *builder) addSupport() {
	add(b, catalog.Tool{
		Name: "billing_specialist", Title: "Billing specialist",
		Description: "Answers billing tickets: refunds, charges, invoices, payments and subscription fees.",
	}, specialist("billing", billingWords, b.world.billing))
	add(b, catalog.Tool{
		Name: "technical_specialist", Title: "Technical specialist",
		Description: "Answers technical tickets: errors, bugs, incidents, outages, API trouble and latency.",
	}, specialist("technical", technicalWords, func(string) incident {
		return incident{"INC-4021", "public-api", "mitigated", 30}
	}))
	add(b, catalog.Tool{
		Name: "sales_specialist", Title: "Sales specialist",
		Description: "Answers sales tickets: prices, pricing plans, quotes, discounts and which plan to buy or upgrade to.",
	}, specialist("sales", salesWords, func(string) offer {
		return offer{"team_plus", "USD", 199, "Best fit for teams that need priority support and usage controls."}
	}))
}

// specialist returns a function that answers tickets with one of the keywords and returns other tickets.
func specialist[Result any](domain string, keywords []string, result func(ticket string) Result) func(ticketArgs) answer[Result] {
	return func(in ticketArgs) answer[Result] {
		if !mentions(in.Ticket, keywords) {
			return answer[Result]{Status: "needs_reroute", Reason: "ticket_not_" + domain, Domain: domain}
		}
		found := result(in.Ticket)
		return answer[Result]{Status: "done", Domain: domain, Result: &found}
	}
}

func (w World) billing(ticket string) billingAnswer {
	user, ok := w.Subscribers[userID(ticket)]
	if !ok {
		return billingAnswer{Error: "user_not_found"}
	}
	eligible := user.Plan == "pro_monthly" && user.Days <= refundDays
	amount := 0.0
	if eligible {
		amount = user.PriceUSD
	}
	return billingAnswer{
		UserName: user.Name, Plan: user.Plan, Currency: "USD", RefundEligible: &eligible, RefundAmountUSD: &amount,
		Reason: "Pro monthly subscriptions are refundable within 14 days.",
	}
}

// mentions reports whether a keyword, also with a trailing s, is a whole word of the ticket in lower case. Words
// consist of letters (categories L*) and decimal digits (Nd). Lower case is the simple mapping of each code point.
func mentions(ticket string, keywords []string) bool {
	lower := strings.Map(unicode.ToLower, ticket)
	for word := range strings.FieldsFuncSeq(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if slices.Contains(keywords, word) || slices.Contains(keywords, strings.TrimSuffix(word, "s")) {
			return true
		}
	}
	return false
}

var userIDs = regexp.MustCompile(`user_id=([0-9]+)`)

// userID returns the first number written as user_id=NUMBER, without leading zeros. No letter, digit or underscore may
// be next to it. It returns "" if there is none.
func userID(ticket string) string {
	for _, at := range userIDs.FindAllStringSubmatchIndex(ticket, -1) {
		before, _ := utf8.DecodeLastRuneInString(ticket[:at[0]])
		after, _ := utf8.DecodeRuneInString(ticket[at[1]:])
		if !sticks(before) && !sticks(after) {
			return strings.TrimLeft(ticket[at[2]:at[3]], "0")
		}
	}
	return ""
}

func sticks(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
