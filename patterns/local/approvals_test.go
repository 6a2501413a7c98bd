package local_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

var highRefund = object{"kind": "tool", "name": "issue_refund", "args": object{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late"}}

// inbox is a supervised run of these actions whose refund above the limit a person decides about.
func inbox(t testing.TB, least gateway.Assurance, actions ...any) patterns.Job {
	t.Helper()
	if len(actions) == 0 {
		actions = []any{lookUp, highRefund, final}
	}
	job := refundJob(t, actions...)
	job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour, Least: least}
	return job
}

// waits begins a run that asks a person, and gives the question.
func waits(t testing.TB, e *local.Engine, job patterns.Job) patterns.Asked {
	t.Helper()
	ended := begin(t, e, job)
	w := ended.Waiting
	if w.Kind != patterns.ForApproval {
		t.Fatalf("the run waits for %s, want approval", w.Kind)
	}
	q, err := e.Approvals().Approval(w.Approval)
	if err != nil || q.State != patterns.AskedOpen || q.Digest != w.Question.Digest() || q.Question.Run != ended.RunID {
		t.Fatalf("Approval(%s) = %+v, %v; the run waits for %+v", w.Approval, q, err, w)
	}
	return q
}

// say is an answer as the command makes it.
func say(q patterns.Asked, choice gateway.Choice, args map[string]any) patterns.Decided {
	a := gateway.Answered(q.ID, q.Question, choice, args)
	a.By, a.At, a.Comment = "local:1000", time.Now().UTC().Truncate(time.Second), "seen"
	d := patterns.Decided{Answer: a, Channel: "cli"}
	if choice == gateway.ChooseEdit {
		d.Args = args
	}
	return d
}

// signer is an approver key without its file.
type signer struct{ private ed25519.PrivateKey }

func newSigner(seed string) signer {
	return signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte(seed), 32)[:32])}
}

func (s signer) public() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }
func (s signer) KeyID() string             { return gateway.KeyID(s.public()) }
func (s signer) Sign(message []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(s.private, message))
}

func (s signer) decides(d patterns.Decided) patterns.Decided {
	d.Key, d.By = s.KeyID(), "key:"+s.KeyID()
	d.Signature = s.Sign(d.Message())
	return d
}

var nonces atomic.Uint64

func (s signer) does(act string, subject map[string]any) gateway.SignedAct {
	a := gateway.Act{
		Act: act, Subject: subject, At: time.Now().UTC().Truncate(time.Second), Nonce: fmt.Sprintf("%032x", nonces.Add(1)), Key: s.KeyID(),
	}
	return gateway.SignedAct{Act: a, Signature: s.Sign(a.Message())}
}

// enrolled is the key as it is enrolled, vouched for by another or itself.
func (s signer) enrolled(by signer) gateway.PublicKey {
	k := gateway.PublicKey{ID: s.KeyID(), Name: "anna", Public: s.public()}
	k.Vouched = by.does(gateway.ActEnroll, k.EnrolSubject())
	k.Enrolled = k.Vouched.At
	return k
}

func over(t testing.TB, e *local.Engine, id string) patterns.Ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		s, ok := e.Run("local:1", id)
		if !ok {
			t.Fatal("the run is gone")
		}
		if s.State == patterns.Over {
			return s.Ended
		}
		if ctx.Err() != nil {
			t.Fatalf("the run stays %s, waiting for %+v", s.State, s.Ended.Waiting)
		}
		e.Wait(ctx, "local:1", id, s.Mark())
	}
}

func refunded(r patterns.Result) (amount float64) {
	for _, e := range r.Ledger {
		if e.Tool == "issue_refund" {
			amount, _ = e.Args["amount_usd"].(float64)
		}
	}
	return amount
}

