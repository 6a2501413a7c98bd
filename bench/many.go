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

// Proposer is whose plan a run carries out. Neither asks a model server, which would share the machine.
type Proposer string

const (
	// ByRules: the offline rules write the plan and the final text.
	ByRules Proposer = "rules"
	// ByCaller: the caller sends the plan and wants no final text.
	ByCaller Proposer = "caller"
)

// Many is what one run took, and then so many at once.
type Many struct {
	One, All time.Duration
	// Of the process that carried them out, its start included. The time is what it took of all processors, which a busy
	// machine changes little.
	CPU    time.Duration
	PeakMB float64
}

// Times is how much longer all took than one.
func (m Many) Times() float64 { return float64(m.All) / float64(m.One) }

// plan is the plan of a caller for the orchestrator's reference run.
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

// task is the orchestrator's reference run by a proposer.
func (p Proposer) task() patterns.Task {
	t := Workloads()[1].Task
	if p == ByCaller {
		t.Caller, t.Finalize = patterns.Proposals("plan", plan()), false
	}
	return t
}

// arguments are those of the MCP call for the same run. Each call has a key of its own, so that none joins another's run.
func (p Proposer) arguments(call int64) []byte {
	arguments := map[string]any{"idempotency_key": "call-" + strconv.FormatInt(call, 10),
		"goal": demo.OrchestratorGoal, "report_date": demo.ReportDate, "region": demo.Region}
	if p == ByCaller {
		arguments["plan"], arguments["finalize"] = plan(), false
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // texts and truths always have a JSON form
	}
	return b
}

// ManyRuns carries out one run in this process and then n at once.
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

// measureMany measures one run, and then n at once.
func measureMany(n int, run func(i int) error) (m Many, err error) {
	if m.One, err = atOnce(1, run); err != nil {
		return m, fmt.Errorf("one: %w", err)
	}
	if m.All, err = atOnce(n, run); err != nil {
		return m, fmt.Errorf("%d at once: %w", n, err)
	}
	return m, nil
}

// atOnce is how long n runs take that begin at once. Of their faults it tells a few.
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

// ManyInProcess has a process of its own carry out n runs at once, so that its memory is theirs.
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
