package kinds

import (
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// What the policy puts to a person is decided in one way in every pattern (spec/patterns.md section 0, Supervisor):
//
//	escalate ──▶ a person ──no, silence──▶ the run or task stops
//	    ▲            │ yes, perhaps with other arguments
//	    └─revise── reviewed again ──block──▶ stops
//	                 │ escalate is satisfied for exactly these arguments
//	                 ▼
//	               the call, which spends the approval

// maxAsked is how often a person is asked about one call: what the policy changes in what they leave is put to them once
// more.
const maxAsked = 2

// undecided reports whether a person must say more after they were asked so often: the policy asks for one, or changed what
// they left.
func undecided(r gateway.Ruling, asked int) bool {
	changed := asked > 0 && len(r.Revisions) > 0
	return r.Decision == gateway.Escalate || r.Decision != gateway.Block && changed
}

// consult asks a person about a call. The reason is the stop reason where they did not decide; what they decided may
// be no. The time that they took is the caller's to count off.
func consult(run patterns.Run, e patterns.Effect, a patterns.Approval, soFar func() patterns.Result) (d patterns.Decision, out patterns.Outcome, reason string) {
	d, out = patterns.AskPerson(run, e, a, soFar)
	switch {
	case out.State == patterns.OK:
		return d, out, ""
	case cutReason(out) != "":
		return d, out, cutReason(out)
	case out.Reason == patterns.ReasonExpired:
		return d, out, gateway.ApprovalExpired
	case spentReason(out) != "":
		return d, out, spentReason(out)
	}
	return d, out, humanRejected
}

const humanRejected = "human_rejected"

// spentReason is the stop reason of a call or answer that the approval did not let through; else empty.
func spentReason(out patterns.Outcome) string {
	switch out.Reason {
	case gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return out.Reason
	}
	return ""
}

// consent is a call that the policy puts to a person, in the branch that would make it.
type consent struct {
	*log
	run   patterns.Run
	phase string
	call  gateway.Proposal  // as it stands
	asks  gateway.Ruling    // the newest by which the policy asks
	by    patterns.Approver // as all of these have them asked
	final gateway.Ruling
	sure  bool // it is sure enough that a person decided
	human *patterns.HumanApproval
	took  []span // of people's time

	untimed time.Time // see [patterns.Effect.Untimed]
}

// span is a time that does not count.
type span struct{ since, until time.Time }

// length is how long all spans are together.
func length(spans []span) (sum time.Duration) {
	for _, s := range spans {
		sum += max(0, s.until.Sub(s.since))
	}
	return sum
}

// restedBy is how long people took until a time, all together; what they took at once counts once.
func restedBy(spans []span, at time.Time) (sum time.Duration) {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b span) int { return a.since.Compare(b.since) })
	var until time.Time
	for _, s := range spans {
		if s.until.After(at) {
			continue
		}
		if s.since.Before(until) {
			s.since = until
		}
		if s.until.After(s.since) {
			sum, until = sum+s.until.Sub(s.since), s.until
		}
	}
	return sum
}

// obtain asks a person, twice at most, and admits what they leave. The reason says why not; the refusal then is what the
// gate said, or nil.
func (c *consent) obtain(ruling gateway.Ruling) (gateway.Permit, *gateway.Stop, string) {
	c.by = c.spec.Approver
	c.reviewed(ruling)
	for asked := 0; undecided(c.final, asked); asked++ {
		if asked == maxAsked && !c.sure {
			return gateway.Permit{}, nil, gateway.ApprovalInvalid
		}
		if asked == maxAsked {
			c.final = gateway.Ruling{Reason: gateway.ReviseNotConvergent}
			break
		}
		if reason := c.ask(); reason != "" {
			return gateway.Permit{}, nil, reason
		}
	}
	permit, refusal := c.gate.Approved(c.call, c.final)
	if refusal != nil {
		return permit, refusal, refusal.Reason
	}
	return permit, nil, ""
}

// reviewed takes over what the policy says of the call, and notes what it changed, if that counts.
func (c *consent) reviewed(r gateway.Ruling) {
	if r.Decision != gateway.Block {
		c.judged = append(c.judged, revisions(c.phase, c.action(), r)...)
	}
	if c.final, c.call.Args = r, r.Args; r.Decision == gateway.Escalate {
		c.asks, c.by = r, c.by.Under(r)
	}
}

