package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"patterngate/catalog/demo"
	"patterngate/patterns"
)

// Proposer says where the plan of a run comes from. Neither value uses a model server, which would share the machine.
type Proposer string

const (
	// ByRules means that the offline rules write the plan and the final text.
	ByRules Proposer = "rules"
	// ByCaller means that the caller sends the plan and wants no final text.
	ByCaller Proposer = "caller"
)

// Many holds the time of one run, and the time of many runs at once.
type Many struct {
	One, All time.Duration
	// CPU and PeakMB are those of the process that executed the runs, with its start. CPU is the sum over all
	// processors. A busy machine changes it little.
	CPU    time.Duration
	PeakMB float64
}

// Times returns the time of all runs divided by the time of one.
func (m Many) Times() float64 { return float64(m.All) / float64(m.One) }

// plan returns a caller's plan for the orchestrator's reference run.
func plan() map[string]any {
	var tasks []any
	for i, worker := range demo.OrchestratorWorkers {
		tasks = append(tasks, map[string]any{
			"id": "t" + strconv.Itoa(i+1), "worker": worker, "critical": worker != "inventory_worker",
			"args": map[string]any{"report_date": demo.ReportDate, "region": demo.Region},
		})
	}
	return map[string]any{"kind": "plan", "tasks": tasks}
}

// task returns the task of the orchestrator's reference run for a proposer.
func (p Proposer) task() patterns.Task {
	t := Workloads()[1].Task
	if p == ByCaller {
		t.Caller, t.Finalize = patterns.Proposals("plan", plan()), false
	}
	return t
}

// arguments returns the arguments of the MCP call for the same run. Each call has its own idempotency key, so that no
// call joins the run of another.
func (p Proposer) arguments(call int64) []byte {
	arguments := map[string]any{"idempotency_key": "call-" + strconv.FormatInt(call, 10),
		"goal": demo.OrchestratorGoal, "report_date": demo.ReportDate, "region": demo.Region}
	if p == ByCaller {
		arguments["plan"], arguments["finalize"] = plan(), false
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings and booleans always have a JSON form
	}
	return b
}

// ManyRuns executes one run in this process, and then n runs at once.
func ManyRuns(ctx context.Context, p Proposer, n int, delay float64) (m Many, err error) {
	ours, err := NewOffline(delay)
	if err != nil {
		return m, err
	}
	defer ours.Close()
	w := Workloads()[1]
	w.Task = p.task()
	run := func(int) error {
		result, err := ours.Run(ctx, w)
		if err == nil && len(result.Ledger) < w.Calls {
			err = fmt.Errorf("%d calls, want %d or more", len(result.Ledger), w.Calls)
		}
		return err
	}
	return measureMany(n, run)
}

// measureMany measures one run, and then n runs at once.
func measureMany(n int, run func(i int) error) (m Many, err error) {
	if m.One, err = atOnce(1, run); err != nil {
		return m, fmt.Errorf("one: %w", err)
	}
	if m.All, err = atOnce(n, run); err != nil {
		return m, fmt.Errorf("%d at once: %w", n, err)
	}
	return m, nil
}

// atOnce starts n runs at once and returns the time until all have ended. The error joins the first few faults.
func atOnce(n int, run func(i int) error) (time.Duration, error) {
	const told = 3
	faults := make([]error, n)
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		all.Go(func() { faults[i] = run(i) })
	}
	all.Wait()
	took := time.Since(began)
	var some []error
	for _, fault := range faults {
		if fault != nil && len(some) < told {
			some = append(some, fault)
		}
	}
	return took, errors.Join(some...)
}

// ManyInProcess executes n runs at once in a separate process, so that its memory is the memory of the runs.
func (p Programs) ManyInProcess(by Proposer, n int) (m Many, err error) {
	child := exec.Command(p.Many, "-n", strconv.Itoa(n), "-by", string(by))
	out, err := child.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return m, err
	}
	err = json.Unmarshal(out, &m)
	m.CPU = processorTime(child.ProcessState)
	return m, err
}

func processorTime(ended *os.ProcessState) time.Duration {
	return ended.UserTime() + ended.SystemTime()
}
