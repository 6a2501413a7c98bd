package local_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

var (
	lookStep = subtaskText("look", "get_refund_context", object{"user_id": 42.0})
	payStep  = subtaskText("pay", "issue_refund", object{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late"}, "look")
	mailStep = subtaskText("mail", "send_refund_email", object{"user_id": 42.0, "amount_usd": "$results.pay./refund/amount_usd", "message": "On its way."}, "pay")
)

// errand is a job that carries out a plan of the refund tools, which a person approves whole.
func errand(t testing.TB, require patterns.RequireApproval, subtasks ...string) patterns.Job {
	t.Helper()
	if len(subtasks) == 0 {
		subtasks = []string{lookStep, payStep, mailStep}
	}
	s := planSpec(t, patterns.ExecuteVerb)
	s.Envelope, s.LLM, s.Policy, s.Execution = require, false, demo.RefundTools, demo.RefundTools
	s.Reviewer = refundPolicy()
	s.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	task := executing("", nil)
	task.Caller = []document.Intent{document.FromText(planText(subtasks...), "/plan")}
	return patterns.Job{Spec: s, Task: task, Caller: patterns.Caller{Principal: "local:1"}}
}

// puts begins a run that puts its plan to a person, in a file of its own.
func puts(t testing.TB, job patterns.Job) (*local.Engine, patterns.Asked) {
	t.Helper()
	e := opened(t, newState(t), jobs{job.Spec.Name: job})
	e.Go()
	return e, waits(t, e, job)
}

func approve(t testing.TB, e *local.Engine, q patterns.Asked) {
	t.Helper()
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
}

// parksFor waits until a run waits for somebody else than before.
func parksFor(t testing.TB, e *local.Engine, run string, wanted func(*patterns.Waiting) bool) *patterns.Waiting {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		s, _ := e.Run("local:1", run)
		if w := s.Ended.Waiting; s.State == patterns.Parked && w != nil && wanted(w) {
			return w
		}
		if ctx.Err() != nil || s.State == patterns.Over {
			t.Fatalf("the run is %s (%s), waiting for %+v", s.State, s.Ended.Result.StopReason, s.Ended.Waiting)
		}
		e.Wait(ctx, "local:1", run, s.Mark())
	}
}

// asksAgain is the next question of a run to a person.
func asksAgain(t testing.TB, e *local.Engine, q patterns.Asked) patterns.Asked {
	t.Helper()
	w := parksFor(t, e, q.Question.Run, func(w *patterns.Waiting) bool { return w.Approval != "" && w.Approval != q.ID })
	second, err := e.Approvals().Approval(w.Approval)
	if err != nil {
		t.Fatal(err)
	}
	return second
}

func TestPlanIsApprovedWhole(t *testing.T) {
	t.Parallel()
	job := errand(t, patterns.RequireWrite)
	e, q := puts(t, job)
	if q.Question.Tool != "plan_execute" || q.Question.Step != q.Key || q.Rule != "require_approval" || q.Effect != "write" ||
		q.Phrase != "a plan of 3 steps (2 write: refunding 1200.00 USD to user 42; send_refund_email (user_id 42))" {
		t.Errorf("asked is %+v", q)
	}
	plan, ok := q.Plan()
	if !ok || len(plan.Steps) != 3 || plan.Steps[1].ID != "pay" || plan.Revision != 1 {
		t.Errorf("the plan is %+v, %t", plan, ok)
	}
	approve(t, e, q)
	r := over(t, e, q.Question.Run).Result
	if r.StopReason != patterns.Success || refunded(r) != 1200 {
		t.Fatalf("ended %s with %v paid: %s", r.StopReason, refunded(r), asJSON(t, r))
	}
	events, err := e.Events("local:1", q.Question.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []string{"look", "pay", "mail"} {
		if text := record(events); !strings.Contains(text, `"grant":"`+q.ID+`"`) || !strings.Contains(text, `"share":"`+share+`"`) {
			t.Errorf("no share of %s in %s", share, text)
		}
	}
	if n := strings.Count(record(events), `"approve`); n == 0 {
		t.Error("nobody was asked")
	}
	if q, err = e.Approvals().Approval(q.ID); err != nil || !q.Spent {
		t.Errorf("afterwards it stands as %+v, %v", q, err)
	}
}

// reasonOf is why a subtask's newest attempt failed; "" where it did not.
func reasonOf(r patterns.Result, id string) (reason string) {
	for _, row := range r.Trace {
		if a := row.(patterns.AttemptRow); a.SubtaskID == id {
			reason = a.StopReason
		}
	}
	return reason
}

// Without an approval in time nothing runs. The plan stays as it was and can be carried out later.
func TestPlanThatNobodyApproves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		decide func(t *testing.T, e *local.Engine, q patterns.Asked)
		reason string
	}{
		"rejected": {func(t *testing.T, e *local.Engine, q patterns.Asked) {
			if _, err := e.Approvals().Decide(say(q, gateway.ChooseReject, nil)); err != nil {
				t.Fatal(err)
			}
			e.Go()
		}, "human_rejected"},
		"silence": {func(t *testing.T, e *local.Engine, q patterns.Asked) {
			e.Ahead(2 * time.Hour)
			e.Yield()
			if _, err := e.Operator().Resume(t.Context(), q.Question.Run); err != nil {
				t.Fatal(err)
			}
		}, "approval_expired"},
		"edited by who writes into the file": {func(t *testing.T, e *local.Engine, q patterns.Asked) {
			edit := maps.Clone(q.Question.Args)
			edit["goal"] = "another"
			if _, err := e.Approvals().Decide(say(q, gateway.ChooseEdit, edit)); err == nil {
				t.Error("a changed plan was taken")
			}
			d := say(q, gateway.ChooseEdit, edit)
			e.AnswerRow(t, q.ID, d.Object(), ijson.Canonical(edit), "")
			e.Yield()
			if _, err := e.Operator().Resume(t.Context(), q.Question.Run); err != nil {
				t.Fatal(err)
			}
		}, "human_rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := errand(t, patterns.RequirePlan)
			e := opened(t, newState(t), jobs{job.Spec.Name: job})
			q := waits(t, e, job)
			tt.decide(t, e, q)
			r := over(t, e, q.Question.Run).Result
			if r.StopReason != tt.reason || r.Phase != patterns.PhaseExecute || len(r.Ledger) != 0 || len(r.Trace) != 0 {
				t.Fatalf("ended %s in phase %s with %+v", r.StopReason, r.Phase, r.Ledger)
			}
			if p := r.Planned; p == nil || p.Resumable == nil || !*p.Resumable || p.View.Counts.Pending != 3 || p.Revision != 1 {
				t.Errorf("the plan stands as %s", asJSON(t, p))
			}
		})
	}
}

