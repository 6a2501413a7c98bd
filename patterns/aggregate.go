package patterns

import (
	"encoding/json"
	"slices"
)

// Aggregate is the joined result of an orchestrator's tasks (spec/patterns.md sections 0 and 3).
type Aggregate struct {
	ReportDate string            `json:"report_date"`
	Region     string            `json:"region"`
	Health     string            `json:"health"` // red, yellow, green, or unknown if facts are missing
	Sales      any               `json:"sales"`
	Payments   any               `json:"payments"`
	Inventory  any               `json:"inventory"`
	Failed     []FailedTask      `json:"failed_tasks"`
	Sources    map[string]string `json:"sources"` // by domain: the task whose result was used
	Missing    []string          `json:"missing"` // domains without facts

	// Fields holds the fields of a configured aggregate, which shows only fields, missing, health and errors; nil: the demo's
	// aggregate.
	Fields map[string]any `json:"fields,omitempty"`
	// Errors says which expressions of the configuration had no value.
	Errors []JoinError `json:"errors,omitempty"`
}

// JoinError says which expression of an aggregate had no value: fields.NAME, health.N.when.
type JoinError struct {
	Member string `json:"member"`
	Reason string `json:"reason"`
}

// Generic reports whether the aggregate is not the demo's.
func (a Aggregate) Generic() bool { return a.Fields != nil }

// Shown returns a struct with the members of the demo's or of a configured aggregate, for writing.
func (a Aggregate) Shown() any {
	if !a.Generic() {
		type demo Aggregate
		return demo(a)
	}
	return struct {
		Fields  map[string]any `json:"fields"`
		Missing []string       `json:"missing"`
		Health  string         `json:"health"`
		Errors  []JoinError    `json:"errors,omitempty"`
	}{a.Fields, append([]string{}, a.Missing...), a.Health, a.Errors}
}

// MarshalJSON writes the struct that Shown returns.
func (a Aggregate) MarshalJSON() ([]byte, error) { return json.Marshal(a.Shown()) }

// Joined returns the aggregate of workers for which the configuration names no aggregate (spec/config.md section 7, aggregate). It has
// no fields. Its health is green if every worker has a result; otherwise it is unknown, and the workers without a result are missing.
func Joined(_ Inputs, ended []TaskRow) Aggregate {
	a := Aggregate{Fields: map[string]any{}, Missing: []string{}, Health: "green"}
	for _, row := range ended {
		done := slices.ContainsFunc(ended, func(o TaskRow) bool { return o.Worker == row.Worker && o.Done() })
		if !done && !slices.Contains(a.Missing, row.Worker) {
			a.Missing, a.Health = append(a.Missing, row.Worker), "unknown"
		}
	}
	return a
}

// FailedTask is a task without a result.
type FailedTask struct {
	TaskID     string `json:"task_id"`
	Worker     string `json:"worker"`
	Critical   bool   `json:"critical"`
	StopReason string `json:"stop_reason"`
}

// Payload returns the aggregate as decoded values, for the final question.
func (a Aggregate) Payload() map[string]any {
	if a.Generic() {
		return a.joined()
	}
	failed, sources := []any{}, map[string]any{}
	for _, f := range a.Failed {
		failed = append(failed, map[string]any{"task_id": f.TaskID, "worker": f.Worker, "critical": f.Critical, "stop_reason": f.StopReason})
	}
	for domain, task := range a.Sources {
		sources[domain] = task
	}
	return map[string]any{
		"report_date": a.ReportDate, "region": a.Region, "health": a.Health, "sales": a.Sales, "payments": a.Payments,
		"inventory": a.Inventory, "failed_tasks": failed, "sources": sources, "missing": TextValues(a.Missing),
	}
}

// joined returns the payload of a configured aggregate.
func (a Aggregate) joined() map[string]any {
	payload := map[string]any{"fields": a.Fields, "missing": TextValues(a.Missing), "health": a.Health}
	if len(a.Errors) > 0 {
		rows := make([]any, len(a.Errors))
		for i, e := range a.Errors {
			rows[i] = map[string]any{"member": e.Member, "reason": e.Reason}
		}
		payload["errors"] = rows
	}
	return payload
}

// Operations joins the results of the demo's three workers into a morning report. It uses the first done task of each worker.
func Operations(in Inputs, ended []TaskRow) Aggregate {
	day, _ := in["report_date"].(string)
	region, _ := in["region"].(string)
	a := Aggregate{
		ReportDate: day, Region: region, Failed: []FailedTask{}, Sources: map[string]string{}, Missing: []string{},
	}
	for _, row := range ended {
		if !row.Done() {
			a.Failed = append(a.Failed, FailedTask{row.TaskID, row.Worker, row.Critical, row.StopReason})
		}
	}
	sales := a.domain("sales", "sales_worker", ended)
	payments := a.domain("payments", "payments_worker", ended)
	inventory := a.domain("inventory", "inventory_worker", ended)
	a.Sales, a.Payments, a.Inventory = sales, payments, inventory
	a.Health = health(payments, inventory, len(a.Missing) > 0)
	return a
}

// domain returns the result of the first done task of a worker. If the result is empty or has a warning, the domain is missing.
func (a *Aggregate) domain(name, worker string, ended []TaskRow) map[string]any {
	facts := map[string]any{}
	for _, row := range ended {
		if row.Worker != worker || !row.Done() {
			continue
		}
		a.Sources[name] = row.TaskID
		observation, _ := row.Observation.(map[string]any)
		if result, ok := observation["result"].(map[string]any); ok {
			facts = result
		}
		break
	}
	if _, warns := facts["warning"]; warns || len(facts) == 0 {
		a.Missing = append(a.Missing, name)
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
