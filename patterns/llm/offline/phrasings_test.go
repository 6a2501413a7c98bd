package offline_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog/demo"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// phrasing is a request in somebody's words, and what is to come of it: the calls in order with the facts among their
// arguments, or the reason of the refusal; where two outcomes are right, both with " | " between them.
type phrasing struct{ goal, want string }

// short names of the make-believe tools, for the tables.
var short = strings.NewReplacer(
	"get_refund_context", "look", "issue_refund", "refund", "send_refund_email", "mail",
	"get_manager_profile", "who", "fetch_sales_data", "sales", "fetch_refund_data", "refunds",
	"calculate_monthly_kpis", "kpis", "detect_risk_signals", "risks",
	"sales_worker", "sales", "payments_worker", "payments", "inventory_worker", "inventory",
	"billing_specialist", "billing", "technical_specialist", "technical", "sales_specialist", "sales",
)

// inShort writes calls as the tables do.
func inShort(calls []proposed, fault string) string {
	var list []string
	for _, c := range calls {
		text := short.Replace(c.tool)
		for _, name := range []string{"user_id", "amount_usd", "manager_id", "month"} {
			if v, there := c.args[name]; there {
				text += fmt.Sprint(" ", v)
			}
		}
		list = append(list, text)
	}
	if fault != "" {
		list = append(list, short.Replace(fault))
	}
	return strings.Join(list, "; ")
}

