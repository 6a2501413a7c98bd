package local_test

import (
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A question that nobody answered is closed with its run: what stays behind costs who looks for open ones nothing.
func TestUnansweredQuestionsAreClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(t *testing.T, e *local.Engine, q patterns.Asked)
		want patterns.AskedState
	}{
		"silence": {func(t *testing.T, e *local.Engine, q patterns.Asked) {
			e.Ahead(2 * time.Hour)
			e.Yield()
			desk := e.Operator() // has it looked at once
			if _, err := desk.Resume(t.Context(), q.Question.Run); err != nil {
				t.Fatal(err)
			}
		}, patterns.AskedExpired},
		"cancelled": {func(t *testing.T, e *local.Engine, q patterns.Asked) {
			if _, err := e.Cancel(t.Context(), "local:1", q.Question.Run, patterns.Note{By: "local:1"}); err != nil {
				t.Fatal(err)
			}
		}, patterns.AskedOver},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			e := opened(t, path, jobs{job.Spec.Name: job})
			q := waits(t, e, job)
			tt.end(t, e, q)
			over(t, e, q.Question.Run)
			if got, err := e.Approvals().Approval(q.ID); err != nil || got.State != tt.want {
				t.Errorf("the question is %s, %v; want %s", got.State, err, tt.want)
			}
			if n := e.Open(t); n != 0 {
				t.Errorf("%d rows stay open", n)
			}
		})
	}
}

// Who answers in the moment in which the run gives up waiting is heard: the run does not end as if nobody had.
func TestAnswerInTheLastMoment(t *testing.T) {
	t.Parallel()
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	d := say(q, gateway.ChooseReject, nil)
	e.Ahead(2 * time.Hour)
	e.Alter(t, `CREATE TEMP TRIGGER last AFTER UPDATE OF state ON main.runs WHEN new.state = 'running'
		BEGIN UPDATE approvals SET state = 'answered', answer = CAST('`+string(d.Object())+`' AS BLOB), channel = 'cli' WHERE n = new.n AND state = 'open'; END`)
	if _, err := e.Operator().Resume(t.Context(), q.Question.Run); err != nil {
		t.Fatal(err)
	}
	if r := over(t, e, q.Question.Run).Result; r.StopReason != "human_rejected" {
		t.Errorf("the run ended %s, want human_rejected", r.StopReason)
	}
}
