package local_test

import (
	"fmt"
	"testing"

	"patterngate/patterns"
)

// worked is a plan of n subtasks that were completed.
func worked(n int) patterns.StoredPlan {
	plan := storedPlan(aPlan, "April")
	for i := range n {
		one := patterns.PlannedSubtask{
			ID: fmt.Sprintf("s%d", i), Description: "Count what was sold", Dependencies: []string{}, Tool: "count", Args: map[string]any{"n": float64(i)},
			Status: patterns.SubtaskCompleted, Attempts: 1, Source: "tool", Result: map[string]any{"n": float64(i), "region": "US", "total_usd": 26825.5},
		}
		if i > 0 {
			one.Dependencies = []string{fmt.Sprintf("s%d", i-1)}
		}
		plan.Subtasks = append(plan.Subtasks, one)
	}
	return plan
}

// BenchmarkPlanLoadCommit is a run that loads a plan of 1,000 subtasks, claims it and stores it changed.
func BenchmarkPlanLoadCommit(b *testing.B) {
	plan := worked(1000)
	content := plan.Encode()
	for name, open := range openers {
		b.Run(name, func(b *testing.B) {
			version := 0
			s := shelved(b, open, map[string]func(*planner){
				"create": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.CreateOp, Content: content, Revision: 1}) },
				"change": func(p *planner) {
					p.step(patterns.PlanStep{Op: patterns.LoadOp, Claim: true})
					p.step(patterns.PlanStep{Op: patterns.CommitOp, Content: content, Revision: 1, Version: version})
				},
			})
			s.expect("create", "create ok")
			job := s.job("change")
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				version++
				ended, err := s.Engine.Start(b.Context(), job)
				if got := sayings(ended); err != nil || got != fmt.Sprintf("load ok v%d April; commit ok", version) {
					b.Fatalf("%s, %v", got, err)
				}
			}
		})
	}
}

// BenchmarkPlanShown is a look at a plan of 1,000 subtasks that nobody has claimed.
func BenchmarkPlanShown(b *testing.B) {
	content := worked(1000).Encode()
	s := shelved(b, openers["file"], map[string]func(*planner){
		"create": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.CreateOp, Content: content, Revision: 1}) },
	})
	s.expect("create", "create ok")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Plan(mine, "plan", aPlan); err != nil {
			b.Fatal(err)
		}
	}
}