// refundPhrasings ask a supervised worker who can look, refund and mail.
var refundPhrasings = map[string][]phrasing{
	"asks for a refund": {
		{"Refund 1200 USD to user_id=42 for the annual plan", "look 42; refund 42 1200"},
		{"Refund 1200 to user 42", "look 42; refund 42 1200"},
		{"Pay back 30 USD to user 42", "look 42; refund 42 30"},
		{"Pay user 42 20 USD back", "look 42; refund 42 20"},
		{"please give user 42 their 30 dollars back", "look 42; refund 42 30"},
		{"Return 20 dollars to user 42", "look 42; refund 42 20"},
		{"Transfer 20 USD back to customer 42", "look 42; refund 42 20"},
		{"User 42 wants her 49 USD back", "look 42; refund 42 49"},
		{"Reimburse user 42 for 20 dollars", "look 42; refund 42 20"},
		{"Issue a refund of 20 USD to user 42", "look 42; refund 42 20"},
		{"Make a refund of $20 to customer 42", "look 42; refund 42 20"},
		{"Send user 42 a refund of 20 USD", "look 42; refund 42 20"},
		{"Please process the refund for user_id 42, amount 75 USD, reason: outage", "look 42; refund 42 75"},
		{"Can you refund user 7 49 USD?", "look 7; refund 7 49"},
		{"user 42: refund of 20 usd please", "look 42; refund 42 20"},
		{"20 USD refund for user 42", "look 42; refund 42 20"},
		{"REFUND 20 USD TO USER 42!!!", "look 42; refund 42 20"},
		{"refund user #42 $20", "look 42; refund 42 20"},
		{"user 42, 30 USD, refund please", "look 42; refund 42 30"},
		{"Refund 200.50 USD to customer 42", "look 42; refund 42 200.5"},
		{"User 42 was charged twice, 49 USD. Please refund that.", "look 42; refund 42 49"},
		{"User 42 was not refunded yet. Refund her 20 USD.", "look 42; refund 42 20"},
		{"Refund customer 42 the 49 USD she was charged on 2026-04-03", "look 42; refund 42 49"},
		{"The customer with id 42 needs to be refunded 20 USD", "look 42; refund 42 20"},
		{"If user 42 is eligible, refund 49 USD", "look 42; refund 42 49"},
		{"User 42 paid 1200 USD. Refund 200 USD of it, not all", "look 42; refund 42 200"},
		{"User 42 complains about the outage, so refund her 20 USD", "look 42; refund 42 20"},
	},
	"asks for a refund and a mail": {
		{"refund 49 USD to user 42 because of a double charge and mail her", "look 42; refund 42 49; mail 42 49"},
		{"Refund $49 to user 7, then email them", "look 7; refund 7 49; mail 7 49"},
		{"Look at user 7's account, refund 49 USD and confirm by email", "look 7; refund 7 49; mail 7 49"},
		{"Refund 20 USD to user 42 (reason: late delivery) and let her know", "look 42; refund 42 20; mail 42 20"},
		{"Refund 49 USD to user 7 and send a confirmation", "look 7; refund 7 49; mail 7 49"},
		{"Refund 20 USD to user 42 and don't forget to email her", "look 42; refund 42 20; mail 42 20"},
	},
	"asks for a refund and no mail": {
		{"Refund user 42 20 USD, do not send an email", "look 42; refund 42 20"},
		{"Refund user 42 20 USD without emailing her", "look 42; refund 42 20"},
		{"Refund 20 USD to user 42 and don't tell her", "look 42; refund 42 20"},
	},
	"asks for a mail": {
		{"email user 42 that her refund of 49 USD was made", "mail 42 49"},
		{"Email user 42 about her 49 USD refund", "mail 42 49"},
		{"Mail user 7 a confirmation of the 49 USD refund", "mail 7 49"},
		{"email user 42 that we are on it", "goal_incomplete:mail.amount_usd"},
	},
	"asks a question": {
		{"what plan is user 42 on?", "look 42"},
		{"Who is user 7?", "look 7"},
		{"When did user 7 last pay?", "look 7"},
		{"Should I refund user 42?", "look 42"},
		{"Did we refund user 42 already?", "look 42"},
		{"Has user 7 been refunded 49 USD?", "look 7"},
		{"Was the refund of 20 USD for user 42 paid?", "look 42"},
		{"How much could user 42 get back?", "look 42"},
		{"Is user 42 eligible for a refund of 20 USD?", "look 42"},
		{"Refund policy for user 42?", "look 42"},
		{"Refund 20 USD to user 42?", "look 42"},
		{"What would happen if I refund 20 USD to user 42?", "look 42"},
		{"If user 42 asks for a refund of 20 USD, what do we do?", "look 42"},
	},
	"wants to see": {
		{"Check whether user 7 may have a refund of 49 USD", "look 7"},
		{"Tell me the refund policy for user 42", "look 42"},
		{"Show the refund context of user 42", "look 42"},
		{"Get the refund context for user 42", "look 42"},
		{"Refund context for user 42, please", "look 42"},
		{"Explain how to refund 20 USD to user 42", "look 42"},
		{"Summarise the account of user 42", "look 42"},
		{"Refunded 20 USD to user 42 yesterday, show the account", "look 42"},
		{"The refund of 20 USD for user 42 arrived", "look 42"},
		{"User 42 complains about a double charge of 49 USD", "look 42"},
		{"Ask user 42 whether she wants a refund of 20 USD", "look 42"},
		{"Charge user 42 20 USD", "look 42"},
		{"Dry run: refund 20 USD to user 42", "look 42"},
	},
	"says no": {
		{"Do not refund user 42, only tell me the plan", "look 42"},
		{"Do not refund, only tell me her plan", "goal_incomplete:look.user_id"},
		{"Look up user 42 but don't refund anything", "look 42"},
		{"Never refund user 42 without asking me, just show the last charge", "look 42"},
		{"user 42 should not get a refund of 20 USD", "look 42"},
		{"Don't give user 42 her 30 USD back", "look 42"},
		{"No refund for user 42, please just check the last charge", "look 42"},
		{"I do not want a refund of 20 USD, just explain the charge of user 42", "look 42"},
		{"User 42 doesn't want a refund of 20 USD", "look 42"},
		{"Without refunding, tell me what user 42 paid", "look 42"},
		{"Do not, under any circumstances, refund 20 USD to user 42", "look 42"},
		{"Under no circumstances refund user 42 20 USD", "look 42"},
		{"Avoid refunding user 42 20 USD", "look 42"},
		{"Stop the refund of 20 USD for user 42", "look 42"},
		{"Cancel the refund of 20 USD for user 42", "look 42"},
		{"Reject the refund request of user 42 over 20 USD", "look 42"},
		{"A refund of 20 USD is not needed for user 42", "look 42"},
		{"Prepare a refund of 20 USD for user 42 but do not issue it", "look 42"},
		{"Instead of refunding 20 USD, look up user 42", "look 42"},
		{"Refund nothing to user 42", "look 42"},
		{"Do not refund 20 USD and do not email user 42", "look 42"},
		{"Do not refund or email user 42 over 20 USD", "look 42"},
	},
	"leaves something out": {
		{"Refund user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 20 USD", "goal_incomplete:refund.user_id"},
		{"I want a refund", "goal_incomplete:refund.user_id"},
		{"Refund user 42 in full", "goal_incomplete:refund.amount_usd"},
		{"Refund the last charge of user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 20 EUR to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 20 or 30 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund between 20 and 30 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund half of the 1200 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 10% of 1200 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund up to 50 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund -20 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund $5 million to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 1.200,50 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund 1 200 USD to user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund order 1234 of user 42", "goal_incomplete:refund.amount_usd"},
		{"Refund user 42 twenty dollars", "goal_incomplete:refund.amount_usd"},
		{"Refund 20 USD each to users 42 and 7", "goal_incomplete:refund.user_id"},
		{"Anna (42) wants 20 USD back", "goal_incomplete:refund.user_id"},
		{"cancel", "goal_unclear"},
		{"Water the plants", "goal_unclear"},
		{"Rembourse 20 USD à Anna", "goal_unclear"},
		{"Bitte keine Erstattung an Anna", "goal_unclear"},
	},
}

