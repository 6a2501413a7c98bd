package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Changed arguments that the tool would not take, or that are not changed, decide nothing, and the person is told where.
func TestEditsThatTheToolDoesNotTake(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	for name, tt := range map[string]struct {
		args    map[string]any
		pointer string
	}{
		"nothing is changed":   {q.Question.Args, "/args"},
		"one is missing":       {object{"user_id": 42.0, "reason": "late"}, "/args/amount_usd"},
		"of another type":      {object{"user_id": 42.0, "amount_usd": "800", "reason": "late"}, "/args/amount_usd"},
		"one that is not its":  {object{"user_id": 42.0, "amount_usd": 800.0, "reason": "late", "to": "me"}, "/args/to"},
		"none":                 {object{}, "/args/amount_usd"},
		"no number at all":     {object{"user_id": 42.0, "amount_usd": nil, "reason": "late"}, "/args/amount_usd"},
		"nested where it is 1": {object{"user_id": object{"id": 42.0}, "amount_usd": 800.0, "reason": "late"}, "/args/user_id"},
	} {
		_, err := e.Approvals().Decide(say(q, gateway.ChooseEdit, tt.args))
		bad, ok := errors.AsType[*patterns.BadEdit](err)
		if !ok || len(bad.Problems) == 0 || !hasPointer(bad.Problems, tt.pointer) {
			t.Errorf("%s: Decide gave %v, want a problem at %s", name, err, tt.pointer)
		}
	}
	if now, err := e.Approvals().Approval(q.ID); err != nil || now.State != patterns.AskedOpen {
		t.Errorf("afterwards it stands %s, %v", now.State, err)
	}
}

func hasPointer(list []document.Problem, pointer string) bool {
	for _, p := range list {
		if string(p.Pointer) == pointer {
			return true
		}
	}
	return false
}

// Nobody fills a record with attempts: the first few stand there, all are refused.
func TestAttemptsAreBounded(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	for range 2 * local.MaxAttempts {
		d := say(q, gateway.ChooseApprove, nil)
		d.Executes = q.Question.With(object{"user_id": 7.0}).Digest()
		if _, err := e.Approvals().Decide(d); !errors.Is(err, patterns.ErrForged) {
			t.Fatalf("Decide gave %v", err)
		}
	}
	events, err := e.Events("local:1", q.Question.Run)
	n := 0
	for _, event := range events {
		if event.Kind == patterns.JudgedEvent && bytes.Contains(event.Body, []byte(`"decision":"refused"`)) {
			n++
		}
	}
	if err != nil || n != local.MaxAttempts {
		t.Errorf("%d attempts are recorded (%v), want %d", n, err, local.MaxAttempts)
	}
}

// An answer is taken only by a row that is as it was when the answer was judged.
func TestAnswerIsTakenByTheRowThatWasJudged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(e *local.Engine, q patterns.Asked) // between judging and taking
		digest string                                  // "": the question's
		taken  bool
	}{
		"as it was":      {func(*local.Engine, patterns.Asked) {}, "", true},
		"another digest": {func(*local.Engine, patterns.Asked) {}, "sha256:other", false},
		"answered": {func(e *local.Engine, q patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET state = 'answered' WHERE ap = ?", local.ApprovalNumber(q.ID))
		}, "", false},
		"expired": {func(e *local.Engine, q patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET expires = ? WHERE ap = ?", time.Now().UnixMicro(), local.ApprovalNumber(q.ID))
		}, "", false},
		"its run is over": {func(e *local.Engine, q patterns.Asked) {
			e.Alter(t, "UPDATE runs SET state = 'over' WHERE n = ?", local.Number(q.Question.Run))
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			e := opened(t, path, jobs{job.Spec.Name: job})
			q := waits(t, e, job)
			tt.change(e, q)
			digest := tt.digest
			if digest == "" {
				digest = q.Digest
			}
			if got := e.TakesAnswer(t, q.ID, digest); got != tt.taken {
				t.Errorf("taken: %t, want %t", got, tt.taken)
			}
		})
	}
}

// A row that is not about what its run's record asks is shown to nobody, listed nowhere, and cannot be decided about.
func TestRowsThatDoNotFitTheirRecord(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(e *local.Engine, q, other patterns.Asked){
		"another digest": func(e *local.Engine, q, other patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET digest = ? WHERE ap = ?", other.Digest, local.ApprovalNumber(q.ID))
		},
		"longer": func(e *local.Engine, q, _ patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET expires = expires + 3600000000 WHERE ap = ?", local.ApprovalNumber(q.ID))
		},
		"another run, with its question": func(e *local.Engine, q, other patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET n = ?, digest = ?, expires = ? WHERE ap = ?", local.Number(other.Question.Run), other.Digest,
				other.Question.Expires.UnixMicro(), local.ApprovalNumber(q.ID))
		},
		"another event": func(e *local.Engine, q, _ patterns.Asked) {
			e.Alter(t, "UPDATE approvals SET seq = seq - 1 WHERE ap = ?", local.ApprovalNumber(q.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			e := opened(t, path, jobs{job.Spec.Name: job})
			q, other := waits(t, e, job), waits(t, e, job)
			forge(e, q, other)
			if got, err := e.Approvals().Approval(q.ID); !errors.Is(err, patterns.ErrNoApproval) {
				t.Errorf("Approval gave %+v, %v", got, err)
			}
			if page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{All: true}); err != nil || len(page.Rows) != 1 || page.Rows[0].ID != other.ID {
				t.Errorf("listed are %+v, %v", page.Rows, err)
			}
			for _, seen := range []patterns.Asked{q, other} {
				d := say(seen, gateway.ChooseApprove, nil)
				d.Approval = q.ID
				if _, err := e.Approvals().Decide(d); !errors.Is(err, patterns.ErrNoApproval) {
					t.Errorf("Decide gave %v", err)
				}
			}
		})
	}
}

