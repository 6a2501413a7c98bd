package local_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns/local"
)

// A write that could not be sent while its time ran, and says so when that is over, is not in doubt: it is unavailable, or ends
// with the run's time. One that says nothing, or that it may have been sent, stays in doubt.
func TestWriteNotSentInTime(t *testing.T) {
	after := func(d time.Duration, kind catalog.FaultKind) func(context.Context, catalog.Call) (any, error) {
		return func(ctx context.Context, _ catalog.Call) (any, error) {
			<-ctx.Done()
			time.Sleep(d) // on the bubble's clock
			return nil, &catalog.Fault{Kind: kind, Cause: ctx.Err()}
		}
	}
	timeouts := map[gateway.Kind]string{gateway.Orchestrator: "task_timeout", gateway.Planning: "subtask_timeout"}
	for name, tt := range map[string]struct {
		turn     func(context.Context, catalog.Call) (any, error)
		deadline bool // the run's cuts, not the tool's
		reason   string
		status   gateway.EffectStatus
	}{
		"at once":             {after(0, catalog.NotSent), false, "%s_unavailable:own", gateway.Failed},
		"a moment later":      {after(20*time.Millisecond, catalog.NotSent), false, "%s_unavailable:own", gateway.Failed},
		"too late":            {after(time.Second, catalog.NotSent), false, "in_doubt:own", gateway.InDoubt},
		"it may be sent":      {after(0, catalog.NoAnswer), false, "in_doubt:own", gateway.InDoubt},
		"the run's time":      {after(0, catalog.NotSent), true, "max_seconds", gateway.Failed},
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
