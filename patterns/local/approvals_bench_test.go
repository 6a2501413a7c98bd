package local_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// BenchmarkDecisionToContinued measures from a decision in another process, as the command makes it, to the end of the run
// that waited for it, whose owner lives.
func BenchmarkDecisionToContinued(b *testing.B) {
	path, job := newState(b), inbox(b, "")
	e := opened(b, path, jobs{job.Spec.Name: job})
	e.Go()
	desk := opened(b, path, nil)
	for b.Loop() {
		b.StopTimer()
		q := waits(b, e, job)
		s, _ := e.Run("local:1", q.Question.Run)
		b.StartTimer()
		if _, err := desk.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
			b.Fatal(err)
		}
		for s.State != patterns.Over {
			s, _ = e.Wait(b.Context(), "local:1", q.Question.Run, s.Mark())
		}
	}
}

// BenchmarkDecisionHere is the same with the decision in the process that carries the run on, as the page makes it.
func BenchmarkDecisionHere(b *testing.B) {
	path, job := newState(b), inbox(b, "")
	e := opened(b, path, jobs{job.Spec.Name: job})
	e.Go()
	for b.Loop() {
		b.StopTimer()
		q := waits(b, e, job)
		s, _ := e.Run("local:1", q.Question.Run)
		b.StartTimer()
		if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
			b.Fatal(err)
		}
		for s.State != patterns.Over {
			s, _ = e.Wait(b.Context(), "local:1", q.Question.Run, s.Mark())
		}
	}
}

// BenchmarkWaitingApprovals lists what waits, by how much waits, and reports what a waiting approval takes of memory.
func BenchmarkWaitingApprovals(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, job := newState(b), inbox(b, "")
			e := opened(b, path, jobs{job.Spec.Name: job})
			e.Go()
			before := heap()
			for range n {
				if _, err := e.Start(context.Background(), job); err != nil {
					b.Fatal(err)
				}
			}
			held := heap() - before
			for b.Loop() {
				page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Limit: 1000})
				if err != nil || len(page.Rows) != 1000 {
					b.Fatal(len(page.Rows), err)
				}
			}
			b.ReportMetric(float64(max(held, 0))/float64(n), "B/waiting")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
