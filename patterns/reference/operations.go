package reference

import (
	"maps"
	"slices"

	"patterngate/patterns"
)

// Report is the morning report of the built-in orchestrator (spec/patterns.md section 3).
type Report struct {
	ReportDate string            `json:"report_date"`
	Region     string            `json:"region"`
	Health     string            `json:"health"` // red, yellow, green, or unknown if facts are missing
	Sales      any               `json:"sales"`
	Payments   any               `json:"payments"`
	Inventory  any               `json:"inventory"`
	Failed     []FailedTask      `json:"failed_tasks"`
	Sources    map[string]string `json:"sources"` // by domain: the task whose result was used
	Missing    []string          `json:"missing"` // domains without facts
}

// FailedTask is a task without a result.
type FailedTask struct {
	TaskID     string `json:"task_id"`
	Worker     string `json:"worker"`
	Critical   bool   `json:"critical"`
	StopReason string `json:"stop_reason"`
}

// Payload returns the report as decoded values, for the final question.
func (r *Report) Payload() map[string]any {
	failed, sources := []any{}, map[string]any{}
	for _, f := range r.Failed {
		failed = append(failed, map[string]any{"task_id": f.TaskID, "worker": f.Worker, "critical": f.Critical, "stop_reason": f.StopReason})
	}
	for domain, task := range r.Sources {
		sources[domain] = task
	}
	return map[string]any{
		"report_date": r.ReportDate, "region": r.Region, "health": r.Health, "sales": r.Sales, "payments": r.Payments,
		"inventory": r.Inventory, "failed_tasks": failed, "sources": sources, "missing": patterns.TextValues(r.Missing),
	}
}

// Cut returns a shorter copy of the report. It keeps the first tasks that failed.
func (r *Report) Cut(c patterns.Cut) patterns.Report {
	less := *r
	for _, domain := range []*any{&less.Sales, &less.Payments, &less.Inventory} {
		if facts, ok := (*domain).(map[string]any); ok {
			*domain = c.Members(facts)
		}
	}
	less.ReportDate, less.Region = c.Text(r.ReportDate), c.Text(r.Region)
	less.Failed = slices.Clone(r.Failed[:min(len(r.Failed), c.Rows)])
	for i := range less.Failed {
		f := &less.Failed[i]
		f.TaskID, f.StopReason = c.Text(f.TaskID), c.Text(f.StopReason)
	}
	less.Sources = maps.Clone(r.Sources)
	for domain, task := range less.Sources {
		less.Sources[domain] = c.Text(task)
	}
	return &less
}

// Operations joins the results of the demo's three workers into a [Report]. It uses the first done task of each worker.
func Operations(in patterns.Inputs, ended []patterns.TaskRow) patterns.Aggregate {
	day, _ := in["report_date"].(string)
	region, _ := in["region"].(string)
	r := &Report{
		ReportDate: day, Region: region, Failed: []FailedTask{}, Sources: map[string]string{}, Missing: []string{},
	}
	for _, row := range ended {
		if !row.Done() {
			r.Failed = append(r.Failed, FailedTask{row.TaskID, row.Worker, row.Critical, row.StopReason})
		}
	}
	sales := r.domain("sales", "sales_worker", ended)
	payments := r.domain("payments", "payments_worker", ended)
	inventory := r.domain("inventory", "inventory_worker", ended)
	r.Sales, r.Payments, r.Inventory = sales, payments, inventory
	r.Health = health(payments, inventory, len(r.Missing) > 0)
	return patterns.Aggregate{Health: r.Health, Missing: r.Missing, Report: r}
}

// domain returns the result of the first done task of a worker. If the result is empty or has a warning, the domain is missing.
func (r *Report) domain(name, worker string, ended []patterns.TaskRow) map[string]any {
	facts := map[string]any{}
	for _, row := range ended {
		if row.Worker != worker || !row.Done() {
			continue
		}
		r.Sources[name] = row.TaskID
		observation, _ := row.Observation.(map[string]any)
		if result, ok := observation["result"].(map[string]any); ok {
			facts = result
		}
		break
	}
	if _, warns := facts["warning"]; warns || len(facts) == 0 {
		r.Missing = append(r.Missing, name)
	}
	return facts
}

// health judges the facts: a gateway incident is red, failing payments or empty shelves are yellow. Missing facts make it unknown
// otherwise.
func health(payments, inventory map[string]any, missing bool) string {
	if incident := payments["gateway_incident"]; incident != nil && incident != "none" {
		return "red"
	}
	rate, _ := payments["failed_payment_rate"].(float64)
	empty, _ := inventory["out_of_stock_skus"].([]any)
	switch {
	case rate >= 0.03 || len(empty) > 0:
		return "yellow"
	case missing:
		return "unknown"
	}
	return "green"
}
