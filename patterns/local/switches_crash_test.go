package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// A call that was under way when its process ended, and that a switch keeps from being repeated, may have acted: nothing says
// that it was not made. Where it can be looked up, it is.
func TestSwitchAfterACrash(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*catalog.Tool)
		want   gateway.EffectStatus
	}{
		"nobody knows": {func(own *catalog.Tool) { own.Effect = catalog.Write }, gateway.InDoubt},
		"looked up":    {looksUp(0), gateway.Finished},
	} {
		for _, kind := range ownKinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				sent := make(chan struct{})
				s := &service{turns: []func(context.Context, catalog.Call) (any, error){func(ctx context.Context, c catalog.Call) (any, error) {
					close(sent)
					<-ctx.Done()
					return nil, errActed // it is too late to be heard
				}}}
				job := s.ownJob(t, kind, func(own *catalog.Tool) {
					tt.change(own)
					own.Idempotent = true
				})
				job.Spec.Budget.TaskTimeout, job.Spec.Budget.SubtaskTimeout = time.Minute, time.Minute
				path, ended := newState(t), make(chan patterns.Ended, 1)
				former := opened(t, path, jobs{job.Spec.Name: job})
				ctx, leave := context.WithCancelCause(t.Context())
				go func() {
					began, err := former.Start(ctx, job)
					if err != nil {
						t.Error(err)
					}
					ended <- began
				}()
				<-sent
				s.mu.Lock()
				s.done = append(s.done, s.keys...) // it acted
				s.mu.Unlock()
				leave(patterns.ErrDetached)
				id := (<-ended).RunID
				former.Close()

				next := opened(t, path, jobs{job.Spec.Name: job})
				if err := next.KillSwitch(true, patterns.Switch{Tool: "own"}, gateway.SignedAct{}); err != nil {
					t.Fatal(err)
				}
				next.Go()
				r := over(t, next, id).Result
				if r.StopReason != patterns.ReasonKillSwitch && endOf(r) != patterns.ReasonKillSwitch || s.calls() != 1 {
					t.Errorf("%s after %d calls, want kill_switch after one", r.StopReason, s.calls())
				}
				if len(r.Ledger) != 1 || r.Ledger[0].Status != tt.want {
					t.Errorf("effects %+v, want one %s", r.Ledger, tt.want)
				}
				for _, row := range r.History {
					if task, ok := row.(patterns.TaskRow); ok && task.InDoubt != (tt.want == gateway.InDoubt) {
						t.Errorf("in doubt %t: %+v", !task.InDoubt, task)
					}
				}
			})
		}
	}
}

// A switch of which this engine does not yet know counts before a person is asked.
func TestSwitchOfAnotherProcessBeforeAQuestion(t *testing.T) {
	path, s := newState(t), &service{}
	job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) { own.Effect = catalog.Write })
	job.Spec.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	})
	job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	job.Arguments = nil // no equal call joins
	other, e := opened(t, path, jobs{job.Spec.Name: job}), opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	waits(t, e, job)
	if err := other.KillSwitch(true, patterns.Switch{}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if w := ended.Waiting; w != nil || ended.Result.StopReason != patterns.ReasonKillSwitch {
		t.Errorf("ended with %s, waits for %+v; want %s and nobody asked", ended.Result.StopReason, w, patterns.ReasonKillSwitch)
	}
}
