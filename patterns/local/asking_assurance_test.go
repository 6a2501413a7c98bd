package local_test

import (
	"errors"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A call that was asked while a key counted needs a signature, also after somebody deleted the keys from the state file: an
// unsigned answer is not taken, and one that is written into the file lets nothing run.
func TestKeysThatAreDeleted(t *testing.T) {
	t.Parallel()
	anna := newSigner("a")
	for name, choice := range map[string]gateway.Choice{"approve": gateway.ChooseApprove, "reject": gateway.ChooseReject} {
		path, job := newState(t), inbox(t, "")
		e := opened(t, path, jobs{job.Spec.Name: job})
		if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
			t.Fatal(err)
		}
		q := waits(t, e, job)
		if q.Question.Assurance != gateway.SignedAssurance || q.Least != gateway.SignedAssurance {
			t.Errorf("%s: asked with the assurance %q in its digest, needs %q; want signed", name, q.Question.Assurance, q.Least)
		}
		newOutsider(t, path).writes("DELETE FROM keys")
		if ring, err := e.Approvals().Keys(); err != nil || len(ring.Keys()) > 0 {
			t.Fatalf("%s: Keys() = %v, %v; want none", name, ring.Keys(), err)
		}
		d := say(q, choice, nil)
		if _, err := e.Approvals().Decide(d); !errors.Is(err, patterns.ErrUnsigned) {
			t.Errorf("%s: an unsigned answer is told %v, want ErrUnsigned", name, err)
		}
		e.AnswerRow(t, q.ID, d.Object(), nil, "")
		e.Close()
		next := opened(t, path, jobs{job.Spec.Name: job})
		next.Go()
		if r := over(t, next, q.Question.Run).Result; r.StopReason != gateway.ApprovalInvalid || refunded(r) != 0 {
			t.Errorf("%s: ended %s, paid %v; want approval_invalid and nothing paid", name, r.StopReason, refunded(r))
		}
	}
}

// A call that was asked before a key was enrolled keeps its digest, and can be approved with a signature. What it needs is shown
// from then on, to who waits too.
func TestAskedBeforeTheKey(t *testing.T) {
	t.Parallel()
	path, job, anna := newState(t), inbox(t, ""), newSigner("a")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if q.Least != gateway.UserAssurance || q.Question.Assurance != "" {
		t.Fatalf("without a key it needs %q, with %q in its digest", q.Least, q.Question.Assurance)
	}
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	now, err := e.Approvals().Approval(q.ID)
	if err != nil || now.Digest != q.Digest || now.Least != gateway.SignedAssurance {
		t.Errorf("with a key it needs %q by the digest %s (%v), want signed and %s", now.Least, now.Digest, err, q.Digest)
	}
	if s, ok := e.Run("local:1", q.Question.Run); !ok || s.Ended.Waiting == nil || s.Ended.Waiting.Least != gateway.SignedAssurance {
		t.Errorf("the run waits for %+v, want an answer that is signed", s.Ended.Waiting)
	}
	e.Go()
	if _, err := e.Approvals().Decide(anna.decides(say(now, gateway.ChooseApprove, nil))); err != nil {
		t.Fatal(err)
	}
	if r := over(t, e, q.Question.Run).Result; !r.OK() || refunded(r) != 1200 {
		t.Errorf("ended %s, paid %v", r.StopReason, refunded(r))
	}
}
