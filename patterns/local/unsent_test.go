package local_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// afterItsTime ends a call that long after its time was over.
func afterItsTime(d time.Duration, kind catalog.FaultKind) func(context.Context, catalog.Call) (any, error) {
	return func(ctx context.Context, _ catalog.Call) (any, error) {
		<-ctx.Done()
		time.Sleep(d) // on the bubble's clock
		return nil, &catalog.Fault{Kind: kind, Cause: ctx.Err()}
	}
}

// A write that could not be sent while its time ran, and says so when that is over, is not in doubt: it is unavailable, or ends
// with the run's time. One that says nothing, or that it may have been sent, stays in doubt.
func TestWriteNotSentInTime(t *testing.T) {
	timeouts := map[gateway.Kind]string{gateway.Orchestrator: "task_timeout", gateway.Planning: "subtask_timeout"}
	for name, tt := range map[string]struct {
		turn     func(context.Context, catalog.Call) (any, error)
		deadline bool // the run's cuts, not the tool's
		reason   string
		status   gateway.EffectStatus
	}{
		"at once":             {afterItsTime(0, catalog.NotSent), false, "%s_unavailable:own", gateway.Failed},
		"a moment later":      {afterItsTime(20*time.Millisecond, catalog.NotSent), false, "%s_unavailable:own", gateway.Failed},
		"too late":            {afterItsTime(time.Second, catalog.NotSent), false, "in_doubt:own", gateway.InDoubt},
		"it may be sent":      {afterItsTime(0, catalog.NoAnswer), false, "in_doubt:own", gateway.InDoubt},
		"the run's time":      {afterItsTime(0, catalog.NotSent), true, "max_seconds", gateway.Failed},
		"the run's, it hangs": {hangs, true, "max_seconds", gateway.InDoubt},
	} {
		for _, kind := range ownKinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{turns: []func(context.Context, catalog.Call) (any, error){tt.turn}}
					job := s.ownJob(t, kind, func(own *catalog.Tool) {
						if own.Effect = catalog.Write; !tt.deadline {
							own.Timeout = 2 * time.Second
						}
					})
					if tt.deadline {
						job.Spec.Budget.MaxTime, job.Spec.Budget.TaskTimeout = 3*time.Second, 10*time.Second
					}
					r := livedOut(t, job, &local.Engine{})
					want := strings.Replace(tt.reason, "%s", familyOf(kind), 1)
					if own := timeouts[kind]; own != "" && want == "in_doubt:own" {
						want = own
					}
					if got := endOf(r); got != want || s.calls() != 1 || r.Ledger[0].Status != tt.status {
						t.Errorf("stopped by %s after %d calls, %s; want %s after one, %s", got, s.calls(), r.Ledger[0].Status, want, tt.status)
					}
					time.Sleep(2 * time.Second) // what came too late has ended
				})
			})
		}
	}
}

// One that may be repeated has the retries of its pattern, as a read has, and those that its tool declares.
func TestRepeatableWriteNotSentInTime(t *testing.T) {
	own := map[gateway.Kind]string{gateway.Orchestrator: "task_timeout", gateway.Planning: "executor_unavailable:own"}
	for name, tt := range map[string]struct {
		retries int // that the tool declares
		turns   turns
		calls   int    // of kinds without retries of their own
		reason  string // of these
		more    int    // calls of the others
		success bool
	}{
		"and then it is":                       {0, turns{afterItsTime(0, catalog.NotSent)}, 1, "%s_unavailable:own", 2, true},
		"and then it is, a moment later":       {0, turns{afterItsTime(20*time.Millisecond, catalog.NotSent)}, 1, "%s_unavailable:own", 2, true},
		"nor again":                            {0, turns{afterItsTime(0, catalog.NotSent), afterItsTime(0, catalog.NotSent)}, 1, "%s_unavailable:own", 2, false},
		"and then it is, as its tool declares": {1, turns{afterItsTime(0, catalog.NotSent)}, 2, patterns.Success, 2, true},
	} {
		for _, kind := range ownKinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{turns: slices.Clone(tt.turns)}
					job := s.ownJob(t, kind, func(own *catalog.Tool) {
						own.Effect, own.Idempotent, own.Timeout, own.Retry = catalog.Write, true, 2*time.Second, catalog.Retry{Max: tt.retries, Delay: time.Second}
					})
					if plan := job.Task.Plan; plan != nil {
						plan.OnFailure, plan.MaxRetries, plan.RetryDelay = patterns.RetryOnFailure, 1, time.Second
					}
					calls, reason, status := tt.calls, strings.Replace(tt.reason, "%s", familyOf(kind), 1), gateway.Failed
					if its := own[kind]; its != "" {
						if calls, reason = tt.more, patterns.Success; !tt.success {
							reason = its
						}
					}
					if reason == patterns.Success {
						status = gateway.Finished
					}
					r := livedOut(t, job, &local.Engine{})
					// a plan that succeeds keeps the row of the attempt before
					if got := endOf(r); got != reason && !(r.OK() && reason == patterns.Success) || s.calls() != calls || r.Ledger[0].Status != status {
						t.Errorf("stopped by %s after %d calls, %s; want %s after %d, %s", got, s.calls(), r.Ledger[0].Status, reason, calls, status)
					}
				})
			})
		}
	}
}