// revisions are the judgments of what a review changed.
func revisions(phase string, from gateway.Action, r gateway.Ruling) []patterns.Judged {
	var list []patterns.Judged
	for i, reason := range r.Revisions {
		list = append(list, judged(phase, from.Tool(), from.Row(), gateway.Revise.String(), reason).Ruled(r.RevisedBy[i]))
	}
	return list
}

// action is the call as it stands.
func (c *consent) action() gateway.Action {
	return gateway.Action{Name: c.call.Tool, Args: c.call.Args}
}

// ask puts the call as it stands to a person and reviews what they leave.
func (c *consent) ask() (reason string) {
	action := c.action()
	c.judged = append(c.judged, judged(c.phase, c.call.Tool, action.Row(), gateway.Escalate.String(), c.asks.Reason).Ruled(c.asks.Because()))
	e := c.effect(c.phase, "waiting for a person")
	e.Deadline, e.Untimed = c.deadline.Add(length(c.took)), c.untimed
	d, out, reason := consult(c.run, e, patterns.Approval{
		Action: action, Question: c.gate.Question(c.call), Approver: c.by, Catalog: c.spec.Catalog,
	}.Because(c.asks), c.soFar)
	since := out.Began // as it is recorded: when a branch began that waited for its turn is not
	if since.IsZero() {
		since = out.At // nobody was asked
	}
	c.took = append(slices.Clip(c.took), span{since, out.At})
	if reason != "" {
		return reason
	}
	if d.Approved && d.Args != nil {
		c.call.Args = without(c.gate.Proposed(c.call.Tool, d.Args), c.call.Inject)
	}
	if c.human = patterns.NewHumanApproval(d, c.action().Row(), out.At); !d.Approved {
		return humanRejected
	}
	c.reviewed(c.gate.ReviewApproved(c.call.Case(), d.Approval))
	if c.sure = patterns.Suffices(c.final, d.Assurance, out.At.Sub(since)+out.Down); !c.sure { // what they left is by a rule that wants more
		c.asks, c.by = c.final, c.by.Under(c.final)
		c.final.Decision = gateway.Escalate
	}
	return ""
}

// without are arguments less those that the pattern sets.
func without(args, inject map[string]any) map[string]any {
	rest := make(map[string]any, len(args))
	for name, v := range args {
		if _, set := inject[name]; !set {
			rest[name] = v
		}
	}
	return rest
}

// admitted admits a call of a pattern whose calls come one after the other, having asked a person where the policy wants
// one. What they decided goes into the call's row; nil: nobody was asked.
func (l *log) admitted(phase string, p gateway.Proposal) (gateway.Permit, *patterns.HumanApproval, *stop) {
	p.Weigh = weigh(l.run, phase)
	permit, refusal := l.gate.Admit(p)
	return l.agreed(phase, p, permit, refusal)
}

// readmitted is admitted for a call that was admitted, and not made because what it was let through by did not hold any more.
func (l *log) readmitted(phase string, p gateway.Proposal, was gateway.Permit, by *patterns.HumanApproval) (gateway.Permit, *patterns.HumanApproval, *stop) {
	p.Weigh = weigh(l.run, phase)
	permit, refusal := l.gate.Rejudge(p, was, by.GivenWith())
	p.Args = was.Proposed()
	return l.agreed(phase, p, permit, refusal)
}

// agreed has a person asked about a call where the gate wants one.
func (l *log) agreed(phase string, p gateway.Proposal, permit gateway.Permit, refusal *gateway.Stop) (gateway.Permit, *patterns.HumanApproval, *stop) {
	if refusal == nil {
		return permit, nil, nil
	}
	if refusal.Asks == nil {
		return permit, nil, l.notLet(phase, p, refusal)
	}
	c := consent{log: l, run: l.run, phase: phase, call: p}
	permit, refusal, reason := c.obtain(*refusal.Asks)
	for _, s := range c.took {
		l.rest(s.since, s.until)
	}
	switch {
	case refusal != nil:
		return permit, c.human, l.notAdmitted(phase, c.call, refusal)
	case reason != "":
		return permit, c.human, stopped(phase, reason)
	}
	return permit, c.human, nil
}