// The worker of a supervised run takes requests in many words: it writes where it is asked to, and only there.
func TestRulesRefundPhrasings(t *testing.T) {
	judgePhrasings(t, refundPhrasings, refundRun(t))
}

// refundRun carries out a supervised run in which everything is approved.
func refundRun(t *testing.T) func(goal string) string {
	return func(goal string) string {
		calls, end := supervised(t, goal, func(usd float64) float64 { return usd })
		if len(calls) > 0 || !isFault(end) {
			end = ""
		}
		return inShort(calls, end)
	}
}

func isFault(end string) bool {
	reason, _, _ := strings.Cut(end, ":")
	return slices.Contains([]string{"goal_incomplete", "goal_unclear", "route_unclear"}, reason)
}

const (
	wholeApril = "who 42; sales 2026-04; refunds 2026-04; kpis 2026-04; risks 2026-04"
	wholeMarch = "who 7; sales 2026-03; refunds 2026-03; kpis 2026-03; risks 2026-03"
)

// firstPhrasings ask the patterns that decide once.
var firstPhrasings = map[patterns.Ask][]phrasing{
	patterns.AskPlan: {
		{"Sales summary for April 2026 for manager 42", wholeApril},
		{"Please put together manager 42's sales report for 2026-04, with a risk note", "who 42; sales 2026-04; risks 2026-04"},
		{"Report for manager 7, March 2026", wholeMarch},
		{"I need the monthly report of manager no. 7 for Mar 2026.", wholeMarch},
		{"KPIs, risks and refunds for 2026-04", "refunds 2026-04; kpis 2026-04; risks 2026-04"},
		{"2026-05 for manager_id=7: who is that, sales and refunds", "who 7; sales 2026-05; refunds 2026-05"},
		{"Who is manager 42, what were the sales in April 2026, and any risk signals?", "who 42; sales 2026-04; risks 2026-04"},
		{"April 2026 of manager 42 without the refunds: profile, sales, KPIs and risks", "who 42; sales 2026-04; kpis 2026-04; risks 2026-04"},
		{"Report for April", "goal_incomplete:who.manager_id | goal_incomplete:sales.month"},
		{"monthly sales report for manager 42", "goal_incomplete:sales.month | goal_incomplete:kpis.month"},
		{"Who is manager 42?", "goal_unclear"},
		{"Write a poem about the sea", "goal_unclear"},
	},
	patterns.AskTasks: {
		{"payments only", "payments"},
		{"Just the payments, nothing else", "payments"},
		{"How are payments doing?", "payments"},
		{"Any chargebacks or gateway incidents?", "payments"},
		{"Morning report", "sales; payments; inventory"},
		{"sales and stock please", "sales; inventory"},
		{"What is out of stock?", "inventory"},
		{"Everything but payments", "sales; inventory"},
		{"A report without the inventory", "sales; payments"},
		{"no sales today, just inventory", "inventory"},
		{"Skip inventory, I only need the sales", "sales"},
		{"Revenue and failed payments", "sales; payments"},
		{"orders and products low in stock", "sales; inventory"},
		{"Tell me a joke", "goal_unclear"},
	},
	patterns.AskRoute: {
		{"I found a bug in the export", "technical"},
		{"The API answers with error 500", "technical"},
		{"high latency since this morning", "technical"},
		{"The app crashes on start", "technical"},
		{"How much is the team plan?", "sales"},
		{"What does the pro plan cost per month?", "sales"},
		{"Do you offer a discount for schools?", "sales"},
		{"Which plan should we upgrade to?", "sales"},
		{"Can I have a quote for 50 seats?", "sales"},
		{"My invoice is wrong", "billing"},
		{"I was charged twice", "billing"},
		{"Please cancel my subscription", "billing"},
		{"I want my money back", "billing"},
		{"hello", "route_unclear"},
		{"It does not work", "route_unclear"},
		{"Bonjour, ma facture est fausse", "route_unclear"},
	},
}

