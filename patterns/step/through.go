package step

import (
	"patterngate/gateway"
	"patterngate/patterns"
)

// CallResult is what came of a call in [Log.Call]. Its outcome is that of the newest attempt, and counts only if the stop was
// nil.
type CallResult struct {
	Permit   gateway.Permit
	Human    *patterns.HumanApproval // what a person decided; nil if no person was asked
	Out      patterns.Outcome
	Attempts int // how often the call was made
}

// Call admits a call, asks a person first if the policy requires one, and makes the call. If other runs changed what the ruling
// was based on, it judges the call again, at most [MaxStale] times. The stop is nil if the call was made, whatever its outcome.
func (l *Log) Call(phase, doing string, p gateway.Proposal) (c CallResult, _ *Stop) {
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

// MadeCall is one call with its outcome.
type MadeCall struct {
	Permit gateway.Permit
	Out    patterns.Outcome
}
