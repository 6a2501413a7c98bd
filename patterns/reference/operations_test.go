package reference

import (
	"slices"
	"testing"

	"patterngate/patterns"
)

func TestOperations(t *testing.T) {
	done := func(id, worker string, result any) patterns.TaskRow {
		return patterns.TaskRow{TaskID: id, Worker: worker, Status: "done", Observation: map[string]any{"status": "done", "result": result}}
	}
	sales := done("s", "sales_worker", map[string]any{"orders": 1.0})
	payments := func(rate float64, incident any) patterns.TaskRow {
		return done("p", "payments_worker", map[string]any{"failed_payment_rate": rate, "gateway_incident": incident})
	}
	inventory := func(out ...any) patterns.TaskRow {
		return done("i", "inventory_worker", map[string]any{"out_of_stock_skus": out, "restock_eta_days": 2.0})
	}
	failed := patterns.TaskRow{TaskID: "f", Worker: "inventory_worker", Status: "failed", StopReason: "task_timeout"}
	warned := done("w", "inventory_worker", map[string]any{"warning": "inventory_data_missing"})
	tests := map[string]struct {
		rows    []patterns.TaskRow
		health  string
		missing []string
		sources map[string]string
	}{
		"all is well":                     {[]patterns.TaskRow{sales, payments(0.029, "none"), inventory()}, "green", nil, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"a null incident is none":         {[]patterns.TaskRow{sales, payments(0, nil), inventory()}, "green", nil, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"empty shelves":                   {[]patterns.TaskRow{sales, payments(0, "none"), inventory("SKU-1")}, "yellow", nil, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"payments fail":                   {[]patterns.TaskRow{sales, payments(0.03, "none"), inventory()}, "yellow", nil, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"an incident":                     {[]patterns.TaskRow{payments(0.5, "outage"), inventory("SKU-1")}, "red", []string{"sales"}, map[string]string{"payments": "p", "inventory": "i"}},
		"red on what is there":            {[]patterns.TaskRow{payments(0, "outage")}, "red", []string{"sales", "inventory"}, map[string]string{"payments": "p"}},
		"yellow on what is there":         {[]patterns.TaskRow{inventory("SKU-1"), failed}, "yellow", []string{"sales", "payments"}, map[string]string{"inventory": "i"}},
		"unknown where something lacks":   {[]patterns.TaskRow{sales, payments(0, "none"), failed}, "unknown", []string{"inventory"}, map[string]string{"sales": "s", "payments": "p"}},
		"a warning is missing, and stays": {[]patterns.TaskRow{sales, payments(0, "none"), warned}, "unknown", []string{"inventory"}, map[string]string{"sales": "s", "payments": "p", "inventory": "w"}},
		"the first of a worker counts":    {[]patterns.TaskRow{sales, done("s2", "sales_worker", map[string]any{}), payments(0, "none"), inventory()}, "green", nil, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"odd results are missing": {[]patterns.TaskRow{done("s", "sales_worker", "text"), done("p", "payments_worker", []any{}), done("i", "inventory_worker", nil)}, "unknown",
			[]string{"sales", "payments", "inventory"}, map[string]string{"sales": "s", "payments": "p", "inventory": "i"}},
		"nothing": {nil, "unknown", []string{"sales", "payments", "inventory"}, map[string]string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := Operations(patterns.Inputs{"report_date": "2026-02-26", "region": "US"}, tt.rows)
			if a.Health != tt.health || !slices.Equal(a.Missing, tt.missing) {
				t.Errorf("health %s missing %q, want %s %q", a.Health, a.Missing, tt.health, tt.missing)
			}
			report := a.Report.(*Report)
			if report.Health != tt.health || !slices.Equal(report.Missing, tt.missing) {
				t.Errorf("report: health %s missing %q, want %s %q", report.Health, report.Missing, tt.health, tt.missing)
			}
			for _, domain := range []string{"sales", "payments", "inventory"} {
				if report.Sources[domain] != tt.sources[domain] {
					t.Errorf("source of %s %q, want %q", domain, report.Sources[domain], tt.sources[domain])
				}
			}
			if report.ReportDate != "2026-02-26" || report.Region != "US" {
				t.Errorf("report of %s %s, want the run's own", report.ReportDate, report.Region)
			}
		})
	}
}
