package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway/document"
	"patterngate/gateway/policy/refunds"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Regression cases of planning (spec/planning-reference.md section 12) that need tools of a kind that no real catalog has,
// or a clock that can be turned.

// answering are tools that misbehave, each by what it answers.
var answering = map[string]struct {
	answer any
	reason string // of the subtask; "": it is completed
}{
	"says_text":    {"done", "executor_bad_result:says_text"},
	"says_nothing": {nil, "executor_bad_result:says_nothing"},
	"says_number":  {1.0, "executor_bad_result:says_number"},
	"says_list":    {[]any{"done"}, "executor_bad_result:says_list"},
	"says_failed":  {map[string]any{"success": false}, "executor_reported_error:says_failed"},
	"says_error":   {map[string]any{"error": "out of order"}, "executor_reported_error:says_error"},
	"says_blank":   {map[string]any{"error": "", "value": 1.0}, "executor_reported_error:says_blank"},
	"says_little":  {map[string]any{}, ""},
	"says_fine":    {map[string]any{"success": true, "content": ""}, ""},
	"fails":        {fmt.Errorf("dial 10.0.0.7: refused"), "executor_error:fails"},
	"panics":       {"panic", "executor_error:panics"},
}

// strangeSpec declares executing plans over those tools and more of them.
func strangeSpec(t *testing.T, more ...catalog.Tool) patterns.Spec {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	s := planSpec(t, patterns.ExecuteVerb)
	s.Policy = nil
	for name, a := range answering {
		more = append(more, catalog.Tool{Name: name, Description: "Misbehaves.", Effect: catalog.Read, Do: func(context.Context, catalog.Call) (any, error) {
			if err, is := a.answer.(error); is {
				return nil, err
			}
			if a.answer == "panic" {
				panic("out of my mind")
			}
			return a.answer, nil
		}})
	}
	for i := range more {
		more[i].Input = input
		s.Policy = append(s.Policy, more[i].Name)
	}
	s.Execution = s.Policy
	if s.Catalog, err = catalog.New(more...); err != nil {
		t.Fatal(err)
	}
	return s
}

// carriedOut stores a plan and carries it out at once.
func carriedOut(t *testing.T, e *local.Engine, s patterns.Spec, text string, more func(*patterns.PlanCall)) patterns.Result {
	t.Helper()
	made := s
	made.Name = "plan_decompose"
	r := planned(t, e, made, decomposing(t, text), nil).Result
	if r.StopReason != patterns.Success {
		t.Fatalf("decompose: %s", asJSON(t, r))
	}
	return planned(t, e, s, executing(r.Planned.PlanID, more), nil).Result
}

// Whatever a tool answers, the run survives it, in sequence and in parallel alike.
func TestPlanningCase17(t *testing.T) {
	t.Parallel()
	s := strangeSpec(t)
	for _, concurrent := range []int{1, 16} {
		e := &local.Engine{}
		defer e.Close()
		var subtasks []string
		for name := range answering {
			subtasks = append(subtasks, subtaskText(name, name, nil))
		}
		r := carriedOut(t, e, s, planText(subtasks...), func(c *patterns.PlanCall) { c.OnFailure, c.Concurrent = patterns.SkipOnFailure, concurrent })
		if r.StopReason != patterns.SuccessPartial {
			t.Fatalf("ended with %s: %s", r.StopReason, asJSON(t, r))
		}
		for _, row := range r.Planned.View.Plan.Subtasks {
			want := answering[row.ID]
			status := patterns.SubtaskSkipped
			if want.reason == "" {
				status = patterns.SubtaskCompleted
			}
			if row.Status != status || row.StopReason != want.reason {
				t.Errorf("%d at once, %s: %s %q, want %s %q", concurrent, row.ID, row.Status, row.StopReason, status, want.reason)
			}
		}
		if text := asJSON(t, r); strings.Contains(text, "10.0.0.7") || strings.Contains(text, "out of my mind") {
			t.Errorf("the result shows what only the log is for: %s", text)
		}
	}
}

