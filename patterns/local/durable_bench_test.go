package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// The benchmarks of what durable runs cost. Whole runs beside those in memory are in package bench.

// counting is a tool that gives back its number; wait is called before it answers.
func counting(b testing.TB, effect catalog.Effect, wait func(context.Context) error) catalog.Tool {
	b.Helper()
	type number struct {
		N int `json:"n"`
	}
	tool, err := catalog.Typed(catalog.Tool{Name: "count", Description: "Counts.", Effect: effect, Idempotent: true},
		func(ctx context.Context, in number, _ catalog.Call) (number, error) {
			if wait == nil {
				return in, nil
			}
			return in, wait(ctx)
		})
	if err != nil {
		b.Fatal(err)
	}
	return tool
}

// stepsOf is a run of n calls of a tool that its caller proposes, with nothing else in it.
func stepsOf(b testing.TB, tool catalog.Tool, n int) patterns.Job {
	b.Helper()
	c, err := catalog.New(tool)
	if err != nil {
		b.Fatal(err)
	}
	budget := gateway.NoBudget()
	budget.MaxTime, budget.MinPlanSteps, budget.MaxPlanSteps = time.Hour, 1, n
	steps := make([]any, n)
	for i := range steps {
		steps[i] = map[string]any{"id": fmt.Sprintf("s%d", i+1), "title": "Count", "tool": tool.Name, "args": map[string]any{"n": float64(i)}}
	}
	names := []string{tool.Name}
	return patterns.Job{
		Spec: patterns.Spec{Name: "steps", Kind: gateway.TaskDecomposition, Catalog: c, Tools: names, Policy: names, Execution: names, Budget: budget},
		Task: patterns.Task{Goal: "count", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "steps": steps})}, Model: &script{},
	}
}

// openFile opens an engine over a state file.
func openFile(b testing.TB, path string, source patterns.Source) *local.Engine {
	b.Helper()
	e, err := local.Open(local.Options{Path: path, Source: source})
	if err != nil {
		b.Fatal(err)
	}
	e.Go()
	return e
}

// succeed carries out a run that has to succeed.
func succeed(b testing.TB, e patterns.Engine, job patterns.Job) patterns.Ended {
	b.Helper()
	ended, err := e.Start(context.Background(), job)
	if err != nil || !ended.Result.OK() {
		b.Errorf("the run came to %+v, %v", ended, err)
	}
	return ended
}

// fsync is what one costs on the disk of a directory.
func fsync(b testing.TB, dir string) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	times := make([]time.Duration, 31)
	page := make([]byte, 4096)
	for i := range times {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkEffect is one effect, intent and outcome: <= 75 us for a read, two fsyncs and 75 us for a write; of 64 runs
// at once writes at 4 times the rate, reads at the same.
func BenchmarkEffect(b *testing.B) {
	const steps = 50
	for _, effect := range []catalog.Effect{catalog.Read, catalog.Write} {
		for _, runs := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", effect, runs), func(b *testing.B) {
				dir := b.TempDir()
				e := openFile(b, filepath.Join(dir, "state.db"), nil)
				defer e.Close()
				job := stepsOf(b, counting(b, effect, nil), steps)
				for b.Loop() {
					var all sync.WaitGroup
					for range runs {
						all.Go(func() { succeed(b, e, job) })
					}
					all.Wait()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*runs*steps), "us/effect")
				b.ReportMetric(float64(fsync(b, dir).Nanoseconds())/1000, "us/fsync")
			})
		}
	}
}

// parkedJob waits for its caller at once.
func parkedJob(b testing.TB) patterns.Job {
	job := refundJob(b)
	job.Principal, job.Wait = "bench", time.Minute
	return job
}

// BenchmarkParked is 10,000 runs that wait: <= 30 MB more, and <= 10 ms from the answer to the end of any.
func BenchmarkParked(b *testing.B) {
	const parked = 10_000
	dir := b.TempDir()
	job := parkedJob(b)
	e := openFile(b, filepath.Join(dir, "state.db"), again{job})
	defer e.Close()
	waiting := func() string {
		ended, err := e.Start(context.Background(), job)
		if err != nil || ended.Waiting == nil {
			b.Fatalf("the run came to %+v, %v", ended, err)
		}
		return ended.RunID
	}
	waiting() // what the first one needs is not counted
	before, goroutines := inUse(), runtime.NumGoroutine()
	ids := make([]string, parked)
	for i := range ids {
		ids[i] = waiting()
	}
	more, hands := float64(inUse()-before)/(1<<20), float64(runtime.NumGoroutine()-goroutines)
	final := map[string]any{"actions": []any{map[string]any{"kind": "final", "answer": "Nothing to do."}}}
	next := 0
	for b.Loop() {
		if next == len(ids) {
			ids, next = append(ids, waiting()), len(ids)
		}
		ended, err := e.Continue(context.Background(), patterns.Continuation{Principal: "bench", RunID: ids[len(ids)-1-next], Given: final})
		if next++; err != nil || ended.Result.StopReason == "" {
			b.Fatalf("the answered run came to %+v, %v", ended, err)
		}
	}
	b.ReportMetric(more, "MB")
	b.ReportMetric(hands, "goroutines")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/answer")
	b.ReportMetric(float64(fsync(b, dir).Nanoseconds())/1000, "us/fsync")
}

// inUse is the memory that is in use: what the process is resident with, where the system tells (Linux), since SQLite has its
// own besides Go's.
func inUse() int64 {
	debug.FreeOSMemory()
	var pages, resident int64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &pages, &resident); err == nil {
			return resident * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// again makes every run's job again.
type again struct{ job patterns.Job }

func (a again) Job(b patterns.Begun) (patterns.Job, error) {
	job := a.job
	job.Principal = b.Principal
	return job, nil
}

// BenchmarkRestart is from the opening of the file to the end of a run that was interrupted in the middle: <= 50 ms.
func BenchmarkRestart(b *testing.B) {
	const steps = 6
	var took time.Duration
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "state.db")
		reached, block := make(chan struct{}), make(chan struct{})
		var calls atomic.Int64
		first := openFile(b, path, nil)
		job := stepsOf(b, counting(b, catalog.Read, func(ctx context.Context) error {
			if calls.Add(1) == steps/2 {
				close(reached)
				<-block
			}
			return ctx.Err()
		}), steps)
		job.Principal, job.Wait = "bench", -1
		begun, err := first.Start(context.Background(), job)
		if err != nil {
			b.Fatal(err)
		}
		<-reached
		first.Close()
		began := time.Now()
		second := openFile(b, path, again{stepsOf(b, counting(b, catalog.Read, nil), steps)})
		s, ok := second.Wait(context.Background(), "bench", begun.RunID, patterns.Mark{State: patterns.Running})
		took += time.Since(began)
		if !ok || s.State != patterns.Over || !s.Ended.Result.OK() {
			b.Fatalf("the run came to %+v, %v", s, ok)
		}
		close(block)
		second.Close()
	}
	b.ReportMetric(float64(took.Microseconds())/float64(b.N)/1000, "ms/restart")
}