// Where only plans that write are put to a person, others are not; of a person who stands in, the cap holds for each call.
func TestPlansThatNeedNoPerson(t *testing.T) {
	t.Parallel()
	reads := errand(t, patterns.RequireWrite, lookStep)
	e := opened(t, newState(t), jobs{reads.Spec.Name: reads})
	if ended, err := e.Start(t.Context(), reads); err != nil || ended.Waiting != nil || ended.Result.StopReason != patterns.Success {
		t.Errorf("a plan that reads: %v, %+v", err, ended)
	}
	simulated := errand(t, patterns.RequireWrite)
	simulated.Spec.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	inMemory := errand(t, patterns.RequireWrite)
	for name, tt := range map[string]struct {
		job    patterns.Job
		engine patterns.Engine
		reason string
		paid   float64
	}{
		"simulated":           {simulated, e, patterns.Success, 800},
		"simulated in memory": {simulated, &local.Engine{}, patterns.Success, 800},
		"nobody in memory":    {inMemory, &local.Engine{}, "human_rejected", 0},
	} {
		ended, err := tt.engine.Start(t.Context(), tt.job)
		if err != nil || ended.Result.StopReason != tt.reason || refunded(ended.Result) != tt.paid {
			t.Errorf("%s: %v, %s with %v paid; want %s with %v", name, err, ended.Result.StopReason, refunded(ended.Result), tt.reason, tt.paid)
		}
	}
}

