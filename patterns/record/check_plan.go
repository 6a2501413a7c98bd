package record

import (
	"fmt"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// plan is a whole plan that a person was asked about. Each of its steps may be called once.
type plan struct {
	planning.Envelope
	spent map[string]spending // by step
}

// spending is the first call that used a share.
type spending struct {
	by  string // the act, by its idempotency key
	seq int64
}

// askWhole checks a question about a whole plan, which is in canonical form.
func (c *checker) askWhole(e patterns.Event, q *question) string {
	q.plan, c.whole = &plan{spent: map[string]spending{}}, true
	of, ok := planning.ReadEnvelope(q.Question)
	if q.plan.Envelope = of; ok && q.Step == e.Key {
		return ""
	}
	if q.unchecked = c.hidden(e); q.unchecked {
		return ""
	}
	return noPlan
}

// sharing checks a call that uses its step's share of an approved plan. The call must be exactly this step, within the limits that
// were shown, and the only call that used the share.
func (c *checker) sharing(e patterns.Event, b patterns.IntentBody) (reason string) {
	a := c.given[b.Grant]
	switch {
	case a == nil:
		return fmt.Sprintf(shareUnknown, b.Grant)
	case a.to.plan == nil:
		return fmt.Sprintf(shareOfCall, a.Approval)
	}
	before, spent := a.to.plan.spent[b.Share]
	again := spent && b.IdempotencyKey != "" && before.by == b.IdempotencyKey
	if spent && !again {
		return fmt.Sprintf(shareAgain, b.Share, a.Approval, before.seq)
	}
	if !spent {
		a.to.plan.spent[b.Share] = spending{b.IdempotencyKey, e.Seq}
	}
	if a.seq == 0 {
		a.seq = e.Seq
		c.report.Spent++
	}
	return c.within(e, a, b, again)
}

// within checks that a call is the step that it names, and that the approval counted.
func (c *checker) within(e patterns.Event, a *answer, b patterns.IntentBody, again bool) string {
	if a.unchecked || a.to.unchecked {
		c.unchecked(e.Seq, redactedReason)
		return ""
	}
	step, _ := a.to.plan.Step(b.Share)
	args, err := ijson.DecodeCanonical(b.Input)
	of, isObject := args.(map[string]any)
	whole := a.to.Question
	if b.Verdict != nil {
		whole.Policy = b.Verdict.Policy
	}
	fits := err == nil && isObject && whole.Digest() == a.Executes &&
		a.to.plan.Covers(b.Share, gateway.Question{Tool: b.Name, Schema: step.Schema, Args: of}) // the record has no other schema
	switch {
	case !fits && c.hidden(e):
		return ""
	case !fits:
		return fmt.Sprintf(stepNotApproved, b.Share, a.Approval)
	}
	return c.counts(e, a, whole, again)
}
