package gateway

import "time"

// Stop reasons of an approval that does not let its call through.
const (
	ApprovalExpired  = "approval_expired"
	ApprovalConsumed = "approval_consumed"
	ApprovalInvalid  = "approval_invalid"
)

// Grant is a person's answer when its call is about to be made, with all that decides whether it counts. The zero Grant lets
// nothing through.
type Grant struct {
	Asked     Question // as the run put it
	Answer    Answer   // as it is stored; anybody may have written it
	Signature string   // over the answer; "" for none
	Least     Assurance
	Ring      Ring
}

// Check judges whether the grant lets exactly this call through at this time, but for its being spent, which only the
// record knows. It returns how sure it is that a person decided, or the stop reason (spec/surface.md section 8). again says
// that the call began while the grant counted and is made once more as the same act: then it is not too late.
func (g Grant) Check(sent Question, now time.Time, again bool) (Assurance, string) {
	a, asked := g.Answer, g.Asked.Digest()
	sent.Run, sent.Step, sent.Expires = g.Asked.Run, g.Asked.Step, g.Asked.Expires
	switch {
	case a.Choice != ChooseApprove && a.Choice != ChooseEdit, a.Digest != asked, a.Choice == ChooseApprove && a.Executes != asked,
		a.Executes != sent.Digest():
		return NoAssurance, ApprovalInvalid
	case !again && !now.Before(g.Asked.Expires):
		return NoAssurance, ApprovalExpired
	}
	return g.Heard(now)
}

// Heard judges an answer by itself: that it answers this question, in time, and by whom. It is all that counts of a
// rejection.
func (g Grant) Heard(now time.Time) (Assurance, string) {
	a := g.Answer
	if a.Digest != g.Asked.Digest() || !a.At.Before(g.Asked.Expires) {
		return NoAssurance, ApprovalInvalid
	}
	sure := UserAssurance
	if a.Key != "" || g.Signature != "" {
		key, known := g.Ring.Find(a.Key)
		if !known || !key.Counts(a.At) || key.Verify(a.Message(), g.Signature) != nil {
			return NoAssurance, ApprovalInvalid
		}
		sure = SignedAssurance
	}
	if g.Ring.Counts(now) && sure != SignedAssurance || !sure.AtLeast(g.Least) {
		return NoAssurance, ApprovalInvalid
	}
	return sure, ""
}
