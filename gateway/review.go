package gateway

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Decision is what a policy says of a proposed call. The zero Decision blocks.
type Decision uint8

// The decisions, the strictest first.
const (
	Block Decision = iota
	Escalate
	Revise
	Approve
)

func (d Decision) String() string {
	switch d {
	case Escalate:
		return "escalate"
	case Revise:
		return "revise"
	case Approve:
		return "approve"
	}
	return "block"
}

// Reasons of the review itself.
const (
	NoRuleMatched       = "no_rule_matched"
	ReviseNotConvergent = "revise_not_convergent"
)

// Case is what a reviewer judges: one proposed call, or the final answer, and what was done before it.
type Case struct {
	Tool    string         // "" for the final answer
	Args    map[string]any // as they now stand
	Answer  string         // of the final answer
	Effects []Entry        // the run's calls so far, in order of intent, behind those of earlier runs that it goes on from
	Of      string         // key of the call of which it is one more attempt; rules do not see that one
	Facts   Facts          // of the run; the gate's own
	// Windows are what earlier runs did, by the policy's names. Only who keeps the record can fill them; a rule that reads one
	// that is not there errs.
	Windows map[string]Seen
	// Inject are arguments that the pattern sets, whatever was proposed: they are judged, and no rule changes them.
	Inject map[string]any
	// Weigh finishes a review that depends on windows; nil: there is nobody, and such a call is blocked.
	Weigh Weigh
	// Unordered says that what the gate knows at this moment may differ on a replay, as calls of several branches are judged by it:
	// then Weigh finishes the review in any case, so that a replay has what was recorded.
	Unordered bool
	// Slot is as in [Proposal].
	Slot string
}

// Final reports whether the case is the closing answer.
func (c Case) Final() bool { return c.Tool == "" }

// Verdict is one pass of review. The zero Verdict blocks without a rule.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     string         // that decided; "" where it is named as its reason is, or none did
	Text     string         // of the rule, for people
	Values   map[string]any // that made the rule true, by their expressions: decoded values
	Args     map[string]any // of a revise: the arguments after it
	Need     []string       // of a block: tools that must come first, or arguments that are to be given
	// Expires and Least are of an escalation: how long a person has, and how sure it must be that one decided; 0 and "": as the
	// pattern says. The shorter and the stricter count.
	Expires time.Duration
	Least   Assurance
	// Retryable is of a block: the same call may be let through later.
	Retryable bool
	// Unknown says that the pass cannot be decided, as it depends on what an assumed call would observe. Such a call is not made.
	Unknown bool
}

// Reviewer judges one call as it stands; it is asked again after each revision. It is deterministic and safe for
// concurrent use.
type Reviewer interface {
	Review(Case) Verdict
}

// ReviewerFunc is a function as a [Reviewer].
type ReviewerFunc func(Case) Verdict

// Review calls f.
func (f ReviewerFunc) Review(c Case) Verdict { return f(c) }

// Ruling is what review came to for one call. Its zero value blocks. Only a [Gate] makes one that admits a call: the
// members are there to be read, and changing them admits nothing.
type Ruling struct {
	Decision  Decision
	Reason    string         // of the decision itself
	Rule      string         // that made it; "": none did
	Text      string         // of that rule, for people
	Values    map[string]any // that made it true, by their expressions
	Revisions []string       // the reasons of all revisions, in order
	RevisedBy []Because      // their rules
	Args      map[string]any // after all revisions
	Need      []string
	Expires   time.Duration // of an escalation, as in [Verdict]
	Least     Assurance     // as in [Verdict]
	Retryable bool          // as in [Verdict]
	Unknown   bool          // as in [Verdict]
	approved  approved
	weighing  *Weighing // that has to hold when the call is recorded; nil: earlier runs do not matter
	passes    int       // of the policy
	policy    string    // its hash
	byPerson  bool      // a person's approval stood in for an escalation
	person    bool      // it was reviewed as approved by a person
	approval  string    // by which a person decided about it; "" for nobody's, and for who stands in for one
}

