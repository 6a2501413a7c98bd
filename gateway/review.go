package gateway

import (
	"cmp"
	"slices"

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
}

// Final reports whether the case is the closing answer.
func (c Case) Final() bool { return c.Tool == "" }

// Verdict is one pass of review. The zero Verdict blocks without a rule.
type Verdict struct {
	Decision Decision
	Reason   string
	Args     map[string]any // of a revise: the arguments after it
	Need     []string       // of a block: tools that must come first
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
	Revisions []string       // the reasons of all revisions, in order
	Args      map[string]any // after all revisions
	Need      []string
	approved  approved
	passes    int    // of the policy
	policy    string // its hash
	byPerson  bool   // a person's approval stood in for an escalation
	approval  string // by which a person decided about it; "" for nobody's, and for who stands in for one
}

// approved says what exactly a review allowed; its zero value is nothing.
type approved struct {
	by   *Gate
	done int    // changes of the ledger before it was judged
	tool string // "" for the final answer
	args string // in canonical form
}

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
	r.approval = approval
	return r
}

func (g *Gate) review(c Case, byPerson bool) Ruling {
	tool, _ := g.config.Catalog.Tool(c.Tool) // without one nothing is put in
	c.Args = tool.Filled(c.Args)
	c.Effects = g.effects(c.Of)
	r, asked := Ruling{Args: c.Args, policy: g.policy}, c.Args
	if setsFixed(tool, c.Args) {
		return r.end(Verdict{Reason: NoRuleMatched})
	}
	for {
		c.Args = owned(tool.Whole(r.Args))
		if g.config.Reviewer != nil {
			r.passes++
		}
		v := g.verdict(c)
		switch v.Decision {
		case Revise:
			to, untouched := tool.Proposed(v.Args)
			switch {
			case len(r.Revisions) == maxRevisions || v.Args == nil || untouched && ijson.Equal(to, r.Args):
				return r.end(Verdict{Reason: ReviseNotConvergent})
			case !untouched: // what the configuration sets is nobody's to change
				return r.end(Verdict{Reason: NoRuleMatched})
			}
			r.Revisions, r.Args = append(r.Revisions, v.Reason), to
			continue
		case Escalate:
			if !byPerson || !ijson.Equal(asked, r.Args) {
				return r.end(v)
			}
			v.Decision, r.byPerson = Approve, true
			fallthrough
		case Approve:
			r.approved = approved{g, g.noted, c.Tool, string(ijson.Canonical(r.Args))}
			return r.end(v)
		}
		return r.end(Verdict{Reason: cmp.Or(v.Reason, NoRuleMatched), Need: v.Need})
	}
}

// setsFixed reports whether arguments name one that the configuration sets.
func setsFixed(tool catalog.Tool, args map[string]any) bool {
	return slices.ContainsFunc(sortedKeys(tool.Fixed), func(name string) bool {
		_, named := args[name]
		return named
	})
}

// verdict is one pass of review.
func (g *Gate) verdict(c Case) Verdict {
	if g.config.Reviewer == nil {
		return Verdict{Decision: Approve, Reason: Allowlisted}
	}
	return g.config.Reviewer.Review(c)
}

func (r Ruling) end(v Verdict) Ruling {
	r.Decision, r.Reason, r.Need = v.Decision, v.Reason, v.Need
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
