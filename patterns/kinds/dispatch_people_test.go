package kinds

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// agreed is what a person says who agrees.
var agreed = answered(patterns.Decision{Approved: true, By: "local:1", Channel: "cli", Assurance: gateway.UserAssurance, Approval: "ap_1"}.Value())

// gone is the outcome of a call whose tool cannot be reached.
var gone = patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonUnavailable, Again: true}

// retriesPay is an orchestrator whose worker pay is called again as it declares. A person is asked about amounts from 10 on.
func retriesPay(t *testing.T, retry catalog.Retry) patterns.Spec {
	t.Helper()
	spec := asksToPay(t, gateway.Orchestrator)
	pay, _ := spec.Catalog.Tool("pay")
	pay.Retry = retry
	list, err := catalog.New(pay)
	if err != nil {
		t.Fatal(err)
	}
	spec.Catalog, spec.Budget.MaxTime = list, 25*time.Second
	return spec
}

// pays are tasks a, b and so on that pay these amounts.
func pays(amounts ...float64) patterns.Task {
	var tasks []any
	for i, n := range amounts {
		tasks = append(tasks, map[string]any{"id": string(rune('a' + i)), "worker": "pay", "args": map[string]any{"n": n}, "critical": false})
	}
	return patterns.Task{Goal: "x", Caller: patterns.Proposals("plan", map[string]any{"kind": "plan", "tasks": tasks})}
}

// ended lists tasks with their attempts and why they failed.
func ended(r patterns.Result) []string {
	var list []string
	for _, h := range r.History {
		row := h.(patterns.TaskRow)
		list = append(list, fmt.Sprintf("%s %s %d %s", row.TaskID, row.Status, row.AttemptsUsed, row.StopReason))
	}
	return list
}

// While a task's call is made, a person decides about another task and takes longer than the run may. The call is made again all
// the same, whatever asks for that: its tool, with a pause or without one, or the task's own retries.
func TestRetryAfterPeopleDecidedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		retry catalog.Retry
		out   patterns.Outcome
		pause bool
	}{
		"after a pause":       {catalog.Retry{Max: 1, Delay: time.Second}, gone, true},
		"at once":             {catalog.Retry{Max: 1}, gone, true},
		"after a lost answer": {catalog.Retry{Max: 1, Delay: time.Second}, patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}, true},
		"the task's own":      {catalog.Retry{}, patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonTimeout}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{takes: 48 * time.Hour, beside: map[string]string{"task#1/pay#1": "task#2/"}, script: map[string]patterns.Outcome{
				"task#1/pay#1": tt.out, "task#2/approve#1": agreed,
			}}
			r, _ := w.run(t, retriesPay(t, tt.retry), pays(3, 10))
			if got := ended(r); r.StopReason != patterns.Success || !slices.Equal(got, []string{"a done 2 ", "b done 1 "}) {
				t.Errorf("ended with %s, tasks %q; want both done", r.StopReason, got)
			}
			if paused := slices.Contains(w.keys, "task#1/sleep#1"); paused != tt.pause {
				t.Errorf("paused %t in %v, want %t", paused, w.keys, tt.pause)
			}
			if used := r.Budget["max_seconds"].Used; used > 25 {
				t.Errorf("%v seconds used, want people's time not counted", used)
			}
		})
	}
}

// A run that an earlier build began decides as that build did: there is no retry, and no pause is asked for.
func TestEarlierRunsCountPeopleOfOtherTasks(t *testing.T) {
	w := &world{takes: 48 * time.Hour, beside: map[string]string{"task#1/pay#1": "task#2/"}, script: map[string]patterns.Outcome{
		"task#1/pay#1": gone, "task#2/approve#1": agreed,
	}}
	task := pays(3, 10)
	task.Earlier = true
	r, _ := w.run(t, retriesPay(t, catalog.Retry{Max: 1, Delay: time.Second}), task)
	if got := ended(r); !slices.Equal(got, []string{"a failed 1 worker_unavailable:pay", "b done 1 "}) || slices.Contains(w.keys, "task#1/sleep#1") {
		t.Errorf("tasks %q after %v; want the first failed, without a pause", got, w.keys)
	}
}

// If the run's own time is over there is no retry, whatever it waited for, and the run ends as runs of earlier builds do. Only
// the refused pause is recorded besides.
func TestNoTimeForARetryEndsAsBefore(t *testing.T) {
	for name, out := range map[string]patterns.Outcome{
		"unavailable":   gone,
		"asked to wait": {State: patterns.Failed, Reason: patterns.ReasonToolError, Again: true, After: time.Hour},
		"a lost answer": {State: patterns.Unknown, Reason: patterns.ReasonBrokenReply},
		"a time-out":    {State: patterns.Unknown, Reason: patterns.ReasonTimeout},
	} {
		for _, retry := range []catalog.Retry{{Max: 2, Delay: time.Minute}, {Max: 0}} {
			for _, found := range []map[string]any{nil, {"happened": false}, {"happened": true, "by": "local:1", "result": map[string]any{"status": "done", "result": map[string]any{"n": 3.0}}}} {
				t.Run(fmt.Sprint(name, retry.Max, found), func(t *testing.T) {
					play := func(earlier bool) (patterns.Result, *world) {
						w := &world{script: map[string]patterns.Outcome{"task#1/pay#1": out, "doubt#1/settle#1": answered(found)}}
						if found == nil {
							w.script["doubt#1/settle#1"] = patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}
						}
						spec, task := retriesPay(t, retry), pays(3, 4)
						spec.Budget.MaxRetriesPerTask, task.Earlier = 0, earlier
						r, _ := w.run(t, spec, task)
						return r, w
					}
					got, w := play(false)
					want, before := play(true)
					if shape(t, got) != shape(t, want) {
						t.Errorf("ended as %s\nan earlier build's as %s", shape(t, got), shape(t, want))
					}
					keys := slices.DeleteFunc(w.keys, func(k string) bool { return k == "task#1/sleep#1" })
					if !slices.Equal(keys, before.keys) {
						t.Errorf("effects %v, of an earlier build's run %v", keys, before.keys)
					}
				})
			}
		}
	}
}

// People's time counts off whole, in whatever order they decided about tasks: here about the later task first.
func TestPeoplesTimeIsLostInNoOrder(t *testing.T) {
	spec := retriesPay(t, catalog.Retry{Max: 1, Delay: time.Second})
	asks := 0
	spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Args["n"] == 3.0 {
			asks++
		}
		if c.Args["n"] == 10.0 || asks == 2 {
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"}
	})
	w := &world{takes: time.Hour, beside: map[string]string{"task#1/pay#1": "task#2/"}, script: map[string]patterns.Outcome{
		"task#1/pay#1": gone, "task#1/approve#1": agreed, "task#2/approve#1": agreed,
	}}
	r, _ := w.run(t, spec, pays(3, 10))
	if got := ended(r); r.StopReason != patterns.Success || !slices.Equal(got, []string{"a done 2 ", "b done 1 "}) || w.asked() != 2 {
		t.Errorf("ended with %s, tasks %q after %d questions; want both done after two", r.StopReason, got, w.asked())
	}
	if used := r.Budget["max_seconds"].Used; used > 25 {
		t.Errorf("%v seconds used, want people's time not counted", used)
	}
}