func TestPersonDecides(t *testing.T) {
	t.Parallel()
	edited := func(amount float64) map[string]any {
		return object{"user_id": 42.0, "amount_usd": amount, "reason": "late"}
	}
	for name, tt := range map[string]struct {
		choice gateway.Choice
		args   map[string]any
		reason string
		paid   float64
		from   string
	}{
		"approve":                      {gateway.ChooseApprove, nil, "success", 1200, "original"},
		"edit":                         {gateway.ChooseEdit, edited(800), "success", 800, "human_revised"},
		"edit that the policy asks of": {gateway.ChooseEdit, edited(1100), "success", 1100, "human_revised"},
		"edit that the policy forbids": {gateway.ChooseEdit, edited(0.001), "supervisor_block:invalid_refund_amount", 0, ""},
		"reject":                       {gateway.ChooseReject, nil, "human_rejected", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			e := opened(t, path, jobs{job.Spec.Name: job})
			e.Go()
			q := waits(t, e, job)
			if q.Question.Tool != "issue_refund" || q.Question.Step != "issue_refund#1" || q.Phrase != "refunding 1200.00 USD to user 42" || q.Rule != "high_refund_requires_human" {
				t.Errorf("asked is %+v", q)
			}
			got, err := e.Approvals().Decide(say(q, tt.choice, tt.args))
			if err != nil || got.State != patterns.AskedDecided || got.Given == nil || got.Given.Assurance != gateway.UserAssurance {
				t.Fatalf("Decide gave %+v, %v", got, err)
			}
			ended := over(t, e, q.Question.Run)
			r := ended.Result
			if r.StopReason != tt.reason || refunded(r) != tt.paid {
				t.Errorf("the run ended %s with %v paid; want %s and %v", r.StopReason, refunded(r), tt.reason, tt.paid)
			}
			for _, row := range r.History {
				if done := row.(patterns.ActionDone); done.Executed["name"] == "issue_refund" && (done.ExecutedFrom != tt.from || done.Human == nil || done.Human.ApprovalID != q.ID) {
					t.Errorf("history says %s by %+v, want %s", done.ExecutedFrom, done.Human, tt.from)
				}
			}
			q, err = e.Approvals().Approval(q.ID)
			if err != nil || q.Spent != (tt.paid > 0) {
				t.Errorf("afterwards it stands as %+v, %v", q, err)
			}
			events, err := e.Events("local:1", q.Question.Run)
			if err != nil || patterns.VerifyChain(q.Question.Run, events, 0) != nil {
				t.Errorf("the record: %v", err)
			}
			if text := record(events); tt.paid > 0 && !strings.Contains(text, `"grant":"`+q.ID+`"`) {
				t.Errorf("no grant in %s", text)
			}
		})
	}
}

func record(events []patterns.Event) string {
	var text strings.Builder
	for _, e := range events {
		text.WriteString(string(e.Kind) + " " + e.Key + " " + string(e.Body) + "\n")
	}
	return text.String()
}

