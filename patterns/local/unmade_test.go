package local_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A write whose answer was lost is made again. Where that attempt is refused, what became of the first is found out all the
// same.
func TestDoubtWhereNoAttemptFollows(t *testing.T) {
	fewCalls := func(s *gateway.Budget, _ *gateway.Reviewer) { s.MaxToolCalls = 1 }
	blocked := func(_ *gateway.Budget, r *gateway.Reviewer) {
		*r = onlyAgain(gateway.Verdict{Decision: gateway.Block, Reason: "not_again"})
	}
	declined := func(_ *gateway.Budget, r *gateway.Reviewer) {
		*r = onlyAgain(gateway.Verdict{Decision: gateway.Escalate, Reason: "not_again"})
	}
	for name, tt := range map[string]struct {
		change  func(*gateway.Budget, *gateway.Reviewer)
		cause   error
		unknown bool   // nobody can be asked
		reason  string // of the call
		status  gateway.EffectStatus
	}{
		"no call is left, and it happened":    {fewCalls, errActed, false, "success", gateway.Finished},
		"no call is left, and it did not":     {fewCalls, errGone, false, "%s_error:own", gateway.Failed},
		"no call is left, and nobody knows":   {fewCalls, errGone, true, "in_doubt:own", gateway.InDoubt},
		"the policy blocks, and it happened":  {blocked, errActed, false, "success", gateway.Finished},
		"the policy blocks, and it did not":   {blocked, errGone, false, "policy_block:not_again", gateway.Failed},
		"a person declines, and it happened":  {declined, errActed, false, "success", gateway.Finished},
		"a person declines, and it did not":   {declined, errGone, false, "human_rejected", gateway.Failed},
		"a person declines, and nobody knows": {declined, errActed, true, "human_rejected", gateway.InDoubt},
	} {
		for _, kind := range []gateway.Kind{gateway.Orchestrator, gateway.Planning} {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				s := &service{turns: []func(context.Context, catalog.Call) (any, error){faults(catalog.NoAnswer, true, tt.cause)}}
				job := s.ownJob(t, kind, func(own *catalog.Tool) {
					looksUp(0)(own)
					if own.Idempotent = true; tt.unknown {
						own.Reconcile = nil
					}
				})
				tt.change(&job.Spec.Budget, &job.Spec.Reviewer)
				r := livedOut(t, job, &local.Engine{})
				want := strings.Replace(tt.reason, "%s", familyOf(kind), 1)
				// a subtask that is done keeps the row of the attempt that was refused
				if got := endOf(r); got != want && !(kind == gateway.Planning && tt.status == gateway.Finished && r.OK()) || s.calls() != 1 || r.Ledger[0].Status != tt.status {
					t.Errorf("stopped by %s after %d calls, %s; want %s after one, %s\n%s", got, s.calls(), r.Ledger[0].Status, want, tt.status, asJSON(t, r))
				}
				for _, h := range r.History {
					if row, ok := h.(patterns.TaskRow); ok && row.InDoubt != (tt.status == gateway.InDoubt) {
						t.Errorf("the task says in doubt: %v, the call is %s", row.InDoubt, tt.status)
					}
				}
			})
		}
	}
}

// onlyAgain gives this verdict on every attempt but the first.
func onlyAgain(v gateway.Verdict) gateway.Reviewer {
	return gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Of == "" {
			return gateway.Verdict{Decision: gateway.Approve, Reason: "first"}
		}
		return v
	})
}

// A budget that kept a write from being made again stops the run only where a slot has work left: the write may turn out to be
// done, and what is blocked, or is the caller's, needs no call.
func TestBudgetWhereNothingIsLeft(t *testing.T) {
	t.Parallel()
	sub := func(id, tool string, n float64, critical bool, after ...any) any {
		row := object{"id": id, "description": id, "dependencies": append([]any{}, after...), "tool": tool, "critical": critical}
		if tool == "own" {
			row["args"] = object{"n": n}
		}
		return row
	}
	for name, tt := range map[string]struct {
		last []any
		want string // the stop reason, or what the run waits for
	}{
		"a blocked one":            {[]any{sub("d", "own", 4, false, "a")}, patterns.SuccessPartial},
		"a critical blocked one":   {[]any{sub("d", "own", 4, true, "a")}, "blocked_dependencies"},
		"the caller's":             {[]any{sub("d", "caller", 4, false)}, string(patterns.ForCaller)},
		"one behind the caller's":  {[]any{sub("d", "caller", 4, false), sub("e", "own", 5, false, "d")}, string(patterns.ForCaller)},
		"one that may begin":       {[]any{sub("d", "own", 4, false, "b")}, "max_tool_calls"},
		"one beside the caller's":  {[]any{sub("d", "own", 4, false, "b"), sub("e", "caller", 5, false)}, "max_tool_calls"},
		"nothing but what is done": {nil, patterns.SuccessPartial},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{turns: turns{faults(catalog.Declined, false, errGone), faults(catalog.NoAnswer, true, errActed)}}
			job := s.ownJob(t, gateway.Planning, func(own *catalog.Tool) {
				looksUp(0)(own)
				own.Idempotent, own.Retry = true, catalog.Retry{Max: 1, Delay: 100 * time.Millisecond, MaxDelay: 100 * time.Millisecond}
			})
			job.Spec.Budget.MaxToolCalls, job.Task.Plan.OnFailure = 3, patterns.SkipOnFailure
			job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "subtasks": append([]any{
				sub("a", "own", 1, false), sub("b", "own", 2, false), sub("c", "own", 3, false)}, tt.last...)})
			e := &local.Engine{}
			defer e.Close()
			ended, err := e.Start(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			got, r := ended.Result.StopReason, ended.Result
			if ended.Waiting != nil {
				got, r = string(ended.Waiting.Kind), ended.Waiting.SoFar
			}
			if got != tt.want || s.calls() != 3 || s.looked() != 1 || r.Planned.View.Plan.Subtasks[1].Status != patterns.SubtaskCompleted {
				t.Errorf("came to %s after %d calls and %d look-ups; want %s after three and one, b done\n%s", got, s.calls(), s.looked(), tt.want, asJSON(t, r.Trace))
			}
		})
	}
}