// What was signed long ago enrols nothing, also where it would be the first key.
func TestOldEnrolment(t *testing.T) {
	anna := newSigner("a")
	for name, at := range map[string]time.Duration{"old": -6 * time.Minute, "of tomorrow": 24 * time.Hour} {
		e := opened(t, newState(t), nil)
		k := gateway.PublicKey{ID: anna.KeyID(), Name: "anna", Public: anna.public(), Enrolled: time.Now().Add(at).UTC().Truncate(time.Second)}
		act := anna.does(gateway.ActEnroll, k.EnrolSubject()).Act
		act.At = k.Enrolled
		k.Vouched = gateway.SignedAct{Act: act, Signature: anna.Sign(act.Message())}
		if err := e.Approvals().Enroll(k); !errors.Is(err, patterns.ErrForged) {
			t.Errorf("%s: Enroll gave %v, want it refused", name, err)
		}
	}
}

// Where a key is enrolled nobody without it says what became of a call in doubt: neither that it happened, nor that it may be
// made again.
func TestSettlingNeedsTheKey(t *testing.T) {
	c := &cashier{sent: make(chan string, 1)}
	path, job := newState(t), c.job(t, false)
	run, anna := c.interrupt(t, path, job), newSigner("a")
	e := opened(t, path, jobs{job.Spec.Name: job})
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	e.Go()
	if s, ok := e.Wait(t.Context(), "local:1", run, patterns.Mark{State: patterns.Running}); !ok || s.State != patterns.Parked {
		t.Fatalf("the run is %s", s.State)
	}
	s := local.Settlement{By: patterns.Note{By: "local:1000", Channel: "cli"}, Happened: true, Comment: "it did"}
	not, more := s, s
	not.Happened, more.Result = false, json.RawMessage(`{"id":"paid"}`)
	const effect = "pay#1"
	for _, tt := range []struct {
		name string
		act  gateway.SignedAct
		want error
	}{
		{"unsigned", gateway.SignedAct{}, patterns.ErrUnsigned},
		{"that it did not", anna.does(gateway.ActSettle, not.Subject(run, effect)), patterns.ErrForged},
		{"with a result", anna.does(gateway.ActSettle, more.Subject(run, effect)), patterns.ErrForged},
		{"another effect", anna.does(gateway.ActSettle, s.Subject(run, "pay#2")), patterns.ErrForged},
		{"another run", anna.does(gateway.ActSettle, s.Subject("run_0000000000000000", effect)), patterns.ErrForged},
		{"another act", anna.does(gateway.ActSeize, s.Subject(run, effect)), patterns.ErrForged},
		{"another key", newSigner("m").does(gateway.ActSettle, s.Subject(run, effect)), patterns.ErrForged},
		{"by the key", anna.does(gateway.ActSettle, s.Subject(run, effect)), nil},
	} {
		s.Act = tt.act
		if err := e.Operator().Settle(run, effect, s); !errors.Is(err, tt.want) {
			t.Errorf("%s: Settle gave %v, want %v", tt.name, err, tt.want)
		}
	}
}

// What one principal was allowed is not another's: a run whose principal somebody changes goes on for nobody, and nobody but
// its own sees it.
func TestApprovalOfAnotherPrincipal(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if s, ok := e.Run("local:2", q.Question.Run); ok {
		t.Errorf("another principal sees %+v", s)
	}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	e.Close()
	edit(t, path, "UPDATE runs SET principal = 'local:2'")
	next := opened(t, path, jobs{job.Spec.Name: job})
	next.Go()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, ok := next.Run("local:2", q.Question.Run)
	for ok && s.State != patterns.Over && ctx.Err() == nil {
		s, ok = next.Wait(ctx, "local:2", q.Question.Run, s.Mark())
	}
	events, _, err := next.Operator().Record(q.Question.Run)
	if text := record(events); err != nil || strings.Contains(text, `"grant"`) || s.Ended.Result.OK() {
		t.Errorf("the run ended %s (%t, %v)\n%s", s.Ended.Result.StopReason, ok, err, text)
	}
	if s.Ended.Result.StopReason != "record_broken" {
		t.Errorf("the run is %s and ended %s, want record_broken", s.State, s.Ended.Result.StopReason)
	}
}