// An approval that waits outlives its process, is decided about by another one that carries nothing on, and goes on in a third.
func TestApprovalOutlivesItsProcess(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	first := opened(t, path, jobs{job.Spec.Name: job})
	first.Go()
	q := waits(t, first, job)
	first.Close()

	desk := opened(t, path, nil)
	page, err := desk.Approvals().ListApprovals(patterns.ApprovalFilter{})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != q.ID || page.Rows[0].Digest != q.Digest {
		t.Fatalf("ListApprovals gave %+v, %v", page, err)
	}
	if found, err := desk.Approvals().FindApproval(q.ID[:9]); found != q.ID || err != nil {
		t.Errorf("FindApproval(%s) = %s, %v", q.ID[:9], found, err)
	}
	if _, err := desk.Approvals().Decide(say(page.Rows[0], gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	desk.Close()
	look := opened(t, path, jobs{job.Spec.Name: job}) // it carries nothing on
	if s, ok := look.Run("local:1", q.Question.Run); !ok || s.State != patterns.Running || !strings.Contains(s.Current.Doing, "was decided") {
		t.Errorf("the run that was decided is shown %s, %q", s.State, s.Current.Doing)
	}
	look.Close()

	next := opened(t, path, jobs{job.Spec.Name: job})
	next.Go()
	if r := over(t, next, q.Question.Run).Result; !r.OK() || refunded(r) != 1200 {
		t.Errorf("ended %s, paid %v", r.StopReason, refunded(r))
	}
}

func TestOneOfTwoDecides(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	other := opened(t, path, nil)
	results := make(chan error, 2)
	for _, at := range []*local.Engine{e, other} {
		go func() {
			_, err := at.Approvals().Decide(say(q, gateway.ChooseApprove, nil))
			results <- err
		}()
	}
	one, two := <-results, <-results
	if one != nil {
		one, two = two, one
	}
	if not, ok := errors.AsType[*patterns.NotOpen](two); one != nil || !ok || not.Why != patterns.WhyDecided || not.Asked.Given == nil {
		t.Errorf("the two were told %v and %v, want one nil and one decided", one, two)
	}
}

// What was not decided so is refused, and recorded in the run; nothing runs.
func TestForgedDecisions(t *testing.T) {
	t.Parallel()
	anna, mallory := newSigner("a"), newSigner("m")
	for name, tt := range map[string]struct {
		signed bool // a key is enrolled
		forge  func(q, other patterns.Asked) patterns.Decided
		want   func(error) bool
	}{
		"another digest": {false, func(q, other patterns.Asked) patterns.Decided {
			d := say(other, gateway.ChooseApprove, nil)
			d.Approval = q.ID
			return d
		}, notOpen(patterns.WhyChanged)},
		"executes something else": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.Executes = q.Question.With(object{"user_id": 7.0}).Digest()
			return d
		}, forged},
		"approve with arguments": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.Args = object{"user_id": 7.0}
			return d
		}, forged},
		"no choice": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, "", nil)
			return d
		}, forged},
		"yesterday's": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.At = d.At.Add(-24 * time.Hour)
			return d
		}, forged},
		"nobody's name": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.By = "root"
			return d
		}, forged},
		"a key's name without its key": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.By = "key:" + anna.KeyID()
			return d
		}, forged},
		"a long comment": {false, func(q, _ patterns.Asked) patterns.Decided {
			d := say(q, gateway.ChooseApprove, nil)
			d.Comment = strings.Repeat("x", 1001)
			return d
		}, forged},
		"unsigned": {true, func(q, _ patterns.Asked) patterns.Decided { return say(q, gateway.ChooseApprove, nil) },
			func(err error) bool { return errors.Is(err, patterns.ErrUnsigned) }},
		"unsigned rejection": {true, func(q, _ patterns.Asked) patterns.Decided { return say(q, gateway.ChooseReject, nil) },
			func(err error) bool { return errors.Is(err, patterns.ErrUnsigned) }},
		"a key that is not enrolled": {true, func(q, _ patterns.Asked) patterns.Decided { return mallory.decides(say(q, gateway.ChooseApprove, nil)) }, forged},
		"another's name": {true, func(q, _ patterns.Asked) patterns.Decided {
			d := mallory.decides(say(q, gateway.ChooseApprove, nil))
			d.Key, d.By = anna.KeyID(), "key:"+anna.KeyID()
			return d
		}, forged},
		"the signature of another answer": {true, func(q, other patterns.Asked) patterns.Decided {
			d := anna.decides(say(q, gateway.ChooseApprove, nil))
			d.Signature = anna.decides(say(other, gateway.ChooseApprove, nil)).Signature
			return d
		}, forged},
		"a rejection's signature": {true, func(q, _ patterns.Asked) patterns.Decided {
			d := anna.decides(say(q, gateway.ChooseApprove, nil))
			d.Signature = anna.decides(say(q, gateway.ChooseReject, nil)).Signature
			return d
		}, forged},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			e := opened(t, path, jobs{job.Spec.Name: job})
			e.Go()
			q, other := waits(t, e, job), waits(t, e, job)
			if tt.signed {
				if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := e.Approvals().Decide(tt.forge(q, other)); !tt.want(err) {
				t.Errorf("Decide gave %v", err)
			}
			s, _ := e.Run("local:1", q.Question.Run)
			if s.State != patterns.Parked || s.Ended.Waiting.Approval != q.ID {
				t.Errorf("the run is %s", s.State)
			}
			events, err := e.Events("local:1", q.Question.Run)
			if err != nil || patterns.VerifyChain(q.Question.Run, events, s.Head.Events) != nil {
				t.Fatal(err, patterns.VerifyChain(q.Question.Run, events, s.Head.Events))
			}
			newest := events[len(events)-1]
			if newest.Kind != patterns.JudgedEvent || !bytes.Contains(newest.Body, []byte(`"decision":"refused"`)) || !bytes.Contains(newest.Body, []byte("approval_invalid")) {
				t.Errorf("the record ends with %s %s", newest.Kind, newest.Body)
			}
			d := say(q, gateway.ChooseApprove, nil)
			if tt.signed {
				d = anna.decides(d)
			}
			if _, err := e.Approvals().Decide(d); err != nil {
				t.Errorf("the right answer is refused: %v", err)
			}
			if r := over(t, e, q.Question.Run).Result; !r.OK() {
				t.Errorf("the run ended %s", r.StopReason)
			}
		})
	}
}

