package kinds

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// passage is a call of a pattern whose calls come one after the other, on its way through the gate and back.
type passage struct {
	permit   gateway.Permit
	human    *patterns.HumanApproval // what a person decided; nil: nobody was asked
	out      patterns.Outcome
	attempts int
}

// through admits a call, having asked a person where the policy wants one, and makes it; both anew where other runs used up
// meanwhile what it was let through by.
func (l *log) through(phase, doing string, p gateway.Proposal) (c passage, _ *stop) {
	var refused *stop
	c.permit, c.human, refused = l.admitted(phase, p)
	for n := 1; refused == nil; n++ {
		c.out, c.attempts = l.called(l.effect(phase, doing), c.permit)
		if !isStale(c.out) {
			return c, nil
		}
		if n == maxStale {
			return c, l.notAdmitted(phase, p, stuck())
		}
		human := c.human
		if c.permit, c.human, refused = l.readmitted(phase, p, c.permit, human); c.human == nil {
			c.human = human
		}
	}
	return c, refused
}

// made is one call with its outcome, for the ledger.
type made struct {
	permit gateway.Permit
	out    patterns.Outcome
}