// A tool that writes into its arguments changes nothing for others.
func TestPlanningCase19(t *testing.T) {
	t.Parallel()
	saw := map[string]string{}
	spoils := catalog.Tool{Name: "spoils", Description: "Writes where it should not.", Effect: catalog.Read, Do: func(_ context.Context, c catalog.Call) (any, error) {
		saw[fmt.Sprint(c.Args["n"])] = string(ijson.Canonical(c.Args["given"]))
		if given, is := c.Args["given"].(map[string]any); is {
			given["value"] = "spoiled"
			given["list"].([]any)[0] = "spoiled"
		}
		c.Args["n"] = "spoiled"
		return map[string]any{"value": 1.0, "list": []any{1.0}}, nil
	}}
	e := &local.Engine{}
	defer e.Close()
	r := carriedOut(t, e, strangeSpec(t, spoils), planText(
		subtaskText("a", "spoils", map[string]any{"n": 1.0}),
		subtaskText("b", "spoils", map[string]any{"n": 2.0, "given": "$results.a"}, "a"),
		subtaskText("c", "spoils", map[string]any{"n": 3.0, "given": "$results.a"}, "b"),
	), nil)
	const fresh = `{"list":[1],"value":1}`
	if r.StopReason != patterns.Success || saw["2"] != fresh || saw["3"] != fresh {
		t.Errorf("ended with %s; b saw %s, c saw %s, want %s", r.StopReason, saw["2"], saw["3"], fresh)
	}
	for id, result := range r.Planned.Results {
		if got := string(ijson.Canonical(result)); got != fresh {
			t.Errorf("%s is kept as %s, want %s", id, got, fresh)
		}
	}
}

// The wait between attempts doubles up to 30 s and is lengthened by at most a tenth; what is ready does not wait for it.
func TestPlanningCase22(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began, times := time.Now(), map[string][]time.Duration{}
		note := func(name string, fail bool) catalog.Tool {
			return catalog.Tool{Name: name, Description: "Notes when.", Effect: catalog.Read, Do: func(ctx context.Context, _ catalog.Call) (any, error) {
				mu.Lock()
				times[name] = append(times[name], time.Since(began))
				mu.Unlock()
				if fail {
					<-ctx.Done() // a time limit is transient
					return nil, ctx.Err()
				}
				return map[string]any{}, nil
			}}
		}
		e := &local.Engine{}
		defer e.Close()
		s := strangeSpec(t, note("hangs", true), note("quick", false))
		s.Budget.SubtaskTimeout = time.Second
		r := carriedOut(t, e, s, planText(subtaskText("a", "hangs", nil), subtaskText("b", "quick", nil)), func(c *patterns.PlanCall) {
			c.OnFailure, c.MaxRetries, c.RetryDelay = patterns.RetryOnFailure, 5, 5*time.Second
		})
		mu.Lock() // one that was left may still end
		defer mu.Unlock()
		if r.StopReason != "max_retries:a" || len(times["quick"]) != 1 || times["quick"][0] > 2*time.Second {
			t.Fatalf("ended with %s; the sibling ran at %v: %s", r.StopReason, times["quick"], asJSON(t, r))
		}
		for i, want := range []time.Duration{5, 10, 20, 30, 30} {
			want *= time.Second
			got := times["hangs"][i+1] - times["hangs"][i] - time.Second
			if got < want || got > want+want/10+10*time.Millisecond {
				t.Errorf("attempt %d came %v after the one before ended, want %v and at most a tenth more", i+2, got, want)
			}
		}
	})
}

