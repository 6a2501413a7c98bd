package gateway

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Decision is what a policy decides about a proposed call. The zero Decision blocks.
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

// Case is what a reviewer judges: one proposed call or the final answer, and the calls before it.
type Case struct {
	Tool    string         // "" for the final answer
	Args    map[string]any // as they are now, after revisions
	Answer  string         // the final answer's text
	Effects []Entry        // the run's calls so far in order of intents, after those of earlier runs that it continues
	Of      string         // key of the call if this is one more attempt at it; rules do not see that call
	Facts   Facts          // about the run; the gate sets them
	// Windows are the calls of earlier runs, by the policy's window names. Only the engine, which keeps the record, can
	// fill them. A rule that reads a missing window has an error.
	Windows map[string]Seen
	// Inject are arguments that the pattern sets, for any proposal. Rules judge them and cannot change them.
	Inject map[string]any
	// Weigh finishes a review that depends on windows. If it is nil, such a call is blocked.
	Weigh Weigh
	// Unordered says that the gate's knowledge at this moment may differ on a replay, because calls of several branches
	// run at once. Weigh then finishes every review, so that a replay has the recorded ruling.
	Unordered bool
	// Slot is as in [Proposal].
	Slot string
}

// Final reports whether the case is the final answer.
func (c Case) Final() bool { return c.Tool == "" }

// Verdict is the result of one pass of review. The zero Verdict blocks without a rule.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     string         // the rule that decided; "" if its id is the reason, or none did
	Text     string         // of the rule, for people
	Values   map[string]any // that made the rule true, by their expressions: decoded values
	Args     map[string]any // for a revise: the arguments after it
	Need     []string       // for a block: tools that must come first, or arguments that are missing
	// Expires and Least belong to an escalation: how long a person has, and which assurance the decision needs. Zero
	// values mean the pattern's own values. The shorter time and the higher assurance count.
	Expires time.Duration
	Least   Assurance
	// Retryable belongs to a block: the same call may be let through later.
	Retryable bool
	// Unknown says that the pass cannot be decided, because it depends on the observation of an assumed call. Such a
	// call is not made.
	Unknown bool
}

// Reviewer judges one call with its current arguments. It is called again after each revision. It must be deterministic
// and safe for concurrent use.
type Reviewer interface {
	Review(Case) Verdict
}

// ReviewerFunc is a function that implements [Reviewer].
type ReviewerFunc func(Case) Verdict

// Review calls f.
func (f ReviewerFunc) Review(c Case) Verdict { return f(c) }

// Ruling is the result of the review of one call. Its zero value blocks. Only a [Gate] makes one that admits a call.
// The fields are for reading: changing them admits nothing.
type Ruling struct {
	Decision  Decision
	Reason    string         // of the decision itself
	Rule      string         // that made it; "": none
	Text      string         // of that rule, for people
	Values    map[string]any // that made the rule true, by their expressions
	Revisions []string       // the reasons of all revisions, in order
	RevisedBy []Because      // the rules of these revisions
	Args      map[string]any // after all revisions
	Need      []string
	Expires   time.Duration // of an escalation, as in [Verdict]
	Least     Assurance     // as in [Verdict]
	Retryable bool          // as in [Verdict]
	Unknown   bool          // as in [Verdict]
	approved  approved
	weighing  *Weighing // must hold when the call is recorded; nil: earlier runs do not matter
	passes    int       // of the policy
	policy    string    // hash of the policy
	byPerson  bool      // a person's approval satisfied an escalation
	person    bool      // it was reviewed as approved by a person
	approval  string    // id of the person's decision; "" for no person, or a simulated one
}

// Because is a rule that decided about a call or changed it, and why.
type Because struct {
	Rule, Text string
	Values     map[string]any
}

// approved says exactly what a review allowed. Its zero value allows nothing.
type approved struct {
	by   *Gate
	done int    // changes of the ledger before the review
	tool string // "" for the final answer
	args string // in canonical form
}

// Because returns the rule that decided.
func (r Ruling) Because() Because { return Because{r.Rule, r.Text, r.Values} }

// Passes returns how often the policy judged the call.
func (r Ruling) Passes() int { return r.passes }

