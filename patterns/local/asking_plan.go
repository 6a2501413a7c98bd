package local

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// What a person approves of a whole plan is spent step by step: each call spends the share of its subtask with its own intent
// (package gateway, Envelope).

// grantOf names what a call spends: an approval, or one share of it.
func grantOf(approval, share string) string {
	if share == "" {
		return approval
	}
	return approval + "/" + share
}

// unshared says why a call may not be made of which no person decided: that of a plan which is to be approved whole, by who
// takes their time, and was not. The code of the pattern asks; this holds it to that.
func (b *branch) unshared(p gateway.Permit) string {
	spec := b.job.Spec
	asks := spec.Kind == gateway.Planning && spec.Envelope != patterns.RequireNone && spec.Approver.Kind == patterns.InboxApprover
	if asks && p.Effect() != catalog.Read {
		return gateway.ApprovalInvalid
	}
	return ""
}

// shareOf is what a call of a plan spends: the question about the whole plan, if the call is the step whose share it names and
// was judged by the same policy, else one that nobody answered; and what has spent the share.
func (b *branch) shareOf(s store.Reader, w *patterns.Waiting, p gateway.Permit) (sent gateway.Question, by string, err error) {
	ap, _ := journal.ApprovalNumber(w.Approval)
	by, err = s.Share(ap, p.Share())
	plan, ok := planning.ReadEnvelope(w.Question)
	call := p.Question()
	if !ok || !plan.Covers(p.Share(), call) {
		return call, by, err
	}
	sent = w.Question
	sent.Policy = call.Policy
	return sent, by, err
}
