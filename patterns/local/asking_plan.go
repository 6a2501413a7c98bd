package local

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/journal"
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
func (b *branch) shareOf(s *session, w *patterns.Waiting, p gateway.Permit) (sent gateway.Question, by string, err error) {
	ap, _ := journal.ApprovalNumber(w.Approval)
	err = s.each(func(row func(...any) error) error { return row(&by) }, selectShare, ap, p.Share())
	plan, ok := planning.ReadEnvelope(w.Question)
	call := p.Question()
	if !ok || !plan.Covers(p.Share(), call) {
		return call, by, err
	}
	sent = w.Question
	sent.Policy = call.Policy
	return sent, by, err
}

// spendShare enters that a share is spent, in the transaction of its call's intent.
func (b *branch) spendShare(s *session, ap int64, share, once string) error {
	changed, err := s.exec(insertShare, ap, share, once)
	if err == nil && changed == 0 {
		err = refusal{errUnspent}
	}
	if err == nil {
		_, err = s.exec(updateBegun, once, ap, b.record.file.n)
	}
	return err
}
