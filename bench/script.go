package bench

import (
	"bytes"

	"patterngate/patterns/llm/llmtest"
)

// Script answers as the model of the four reference runs. It reads from the request alone which run asks and how far
// that run is.
type Script struct {
	answer llmtest.Reply // for requests that do not ask for a decision
	rules  []rule
}

// rule gives one reply to all requests that contain a text.
type rule struct {
	holds []byte
	reply llmtest.Reply
}

// NewScript prepares all replies, so that Reply only has to choose one.
func NewScript() *Script {
	s := &Script{answer: llmtest.Content(answerReply)}
	for _, r := range []struct{ holds, reply string }{
		{`\"max_plan_steps\":`, planReply},
		{`\"max_tasks\":`, tasksReply},
		{`\"forbidden_targets\":[]`, firstRoute},
		{`\"forbidden_targets\":[`, secondRoute},
		{`\"steps_completed\":0`, lookUp},
		{`\"steps_completed\":1`, refund},
		{`\"steps_completed\":2`, email},
		{`\"steps_completed\":3`, final},
	} {
		s.rules = append(s.rules, rule{[]byte(r.holds), llmtest.Content(r.reply)})
	}
	return s
}

// Reply answers one request. A request that belongs to no reference run gets status 400.
func (s *Script) Reply(r llmtest.Request) llmtest.Reply {
	if !bytes.Contains(r.Body, []byte(`"json_object"`)) {
		return s.answer
	}
	for _, rule := range s.rules {
		if bytes.Contains(r.Body, rule.holds) {
			return rule.reply
		}
	}
	return llmtest.Status(400)
}

const (
	planReply = `{"kind":"plan","steps":[` +
		`{"id":"step_1","title":"Daily sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},` +
		`{"id":"step_2","title":"Daily refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}},` +
		`{"id":"step_3","title":"Monthly figures","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}},` +
		`{"id":"step_4","title":"Risks","tool":"detect_risk_signals","args":{"month":"2026-04"}},` +
		`{"id":"step_5","title":"Who asks","tool":"get_manager_profile","args":{"manager_id":42}}]}`
	tasksReply = `{"kind":"plan","tasks":[` +
		`{"id":"t1","worker":"sales_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":true},` +
		`{"id":"t2","worker":"payments_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":true},` +
		`{"id":"t3","worker":"inventory_worker","args":{"report_date":"2026-02-26","region":"US"},"critical":false}]}`
	// The technical specialist declines, because the ticket contains none of its words.
	firstRoute  = `{"kind":"route","target":"technical_specialist","args":{"ticket":"Refund for pro_monthly, charged 10 days ago (user_id=42)"}}`
	secondRoute = `{"kind":"route","target":"billing_specialist","args":{"ticket":"Refund for pro_monthly, charged 10 days ago (user_id=42)"}}`
	lookUp      = `{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}`
	// The amount is over the automatic limit: a person reduces it to 800.
	refund = `{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"Charged 10 days ago, within 14 days"}}`
	email  = `{"kind":"tool","name":"send_refund_email","args":{"user_id":42,"amount_usd":800,"message":"We have refunded 800 USD."}}`
	final  = `{"kind":"final","answer":"800 of the 1200 USD were refunded and confirmed by email; a person approved that amount."}`
	// answerReply is the final text of all runs.
	answerReply = "In April 2026 gross sales were 28,195 USD and refunds 1,370 USD, so net sales were 26,825 USD at a refund " +
		"rate of 4.86%. One day's refunds stand out and deserve a look."
)