// Because is a rule that changed a call, and why.
type Because struct {
	Rule, Text string
	Values     map[string]any
}

// approved says what exactly a review allowed; its zero value is nothing.
type approved struct {
	by   *Gate
	done int    // changes of the ledger before it was judged
	tool string // "" for the final answer
	args string // in canonical form
}

// Because is the rule that decided.
func (r Ruling) Because() Because { return Because{r.Rule, r.Text, r.Values} }

// Passes is how often the policy judged.
func (r Ruling) Passes() int { return r.passes }

// covers reports whether the ruling allows the call, as things stand at the gate.
func (r Ruling) covers(g *Gate, p Proposal) bool {
	return r.approved == approved{g, g.noted, p.Tool, string(ijson.Canonical(p.Args))}
}

// maxRevisions is how often a review may change a call before it is blocked.
const maxRevisions = 3

// Review judges a case to a fixed point: after a revision it starts again from the top, so that nothing is
// approved that was not judged as it stands (spec/patterns.md section 0, Supervisor). Without a reviewer the
// allowlists alone decide. The policy sees the tool's defaults and what the configuration fixes; the ruling's arguments are
// without the fixed ones, and a revision that touches one is blocked.
func (g *Gate) Review(c Case) Ruling { return g.review(c, false) }

// ReviewApproved reviews what a person approved: escalation is satisfied for exactly these arguments, block and
// revise still count. The approval is the one by which they decided, ap_ and 16 hex digits, and is spent by the call;
// "" where somebody stands in for a person.
func (g *Gate) ReviewApproved(c Case, approval string) Ruling {
	r := g.review(c, true)
	r.approval, r.person = approval, true
	return r
}

func (g *Gate) review(c Case, byPerson bool) Ruling {
	proposed := c.Tool
	tool, known := g.config.Catalog.Tool(proposed) // without one nothing is put in
	if known {
		c.Tool = tool.Own() // as rules know it
	}
	c.Args = tool.Filled(c.Args)
	if g.config.Facts != nil && g.config.Reviewer != nil {
		g.facts = g.config.Facts()
	}
	c.Effects, c.Facts = g.effects(c), g.facts
	var r Ruling
	windowed := len(windowsOf(g.config.Reviewer, c.Tool)) > 0
	if (windowed || c.Unordered) && c.Weigh != nil && !setsFixed(tool, c.Args) {
		r = g.weighed(c, tool, byPerson)
	} else {
		r = judgeSupposing(g.config.Reviewer, tool, c, byPerson, g.policy)
	}
	if r.Decision != Approve {
		return r
	}
	r.approved = approved{g, g.noted, proposed, string(ijson.Canonical(r.Args))}
	if windowed {
		c.Args = r.Args
		w := g.weighing(c, tool, r.byPerson)
		w.least = r.Least
		r.weighing = &w
	}
	return r
}

// judge reviews a call to a fixed point. A ruling that it makes admits nothing yet.
func judge(policy Reviewer, tool catalog.Tool, c Case, byPerson bool, hash string) Ruling {
	r, asked := Ruling{Args: c.Args, policy: hash}, c.Args
	if setsFixed(tool, c.Args) {
		return r.end(Verdict{Reason: NoRuleMatched})
	}
	for {
		c.Args = c.whole(tool, r.Args)
		if policy != nil {
			r.passes++
		}
		v := pass(policy, c)
		if v.Unknown { // whatever else it says
			return r.end(Verdict{Reason: v.Reason, Rule: v.Rule, Text: v.Text, Values: v.Values, Unknown: true})
		}
		switch v.Decision {
		case Revise:
			to, untouched := c.proposed(tool, v.Args, r.Args)
			switch {
			case len(r.Revisions) == maxRevisions || v.Args == nil || untouched && ijson.Equal(to, r.Args):
				return r.end(Verdict{Reason: ReviseNotConvergent})
			case !untouched: // what the configuration and the pattern set is nobody's to change
				return r.end(Verdict{Reason: NoRuleMatched})
			}
			r.Revisions, r.RevisedBy, r.Args = append(r.Revisions, v.Reason), append(r.RevisedBy, Because{v.rule(), v.Text, shownValues(v.Values)}), to
			continue
		case Escalate:
			if byPerson && ijson.Equal(asked, r.Args) {
				v.Decision, r.byPerson = Approve, true
			}
			return r.end(v)
		case Approve:
			return r.end(v)
		}
		v.Decision, v.Reason = Block, cmp.Or(v.Reason, NoRuleMatched)
		return r.end(v)
	}
}

