package step

import (
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Every pattern handles a call that the policy puts to a person in the same way (spec/patterns.md section 0, Supervisor):
//
//	escalate ──▶ a person ──no, silence──▶ the run or task stops
//	    ▲            │ yes, perhaps with other arguments
//	    └─revise── reviewed again ──block──▶ stops
//	                 │ escalate is satisfied for exactly these arguments
//	                 ▼
//	               the call, which spends the approval

// MaxAsked is how often a person is asked about one call. If the policy changes what the person approved, the person is asked
// once more.
const MaxAsked = 2

// NeedsPerson reports whether a person must decide about a call, after asked decisions about it. That is so if the policy
// escalates the call, or if it changed what a person approved.
func NeedsPerson(r gateway.Ruling, asked int) bool {
	changed := asked > 0 && len(r.Revisions) > 0
	return r.Decision == gateway.Escalate || r.Decision != gateway.Block && changed
}

// Consult asks a person about a call. The reason is "" if the person decided, even if the decision is a rejection. Otherwise it
// is the stop reason. The time that the person took still counts: call [Log.ExcludeTime].
func Consult(run patterns.Run, e patterns.Effect, a patterns.Approval, soFar func() patterns.Result) (d patterns.Decision, out patterns.Outcome, reason string) {
	d, out = patterns.AskPerson(run, e, a, soFar)
	switch {
	case out.State == patterns.OK:
		return d, out, ""
	case CutReason(out) != "":
		return d, out, CutReason(out)
	case out.Reason == patterns.ReasonExpired:
		return d, out, gateway.ApprovalExpired
	case ApprovalReason(out) != "":
		return d, out, ApprovalReason(out)
	}
	return d, out, HumanRejected
}

// HumanRejected is the stop reason of a call that a person rejected. [Consult] also returns it for a question that failed in any
// other way.
const HumanRejected = "human_rejected"

// ApprovalReason returns the stop reason of a call or answer that its approval did not allow: expired, consumed or invalid.
// Otherwise it returns "".
func ApprovalReason(out patterns.Outcome) string {
	switch out.Reason {
	case gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return out.Reason
	}
	return ""
}

// Consent asks a person about a call that the policy escalated, in the branch that would make the call.
type Consent struct {
	*Log
	Run   patterns.Run
	Phase string
	Call  gateway.Proposal  // with its arguments as changed so far
	asks  gateway.Ruling    // the newest ruling that requires a person
	by    patterns.Approver // with the strictest limits of those rulings
	final gateway.Ruling
	sure  bool                    // it is sure enough, for the final ruling, that a person decided
	Human *patterns.HumanApproval // what the person decided; nil if no person decided
	Took  []Span                  // the time that people took

	Untimed time.Time // see [patterns.Effect.Untimed]
}

// Span is a period of time that does not count against the run's deadline.
type Span struct{ Since, Until time.Time }

// TotalOf returns the sum of the lengths of all spans. It counts overlaps more than once.
func TotalOf(spans []Span) (sum time.Duration) {
	for _, s := range spans {
		sum += max(0, s.Until.Sub(s.Since))
	}
	return sum
}

// UnionUntil returns how much time the spans cover that ended by the given time. It counts overlaps once.
func UnionUntil(spans []Span, at time.Time) (sum time.Duration) {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return a.Since.Compare(b.Since) })
	var until time.Time
	for _, s := range spans {
		if s.Until.After(at) {
			continue
		}
		if s.Since.Before(until) {
			s.Since = until
		}
		if s.Until.After(s.Since) {
			sum, until = sum+s.Until.Sub(s.Since), s.Until
		}
	}
	return sum
}

// Obtain asks a person, at most [MaxAsked] times, and admits the call as the person left it. The reason is "" if the call was
// admitted, and else the stop reason. The refusal is then what the gate said, or nil.
func (c *Consent) Obtain(ruling gateway.Ruling) (gateway.Permit, *gateway.Stop, string) {
	c.by = c.Spec.Approver
	c.reviewed(ruling)
	for asked := 0; NeedsPerson(c.final, asked); asked++ {
		if asked == MaxAsked && !c.sure {
			return gateway.Permit{}, nil, gateway.ApprovalInvalid
		}
		if asked == MaxAsked {
			c.final = gateway.Ruling{Reason: gateway.ReviseNotConvergent}
			break
		}
		if reason := c.ask(); reason != "" {
			return gateway.Permit{}, nil, reason
		}
	}
	permit, refusal := c.Gate.Approved(c.Call, c.final)
	if refusal != nil {
		return permit, refusal, refusal.Reason
	}
	return permit, nil, ""
}