// What becomes of an approval, or of one share of it, after it was heard and before the call of the step counts: it is judged
// again in the transaction of the call's intent. The steps before ran.
func TestSharesThatChangeBeforeTheirCall(t *testing.T) {
	t.Parallel()
	anna := newSigner("a")
	tests := map[string]struct {
		signed bool
		change func(desk *local.Engine, file outsider, q patterns.Asked) error
		reason string // of the step pay
	}{
		"the key is removed": {true, func(desk *local.Engine, _ outsider, _ patterns.Asked) error {
			return desk.Approvals().RemoveKey(anna.KeyID(), anna.does(gateway.ActRemove, gateway.RemoveSubject(anna.KeyID())))
		}, gateway.ApprovalInvalid},
		"a key is enrolled": {false, func(desk *local.Engine, _ outsider, _ patterns.Asked) error {
			return desk.Approvals().Enroll(anna.enrolled(anna))
		}, gateway.ApprovalInvalid},
		"a rejection": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("UPDATE approvals SET answer = ? WHERE ap = ?", say(q, gateway.ChooseReject, nil).Object(), local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalInvalid},
		"no row": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("DELETE FROM approvals WHERE ap = ?", local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalInvalid},
		"its share is spent": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("INSERT INTO plan_shares VALUES (?, 'pay', 'pg_other')", local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalConsumed},
		"another's share is spent": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("INSERT INTO plan_shares VALUES (?, 'other', 'pg_other')", local.ApprovalNumber(q.ID))
			return nil
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, job := newState(t), errand(t, patterns.RequirePlan)
			q := approvedBefore(t, path, job, anna, tt.signed)
			desk, file := opened(t, path, nil), newOutsider(t, path)
			next := opened(t, path, jobs{job.Spec.Name: job})
			var once sync.Once
			next.CarryOn(t, q.Question.Run, func(p patterns.Progress) { // told of the refund when it was let through
				if strings.Contains(p.Line, "issue_refund") {
					once.Do(func() {
						if err := tt.change(desk, file, q); err != nil {
							t.Errorf("the change: %v", err)
						}
					})
				}
			})
			next.Go()
			r := over(t, next, q.Question.Run).Result
			once.Do(func() { t.Error("the moment did not come") })
			want := map[bool]float64{true: 1200}[tt.reason == ""]
			if got := reasonOf(r, "pay"); got != tt.reason || refunded(r) != want || reasonOf(r, "look") != "" {
				t.Errorf("pay ended %q with %v paid, want %q; %s", got, refunded(r), tt.reason, r.StopReason)
			}
		})
	}
}