func forged(err error) bool { return errors.Is(err, patterns.ErrForged) }

func notOpen(why string) func(error) bool {
	return func(err error) bool {
		not, ok := errors.AsType[*patterns.NotOpen](err)
		return ok && not.Why == why
	}
}

// Rows that somebody wrote into the file let nothing through: what counts is what was asked and, with a key, its signature.
func TestRowsWrittenByOthers(t *testing.T) {
	t.Parallel()
	anna, mallory := newSigner("a"), newSigner("m")
	answer := func(d patterns.Decided) []byte { return d.Object() }
	for name, tt := range map[string]struct {
		least  gateway.Assurance
		keys   bool
		forge  func(t *testing.T, e *local.Engine, q, other patterns.Asked)
		reason string
	}{
		"an answer that is none": {"", false, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			e.AnswerRow(t, q.ID, []byte(`{"decision":"approve"}`), nil, "")
		}, "approval_invalid"},
		"about another digest": {"", false, func(t *testing.T, e *local.Engine, q, other patterns.Asked) {
			d := say(other, gateway.ChooseApprove, nil)
			d.Approval = q.ID
			e.AnswerRow(t, q.ID, answer(d), nil, "")
		}, "approval_invalid"},
		"of another approval": {"", false, func(t *testing.T, e *local.Engine, q, other patterns.Asked) {
			e.AnswerRow(t, q.ID, answer(say(other, gateway.ChooseApprove, nil)), nil, "")
		}, "approval_invalid"},
		"with other arguments": {"", false, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			args := maps.Clone(q.Question.Args)
			args["amount_usd"] = 800.0
			d := say(q, gateway.ChooseEdit, args)
			e.AnswerRow(t, q.ID, answer(d), []byte(`{"amount_usd":1900,"reason":"late","user_id":42}`), "")
		}, "approval_invalid"},
		"unsigned where it must be signed": {gateway.SignedAssurance, false, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			e.AnswerRow(t, q.ID, answer(say(q, gateway.ChooseApprove, nil)), nil, "")
		}, "approval_invalid"},
		"unsigned where a key is enrolled": {"", true, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			e.AnswerRow(t, q.ID, answer(say(q, gateway.ChooseApprove, nil)), nil, "")
		}, "approval_invalid"},
		"an unsigned rejection where a key is enrolled": {"", true, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			e.AnswerRow(t, q.ID, answer(say(q, gateway.ChooseReject, nil)), nil, "")
		}, "approval_invalid"},
		"signed by a stranger": {"", true, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			d := mallory.decides(say(q, gateway.ChooseApprove, nil))
			e.AnswerRow(t, q.ID, answer(d), nil, d.Signature)
		}, "approval_invalid"},
		"signed by a stranger whose key was written too": {"", true, func(t *testing.T, e *local.Engine, q, _ patterns.Asked) {
			k := mallory.enrolled(mallory)
			e.KeyRow(t, k)
			d := mallory.decides(say(q, gateway.ChooseApprove, nil))
			e.AnswerRow(t, q.ID, answer(d), nil, d.Signature)
		}, "approval_invalid"},
		"a replayed signature": {"", true, func(t *testing.T, e *local.Engine, q, other patterns.Asked) {
			d := say(q, gateway.ChooseApprove, nil)
			d.Key, d.By = anna.KeyID(), "key:"+anna.KeyID()
			e.AnswerRow(t, q.ID, answer(d), nil, anna.decides(say(other, gateway.ChooseApprove, nil)).Signature)
		}, "approval_invalid"},
		"a swapped digest": {"", true, func(t *testing.T, e *local.Engine, q, other patterns.Asked) {
			d := anna.decides(say(other, gateway.ChooseApprove, nil))
			e.Alter(t, "UPDATE approvals SET digest = ? WHERE ap = ?", other.Digest, local.ApprovalNumber(q.ID))
			e.AnswerRow(t, q.ID, answer(d), nil, d.Signature)
		}, "approval_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, tt.least)
			e := opened(t, path, jobs{job.Spec.Name: job})
			q, other := waits(t, e, job), waits(t, e, job)
			if tt.keys {
				if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
					t.Fatal(err)
				}
			}
			tt.forge(t, e, q, other)
			e.Close()
			next := opened(t, path, jobs{job.Spec.Name: job})
			next.Go()
			r := over(t, next, q.Question.Run).Result
			if r.StopReason != tt.reason || r.Phase != patterns.PhaseHuman || refunded(r) != 0 {
				t.Errorf("the run ended %s in phase %s with %v paid, want %s", r.StopReason, r.Phase, refunded(r), tt.reason)
			}
			events, err := next.Events("local:1", q.Question.Run)
			if text := record(events); err != nil || strings.Contains(text, `"approved":true`) || !strings.Contains(text, `"reason":"approval_invalid"`) {
				t.Errorf("the record (%v) does not say that it was refused:\n%s", err, text)
			}
		})
	}
}