// covers reports whether the ruling allows this call at the gate's current state.
func (r Ruling) covers(g *Gate, p Proposal) bool {
	return r.approved == approved{g, g.noted, p.Tool, string(ijson.Canonical(p.Args))}
}

// maxRevisions is how often a review may change a call before it is blocked.
const maxRevisions = 3

// Review judges a case until nothing changes. After a revision it starts again from the top, so that every approved
// call was judged with its final arguments (spec/patterns.md section 0, Supervisor). Without a reviewer, the allowlists
// alone decide.
//
// The policy sees the tool's defaults and the arguments that the configuration sets. The ruling's arguments are without
// these. A revision that changes one of them is blocked.
func (g *Gate) Review(c Case) Ruling { return g.review(c, false) }

// ReviewApproved reviews a call that a person approved. The approval satisfies an escalation for exactly these
// arguments; a block or a revision still counts. The argument approval is the id of the person's decision, ap_ and 16
// hex digits. The call spends it. It is "" for a simulated person.
func (g *Gate) ReviewApproved(c Case, approval string) Ruling {
	r := g.review(c, true)
	r.approval, r.person = approval, true
	return r
}

func (g *Gate) review(c Case, byPerson bool) Ruling {
	proposed := c.Tool
	tool, known := g.config.Catalog.Tool(proposed) // for an unknown tool, no defaults are added
	if known {
		c.Tool = tool.Own() // the name that rules know
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

// judge reviews a call until nothing changes. Its ruling does not admit the call yet.
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
		if v.Unknown { // for any decision
			return r.end(Verdict{Reason: v.Reason, Rule: v.Rule, Text: v.Text, Values: v.Values, Unknown: true})
		}
		switch v.Decision {
		case Revise:
			to, untouched := c.proposed(tool, v.Args, r.Args)
			switch {
			case len(r.Revisions) == maxRevisions || v.Args == nil || untouched && ijson.Equal(to, r.Args):
				return r.end(Verdict{Reason: ReviseNotConvergent})
			case !untouched: // no rule may change what the configuration and the pattern set
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

// whole returns arguments as they would be sent: with those that the pattern and the configuration set.
func (c Case) whole(tool catalog.Tool, args map[string]any) map[string]any {
	out := owned(tool.Whole(args))
	for _, name := range sortedKeys(c.Inject) {
		if _, fixed := tool.Fixed[name]; !fixed {
			out[name] = copied(c.Inject[name])
		}
	}
	return out
}

// proposed returns the arguments after a revision without those that the pattern and the configuration set. An argument
// that the pattern sets gets its earlier value back. It returns false if the revision changed one of these.
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

// JudgeAlone reviews one call by one policy as a gate would, and admits nothing. It is for tests of a policy. The
// arguments of the case are as proposed. byPerson says that a person approved exactly these.
func JudgeAlone(policy Reviewer, tool catalog.Tool, c Case, byPerson bool) Ruling {
	c.Args = tool.Filled(c.Args)
	return judge(policy, tool, c, byPerson, PolicyHash(policy))
}

// setsFixed reports whether the arguments name one that the configuration sets.
func setsFixed(tool catalog.Tool, args map[string]any) bool {
	return slices.ContainsFunc(sortedKeys(tool.Fixed), func(name string) bool {
		_, named := args[name]
		return named
	})
}

// pass makes one pass of review.
func pass(policy Reviewer, c Case) Verdict {
	if policy == nil {
		return Verdict{Decision: Approve, Reason: Allowlisted}
	}
	return policy.Review(c)
}

// rule returns the rule of a verdict. If Rule is empty, the rule's id is the reason. The review's own reasons and that
// of the allowlists are not rules.
func (v Verdict) rule() string {
	if v.Rule != "" || v.Reason == NoRuleMatched || v.Reason == ReviseNotConvergent || v.Reason == Allowlisted {
		return v.Rule
	}
	return v.Reason
}

// shownValues returns the values that can be recorded. It drops others, such as an infinite number.
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

// Recorded returns the decision as results show it. A call that was changed and then approved shows as revised, with
// the first revision's reason.
func (r Ruling) Recorded() (Decision, string) {
	if r.Decision == Approve && len(r.Revisions) > 0 {
		return Revise, r.Revisions[0]
	}
	return r.Decision, r.Reason
}