// reviewed stores a ruling and the arguments that it left. Unless the ruling blocks the call, it records what the review
// changed.
func (c *Consent) reviewed(r gateway.Ruling) {
	if r.Decision != gateway.Block {
		c.NewJudged = append(c.NewJudged, Revisions(c.Phase, c.action(), r)...)
	}
	if c.final, c.Call.Args = r, r.Args; r.Decision == gateway.Escalate {
		c.asks, c.by = r, c.by.Under(r)
	}
}

// Revisions returns one judgment for each change that a review made.
func Revisions(phase string, from gateway.Action, r gateway.Ruling) []patterns.Judged {
	var list []patterns.Judged
	for i, reason := range r.Revisions {
		list = append(list, NewJudged(phase, from.Tool(), from.Row(), gateway.Revise.String(), reason).Ruled(r.RevisedBy[i]))
	}
	return list
}

// action returns the call with its present arguments.
func (c *Consent) action() gateway.Action {
	return gateway.Action{Name: c.Call.Tool, Args: c.Call.Args}
}

// ask puts the call to a person and reviews what the person approved. It returns the stop reason, or "".
func (c *Consent) ask() (reason string) {
	action, question := c.action(), c.Gate.Question(c.Call)
	c.NewJudged = append(c.NewJudged, NewJudged(c.Phase, c.Call.Tool, action.Row(), gateway.Escalate.String(), c.asks.Reason).Ruled(c.asks.Because()))
	e := c.Effect(c.Phase, "waiting for a person")
	e.Deadline, e.Untimed = c.Deadline.Add(TotalOf(c.Took)), c.Untimed
	d, out, reason := Consult(c.Run, e, patterns.Approval{
		Action: action, Question: question, Approver: c.by, Catalog: c.Spec.Catalog,
	}.Because(c.asks), c.SoFar)
	since := out.Began // as recorded: the time when a branch that waited for its turn began is not recorded
	if since.IsZero() {
		since = out.At // no person was asked
	}
	c.Took = append(slices.Clip(c.Took), Span{since, out.At})
	if reason != "" {
		return reason
	}
	if d.Approved && d.Args != nil {
		c.Call.Args = without(c.Gate.Proposed(c.Call.Tool, d.Args), c.Call.Inject)
	}
	if c.Human = patterns.NewHumanApproval(d, c.action().Row(), out.At); !d.Approved {
		return HumanRejected
	}
	c.Human.Changing(question, c.Gate.Question(c.Call))
	c.reviewed(c.Gate.ReviewApproved(c.Call.Case(), d.Approval))
	if c.sure = patterns.Suffices(c.final, d.Assurance, out.At.Sub(since)+out.Down); !c.sure { // the rule for what they approved requires more
		c.asks, c.by = c.final, c.by.Under(c.final)
		c.final.Decision = gateway.Escalate
	}
	return ""
}

// without returns the arguments without those that the pattern sets.
func without(args, inject map[string]any) map[string]any {
	rest := make(map[string]any, len(args))
	for name, v := range args {
		if _, set := inject[name]; !set {
			rest[name] = v
		}
	}
	return rest
}

// admitted admits a call of a pattern that makes one call at a time, and asks a person first if the policy requires one. The
// HumanApproval is for the call's row. It is nil if no person was asked.
func (l *Log) admitted(phase string, p gateway.Proposal) (gateway.Permit, *patterns.HumanApproval, *Stop) {
	p.Weigh = Weigh(l.Run, phase)
	permit, refusal := l.Gate.Admit(p)
	return l.agreed(phase, p, permit, refusal)
}

// readmitted judges a call again that was admitted and not made, because the ruling that allowed it no longer holds.
func (l *Log) readmitted(phase string, p gateway.Proposal, was gateway.Permit, by *patterns.HumanApproval) (gateway.Permit, *patterns.HumanApproval, *Stop) {
	p.Weigh = Weigh(l.Run, phase)
	permit, refusal := l.Gate.Rejudge(p, was, by.GivenWith())
	p.Args = was.Proposed()
	return l.agreed(phase, p, permit, refusal)
}

// agreed asks a person about a call if the gate requires one.
func (l *Log) agreed(phase string, p gateway.Proposal, permit gateway.Permit, refusal *gateway.Stop) (gateway.Permit, *patterns.HumanApproval, *Stop) {
	if refusal == nil {
		return permit, nil, nil
	}
	if refusal.Asks == nil {
		return permit, nil, l.notLet(phase, p, refusal)
	}
	c := Consent{Log: l, Run: l.Run, Phase: phase, Call: p}
	permit, refusal, reason := c.Obtain(*refusal.Asks)
	for _, s := range c.Took {
		l.ExcludeTime(s.Since, s.Until)
	}
	switch {
	case refusal != nil:
		return permit, c.Human, l.NotAdmitted(phase, c.Call, refusal)
	case reason != "":
		return permit, c.Human, Stopped(phase, reason)
	}
	return permit, c.Human, nil
}
