package record

import (
	"encoding/json"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// question is a question to a person about a call.
type question struct {
	gateway.Question
	put       bool // to a person; otherwise a simulated or rejecting approver answered
	digest    string
	least     gateway.Assurance
	settles   string // the key of the call in doubt that the question is about; "" for an approval
	plan      *plan  // the plan that the question is about; nil: it is about a call
	unchecked bool   // its digest cannot be computed again
}

// answer is a person's answer to a question.
type answer struct {
	gateway.Answer
	to        *question
	signature string
	unchecked bool   // its digest cannot be computed again
	by        string // the act that used it first, by its idempotency key
	seq       int64  // of the call that used it first
}

// ask checks the intent of a question to a person.
func (c *checker) ask(e patterns.Event, b patterns.IntentBody) (reason string) {
	q := &question{digest: b.Digest}
	c.asked[e.Key] = q
	if b.Name == settlement {
		var in struct {
			Effect string `json:"effect"`
		}
		readKnown(b.Input, &in)
		q.settles = in.Effect
		return ""
	}
	var in struct {
		Least gateway.Assurance `json:"min_assurance"`
	}
	readKnown(b.Input, &in)
	if q.least = in.Least; b.Digest == "" && len(b.Object) == 0 {
		return ""
	}
	q.put, c.put = true, true
	var err error
	if q.Question, err = gateway.ReadQuestion(b.Object); err != nil {
		reason = noQuestion + err.Error()
	} else if q.Digest() != q.digest {
		reason = otherDigest
	}
	if reason != "" {
		q.unchecked = c.hidden(e)
	}
	q.least = q.least.Stricter(q.Assurance)
	switch {
	case reason != "" && !q.unchecked:
		return reason
	case err == nil && q.Run != c.evidence.RunID:
		return fmt.Sprintf(otherRun, q.Run)
	case b.Name == patterns.ApprovePlan:
		return c.askWhole(e, q)
	}
	c.steps[q.Step] = true
	return ""
}

// answer checks the outcome of a question.
func (c *checker) answer(e patterns.Event, q *question, b patterns.OutcomeBody) (reason string) {
	switch {
	case b.State != patterns.OK:
		return ""
	case q.settles != "":
		return c.acts.settledBy(q.settles, b.Output)
	case !q.put:
		return stoodIn(b)
	}
	a := &answer{to: q, signature: b.Signature}
	a.Answer, reason = readAnswer(b.Decision)
	if c.given[a.Approval] != nil {
		return fmt.Sprintf(decidesAgain, a.Approval)
	}
	c.given[a.Approval] = a
	c.report.Decisions++
	if reason == "" {
		reason = c.decided(a, b)
	}
	if a.unchecked = reason != "" && c.hidden(e); a.unchecked {
		return ""
	}
	return reason
}

// readAnswer reads a decision. If it cannot be read, the answer holds at least the approval's id, if there is one.
func readAnswer(text json.RawMessage) (a gateway.Answer, reason string) {
	a, err := gateway.ReadAnswer(text)
	if err == nil {
		return a, ""
	}
	var known struct {
		Approval string `json:"approval"`
	}
	readKnown(text, &known)
	return gateway.Answer{Approval: known.Approval}, noDecision + err.Error()
}

// stoodIn checks an answer for which no person was asked: that of the rejecting or the simulated approver.
func stoodIn(b patterns.OutcomeBody) string {
	var word string
	readKnown(b.Decision, &word)
	channel := b.Channel
	if word == "" || channel != "none" && channel != "simulated" || gateway.Assurance(b.Assurance).AtLeast(gateway.UserAssurance) {
		return notAsked
	}
	return ""
}

// decided checks an answer: its signature, its question, its time and assurance, and that the run received this decision.
func (c *checker) decided(a *answer, b patterns.OutcomeBody) string {
	if reason := c.signature(a); reason != "" {
		return reason
	}
	sure := gateway.UserAssurance
	if a.Key != "" {
		sure = gateway.SignedAssurance
	}
	switch {
	case a.Digest != a.to.digest:
		return decidesOther
	case !a.At.Before(a.to.Expires) && !a.to.unchecked:
		return decidesLate
	case gateway.Assurance(b.Assurance) != sure:
		return fmt.Sprintf(otherAssurance, b.Assurance, sure)
	case !sure.AtLeast(a.to.least):
		return fmt.Sprintf(lowAssurance, sure, a.to.least)
	}
	return a.retold(b)
}

// signature checks the signature of an answer.
func (c *checker) signature(a *answer) string {
	if a.Key == "" && a.signature == "" {
		return c.unsigned(a.At)
	}
	if reason := c.knows(a.Key, a.At); reason != "" {
		return reason
	}
	if key, _ := c.ring.Find(a.Key); key.Verify(a.Message(), a.signature) != nil {
		return fmt.Sprintf(wrongAnswerSign, a.Key)
	}
	c.signed(a.Key)
	c.report.Signed++
	return ""
}

// retold checks that the run received the decision that the person made.
func (a *answer) retold(b patterns.OutcomeBody) string {
	var out struct {
		Approved bool            `json:"approved"`
		Args     json.RawMessage `json:"args"`
		Comment  string          `json:"comment"`
		By       string          `json:"by"`
		Approval string          `json:"approval_id"`
		Key      string          `json:"key_id"`
		At       string          `json:"decided_at"`
	}
	if err := ijson.DecodeKnown(b.Output, &out); err != nil {
		return toldNoDecision + err.Error()
	}
	approved := a.Choice == gateway.ChooseApprove || a.Choice == gateway.ChooseEdit
	at, _ := time.Parse(time.RFC3339, out.At) // an unreadable time equals no decision time
	switch {
	case out.Approved != approved, out.Approval != a.Approval, out.Key != a.Key, out.By != a.By, out.Comment != a.Comment, !at.Equal(a.At),
		b.By != a.By:
		return toldOtherwise
	case approved && len(out.Args) > 0 && !a.approves(out.Args) && !a.to.unchecked:
		return toldOtherArgs
	}
	return ""
}

// with returns the question with recorded arguments; false: the recorded value is not an object.
func with(q gateway.Question, input json.RawMessage) (gateway.Question, bool) {
	v, err := ijson.DecodeCanonical(input)
	args, ok := v.(map[string]any)
	return q.With(args), err == nil && ok
}

// approves reports whether the answer approves a call with these arguments.
func (a *answer) approves(input json.RawMessage) bool {
	sent, ok := with(a.to.Question, input)
	return ok && sent.Digest() == a.Executes
}

// called checks a call. If a person had to approve it, the person must have approved exactly this call, and no other call may have
// used the approval.
func (c *checker) called(e patterns.Event, b patterns.IntentBody) (reason string) {
	switch {
	case b.Share != "":
		return c.sharing(e, b)
	case b.Grant == "":
		escalated := b.Verdict != nil && b.Verdict.Decision == gateway.Escalate.String()
		if c.whole && b.Effect != "read" {
			return planUnapproved
		}
		if c.put && escalated || c.steps[e.Key] {
			return callUnapproved
		}
		return ""
	}
	a := c.given[b.Grant]
	again := a != nil && a.seq != 0 && b.IdempotencyKey != "" && a.by == b.IdempotencyKey // another attempt at the same act
	switch {
	case a == nil:
		return fmt.Sprintf(spendsUnknown, b.Grant)
	case a.to.plan != nil:
		return fmt.Sprintf(spendsForPlan, a.Approval)
	case a.seq != 0 && !again:
		return fmt.Sprintf(spendsAgain, a.Approval, a.seq)
	case a.to.Step != e.Key && !again:
		return fmt.Sprintf(spendsOtherStep, a.Approval, a.to.Step)
	case a.to.Tool != b.Name:
		return fmt.Sprintf(spendsOtherTool, a.Approval, a.to.Tool)
	}
	if a.seq == 0 {
		a.seq, a.by = e.Seq, b.IdempotencyKey
		c.report.Spent++
	}
	return c.fits(e, a, b, again)
}

// fits checks that a call is the approved one, and that the approval counted at that time.
func (c *checker) fits(e patterns.Event, a *answer, b patterns.IntentBody, again bool) string {
	sent, ok := with(a.to.Question, b.Input)
	if b.Verdict != nil {
		sent.Policy = b.Verdict.Policy
	}
	fits := ok && sent.Digest() == a.Executes
	switch {
	case a.unchecked, a.to.unchecked:
		c.unchecked(e.Seq, redactedReason)
		return ""
	case !fits && c.hidden(e):
		return ""
	case !fits:
		return fmt.Sprintf(notApproved, a.Approval)
	}
	return c.counts(e, a, sent, again)
}

// counts checks that an approval counted when a call used it. Keys are enrolled and removed in whole seconds. So a call in the second
// in which a key was enrolled may be older or younger than the key.
func (c *checker) counts(e patterns.Event, a *answer, sent gateway.Question, again bool) string {
	at, ring := momentOf(e), c.ring
	if a.Key == "" && !ring.Counts(a.At.Add(-grain)) && !ring.Counts(at.Add(-grain)) {
		ring = gateway.Ring{}
	}
	grant := gateway.Grant{Approval: a.Approval, Asked: a.to.Question, Answer: a.Answer, Signature: a.signature, Least: a.to.least, Ring: ring}
	_, reason := grant.Check(sent, at.Add(-grain), again)
	if reason == gateway.ApprovalInvalid { // the key may be younger than the grain
		_, reason = grant.Check(sent, at, again)
	}
	switch reason {
	case "":
		return ""
	case gateway.ApprovalExpired:
		return fmt.Sprintf(spendsExpired, a.Approval)
	}
	return fmt.Sprintf(spendsInvalid, a.Approval)
}
