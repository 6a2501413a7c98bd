package offline_test

import (
	"context"
	"strings"
	"testing"

	"patterngate/catalog/demo"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// BenchmarkRules measures one decision of each kind; a plan is meant to take at most 200 us.
func BenchmarkRules(b *testing.B) {
	worlds := readWorlds(b, "goals")
	fleet := worlds["fleet"]
	questions := map[string]patterns.Question{
		"plan demo": {Ask: patterns.AskPlan, Tools: demoTools(b, demo.DecompositionTools),
			Payload: map[string]any{"goal": demo.DecompositionGoal, "max_plan_steps": 6.0}},
		"plan fleet": {Ask: patterns.AskPlan, Tools: invented(b, fleet.Tools),
			Payload: map[string]any{"goal": fleet.Goals[0].Goal, "max_plan_steps": 6.0}},
		"tasks": {Ask: patterns.AskTasks, Tools: demoTools(b, demo.OrchestratorWorkers), Hidden: []string{"request_id"},
			Payload: map[string]any{"goal": demo.OrchestratorGoal, "max_tasks": 4.0, "report_date": demo.ReportDate, "region": demo.Region}},
		"route": {Ask: patterns.AskRoute, Tools: demoTools(b, demo.Specialists),
			Payload: map[string]any{"goal": demo.RoutingTicket, "forbidden_targets": []any{}}},
		"action": {Ask: patterns.AskAction, Tools: demoTools(b, demo.RefundTools),
			Payload: map[string]any{"goal": demo.RefundGoal, "state_summary": map[string]any{}}},
	}
	for name, q := range questions {
		q.JSON = ijson.Canonical(q.Payload)
		b.Run(name, func(b *testing.B) {
			rules := offline.New()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rules.Ask(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// hostileGoals are 16 KiB each of what reading goals could choke on.
var hostileGoals = map[string]string{
	"acts in one clause":  strings.Repeat("refund ", 2340),
	"acts in clauses":     strings.Repeat("refund 20 USD to user 42, ", 630),
	"denials":             strings.Repeat("do not ", 2340),
	"denials and commas":  strings.Repeat("dont, ", 2730),
	"opposition":          strings.Repeat("stop ", 3270),
	"exceptions":          strings.Repeat("without and ", 1365),
	"wishes":              strings.Repeat("wants a ", 2040) + "refund",
	"repayments":          strings.Repeat("pay 2 USD back ", 1090),
	"amounts":             strings.Repeat("20 or 30 USD ", 1260),
	"shares":              "half " + strings.Repeat("of the ", 2340) + "20 USD",
	"users":               strings.Repeat("user 42 or 7 ", 1260),
	"questions":           strings.Repeat("is it? ", 2340),
	"months":              strings.Repeat("April and ", 1630) + "May 2026",
	"quotes":              strings.Repeat(`"' `, 5460),
	"equals signs":        strings.Repeat("user_id=", 2040),
	"nothing but letters": strings.Repeat("x", 16<<10),
}

// BenchmarkRulesHostile measures the longest goals that a tool takes; each is meant to take at most 50 ms.
func BenchmarkRulesHostile(b *testing.B) {
	tools := demoTools(b, demo.RefundTools)
	for name, goal := range hostileGoals {
		q := patterns.Question{Ask: patterns.AskAction, Tools: tools, Payload: map[string]any{"goal": goal, "state_summary": map[string]any{}}}
		b.Run(name, func(b *testing.B) {
			rules := offline.New()
			for b.Loop() {
				_, _ = rules.Ask(context.Background(), q) // most are refused, which takes as long
			}
		})
	}
}
