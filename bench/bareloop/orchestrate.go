package bareloop

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"patterngate/catalog/demo"
	"patterngate/patterns/llm/prompts"
)

type task struct {
	ID       string         `json:"id"`
	Worker   string         `json:"worker"`
	Args     map[string]any `json:"args"`
	Critical bool           `json:"critical"`
}

type taskDone struct {
	TaskID      string `json:"task_id"`
	Worker      string `json:"worker"`
	Critical    bool   `json:"critical"`
	Status      string `json:"status"`
	Attempts    int    `json:"attempts_used"`
	Observation any    `json:"observation,omitempty"`
}

type aggregate struct {
	ReportDate string            `json:"report_date"`
	Region     string            `json:"region"`
	Health     string            `json:"health"`
	Sales      map[string]any    `json:"sales"`
	Payments   map[string]any    `json:"payments"`
	Inventory  map[string]any    `json:"inventory"`
	Failed     []taskDone        `json:"failed_tasks"`
	Sources    map[string]string `json:"sources"`
	Missing    []string          `json:"missing"`
}

// Orchestrate asks for tasks, runs them side by side with a time-out and one retry each, joins what they returned and
// has a report written: two model calls.
func (l *Loop) Orchestrate(ctx context.Context, goal, date, region string) (Result, error) {
	var plan struct {
		Tasks []task `json:"tasks"`
	}
	err := l.decide(ctx, prompts.Tasks, struct {
		Goal    string  `json:"goal"`
		Max     int     `json:"max_tasks"`
		Date    string  `json:"report_date"`
		Region  string  `json:"region"`
		Workers []offer `json:"available_workers"`
	}{goal, 4, date, region, l.offers(demo.OrchestratorWorkers)}, &plan)
	if err != nil {
		return Result{}, err
	}
	done := make([]taskDone, len(plan.Tasks))
	var all sync.WaitGroup
	for i, t := range plan.Tasks {
		all.Go(func() { done[i] = l.work(ctx, t) })
	}
	all.Wait()
	joined := join(date, region, done)
	answer, err := l.ask(ctx, prompts.TasksAnswer, struct {
		Goal      string    `json:"goal"`
		Aggregate aggregate `json:"aggregate"`
	}{goal, joined}, false)
	if err != nil {
		return Result{}, err
	}
	result := success(answer, done)
	result.Plan, result.Aggregate = plan.Tasks, &joined
	return result, nil
}

// work makes at most two attempts of two seconds each.
func (l *Loop) work(ctx context.Context, t task) taskDone {
	row := taskDone{TaskID: t.ID, Worker: t.Worker, Critical: t.Critical, Status: "failed"}
	args := maps.Clone(t.Args)
	args["request_id"] = "bare"
	for row.Attempts = 1; ; row.Attempts++ {
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		observation, err := l.call(limited, t.Worker, args, row.Attempts)
		cancel()
		if err == nil {
			row.Status, row.Observation = "done", observation
			return row
		}
		if row.Attempts == 2 || !errors.Is(err, context.DeadlineExceeded) {
			return row
		}
	}
}

// join puts the three domains together.
func join(date, region string, done []taskDone) aggregate {
	a := aggregate{
		ReportDate: date, Region: region, Health: "green", Failed: []taskDone{}, Sources: map[string]string{}, Missing: []string{},
	}
	facts := func(name, worker string) map[string]any {
		for _, row := range done {
			if row.Worker == worker && row.Status == "done" {
				a.Sources[name] = row.TaskID
				return row.Observation.(map[string]any)["result"].(map[string]any)
			}
		}
		a.Missing = append(a.Missing, name)
		return map[string]any{}
	}
	for _, row := range done {
		if row.Status != "done" {
			a.Failed = append(a.Failed, row)
		}
	}
	a.Sales, a.Payments, a.Inventory = facts("sales", "sales_worker"), facts("payments", "payments_worker"), facts("inventory", "inventory_worker")
	rate, _ := a.Payments["failed_payment_rate"].(float64)
	empty, _ := a.Inventory["out_of_stock_skus"].([]any)
	if incident := a.Payments["gateway_incident"]; incident != nil && incident != "none" {
		a.Health = "red"
	} else if rate >= 0.03 || len(empty) > 0 {
		a.Health = "yellow"
	}
	return a
}