// The patterns that decide once take requests in many words, too.
func TestRulesFirstPhrasings(t *testing.T) {
	tools := map[patterns.Ask][]string{
		patterns.AskPlan: demo.DecompositionTools, patterns.AskTasks: demo.OrchestratorWorkers, patterns.AskRoute: demo.Specialists,
	}
	byName := map[string][]phrasing{}
	for kind, list := range firstPhrasings {
		byName[string(kind)] = list
	}
	for _, kind := range slices.Sorted(maps.Keys(byName)) {
		only := map[string][]phrasing{kind: byName[kind]}
		judgePhrasings(t, only, func(goal string) string {
			q := patterns.Question{Ask: patterns.Ask(kind), Tools: demoTools(t, tools[patterns.Ask(kind)]), Hidden: []string{"request_id"},
				Payload: map[string]any{"goal": goal, "max_plan_steps": 6.0, "max_tasks": 4.0, "forbidden_targets": []any{}}}
			if kind == string(patterns.AskTasks) {
				q.Payload["report_date"], q.Payload["region"] = demo.ReportDate, demo.Region
			}
			text, fault := ask(t, offline.New(), q)
			if fault != "" {
				return inShort(nil, fault)
			}
			return inShort(proposals(t, text), "")
		})
	}
}

// judgePhrasings prints what comes of each goal, and fails for those of which something else does than is wanted.
func judgePhrasings(t *testing.T, groups map[string][]phrasing, do func(goal string) string) {
	t.Helper()
	passed, total := 0, 0
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for _, p := range groups[group] {
			got := do(p.goal)
			total++
			if slices.Contains(strings.Split(p.want, " | "), got) {
				passed++
				t.Logf("%-28s %-72s %s", group, p.goal, got)
				continue
			}
			t.Errorf("%-28s %-72s got %s, want %s", group, p.goal, got, p.want)
		}
	}
	t.Logf("%d of %d phrasings as wanted", passed, total)
}