func TestSilenceIsNo(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	e.Close()
	later := opened(t, path, jobs{job.Spec.Name: job})
	later.Ahead(time.Hour)
	if _, err := later.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); !notOpen(patterns.WhyExpired)(err) {
		t.Errorf("a late answer is told %v, want expired", err)
	}
	later.Go()
	r := over(t, later, q.Question.Run).Result
	if r.StopReason != gateway.ApprovalExpired || r.Phase != patterns.PhaseHuman || refunded(r) != 0 || r.Human != nil {
		t.Errorf("ended %s in phase %s", r.StopReason, r.Phase)
	}
}

// An answer that came in time is worth nothing when the call could be made too late only.
func TestApprovalThatIsTakenTooLate(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	e.Close()
	later := opened(t, path, jobs{job.Spec.Name: job})
	later.Ahead(2 * time.Hour)
	later.Go()
	if r := over(t, later, q.Question.Run).Result; r.StopReason != gateway.ApprovalExpired || refunded(r) != 0 {
		t.Errorf("ended %s, paid %v", r.StopReason, refunded(r))
	}
}

// An approval that was spent on something else lets no call through.
func TestSpentApproval(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	e.Alter(t, "UPDATE approvals SET consumed = 'pg_other' WHERE ap = ?", local.ApprovalNumber(q.ID))
	e.Go()
	r := over(t, e, q.Question.Run).Result
	if r.StopReason != gateway.ApprovalConsumed || refunded(r) != 0 || r.Phase != patterns.PhaseHuman {
		t.Errorf("ended %s in phase %s, paid %v", r.StopReason, r.Phase, refunded(r))
	}
}
