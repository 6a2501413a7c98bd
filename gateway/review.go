package gateway

import (
	"maps"

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
	Effects []Entry        // the run's calls so far, in order of intent
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

// Ruling is what review came to for one call. Its zero value blocks. Approve stands for exactly Args.
type Ruling struct {
	Decision  Decision
	Reason    string         // of the decision itself
	Revisions []string       // the reasons of all revisions, in order
	Args      map[string]any // after all revisions
	Need      []string
	tool      string
}

// maxRevisions is how often a review may change a call before it is blocked.
const maxRevisions = 3

// Review judges a case to a fixed point: after a revision it starts again from the top, so that nothing is
// approved that was not judged as it stands (spec/patterns.md section 0, Supervisor). Without a reviewer the
// allowlists alone decide.
func (g *Gate) Review(c Case) Ruling { return g.review(c, nil) }

// ReviewApproved reviews what a person approved: escalation is satisfied for exactly these arguments, block and
// revise still count.
func (g *Gate) ReviewApproved(c Case) Ruling { return g.review(c, c.Args) }

func (g *Gate) review(c Case, approved map[string]any) Ruling {
	c.Effects = g.ledger
	r := Ruling{Args: c.Args, tool: c.Tool}
	if g.Reviewer == nil {
		r.Decision, r.Reason = Approve, "allowlisted"
		return r
	}
	for {
		c.Args = maps.Clone(r.Args)
		v := g.Reviewer.Review(c)
		switch v.Decision {
		case Revise:
			if len(r.Revisions) == maxRevisions || ijson.Equal(v.Args, r.Args) {
				return r.end(Verdict{Reason: ReviseNotConvergent})
			}
			r.Revisions = append(r.Revisions, v.Reason)
			r.Args = v.Args
			continue
		case Escalate:
			if approved != nil && ijson.Equal(approved, r.Args) {
				v.Decision = Approve
			}
		case Block:
			if v.Reason == "" {
				v.Reason = NoRuleMatched
			}
		}
		return r.end(v)
	}
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
