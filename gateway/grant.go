package gateway

import (
	"cmp"
	"time"
)

// Stop reasons of an approval that does not let its call through.
const (
	ApprovalExpired  = "approval_expired"
	ApprovalConsumed = "approval_consumed"
	ApprovalInvalid  = "approval_invalid"
)

// Grant is a person's answer when its call is about to be made, with all that decides whether it counts. The zero Grant lets
// nothing through.
type Grant struct {
	Approval  string   // the question's id
	Asked     Question // as the run put it, by its own record
	Answer    Answer   // as it is stored; anybody may have written it
	Signature string   // over the answer; "" for none
	Least     Assurance
	Ring      Ring
}

// Check judges whether the grant lets exactly this call through at this time, but for its being spent, which only the
// record knows. It returns how sure it is that a person decided, or the stop reason (spec/surface.md section 8). What sent
// does not say of run, step, expiry and assurance, which the engine knows and no permit, is as it was asked. again says that the call
// began while the grant counted and is made once more as the same act: then it is not too late, but all else must hold
// still.
func (g Grant) Check(sent Question, now time.Time, again bool) (Assurance, string) {
	a := g.Answer
	sent.Run, sent.Step = cmp.Or(sent.Run, g.Asked.Run), cmp.Or(sent.Step, g.Asked.Step)
	if sent.Expires.IsZero() {
		sent.Expires = g.Asked.Expires
	}
	sent.Assurance = cmp.Or(sent.Assurance, g.Asked.Assurance)
	switch {
	case a.Choice != ChooseApprove && a.Choice != ChooseEdit:
		return NoAssurance, ApprovalInvalid
	case !again && !now.Before(g.Asked.Expires):
		return NoAssurance, ApprovalExpired
	case a.Executes != sent.Digest():
		return NoAssurance, ApprovalInvalid
	}
	return g.Heard(now)
}

// Heard judges an answer by itself: that it answers this question, in time, and by whom, as it counts at a time. It is all
// that counts of a rejection. How it counted when it was given, Heard says of the answer's own time.
//
// A key must count both when it signed and now. The answer says itself when it was given: who has stolen a key that was
// removed would say that it was before that. So what a key has approved and what has not begun ends with the key.
func (g Grant) Heard(now time.Time) (Assurance, string) {
	a := g.Answer
	if a.wrong() != "" || a.Approval != g.Approval || a.Digest != g.Asked.Digest() || !a.At.Before(g.Asked.Expires) {
		return NoAssurance, ApprovalInvalid
	}
	sure := UserAssurance
	switch {
	case a.Key != "":
		key, known := g.Ring.Find(a.Key)
		if !known || !key.Counts(a.At) || !key.Counts(now) || key.Verify(a.Message(), g.Signature) != nil {
			return NoAssurance, ApprovalInvalid
		}
		sure = SignedAssurance
	case g.Signature != "", g.Ring.Counts(now), g.Ring.Counts(a.At):
		return NoAssurance, ApprovalInvalid
	}
	if !sure.AtLeast(g.Least) || !sure.AtLeast(g.Asked.Assurance) {
		return NoAssurance, ApprovalInvalid
	}
	return sure, ""
}
