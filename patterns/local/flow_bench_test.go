package local_test

import (
	"fmt"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// many is pattern code of n bodies, 64 at once, which each do this.
func many(n int, body func(branch patterns.Run, i int)) patterns.Pattern {
	return func(run patterns.Run, _ patterns.Spec, _ patterns.Task) patterns.Result {
		begun, going := 0, 0
		done := []any{}
		run.Shows(func() patterns.Result { return patterns.Result{Trace: done} })
		run.Flow(func() (string, func(patterns.Run), bool) {
			if begun == n || going == 64 {
				return "", nil, false
			}
			i := begun
			begun++
			going++
			return "work", func(branch patterns.Run) {
				body(branch, i)
				done = append(done, i)
				going--
			}, true
		})
		return patterns.Result{StopReason: patterns.Success, Trace: done}
	}
}

// calling is a body of one call.
func calling(job patterns.Job, tool string) func(patterns.Run, int) {
	call := callingWith(job, tool, patterns.Effect{Phase: patterns.PhaseExecute})
	return func(branch patterns.Run, i int) { call(branch, i) }
}

func callingWith(job patterns.Job, tool string, e patterns.Effect) func(patterns.Run, int) patterns.Outcome {
	return func(branch patterns.Run, i int) patterns.Outcome {
		gate := gateway.NewGate(gateway.Config{Catalog: job.Spec.Catalog, Execution: job.Spec.Execution, Budget: job.Spec.Budget})
		permit, stop := gate.Admit(gateway.Proposal{Tool: tool, Args: map[string]any{"n": float64(i)}})
		if stop != nil {
			panic(stop)
		}
		return patterns.CallTool(branch, e, patterns.CallAct{Permit: permit})
	}
}

// BenchmarkFlow is 1,000 bodies, 64 at once.
func BenchmarkFlow(b *testing.B) {
	const n = 1000
	for _, effect := range []catalog.Effect{"none", catalog.Read, catalog.Write} {
		for name, open := range openers {
			b.Run(fmt.Sprintf("%s/%s", effect, name), func(b *testing.B) {
				tool := counting(b, max(effect, catalog.Read), nil)
				if effect == catalog.Write {
					tool = counting(b, catalog.Write, nil)
				}
				job := stepsOf(b, tool, n)
				job.Principal = mine
				body := calling(job, tool.Name)
				if effect == "none" {
					body = func(patterns.Run, int) {}
				}
				e := open(b, func(e *local.Engine) { e.Runs(many(n, body)) })
				b.ResetTimer()
				for b.Loop() {
					ended, err := e.Start(b.Context(), job)
					if err != nil || len(ended.Result.Trace) != n {
						b.Fatalf("%+v, %v", ended, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/body")
			})
		}
	}
}

// BenchmarkShown is one look at a run of 1,000 bodies that have all but ended.
func BenchmarkShown(b *testing.B) {
	const n = 1000
	for name, open := range openers {
		b.Run(name, func(b *testing.B) {
			g := newGate(b, catalog.Read)
			job := g.job(b, 1)
			quickly := counting(b, catalog.Read, nil)
			quickly.Name = "quick"
			c, err := catalog.New(g.tool, quickly)
			if err != nil {
				b.Fatal(err)
			}
			job.Spec.Catalog, job.Spec.Execution = c, []string{g.tool.Name, "quick"}
			slow, fast := calling(job, g.tool.Name), calling(job, "quick")
			e := open(b, func(e *local.Engine) {
				e.Runs(many(n, func(branch patterns.Run, i int) {
					if fast(branch, i); i == n-1 {
						slow(branch, i)
					}
				}))
			})
			id := e.beginning(b, job)
			<-g.entered
			for b.Loop() {
				if r, ok := e.Shown(mine, id); !ok || len(r.Trace) == 0 {
					b.Fatalf("it shows %v, %t", r, ok)
				}
			}
			close(g.open)
			e.until(b, id, patterns.Over)
		})
	}
}
