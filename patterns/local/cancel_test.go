package local_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// slow is a model that answers when nobody wants it any more.
type slow struct{ patterns.Model }

func (slow) Ask(ctx context.Context, _ patterns.Question) (patterns.Answer, error) {
	<-ctx.Done()
	return patterns.Answer{Usage: patterns.Usage{Requests: 1}}, ctx.Err()
}

// A run that is taken back ends as cancelled in the phase where it stood, whatever it was doing.
func TestCanceledPhases(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		tests := map[string]struct {
			run   string
			at    string // the line of progress at which it is taken back
			slow  bool   // the model never answers
			phase string
		}{
			"asking for a plan":        {run: "decompose", at: "plan: choosing", slow: true, phase: "plan"},
			"a step":                   {run: "decompose", at: "execute: step 2", phase: "execute"},
			"writing the answer":       {run: "decompose", at: "finalize:", phase: "finalize"},
			"asking for tasks":         {run: "orchestrate", at: "plan: choosing", slow: true, phase: "plan"},
			"tasks side by side":       {run: "orchestrate", at: "dispatch: payments_worker", phase: "dispatch"},
			"asking for a route":       {run: "route", at: "route: choosing", slow: true, phase: "route"},
			"a hand-over":              {run: "route", at: "delegate: ", phase: "delegate"},
			"asking for an action":     {run: "supervise", at: "worker: choosing", slow: true, phase: "worker"},
			"an action":                {run: "supervise", at: "execution: calling issue_refund", phase: "execution"},
			"a person about to decide": {run: "supervise", at: "human_approval:", phase: "execution"},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				run := runs[tt.run]
				e := open(t)
				var model patterns.Model = &script{replies: run.replies}
				if tt.slow {
					model = slow{model}
				}
				ended, err := e.Start(ctx, patterns.Job{
					Spec: spec(t, run.kind, 1), Task: run.task, Model: model, Progress: func(p patterns.Progress) {
						if strings.HasPrefix(p.Line, tt.at) {
							cancel()
						}
					},
				})
				if r := ended.Result; err != nil || r.StopReason != "cancelled" || r.Phase != tt.phase {
					t.Errorf("%v; stopped by %q in %q, want cancelled in %q", err, r.StopReason, r.Phase, tt.phase)
				}
			})
		}
	})
}

// A write that was under way when the run was taken back may have happened; tasks that were not begun say so.
func TestCanceledWriteIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := deafSpec(t, deaf(t, "writes", catalog.Write, time.Second), deaf(t, "waits", catalog.Read, time.Second))
		s.Budget.MaxParallel = 1
		e := &local.Engine{}
		ended, err := e.Start(t.Context(), patterns.Job{
			Spec: s, Task: patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", object{"tasks": []any{
				object{"id": "a", "worker": "writes", "args": object{}}, object{"id": "b", "worker": "waits", "args": object{}},
			}})},
			Progress: func(p patterns.Progress) {
				if p.Line == "dispatch: writes" {
					go e.Cancel(context.Background(), "", p.RunID, patterns.Note{By: "local:1"})
				}
			},
		})
		r := ended.Result
		if err != nil || r.StopReason != "cancelled" || len(r.Ledger) != 1 || r.Ledger[0].Status != gateway.InDoubt {
			t.Fatalf("%v; %s with ledger %+v", err, r.StopReason, r.Ledger)
		}
		want := []string{"a failed 1 cancelled", "b failed 0 cancelled"}
		if got := rows(t, r); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("tasks %q, want %q", got, want)
		}
		e.Close()
		time.Sleep(2 * time.Second) // the fake clock's: the deaf tool comes to its end
	})
}

// A run that is taken back while it waits for its caller has not used the time of the wait.
func TestCanceledWaitCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &local.Engine{Waits: local.Waits{CallerWait: time.Hour}}
		defer e.Close()
		id := begin(t, e, refundJob(t, lookUp)).RunID
		time.Sleep(59 * time.Minute) // the fake clock's
		s, err := e.Cancel(t.Context(), "local:1", id, patterns.Note{By: "local:1"})
		if r := s.Ended.Result; err != nil || r.StopReason != "cancelled" || r.Budget["max_seconds"].Used != 0 || s.Ended.Waited != 59*time.Minute {
			t.Errorf("%v; stopped by %q after %v of waiting with %v seconds used, want 59m and none", err, r.StopReason, s.Ended.Waited, r.Budget["max_seconds"].Used)
		}
	})
}
