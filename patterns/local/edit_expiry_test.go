package local_test

import (
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// TestAnEditUnderAShorterRule: what a person leaves may be by a rule that gives less time than they took. Then they are asked again,
// and nothing is made meanwhile.
func TestAnEditUnderAShorterRule(t *testing.T) {
	path, job := newState(t), askingTasks(t)
	job.Spec.Kind, job.Spec.Name, job.Spec.Tool = gateway.Call, "pay_one", "pay"
	job.Spec.Budget = gateway.DefaultBudget(gateway.Call)
	job.Spec.Approver.Expires = 24 * time.Hour
	job.Task = patterns.Task{Args: object{"n": 1.0}}
	job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Args["n"].(float64) > 5 {
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "big", Expires: time.Minute}
		}
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "small", Expires: 24 * time.Hour}
	})
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	p := port{e, &begun{}}
	id := p.beginning(t, job)
	first := p.until(t, id, patterns.Parked).Ended.Waiting
	e.Ahead(10 * time.Hour)
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Run: id})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d questions, %v", len(page.Rows), err)
	}
	d := say(page.Rows[0], gateway.ChooseEdit, object{"n": 9.0})
	d.Answer.At = d.Answer.At.Add(10 * time.Hour)
	if _, err := e.Approvals().Decide(d); err != nil {
		t.Fatal(err)
	}
	s, _ := p.Run(mine, id)
	for s.State != patterns.Over && (s.Ended.Waiting == nil || s.Ended.Waiting.Approval == first.Approval) && t.Context().Err() == nil {
		s, _ = p.Wait(t.Context(), mine, id, s.Mark())
	}
	if s.State == patterns.Over {
		t.Fatalf("the run ended: %s, %s", s.Ended.Result.StopReason, asJSON(t, s.Ended.Result.Ledger))
	}
	w := s.Ended.Waiting
	if w.Rule != "big" || w.Question.Args["n"] != 9.0 || w.Until.Sub(d.Answer.At) > 2*time.Minute {
		t.Errorf("they are asked by %s about %v until %v", w.Rule, w.Question.Args, w.Until)
	}
}