// whole are arguments as they would be sent: with what the pattern and the configuration set.
func (c Case) whole(tool catalog.Tool, args map[string]any) map[string]any {
	out := owned(tool.Whole(args))
	for _, name := range sortedKeys(c.Inject) {
		if _, fixed := tool.Fixed[name]; !fixed {
			out[name] = copied(c.Inject[name])
		}
	}
	return out
}

// proposed are arguments after a revision less what the pattern and the configuration set, as they were proposed; false: one of
// these was changed.
func (c Case) proposed(tool catalog.Tool, whole, before map[string]any) (args map[string]any, untouched bool) {
	args, untouched = tool.Proposed(whole)
	if whole == nil || len(c.Inject) == 0 {
		return args, untouched
	}
	args = maps.Clone(args)
	for _, name := range sortedKeys(c.Inject) {
		if _, fixed := tool.Fixed[name]; fixed {
			continue
		}
		untouched = untouched && ijson.Equal(whole[name], c.Inject[name])
		delete(args, name)
		if was, there := before[name]; there {
			args[name] = was
		}
	}
	return args, untouched
}

// JudgeAlone reviews one call by one policy to a fixed point, as a gate would, and admits nothing: for tests of a policy. The
// arguments are as they are proposed; byPerson, a person approved exactly these.
func JudgeAlone(policy Reviewer, tool catalog.Tool, c Case, byPerson bool) Ruling {
	c.Args = tool.Filled(c.Args)
	return judge(policy, tool, c, byPerson, PolicyHash(policy))
}

// setsFixed reports whether arguments name one that the configuration sets.
func setsFixed(tool catalog.Tool, args map[string]any) bool {
	return slices.ContainsFunc(sortedKeys(tool.Fixed), func(name string) bool {
		_, named := args[name]
		return named
	})
}

// pass is one pass of review.
func pass(policy Reviewer, c Case) Verdict {
	if policy == nil {
		return Verdict{Decision: Approve, Reason: Allowlisted}
	}
	return policy.Review(c)
}

// rule is the rule behind a verdict: where it is not said, it is named as its reason is. The review's own reasons and the
// allowlists' are no rule's.
func (v Verdict) rule() string {
	if v.Rule != "" || v.Reason == NoRuleMatched || v.Reason == ReviseNotConvergent || v.Reason == Allowlisted {
		return v.Rule
	}
	return v.Reason
}

// shownValues are values that can be recorded: an expression may come to an infinity.
func shownValues(values map[string]any) map[string]any {
	for _, name := range sortedKeys(values) {
		if _, err := ijson.AppendChecked(nil, values[name]); err != nil {
			rest := maps.Clone(values)
			delete(rest, name)
			return shownValues(rest)
		}
	}
	return values
}

func (r Ruling) end(v Verdict) Ruling {
	r.Decision, r.Reason, r.Rule, r.Text, r.Values, r.Need = v.Decision, v.Reason, v.rule(), v.Text, shownValues(v.Values), v.Need
	r.Retryable, r.Unknown = v.Retryable, v.Unknown
	if v.Decision == Escalate || r.byPerson {
		r.Expires, r.Least = v.Expires, v.Least
	}
	return r
}

// Recorded is the decision as results show it: a call that was changed and then approved shows as revised, with
// the first revision's reason.
func (r Ruling) Recorded() (Decision, string) {
	if r.Decision == Approve && len(r.Revisions) > 0 {
		return Revise, r.Revisions[0]
	}
	return r.Decision, r.Reason
}
