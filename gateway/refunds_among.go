package gateway

import "slices"

// RefundsAmong judges the tools of the refund demo by [Refunds] in a pattern that has others too, which it leaves to the
// allowlists. Its zero value pays nothing.
type RefundsAmong struct{ Refunds Refunds }

var (
	_ Foreteller = RefundsAmong{}
	_ Hashed     = RefundsAmong{}
)

// refundTools are those that [Refunds] has rules for.
var refundTools = []string{"get_refund_context", "issue_refund", "send_refund_email"}

// JudgesRefunds reports whether a tool is one that [Refunds] judges, in whatever pattern it is called.
func JudgesRefunds(tool string) bool { return slices.Contains(refundTools, tool) }

// Review implements [Reviewer].
func (p RefundsAmong) Review(c Case) Verdict {
	if JudgesRefunds(c.Tool) {
		return p.Refunds.Review(c)
	}
	return Verdict{Decision: Approve, Reason: Allowlisted}
}

// Asks implements [Foreteller].
func (p RefundsAmong) Asks(tool string) Asks { return p.Refunds.Asks(tool) }

// Hash implements [Hashed]. It is that of the refund policy: what has no rule there is not judged here.
func (p RefundsAmong) Hash() string { return p.Refunds.Hash() }
