package local_test

import (
	"context"
	"slices"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A payment that was under way when the process ended is settled before anything else of the plan is begun.
func TestDoubtInAPlan(t *testing.T) {
	t.Parallel()
	for name, happened := range map[string]bool{"it happened": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			path, sent, paid := newState(t), make(chan string, 9), make(chan string, 9)
			stuck := true
			act := func(ctx context.Context, c catalog.Call) (any, error) {
				if stuck {
					stuck = false
					sent <- c.Key
					<-ctx.Done()
					select {}
				}
				paid <- c.Key
				return object{}, nil
			}
			job := paying(t, act, planText(subtaskText("a", "send", object{"n": 1.0}), pay("b", 2), pay("c", 3, "a")), func(c *patterns.PlanCall, _ *gateway.Budget) { c.Concurrent = 1 })
			id := (&cashier{sent: sent}).interrupt(t, path, job)
			e := opened(t, path, jobs{job.Spec.Name: job})
			e.Go()
			p := port{e, &begun{}}
			s := p.until(t, id, patterns.Parked)
			if w := s.Ended.Waiting; w.Kind != patterns.ForSettlement || w.Effect != "a#1/send#1" || len(paid) > 0 {
				t.Fatalf("it waits for %+v after %d payments, want the settlement of a", w, len(paid))
			}
			if v := s.Ended.Waiting.SoFar.Planned.View; !slices.Equal(v.InDoubt, []string{"a"}) || !slices.Equal(v.Ready, []string{"b"}) {
				t.Errorf("meanwhile %q are in doubt and %q are ready, want a and b", v.InDoubt, v.Ready)
			}
			if err := e.Operator().Settle(id, "a#1/send#1", local.Settlement{Happened: happened, Result: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			r := over(t, e, id).Result
			if want := map[bool]int{true: 2, false: 3}[happened]; r.StopReason != patterns.Success || len(paid) != want {
				t.Errorf("%s after %d payments, want success after %d", r.StopReason, len(paid), want)
			}
		})
	}
}