// A run that goes on knows what earlier runs of the plan paid: the mail about it goes out, and it counts for the sum. What
// they looked up may be old and is asked for again.
func TestPlanRemembersWhatWasDone(t *testing.T) {
	t.Parallel()
	e := &local.Engine{}
	defer e.Close()
	s := planSpec(t, patterns.ExecuteVerb)
	s.Policy = demo.RefundTools
	s.Execution, s.Reviewer = s.Policy, refunds.Limits{AutoUSD: 1000, PerRunUSD: 60, Days: 14}.Judge()
	refund := func(amount float64) map[string]any {
		return map[string]any{"user_id": "$results.look./user/id", "amount_usd": amount, "reason": "asked"}
	}
	text := planText(
		subtaskText("look", "get_refund_context", map[string]any{"user_id": 42.0}),
		subtaskText("pay", "issue_refund", refund(49), "look"),
		subtaskText("mail", "send_refund_email", map[string]any{"user_id": 42.0, "amount_usd": 49.0, "message": "Paid."}, "pay"),
		subtaskText("more", "issue_refund", refund(12), "look", "mail"),
	)
	r := carriedOut(t, e, s, text, func(c *patterns.PlanCall) { c.MaxSteps = 2 })
	if r.StopReason != "max_steps" {
		t.Fatalf("ended with %s: %s", r.StopReason, asJSON(t, r))
	}
	r = planned(t, e, s, executing(r.Planned.PlanID, nil), nil).Result
	rows := r.Planned.View.Plan.Subtasks
	if rows[2].Status != patterns.SubtaskCompleted {
		t.Errorf("the mail is %s: %s", rows[2].Status, rows[2].StopReason)
	}
	if r.StopReason != "subtask_failed:more" || rows[3].StopReason != "policy_block:refund_requires_context" {
		t.Errorf("ended with %s, more with %s: %s", r.StopReason, rows[3].StopReason, asJSON(t, r))
	}
	again := planSpec(t, patterns.ReplanVerb)
	again.Policy, again.Execution = s.Policy, s.Execution
	call := patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: r.Planned.PlanID}
	replanned := planned(t, e, again, patterns.Task{Plan: &call, Caller: []document.Intent{document.FromText(planText(
		subtaskText("look_2", "get_refund_context", map[string]any{"user_id": 42.0}),
		subtaskText("pay_2", "issue_refund", map[string]any{"user_id": 42.0, "amount_usd": 12.0, "reason": "asked"}, "look_2"),
	), "/plan")}}, nil).Result
	if replanned.StopReason != patterns.Success {
		t.Fatalf("replan: %s", asJSON(t, replanned))
	}
	r = planned(t, e, s, executing(r.Planned.PlanID, nil), nil).Result
	if got := r.Planned.View.Plan.Subtasks[4]; got.ID != "pay_2" || got.Status != patterns.SubtaskCompleted || refunded(r) != 11 {
		t.Errorf("after 49 USD, 12 more of at most 60: %s %s, %v paid", got.Status, got.StopReason, refunded(r))
	}
}

// A budget that kept the rest of a plan from starting does not stop a new plan that does not need it.
func TestReplanIsMeasuredAnew(t *testing.T) {
	t.Parallel()
	for reason, limit := range map[string]func(*patterns.Spec, *patterns.PlanCall){
		"max_tool_calls": func(s *patterns.Spec, _ *patterns.PlanCall) { s.Budget.MaxToolCalls = 1 },
		"max_steps":      func(_ *patterns.Spec, c *patterns.PlanCall) { c.MaxSteps = 1 },
	} {
		e := &local.Engine{}
		defer e.Close()
		s := strangeSpec(t)
		made := s
		made.Name = "plan_decompose"
		stored := planned(t, e, made, decomposing(t, planText(subtaskText("a", "fails", nil), subtaskText("b", "says_fine", nil))), nil).Result
		task := executing(stored.Planned.PlanID, func(c *patterns.PlanCall) {
			c.OnFailure, c.Concurrent = patterns.ReplanOnFailure, 2
			limit(&s, c)
		})
		ended := planned(t, e, s, task, &script{replies: []string{planText(subtaskText("c", "caller", nil))}})
		if w := ended.Waiting; w == nil || len(w.Ready) != 1 || w.Ready[0].ID != "c" {
			t.Errorf("%s: with nothing but work for the caller left the run ended with %q: %s", reason, ended.Result.StopReason, asJSON(t, ended.Result.Trace))
		}
	}
}
