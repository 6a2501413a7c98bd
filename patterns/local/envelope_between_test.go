package local_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// What is committed at a boundary is what a crash leaves there. At every one a share is spent where the record says so, and
// nowhere else; a process that ends there lets the next one carry the rest on, and nothing is paid twice.
func TestSharesMoveWithTheirRecord(t *testing.T) {
	t.Parallel()
	path, job := newState(t), errand(t, patterns.RequireWrite)
	opened(t, path, nil).Close() // makes the file
	file := newOutsider(t, path)
	var mu sync.Mutex
	passed := map[int]bool{}
	look := func(string) {
		mu.Lock()
		defer mu.Unlock()
		tx, err := file.db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer tx.Rollback()
		var spent, said int
		err = tx.QueryRow(`SELECT (SELECT count(*) FROM plan_shares), (SELECT count(*) FROM events WHERE kind = 'intent' AND instr(body, '"share":"') > 0)`).Scan(&spent, &said)
		if err != nil || spent != said {
			t.Errorf("%d shares are spent, the record says %d (%v)", spent, said, err)
		}
		passed[spent] = true
	}
	e := hooked(t, path, jobs{job.Spec.Name: job}, look)
	q := waits(t, e, job)
	approve(t, e, q)
	e.Go()
	r := over(t, e, q.Question.Run).Result
	e.Close()
	if r.StopReason != patterns.Success || refunded(r) != 1200 || len(passed) != 4 {
		t.Errorf("ended %s with %v paid, boundaries passed with %v shares spent", r.StopReason, refunded(r), passed)
	}
	desk := opened(t, path, nil)
	if page, err := desk.Approvals().ListApprovals(patterns.ApprovalFilter{All: true}); err != nil || len(page.Rows) != 1 || !page.Rows[0].Spent {
		t.Errorf("listed are %+v, %v", page.Rows, err)
	}
	if _, err := desk.Operator().Prune(time.Now().Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if n := file.counts("SELECT count(*) FROM plan_shares"); n != 0 {
		t.Errorf("%d shares outlive their run", n)
	}
}

// Values that are kept out of records are kept out of what is asked about a plan, too; who decides sees them meanwhile.
func TestRedactedPlanIsApproved(t *testing.T) {
	t.Parallel()
	path, job := newState(t), errand(t, patterns.RequireWrite)
	e := redacting(t, path, jobs{job.Spec.Name: job}, []string{"/args/message", "/args/reason", "/input/plan"})
	e.Catalog = job.Spec.Catalog
	q := waits(t, e, job)
	plan, ok := q.Plan()
	if pay, _ := plan.Step("pay"); !ok || pay.Args["reason"] != "late" {
		t.Fatalf("shown is %+v", q.Question.Args)
	}
	if q.Phrase != "a plan of 3 steps (2 write: issue_refund; send_refund_email)" {
		t.Errorf("in words: %s", q.Phrase)
	}
	file := newOutsider(t, path)
	for _, secret := range []string{"On its way.", `"late"`} {
		if n := file.counts("SELECT count(*) FROM events WHERE instr(body, ?) > 0", secret); n != 0 {
			t.Errorf("%s stands in %d events", secret, n)
		}
	}
	e.Close()
	next := redacting(t, path, jobs{job.Spec.Name: job}, []string{"/args/message", "/args/reason", "/input/plan"})
	if _, err := next.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	next.Go()
	if r := over(t, next, q.Question.Run).Result; r.StopReason != patterns.Success || refunded(r) != 1200 {
		t.Errorf("ended %s with %v paid", r.StopReason, refunded(r))
	}
	if seen, err := next.Approvals().Approval(q.ID); err != nil || strings.Contains(string(seen.Question.Object()), "On its way.") {
		t.Errorf("afterwards it shows %s, %v", seen.Question.Object(), err)
	}
}

// What the policy changes of a step is not what was shown: the person is asked about the call as it then is.
func TestPolicyChangesAStep(t *testing.T) {
	t.Parallel()
	pay := subtaskText("pay", "issue_refund", object{"user_id": 42.0, "amount_usd": 120.0}, "look")
	e, q := puts(t, errand(t, patterns.RequireWrite, lookStep, pay))
	approve(t, e, q)
	second := asksAgain(t, e, q)
	if second.Question.Tool != "issue_refund" || second.Question.Args["reason"] == nil || second.Rule != "require_approval" {
		t.Fatalf("asked is %+v", second)
	}
	approve(t, e, second)
	r := over(t, e, q.Question.Run).Result
	if r.StopReason != patterns.Success || refunded(r) != 120 {
		t.Errorf("ended %s, %v paid", r.StopReason, refunded(r))
	}
	none := errand(t, patterns.RequireNone, lookStep, pay)
	ended, err := e.Start(t.Context(), none)
	if err != nil || ended.Result.StopReason != patterns.Success || refunded(ended.Result) != 120 {
		t.Errorf("where nobody approves plans: %v, %s with %v paid", err, ended.Result.StopReason, refunded(ended.Result))
	}
}
