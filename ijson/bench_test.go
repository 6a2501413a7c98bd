package ijson_test

import (
	"encoding/json"
	"testing"

	"patterngate/ijson"
)

// plan is a plan of six steps as models write it, about 830 bytes.
const plan = `{
  "kind": "plan",
  "steps": [
    {"id": "step_1", "title": "Get the sales of the month", "tool": "fetch_sales_data", "args": {"month": "2026-04"}},
    {"id": "step_2", "title": "Get the refunds of the month", "tool": "fetch_refund_data", "args": {"month": "2026-04"}},
    {"id": "step_3", "title": "Compute the figures of the month", "tool": "calculate_monthly_kpis", "args": {"month": "2026-04"}},
    {"id": "step_4", "title": "Look for what may go wrong", "tool": "detect_risk_signals", "args": {"month": "2026-04", "limit": 5}},
    {"id": "step_5", "title": "Find out who asks for it", "tool": "get_manager_profile", "args": {"manager_id": 42}},
    {"id": "step_6", "title": "Compute the figures again", "tool": "calculate_monthly_kpis", "args": {"month": "2026-03", "currency": "USD"}}
  ]
}`

var arguments = map[string]any{"user_id": 42.0, "amount_usd": 1200.5, "reason": "Annual plan, asked within a week"}

func BenchmarkDecodePlan(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(plan)))
	for b.Loop() {
		if _, err := ijson.Decode([]byte(plan)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStdlibPlan is what encoding/json takes for the same text, without any of the checks.
func BenchmarkStdlibPlan(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal([]byte(plan), &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArgsHash(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ijson.ArgsHash(arguments)
	}
}

func BenchmarkAppendPlan(b *testing.B) {
	v, err := ijson.Decode([]byte(plan))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var space []byte
	for b.Loop() {
		space = ijson.Append(space[:0], v)
	}
}

func BenchmarkDecodeIntoPlan(b *testing.B) {
	var p struct {
		Kind  string `json:"kind"`
		Steps []struct {
			ID    string         `json:"id"`
			Title string         `json:"title"`
			Tool  string         `json:"tool"`
			Args  map[string]any `json:"args"`
		} `json:"steps"`
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := ijson.DecodeInto([]byte(plan), &p); err != nil {
			b.Fatal(err)
		}
	}
}
