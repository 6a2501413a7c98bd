package local_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// paying carries out a plan of payments, of which a person decides about those of 10 and more. act is what a payment does.
func paying(t testing.TB, act func(context.Context, catalog.Call) (any, error), plan string, more func(*patterns.PlanCall, *gateway.Budget)) patterns.Job {
	t.Helper()
	input := must(catalog.CompileSchema([]byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)))
	output := must(catalog.CompileSchema([]byte(`{"type":"object"}`)))
	tools := must(catalog.New(
		catalog.Tool{Name: "pay", Effect: catalog.Write, Idempotent: true, Input: input, Output: output, Do: act},
		catalog.Tool{Name: "send", Effect: catalog.Write, Input: input, Output: output, Do: act},
		catalog.Tool{Name: "look", Effect: catalog.Read, Input: input, Output: output, Do: act},
	))
	names := []string{"pay", "send", "look"}
	s := patterns.Spec{
		Name: "plan_execute", Plans: "plan", Kind: gateway.Planning, Catalog: tools, Policy: names, Execution: names,
		Budget: gateway.DefaultBudget(gateway.Planning), LLM: true, Envelope: patterns.RequireNone,
		Approver: patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour},
		Reviewer: gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
			if n, _ := c.Args["n"].(float64); n >= 10 {
				return gateway.Verdict{Decision: gateway.Escalate, Reason: "big"}
			}
			return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
		}),
	}
	task := executing("", func(c *patterns.PlanCall) {
		if c.Concurrent = 4; more != nil {
			more(c, &s.Budget)
		}
	})
	if plan != "" {
		task.Caller = []document.Intent{document.FromText(plan, "/plan")}
	}
	return patterns.Job{Spec: s, Task: task, Model: &script{}, Caller: patterns.Caller{Principal: mine}, Arguments: object{"plan": plan}}
}

func pay(id string, n float64, dependencies ...string) string {
	return subtaskText(id, "pay", object{"n": n}, dependencies...)
}

