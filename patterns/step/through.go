package step

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// passage is a call of a pattern whose calls come one after the other, on its way through the gate and back.
type passage struct {
	Permit   gateway.Permit
	Human    *patterns.HumanApproval // what a person decided; nil: nobody was asked
	Out      patterns.Outcome
	Attempts int
}

// Through admits a call, having asked a person where the policy wants one, and makes it; both anew where other runs used up
// meanwhile what it was let through by.
func (l *Log) Through(phase, doing string, p gateway.Proposal) (c passage, _ *Stop) {
	var refused *Stop
	c.Permit, c.Human, refused = l.admitted(phase, p)
	for n := 1; refused == nil; n++ {
		c.Out, c.Attempts = l.Perform(l.Effect(phase, doing), c.Permit)
		if !IsStale(c.Out) {
			return c, nil
		}
		if n == MaxStale {
			return c, l.NotAdmitted(phase, p, Stuck())
		}
		human := c.Human
		if c.Permit, c.Human, refused = l.readmitted(phase, p, c.Permit, human); c.Human == nil {
			c.Human = human
		}
	}
	return c, refused
}

// Made is one call with its outcome, for the ledger.
type Made struct {
	Permit gateway.Permit
	Out    patterns.Outcome
}
