package llm_test

import (
	"context"
	"testing"

	"patterngate/catalog/demo"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm"
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
			rules := llm.NewRules()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rules.Ask(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