// decideAll answers all open questions of a run.
func decideAll(t testing.TB, e *local.Engine, run string, choice gateway.Choice) int {
	t.Helper()
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, q := range page.Rows {
		if q.State == patterns.AskedOpen {
			n++
			if _, err := e.Approvals().Decide(say(q, choice, nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// A call that a person is asked about has its share of the budget meanwhile; where they say no, another has it.
func TestBudgetOfCallsThatPeopleDecide(t *testing.T) {
	for _, choice := range []gateway.Choice{gateway.ChooseApprove, gateway.ChooseReject} {
		t.Run(string(choice), func(t *testing.T) {
			paid := make(chan string, 9)
			act := func(_ context.Context, c catalog.Call) (any, error) { paid <- c.Key; return object{}, nil }
			job := paying(t, act, planText(pay("a", 10), pay("b", 1), pay("c", 2)), func(c *patterns.PlanCall, b *gateway.Budget) {
				b.MaxToolCalls, c.OnFailure = 1, patterns.SkipOnFailure
			})
			e := opened(t, newState(t), jobs{job.Spec.Name: job})
			e.Go()
			id := begin(t, e, job).RunID
			early := len(paid)
			if asked := decideAll(t, e, id, choice); asked != 1 || early > 0 {
				t.Errorf("%d questions and before that %d calls, want one and none", asked, early)
			}
			if r := over(t, e, id).Result; r.StopReason != "max_tool_calls" || len(paid) != 1 {
				t.Errorf("%d calls, %s; want one, max_tool_calls", len(paid), r.StopReason)
			}
		})
	}
}

// What a person approves when the run's own time is over is not done any more.
func TestApprovedWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	paid := make(chan string, 9)
	act := func(ctx context.Context, c catalog.Call) (any, error) {
		if c.Args["n"] == 1.0 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		paid <- c.Key
		return object{}, nil
	}
	job := paying(t, act, planText(pay("a", 10), subtaskText("b", "look", object{"n": 1.0})), func(_ *patterns.PlanCall, b *gateway.Budget) {
		b.MaxTime = 250 * time.Millisecond
	})
	e := opened(t, newState(t), jobs{job.Spec.Name: job})
	e.Go()
	id := begin(t, e, job).RunID
	if asked := decideAll(t, e, id, gateway.ChooseApprove); asked != 1 {
		t.Errorf("%d questions, want 1", asked)
	}
	r := over(t, e, id).Result
	if c := r.Planned.View.Counts; r.StopReason != "max_seconds" || c.Pending != 2 || len(paid) > 0 {
		t.Errorf("%s, %+v, %d calls; want max_seconds, 2 pending, none", r.StopReason, c, len(paid))
	}
}

// A call that may have acted is the same act in a later run of its plan.
func TestSameActInALaterRun(t *testing.T) {
	var keys []string
	act := func(ctx context.Context, c catalog.Call) (any, error) {
		if keys = append(keys, c.Key); len(keys) == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return object{}, nil
	}
	job := paying(t, act, planText(pay("a", 1), pay("b", 2, "a")), func(_ *patterns.PlanCall, b *gateway.Budget) { b.SubtaskTimeout = 50 * time.Millisecond })
	e := &local.Engine{}
	defer e.Close()
	r := start(t, e, job).Result
	if r.StopReason != "subtask_timeout:a" {
		t.Fatalf("the first run: %s", asJSON(t, r))
	}
	job.Task, job.Spec.Budget.SubtaskTimeout = executing(r.Planned.PlanID, nil), time.Minute
	if r = start(t, e, job).Result; r.StopReason != patterns.Success {
		t.Fatalf("the later run: %s", asJSON(t, r))
	}
	if len(keys) != 3 || keys[0] != keys[1] || keys[1] == keys[2] {
		t.Errorf("the calls had the keys %q, want the second to have the first's and the third its own", keys)
	}
}

func start(t testing.TB, e patterns.Engine, job patterns.Job) patterns.Ended {
	t.Helper()
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// atOnce is a model that answers when all its questions are asked. Each costs all that it may, up to three requests.
type atOnce struct {
	mu   sync.Mutex
	all  chan struct{}
	left int
}

func (*atOnce) Name() string { return "at once" }

func (m *atOnce) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) {
	m.mu.Lock()
	if m.left--; m.left == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	<-m.all
	return patterns.Answer{Text: "done", Usage: patterns.Usage{Requests: min(q.MaxRequests, 3)}}, nil
}

func noAct(context.Context, catalog.Call) (any, error) { return object{}, nil }

// Questions that are asked at once do not cost more than the run may.
func TestRequestsOfQuestionsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct{ limit, most int }{"few": {4, 4}, "many": {50, 9}} {
		t.Run(name, func(t *testing.T) {
			text := planText(subtaskText("a", "model", nil), subtaskText("b", "model", nil), subtaskText("c", "model", nil))
			job := paying(t, noAct, text, func(_ *patterns.PlanCall, b *gateway.Budget) { b.MaxLLMCalls = gateway.Limit(tt.limit) })
			job.Model = &atOnce{all: make(chan struct{}), left: 3}
			e := &local.Engine{}
			defer e.Close()
			if r := start(t, e, job).Result; r.StopReason != patterns.Success || r.Usage.Requests > tt.limit || r.Usage.Requests > tt.most {
				t.Errorf("%s with %d requests, want success with at most %d", r.StopReason, r.Usage.Requests, tt.most)
			}
		})
	}
}

// Calls that are made at once are judged by one another, also where a person approved each: a sum that the policy allows a
// run is not exceeded.
func TestPolicySeesWhatIsUnderWay(t *testing.T) {
	for name, n := range map[string]float64{"nobody is asked": 9, "a person approves both": 10} {
		t.Run(name, func(t *testing.T) {
			paid := make(chan string, 9)
			act := func(_ context.Context, c catalog.Call) (any, error) { paid <- c.Key; return object{}, nil }
			job := paying(t, act, planText(pay("a", n), pay("b", n+1)), func(c *patterns.PlanCall, _ *gateway.Budget) { c.OnFailure = patterns.SkipOnFailure })
			asks := job.Spec.Reviewer
			job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
				for _, e := range c.Effects {
					if e.Counts() {
						return gateway.Verdict{Reason: "spent"}
					}
				}
				if n < 10 {
					return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
				}
				return asks.Review(c)
			})
			e := opened(t, newState(t), jobs{job.Spec.Name: job})
			ended := start(t, e, job)
			if ended.Waiting != nil {
				decideAll(t, e, ended.RunID, gateway.ChooseApprove)
				e.Go()
				ended = over(t, e, ended.RunID)
			}
			r := ended.Result
			rows := r.Planned.View.Plan.Subtasks
			why := rows[0].StopReason + rows[1].StopReason // whose answer comes first is paid
			if len(paid) != 1 || r.StopReason != patterns.SuccessPartial || why != "policy_block:spent" {
				t.Errorf("%d payments, %s, %s; want one, and the other blocked", len(paid), r.StopReason, why)
			}
		})
	}
}

// capped changes payments to what is left of 10, and shows each judgment's effects to see.
func capped(see func([]gateway.Entry)) gateway.Reviewer {
	return gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		see(c.Effects)
		left := 10.0
		for _, e := range c.Effects {
			if n, _ := e.Args["n"].(float64); e.Counts() {
				left -= n
			}
		}
		if n, _ := c.Args["n"].(float64); n > left {
			return gateway.Verdict{Decision: gateway.Revise, Reason: "capped", Args: object{"n": left}}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
	})
}

