package gateway

import (
	"cmp"
	"time"
)

// Stop reasons for an approval that does not let its call through.
const (
	ApprovalExpired  = "approval_expired"
	ApprovalConsumed = "approval_consumed"
	ApprovalInvalid  = "approval_invalid"
)

// Grant is a person's answer at the time of the call, with everything that decides whether it counts. The zero Grant
// lets no call through.
type Grant struct {
	Approval  string   // the question's id
	Asked     Question // as the run asked it, from its own record
	Answer    Answer   // as stored; any program may have written it
	Signature string   // over the answer; "" for none
	Least     Assurance
	Ring      Ring
}

// Check judges whether the grant lets exactly this call through at this time. It does not check whether the grant is
// spent: only the record knows that. It returns the assurance that a person decided, or the stop reason
// (spec/surface.md section 8).
//
// The engine knows run, step, expiry and assurance, and a permit does not. If sent omits them, those of the question
// count. The argument again says that the call began while the grant counted and is now attempted again. The grant is
// then not too late, but all other conditions must still hold.
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

// Heard judges an answer by itself, as it counts at time now. It checks that the answer belongs to this question, was
// given in time, and by which key or user. A rejection needs no other check. To know how an answer counted when it was
// given, pass the answer's own time.
//
// A key must count both when it signed and now. The reason is that the answer states its own time. With a stolen key
// that was removed, an attacker could state a time before the removal. So when a key is removed, its approvals of calls
// that have not begun do not count any more.
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
