package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

// orders plays a replay once for each order in which parallel branches can go on: each run follows a script of
// choices and notes how many there were at each, so that the next script can be made.
func orders(t *testing.T, play func(execution.Pick)) int {
	t.Helper()
	var script []int
	for n := 1; ; n++ {
		var widths []int
		play(func(keys []string) int {
			at := len(widths)
			widths = append(widths, len(keys))
			if at < len(script) {
				return script[at]
			}
			return 0
		})
		script = append(script, make([]int, max(0, len(widths)-len(script)))...)[:len(widths)]
		for len(script) > 0 && script[len(script)-1]+1 >= widths[len(script)-1] {
			script = script[:len(script)-1]
		}
		if len(script) == 0 {
			return n
		}
		script[len(script)-1]++
	}
}

// Whatever the order in which parallel tasks complete, a replay comes to the recorded result: also where they share
// a dispatch budget that does not reach for all.
func TestReplayInEveryOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dispatches gateway.Limit
		parallel   int
		atLeast    int // orders that three branches of one or two calls can have
	}{
		"all at once":         {8, 3, 12},
		"two at once":         {8, 2, 3},
		"one retry too few":   {3, 3, 6},
		"one dispatch for it": {4, 3, 12},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := spec(t, gateway.Orchestrator, 0.01)
			s.Budget.TaskTimeout /= 100
			s.Budget.MaxDispatches, s.Budget.MaxParallel = tt.dispatches, tt.parallel
			task := runs["orchestrate"].task
			lived, record := carryOut(t, s, task, &script{replies: runs["orchestrate"].replies})
			want := asJSON(t, lived)
			n := orders(t, func(pick execution.Pick) {
				again, err := local.Replay(record, s, task, pick)
				if err != nil {
					t.Fatal(err)
				}
				if got := asJSON(t, again); got != want {
					t.Fatalf("lived %s\nreplayed %s", want, got)
				}
			})
			if n < tt.atLeast {
				t.Errorf("%d orders were played, want at least %d", n, tt.atLeast)
			}
		})
	}
}

// Code that does not do what the record says is told so.
func TestReplayMismatch(t *testing.T) {
	s := spec(t, gateway.TaskDecomposition, 0)
	run := runs["decompose"]
	_, record := carryOut(t, s, run.task, &script{replies: run.replies})
	goal, short, more := run.task, run.task, s
	goal.Goal = "May"
	short.Finalize = false
	more.Kind, more.Budget = gateway.Routing, gateway.DefaultBudget(gateway.Routing)
	tests := map[string]struct {
		spec patterns.Spec
		task patterns.Task
		want string
	}{
		"another question":      {s, goal, "was recorded as"},
		"an effect is left out": {s, short, "answer#1 was recorded and is not used any more"},
		"another pattern":       {more, run.task, "route#1 is not recorded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := local.Replay(record, tt.spec, tt.task, execution.First)
			if !errors.Is(err, execution.ErrMismatch) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a mismatch with %q", err, tt.want)
			}
		})
	}
}

// The record holds an intent before and an outcome after each effect, in the order in which they happened, and before it
// what was judged of it: the refund was given a reason, then put to a person.
func TestRecordedOrder(t *testing.T) {
	run := runs["supervise"]
	_, record := carryOut(t, spec(t, run.kind, 0), run.task, &script{replies: run.replies})
	var got []string
	for _, e := range record.Events() {
		got = append(got, string(e.Kind)+" "+e.Key)
	}
	want := []string{
		"start ",
		"intent action#1", "outcome action#1", "intent get_refund_context#1", "outcome get_refund_context#1",
		"intent action#2", "outcome action#2", "judged issue_refund#1", "judged issue_refund#1", "intent approve#1", "outcome approve#1", "intent issue_refund#1", "outcome issue_refund#1",
		"intent action#3", "outcome action#3", "intent send_refund_email#1", "outcome send_refund_email#1",
		"intent action#4", "outcome action#4",
		"end ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("record\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A canceled run stops before its next effect and says that it was canceled.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	run := runs["decompose"]
	s := spec(t, run.kind, 0)
	var lines []string
	e := &local.Engine{}
	defer e.Close()
	ended, err := e.Start(ctx, patterns.Job{Spec: s, Task: run.task, Model: &script{replies: run.replies}, Progress: func(p patterns.Progress) {
		lines = append(lines, p.Line)
		if strings.HasPrefix(p.Line, "execute: step 2") {
			cancel()
		}
	}})
	if r := ended.Result; err != nil || r.StopReason != "cancelled" || r.Phase != patterns.PhaseExecute {
		t.Errorf("Start gave %v, stopped by %q in %q; want cancelled in %s", err, r.StopReason, r.Phase, patterns.PhaseExecute)
	}
	want := []string{"plan: choosing steps (model)", "plan: 3 steps accepted", "execute: step 1 of 3, get_manager_profile", "execute: step 2 of 3, calculate_monthly_kpis"}
	if !slices.Equal(lines, want) {
		t.Errorf("progress %q, want %q", lines, want)
	}
	if ended.Calls != 2 || ended.Requests != 1 || ended.Phase != patterns.PhaseExecute {
		t.Errorf("%d calls, %d requests, phase %s; want 2, 1, %s", ended.Calls, ended.Requests, ended.Phase, patterns.PhaseExecute)
	}
}

// A panic of pattern code ends the run and not the process.
func TestPatternPanics(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		run := runs["orchestrate"]
		s := spec(t, run.kind, 0)
		s.Aggregate = func(patterns.Inputs, []patterns.TaskRow) patterns.Aggregate { panic("broken") }
		e := open(t)
		ended, err := e.Start(context.Background(), patterns.Job{Spec: s, Task: run.task, Model: &script{replies: run.replies}})
		fault, ok := errors.AsType[*patterns.Fault](err)
		if !ok || fault.RunID != ended.RunID || !strings.Contains(fault.Error(), "broken") {
			t.Errorf("Start gave %v (%+v), want a fault of run %s that names the panic", err, ended, ended.RunID)
		}
		if ended.Phase != patterns.PhaseDispatch {
			t.Errorf("phase %q, want %q", ended.Phase, patterns.PhaseDispatch)
		}
	})
}