// One more attempt at a call that may have acted is the same act: with other arguments it is not made.
func TestRetryWithOtherArguments(t *testing.T) {
	sent := make(chan any, 3) // a call that was cut is not waited for
	act := func(ctx context.Context, c catalog.Call) (any, error) {
		sent <- c.Args["n"]
		<-ctx.Done()
		return nil, ctx.Err()
	}
	job := paying(t, act, planText(pay("a", 9)), func(c *patterns.PlanCall, b *gateway.Budget) {
		b.SubtaskTimeout, c.OnFailure, c.MaxRetries, c.RetryDelay = 50*time.Millisecond, patterns.RetryOnFailure, 2, 0
	})
	judged := 0 // a policy that has other words for the same proposal, as one that reads a window may
	job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if judged++; judged > 1 && c.Args["n"] == 9.0 {
			return gateway.Verdict{Decision: gateway.Revise, Reason: "capped", Args: object{"n": 1.0}}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
	})
	e := &local.Engine{}
	defer e.Close()
	r := start(t, e, job).Result
	if <-sent != 9.0 || len(sent) != 0 || r.StopReason != "max_retries:a" || r.Planned.View.Plan.Subtasks[0].StopReason != "subtask_timeout" {
		t.Errorf("%d more calls, %s; want that of 9 alone and max_retries:a", len(sent), asJSON(t, r))
	}
}

// What an earlier run sent is what its policy left, not what the plan had.
func TestPlanRemembersWhatWasSent(t *testing.T) {
	act := func(context.Context, catalog.Call) (any, error) { return object{}, nil }
	job := paying(t, act, planText(pay("a", 12), pay("b", 1, "a")), func(c *patterns.PlanCall, _ *gateway.Budget) { c.MaxSteps = 1 })
	var effects []gateway.Entry
	job.Spec.Reviewer = capped(func(list []gateway.Entry) { effects = list })
	e := &local.Engine{}
	defer e.Close()
	r := start(t, e, job).Result
	if r.StopReason != "max_steps" {
		t.Fatalf("the first run: %s", asJSON(t, r))
	}
	job.Task = executing(r.Planned.PlanID, nil)
	start(t, e, job)
	if len(effects) != 1 || effects[0].Args["n"] != 10.0 {
		t.Errorf("the later run sees %+v, want one payment of 10", effects)
	}
}
