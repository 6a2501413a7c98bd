package local

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// A person can approve a whole plan. The approval is spent step by step: each call spends the share of its subtask, in
// the transaction of its own intent (package gateway, Envelope).

// grantOf returns the name of what a call spends: an approval, or one share of it.
func grantOf(approval, share string) string {
	if share == "" {
		return approval
	}
	return approval + "/" + share
}

// unshared returns the reason why a call that no person decided about must not be made; "": it may. It refuses the
// calls of a plan that a person must approve as a whole and has not approved, except reads. The code of the pattern
// asks for the approval; unshared enforces it.
func (b *branch) unshared(p gateway.Permit) string {
	spec := b.job.Spec
	asks := spec.Kind == gateway.Planning && spec.Envelope != patterns.RequireNone && spec.Approver.Kind == patterns.InboxApprover
	if asks && p.Effect() != catalog.Read {
		return gateway.ApprovalInvalid
	}
	return ""
}

// shareOf returns the question that a call of a plan spends, and the call that has spent its share already. If the plan
// covers the call as the step of that share, the question is the one about the whole plan. It then has the policy of
// the call, so an approval under another policy does not count. Otherwise it is the call's own question, which has no
// answer.
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
