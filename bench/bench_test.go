package bench

import (
	"slices"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
)

// stub is a model in a process of its own, with the built servers if they are wanted.
func stub(b *testing.B, servers bool) (Programs, *Model) {
	b.Helper()
	programs, err := Build(b.TempDir(), servers)
	if err != nil {
		b.Fatal(err)
	}
	model, err := programs.StartModel()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := model.Close(); err != nil {
			b.Error(err)
		}
	})
	return programs, model
}

// BenchmarkRuns carries out the reference runs in this process.
func BenchmarkRuns(b *testing.B) {
	_, model := stub(b, false)
	sides, done, err := InProcess(model)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	each(b, sides)
}

// BenchmarkStdio carries out the reference runs over stdio.
func BenchmarkStdio(b *testing.B) {
	programs, model := stub(b, true)
	sides, done, err := OverStdio(programs, model)
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	each(b, sides)
}

func each(b *testing.B, sides []Side) {
	for _, s := range sides {
		b.Run(s.Name, func(b *testing.B) {
			for _, w := range Workloads() {
				b.Run(w.Name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := s.Run(w); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// sixSteps is a plan of six steps as a model writes it.
const sixSteps = `{
  "kind": "plan",
  "steps": [
    {"id": "step_1", "title": "Get the sales of the month", "tool": "fetch_sales_data", "args": {"month": "2026-04"}},
    {"id": "step_2", "title": "Get the refunds of the month", "tool": "fetch_refund_data", "args": {"month": "2026-04"}},
    {"id": "step_3", "title": "Compute the figures of the month", "tool": "calculate_monthly_kpis", "args": {"month": "2026-04"}},
    {"id": "step_4", "title": "Look for what may go wrong", "tool": "detect_risk_signals", "args": {"month": "2026-04"}},
    {"id": "step_5", "title": "Find out who asks for it", "tool": "get_manager_profile", "args": {"manager_id": 42}},
    {"id": "step_6", "title": "Compute the figures before", "tool": "calculate_monthly_kpis", "args": {"month": "2026-03"}}
  ]
}`

// BenchmarkParseAdmitHash reads a plan of six steps, judges it and admits each of its calls.
func BenchmarkParseAdmitHash(b *testing.B) {
	ours, err := NewOurs("http://127.0.0.1:9/v1", 0)
	if err != nil {
		b.Fatal(err)
	}
	s := ours.specs[gateway.TaskDecomposition]
	rules := gateway.PlanRules{Min: s.Budget.MinPlanSteps, Max: s.Budget.MaxPlanSteps, Allowed: s.Policy}
	b.ReportAllocs()
	for b.Loop() {
		plan, refusal := gateway.ParsePlan(document.ReadReply(sixSteps), rules)
		if refusal != nil {
			b.Fatal(refusal.Reason)
		}
		gate := gateway.NewGate(gateway.Config{
			Family: gateway.ToolFamily, Catalog: s.Catalog, Execution: s.Execution, Budget: s.Budget,
			Calls: []gateway.CallBudget{{Limit: s.Budget.MaxToolCalls, Reason: "max_tool_calls"}},
		})
		for _, step := range plan.Steps {
			permit, stop := gate.Admit(gateway.Proposal{Tool: step.Tool, Args: step.Args, Attempt: 1})
			if stop != nil || permit.Hash() == "" {
				b.Fatal(stop)
			}
		}
	}
}

// BenchmarkSeedDelays carries out the orchestrator's run with the delays of the reference: one worker is cut at 2.0 s
// and takes 0.3 s when it is tried again.
func BenchmarkSeedDelays(b *testing.B) {
	_, model := stub(b, false)
	ours, err := NewOurs(model.URL, 1)
	if err != nil {
		b.Fatal(err)
	}
	defer ours.Close()
	for b.Loop() {
		if _, err := ours.Run(b.Context(), Workloads()[1]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart starts the product, lists its tools and carries out W1.
func BenchmarkStart(b *testing.B) {
	programs, model := stub(b, true)
	var sum Start
	for b.Loop() {
		got, err := MeasureStart(model, programs.StartOurs, Workloads()[0], false)
		if err != nil {
			b.Fatal(err)
		}
		sum.ToolsListed += got.ToolsListed
		sum.FirstRun += got.FirstRun
	}
	b.ReportMetric(float64(sum.ToolsListed.Microseconds())/1000/float64(b.N), "ms-to-tools/list")
	b.ReportMetric(float64(sum.FirstRun.Microseconds())/1000/float64(b.N), "ms-to-first-run")
}

// BenchmarkStartLazy is the same start with ten servers behind the gate whose accepted tools are listed: none of them is
// started for that. The aim is 22 ms.
func BenchmarkStartLazy(b *testing.B) {
	programs, model := stub(b, true)
	var err error
	if programs.Config, err = programs.Lazy(10); err != nil {
		b.Fatal(err)
	}
	var listed []time.Duration
	for b.Loop() {
		got, err := MeasureListed(model, programs.StartOurs, "s9_look")
		if err != nil {
			b.Fatal(err)
		}
		listed = append(listed, got)
	}
	b.ReportMetric(median(listed).Seconds()*1000, "ms-to-tools/list")
	b.ReportMetric(slices.Min(listed).Seconds()*1000, "ms-at-best")
}
