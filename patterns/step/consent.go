package step

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

// MaxAsked is how often a person is asked about one call: what the policy changes in what they leave is put to them once
// more.
const MaxAsked = 2

// Undecided reports whether a person must say more after they were asked so often: the policy asks for one, or changed what
// they left.
func Undecided(r gateway.Ruling, asked int) bool {
	changed := asked > 0 && len(r.Revisions) > 0
	return r.Decision == gateway.Escalate || r.Decision != gateway.Block && changed
}

// Consult asks a person about a call. The reason is the stop reason where they did not decide; what they decided may
// be no. The time that they took is the caller's to count off.
func Consult(run patterns.Run, e patterns.Effect, a patterns.Approval, soFar func() patterns.Result) (d patterns.Decision, out patterns.Outcome, reason string) {
	d, out = patterns.AskPerson(run, e, a, soFar)
	switch {
	case out.State == patterns.OK:
		return d, out, ""
	case CutReason(out) != "":
		return d, out, CutReason(out)
	case out.Reason == patterns.ReasonExpired:
		return d, out, gateway.ApprovalExpired
	case SpentReason(out) != "":
		return d, out, SpentReason(out)
	}
	return d, out, HumanRejected
}

const HumanRejected = "human_rejected"

// SpentReason is the stop reason of a call or answer that the approval did not let through; else empty.
func SpentReason(out patterns.Outcome) string {
	switch out.Reason {
	case gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return out.Reason
	}
	return ""
}

// Consent is a call that the policy puts to a person, in the branch that would make it.
type Consent struct {
	*Log
	Run   patterns.Run
	Phase string
	Call  gateway.Proposal  // as it stands
	asks  gateway.Ruling    // the newest by which the policy asks
	by    patterns.Approver // as all of these have them asked
	final gateway.Ruling
	sure  bool // it is sure enough that a person decided
	Human *patterns.HumanApproval
	Took  []Span // of people's time

	Untimed time.Time // see [patterns.Effect.Untimed]
}

// Span is a time that does not count.
type Span struct{ Since, Until time.Time }

// TotalOf is how long all spans are together.
func TotalOf(spans []Span) (sum time.Duration) {
	for _, s := range spans {
		sum += max(0, s.Until.Sub(s.Since))
	}
	return sum
}

// RestedBy is how long people took until a time, all together; what they took at once counts once.
func RestedBy(spans []Span, at time.Time) (sum time.Duration) {
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

// Obtain asks a person, twice at most, and admits what they leave. The reason says why not; the refusal then is what the
// gate said, or nil.
func (c *Consent) Obtain(ruling gateway.Ruling) (gateway.Permit, *gateway.Stop, string) {
	c.by = c.Spec.Approver
	c.reviewed(ruling)
	for asked := 0; Undecided(c.final, asked); asked++ {
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

// reviewed takes over what the policy says of the call, and notes what it changed, if that counts.
func (c *Consent) reviewed(r gateway.Ruling) {
	if r.Decision != gateway.Block {
		c.NewJudged = append(c.NewJudged, Revisions(c.Phase, c.action(), r)...)
	}
	if c.final, c.Call.Args = r, r.Args; r.Decision == gateway.Escalate {
		c.asks, c.by = r, c.by.Under(r)
	}
}

// Revisions are the judgments of what a review changed.
func Revisions(phase string, from gateway.Action, r gateway.Ruling) []patterns.Judged {
	var list []patterns.Judged
	for i, reason := range r.Revisions {
		list = append(list, NewJudged(phase, from.Tool(), from.Row(), gateway.Revise.String(), reason).Ruled(r.RevisedBy[i]))
	}
	return list
}

// action is the call as it stands.
func (c *Consent) action() gateway.Action {
	return gateway.Action{Name: c.Call.Tool, Args: c.Call.Args}
}

// ask puts the call as it stands to a person and reviews what they leave.
func (c *Consent) ask() (reason string) {
	action := c.action()
	c.NewJudged = append(c.NewJudged, NewJudged(c.Phase, c.Call.Tool, action.Row(), gateway.Escalate.String(), c.asks.Reason).Ruled(c.asks.Because()))
	e := c.Effect(c.Phase, "waiting for a person")
	e.Deadline, e.Untimed = c.Deadline.Add(TotalOf(c.Took)), c.Untimed
	d, out, reason := Consult(c.Run, e, patterns.Approval{
		Action: action, Question: c.Gate.Question(c.Call), Approver: c.by, Catalog: c.Spec.Catalog,
	}.Because(c.asks), c.SoFar)
	since := out.Began // as it is recorded: when a branch began that waited for its turn is not
	if since.IsZero() {
		since = out.At // nobody was asked
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
	c.reviewed(c.Gate.ReviewApproved(c.Call.Case(), d.Approval))
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
func (l *Log) admitted(phase string, p gateway.Proposal) (gateway.Permit, *patterns.HumanApproval, *Stop) {
	p.Weigh = Weigh(l.Run, phase)
	permit, refusal := l.Gate.Admit(p)
	return l.agreed(phase, p, permit, refusal)
}

// readmitted is admitted for a call that was admitted, and not made because what it was let through by did not hold any more.
func (l *Log) readmitted(phase string, p gateway.Proposal, was gateway.Permit, by *patterns.HumanApproval) (gateway.Permit, *patterns.HumanApproval, *Stop) {
	p.Weigh = Weigh(l.Run, phase)
	permit, refusal := l.Gate.Rejudge(p, was, by.GivenWith())
	p.Args = was.Proposed()
	return l.agreed(phase, p, permit, refusal)
}

// agreed has a person asked about a call where the gate wants one.
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
		l.Rest(s.Since, s.Until)
	}
	switch {
	case refusal != nil:
		return permit, c.Human, l.NotAdmitted(phase, c.Call, refusal)
	case reason != "":
		return permit, c.Human, Stopped(phase, reason)
	}
	return permit, c.Human, nil
}