// Time runs out for what of an approved plan has not begun.
func TestApprovedPlanExpires(t *testing.T) {
	t.Parallel()
	wait := `{"id":"wait","description":"Wait.","tool":"caller","dependencies":[]}`
	pay := subtaskText("pay", "issue_refund", object{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late"}, "look", "wait")
	job := errand(t, patterns.RequireWrite, lookStep, wait, pay)
	path := newState(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.CallerWait = 2 * time.Hour
	e.Go()
	q := waits(t, e, job)
	approve(t, e, q)
	parksFor(t, e, q.Question.Run, func(w *patterns.Waiting) bool { return w.Kind == patterns.ForCaller })
	e.Close()
	later := opened(t, path, jobs{job.Spec.Name: job})
	later.CallerWait = 2 * time.Hour
	later.Ahead(61 * time.Minute)
	later.Go()
	r := send(t, later, q.Question.Run, object{"results": object{"wait": object{"status": "completed"}}}).Result
	if r.StopReason != "subtask_failed:pay" || reasonOf(r, "pay") != gateway.ApprovalExpired || refunded(r) != 0 {
		t.Errorf("ended %s, pay %q, %v paid", r.StopReason, reasonOf(r, "pay"), refunded(r))
	}
}

// Only signed decisions count where that is asked for, also about plans.
func TestSignedPlan(t *testing.T) {
	t.Parallel()
	anna := newSigner("a")
	job := errand(t, patterns.RequireWrite)
	job.Spec.Approver.Least = gateway.SignedAssurance
	e, q := puts(t, job)
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); !errors.Is(err, patterns.ErrUnsigned) {
		t.Errorf("an unsigned decision: %v", err)
	}
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Approvals().Decide(anna.decides(say(q, gateway.ChooseApprove, nil))); err != nil {
		t.Fatal(err)
	}
	r := over(t, e, q.Question.Run).Result
	if r.StopReason != patterns.Success || refunded(r) != 1200 {
		t.Errorf("ended %s, %v paid", r.StopReason, refunded(r))
	}
	for _, row := range r.Trace {
		a := row.(patterns.AttemptRow)
		if h := a.HumanApproval; (h != nil) != (a.Tool != "get_refund_context") || h != nil && (h.Assurance != gateway.SignedAssurance || h.ApprovalID != q.ID) {
			t.Errorf("%s is by %+v", a.SubtaskID, h)
		}
	}
}

// A reference without bounds is not enough for what the policy asks a person about: they are asked about the call itself, with
// its value.
func TestPolicyAsksAboutWhatWasNotShown(t *testing.T) {
	t.Parallel()
	pay := subtaskText("pay", "issue_refund", object{"user_id": 42.0, "amount_usd": "$results.look./billing/last_charge_usd", "reason": "late"}, "look")
	e, q := puts(t, errand(t, patterns.RequireWrite, lookStep, pay))
	if q.Phrase != "a plan of 2 steps (1 writes: issue_refund (user_id 42))" {
		t.Errorf("asked about %s", q.Phrase)
	}
	approve(t, e, q)
	second := asksAgain(t, e, q)
	if second.Question.Tool != "issue_refund" || second.Phrase != "refunding 1200.00 USD to user 42" {
		t.Fatalf("asked is %+v", second)
	}
	approve(t, e, second)
	if r := over(t, e, q.Question.Run).Result; r.StopReason != patterns.Success || refunded(r) != 1200 {
		t.Errorf("ended %s, %v paid", r.StopReason, refunded(r))
	}
}

// After a replan within the run the person is asked again, about what is new alone; what they approved before lets nothing of
// it through.
func TestReplanIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	fails := subtaskText("pay", "issue_refund", object{"user_id": 42.0, "amount_usd": 999.0, "reason": "late"}, "look")
	first := subtaskText("look7", "get_refund_context", object{"user_id": 99.0})
	job := errand(t, patterns.RequireWrite, lookStep, first, fails)
	job.Spec.LLM = true
	job.Task.Plan.OnFailure = patterns.ReplanOnFailure
	job.Model = &script{replies: []string{planText(subtaskText("pay_2", "issue_refund", object{"user_id": 42.0, "amount_usd": 500.0, "reason": "late"}, "look"))}}
	e, q := puts(t, job)
	approve(t, e, q)
	second := asksAgain(t, e, q)
	plan, ok := second.Plan()
	if !ok || len(plan.Steps) != 1 || plan.Steps[0].ID != "pay_2" || plan.Revision != 2 || plan.Change == nil || len(plan.Change.Removed) == 0 {
		t.Fatalf("asked about %+v", plan)
	}
	if second.Phrase != "a plan of 1 step, made anew (1 writes: refunding 500.00 USD to user 42)" {
		t.Errorf("in words: %s", second.Phrase)
	}
	approve(t, e, second)
	if r := over(t, e, q.Question.Run).Result; r.StopReason != patterns.Success || refunded(r) != 500 {
		t.Errorf("ended %s, %v paid", r.StopReason, refunded(r))
	}
}
