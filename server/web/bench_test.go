package web

import (
	"fmt"
	"testing"
	"time"

	"patterngate/patterns"
)

// What the issue allows: an inbox of 1,000 within 50 ms, a run of 1,000 events within 100 ms.
func BenchmarkPages(b *testing.B) {
	s := newSite(b)
	for i := range 999 {
		s.ask(fmt.Sprintf("ap_%016x", i), map[string]any{"user_id": float64(i), "amount_usd": 1200.0, "reason": "late"})
	}
	h := &history{t: b}
	h.start(`{"goal":"much"}`)
	for i := range 499 {
		h.effect(float64(i), float64(i)+0.5, fmt.Sprintf("task#%d/get_context#1", i/2+1), tool("get_context", "read", `{"user_id":42,"note":"some words of an argument"}`),
			`{"state":"ok","output":{"user":{"id":42,"name":"Ada"},"paid":[{"usd":12.5,"at":"2026-11-21"},{"usd":13,"at":"2026-11-22"}]}}`)
	}
	h.add(600, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success"}`)
	s.records[aRun] = h.events
	s.plans[aPlan] = largePlan()
	for _, page := range []struct {
		name, path string
		limit      time.Duration
	}{{"inbox of 1000", "/", 50 * time.Millisecond}, {"run of 1000 events", "/r/" + aRun, 100 * time.Millisecond}, {"approval", "/a/" + anAsked, 0}, {"plan of 100 subtasks", "/p/" + aPlan, 0}} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				if w := s.get(page.path); w.Code != 200 {
					b.Fatalf("%s = %d", page.path, w.Code)
				}
			}
			if each := b.Elapsed() / time.Duration(b.N); page.limit > 0 {
				b.ReportMetric(float64(each)/float64(page.limit), "of-limit")
			}
		})
	}
}

// largePlan has 100 subtasks in 10 levels, each with arguments, results and attempts.
func largePlan() patterns.PlanState {
	rows := make([]patterns.SubtaskRow, 100)
	var trace []any
	for i := range rows {
		rows[i] = todo(fmt.Sprintf("step_%d", i), "fetch_sales_data", patterns.SubtaskCompleted)
		rows[i].Args = map[string]any{"region": "US", "note": "some words of an argument"}
		if i >= 10 {
			rows[i].Dependencies = []string{rows[i-10].ID, rows[(i/10-1)*10+(i*7)%10].ID, rows[i%10].ID}
		}
		trace = append(trace, patterns.AttemptRow{Revision: 1, SubtaskID: rows[i].ID, Tool: rows[i].Tool, Attempt: 1, ArgsHash: "4ffe6467591e", OK: true})
	}
	state := work(sketch("much", rows...), patterns.Running)
	for i := range state.Plan.Subtasks {
		state.Plan.Subtasks[i].Result = map[string]any{"user": map[string]any{"id": 42.0, "name": "Ada"}, "paid": []any{12.5, 13.0}}
	}
	state.Result.Planned.Stored.Trace = attemptsOf(trace)
	return state
}
