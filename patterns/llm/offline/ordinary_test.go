package offline_test

import (
	"testing"

	"patterngate/catalog/demo"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

const (
	everyWorker  = "sales; payments; inventory"
	aprilInBrief = "who 42; sales 2026-04; kpis 2026-04"
)

// ordinary are ten ways in which people ask for each task of the demo. They were written before the rules were tried on them.
var ordinary = map[patterns.Ask][]phrasing{
	patterns.AskPlan: {
		{"April 2026 report for manager 42", wholeApril},
		{"Give me the April 2026 sales report for manager 42, please", wholeApril},
		{"How did the sales of manager 42 go in April 2026?", aprilInBrief + " | " + wholeApril},
		{"Can you pull together the numbers of manager #42 for 04/2026?", wholeApril},
		{"monthly sales summary, April 2026, manager_id 42, USD, with risk notes", wholeApril + " | who 42; kpis 2026-04; risks 2026-04"}, // the KPIs hold the sales
		{"I want to see how April 2026 went for manager 42: sales, refunds and risks", "who 42; sales 2026-04; refunds 2026-04; risks 2026-04 | " + wholeApril},
		{"Monthly overview for manager no. 42 for Apr 2026", wholeApril},
		{"Summarize April 2026 for manager 42", wholeApril},
		{"Prepare the sales summary of manager 42 for the month of April 2026", wholeApril},
		{"Please report on April 2026 for manager 42 and point out any risks", wholeApril + " | who 42; sales 2026-04; risks 2026-04"},
	},
	patterns.AskTasks: {
		{"Give me the morning operations report", everyWorker},
		{"How are we doing this morning: sales, payments and stock?", everyWorker},
		{"What happened overnight in sales, payments and inventory?", everyWorker},
		{"Daily status please", everyWorker},
		{"Ops summary for today", everyWorker},
		{"Show me today's numbers", everyWorker},
		{"Check sales, payment failures and what is out of stock", everyWorker},
		{"Morning briefing on sales, payments and inventory, with alerts", everyWorker},
		{"I need an overview of operations before the stand-up", everyWorker},
		{"Good morning! What's the state of the business?", everyWorker},
	},
	patterns.AskRoute: {
		{"I was charged twice and would like a refund", "billing"},
		{"My card was billed two times this month", "billing"},
		{"You took the money twice from my account", "billing"},
		{"Please send me the invoice for March", "billing"},
		{"Our API calls time out", "technical"},
		{"I can't log in, it shows an error", "technical"},
		{"The dashboard is down", "technical"},
		{"How much does it cost for 20 people?", "sales"},
		{"We want to upgrade to the enterprise plan", "sales"},
		{"Which plan fits a team of 5?", "sales"},
	},
	patterns.AskAction: {
		{"Refund 1200 USD to user 42, she paid for the annual plan by mistake", "look 42; refund 42 1200"},
		{"Please refund the annual plan of user 42 (1200 USD) and send her a mail", "look 42; refund 42 1200; mail 42 1200"},
		{"Give customer 42 a refund: 75 USD", "look 42; refund 42 75"},
		{"Can you put 20 USD back on user 42's card?", "look 42; refund 42 20"},
		{"Reverse the 49 USD charge of user 7", "look 7; refund 7 49"},
		{"I'd like a refund of 20 USD for user 42, and please notify them", "look 42; refund 42 20; mail 42 20"},
		{"Handle user 42's refund request for 20 USD", "look 42; refund 42 20"},
		{"user 42 asked for her 49 USD back, please do it", "look 42; refund 42 49"},
		{"Return the 75 USD that user 42 paid", "look 42; refund 42 75"},
		{"Repay user 42 the 30 USD", "look 42; refund 42 30"},
	},
}

// The rules plan each task of the demo when it is asked for in ordinary words.
func TestRulesOrdinaryPhrasings(t *testing.T) {
	tools := map[patterns.Ask][]string{
		patterns.AskPlan: demo.DecompositionTools, patterns.AskTasks: demo.OrchestratorWorkers, patterns.AskRoute: demo.Specialists,
	}
	judgePhrasings(t, map[string][]phrasing{"supervised": ordinary[patterns.AskAction]}, refundRun(t))
	for kind, names := range tools {
		judgePhrasings(t, map[string][]phrasing{string(kind): ordinary[kind]}, askedOnce(t, kind, names))
	}
}

// askedOnce asks the rules one question about the make-believe tools, and writes the answer as the tables do.
func askedOnce(t *testing.T, kind patterns.Ask, names []string) func(goal string) string {
	return func(goal string) string {
		q := patterns.Question{Ask: kind, Tools: demoTools(t, names), Hidden: []string{"request_id"},
			Payload: map[string]any{"goal": goal, "max_plan_steps": 6.0, "max_tasks": 4.0, "forbidden_targets": []any{}}}
		if kind == patterns.AskTasks {
			q.Payload["report_date"], q.Payload["region"] = demo.ReportDate, demo.Region
		}
		text, fault := ask(t, offline.New(), q)
		if fault != "" {
			return inShort(nil, fault)
		}
		return inShort(proposals(t, text), "")
	}
}

// What these words mean must not become a reason to pay, or to plan what nobody asked for.
var nearlyOrdinary = map[string][]phrasing{
	"supervised": {
		{"Reverse the 20 USD refund for user 42", "look 42"},
		{"Don't reverse the 49 USD charge of user 7", "look 7"},
		{"Should we reverse the 49 USD charge of user 7?", "look 7"},
		{"Do not put 20 USD back on user 42's card", "look 42"},
		{"Ask user 42 whether she wants 20 USD back", "look 42"},
		{"user 42 asked for her 49 USD back but we said no", "look 42"},
		{"Did user 42 ask for 20 USD back?", "look 42"},
	},
	"tasks": {
		{"Show me today's sales figures", "sales"},
		{"Operations", "goal_unclear"},
		{"Summarise the state of the weather in Paris", "goal_unclear"},
	},
}

func TestRulesNearlyOrdinaryPhrasings(t *testing.T) {
	judgePhrasings(t, map[string][]phrasing{"supervised": nearlyOrdinary["supervised"]}, refundRun(t))
	judgePhrasings(t, map[string][]phrasing{"tasks": nearlyOrdinary["tasks"]}, askedOnce(t, patterns.AskTasks, demo.OrchestratorWorkers))
}
