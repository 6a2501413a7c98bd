package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// onceOnly gives own one business key, and has its calls be made again.
func onceOnly(own *catalog.Tool) {
	own.Effect, own.Idempotent = catalog.Write, true
	own.Once = func(map[string]any) (string, error) { return "order-7", nil }
	own.Retry = catalog.Retry{Max: 2, Delay: time.Millisecond, MaxDelay: time.Millisecond}
}

// All attempts at an act have its business key, whichever of them took it; the next run gets the outcome of the last.
func TestPortOnceOverAttempts(t *testing.T) {
	t.Parallel()
	gone, lost := faults(catalog.NotSent, true, errGone), faults(catalog.NoAnswer, true, errGone)
	onBoth(t, func(t *testing.T, open opener) {
		for name, turns := range map[string][]func(context.Context, catalog.Call) (any, error){
			"lost": {lost}, "not sent, then lost": {gone, lost}, "lost, then not sent": {lost, gone}, "not sent": {gone, gone},
		} {
			for _, kind := range ownKinds {
				t.Run(name+"/"+string(kind), func(t *testing.T) {
					e, s := open(t), &service{turns: turns}
					job := s.ownJob(t, kind, onceOnly)
					for range 2 {
						ended, err := e.Start(t.Context(), job)
						if err != nil {
							t.Fatal(err)
						}
						r := e.until(t, ended.RunID, patterns.Over).Ended.Result
						if !r.OK() || len(s.keys) != len(turns)+1 || len(r.Ledger) != 1 {
							t.Fatalf("%s after %d calls, effects %+v; want success after %d", endOf(r), len(s.keys), r.Ledger, len(turns)+1)
						}
						e.intact(t, ended.RunID)
					}
				})
			}
		}
	})
}

// A key stays taken while nobody knows whether an attempt acted, though the newest certainly did not.
func TestPortOnceInDoubtIsNotFreed(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		for _, kind := range ownKinds {
			t.Run(string(kind), func(t *testing.T) {
				e := open(t)
				s := &service{turns: []func(context.Context, catalog.Call) (any, error){
					faults(catalog.NoAnswer, true, errActed), faults(catalog.Declined, false, errGone)}}
				job := s.ownJob(t, kind, func(own *catalog.Tool) { onceOnly(own); own.Retry.Max = 1 })
				first, err := e.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				second := patterns.Ended{}
				if second, err = e.Start(t.Context(), job); err != nil {
					t.Fatal(err)
				}
				r := e.until(t, second.RunID, patterns.Over).Ended.Result
				if len(s.keys) != 2 || endOf(r) != "policy_block:once_reused" && r.StopReason != "supervisor_block:once_reused" {
					t.Errorf("first %s, then %s after calls %q; want once_reused and two calls", endOf(first.Result), endOf(r), s.keys)
				}
			})
		}
	})
}

// A cap counts a plan's act once, however often it was tried, also while it is tried again.
func TestPlanningCapsCountAnActOnce(t *testing.T) {
	lost := faults(catalog.NoAnswer, true, errGone)
	s := &service{turns: []func(context.Context, catalog.Call) (any, error){lost, lost}}
	job := s.ownJob(t, gateway.Planning, onceOnly)
	most := 0
	job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		n := 0
		for _, e := range c.Effects {
			if e.Counts() {
				n++
			}
		}
		if most = max(most, n); c.Tool == "own" && n > 0 {
			return gateway.Verdict{Decision: gateway.Block, Reason: "cap"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "in_cap"}
	})
	r := livedOut(t, job, &local.Engine{})
	if !r.OK() || len(s.keys) != 3 || most != 0 || len(r.Ledger) != 1 || r.Ledger[0].Status != gateway.Finished {
		t.Errorf("%s after %d calls, %d seen, effects %+v; want one act done by the third call", endOf(r), len(s.keys), most, r.Ledger)
	}
}
