package policy

import (
	"fmt"
	"maps"
	"time"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// policyError is the start of the reason if a rule cannot be evaluated. The rule's id follows.
const policyError = "policy_error:"

// Review implements [gateway.Reviewer]. It makes one pass (spec/config.md section 5.1). It evaluates the rules in the
// order of the file. The first rule that blocks ends the pass, and so does a rule with an error, which blocks too. The
// values that a revise sets are computed if no rule blocks.
func (j *Judge) Review(c gateway.Case) (v gateway.Verdict) {
	rule := ""
	defer func() {
		if p := recover(); p != nil { // no value in a call may crash the program
			v = erred(rule)
		}
	}()
	d := j.docket(c.Tool)
	if d == nil {
		return gateway.Verdict{Reason: gateway.NoRuleMatched}
	}
	p := &pass{view: view{judge: j, tool: d.tool, vars: j.policy.terms[d.tool.name], c: &c}}
	rules := d.rules()
	for i := range rules {
		rule = rules[i].id
		if verdict, ended := p.take(&rules[i]); ended {
			return verdict
		}
	}
	if p.revise != nil {
		rule = p.revise.id
	}
	return p.verdict()
}

func erred(rule string) gateway.Verdict {
	return gateway.Verdict{Reason: policyError + rule, Rule: rule}
}

// pass is one pass of review.
type pass struct {
	view
	revise, escalate, approve, unknown *bound // the first of each
	// The shortest time and the highest assurance of all rules that escalate.
	expires time.Duration
	least   gateway.Assurance
}

// take evaluates a rule. It returns true if the rule ends the pass.
func (p *pass) take(b *bound) (gateway.Verdict, bool) {
	if b.when != nil && !b.always {
		switch v := b.when.eval(&p.view, p.calls()); {
		case v == types.False:
			return gateway.Verdict{}, false
		case types.IsUnknown(v):
			if p.unknown == nil {
				p.unknown = b
			}
			return gateway.Verdict{}, false
		case v != types.True:
			return p.end(b, erred(b.id)), true
		}
	}
	switch b.decision {
	case gateway.Revise:
		p.revise = either(p.revise, b)
	case gateway.Escalate:
		p.escalate = either(p.escalate, b)
		p.demand(b)
	case gateway.Approve:
		p.approve = either(p.approve, b)
	default:
		return p.end(b, gateway.Verdict{Reason: b.reason, Need: b.need, Retryable: b.retryable}), true
	}
	return gateway.Verdict{}, false
}

// demand collects what a rule requires of the person. The requirement also counts if an earlier rule escalates.
func (p *pass) demand(b *bound) {
	if b.expires > 0 && (p.expires == 0 || b.expires < p.expires) {
		p.expires = b.expires
	}
	if b.least != "" && !p.least.AtLeast(b.least) {
		p.least = b.least
	}
}

func either(was, b *bound) *bound {
	if was != nil {
		return was
	}
	return b
}

// verdict returns the verdict of a pass that no rule ended. If it is unknown whether a rule is true, the verdict is
// unknown. The reason is that such a rule may block, or have an error.
func (p *pass) verdict() gateway.Verdict {
	switch {
	case p.unknown != nil:
		return p.notKnown()
	case p.revise != nil:
		return p.end(p.revise, p.revised(p.revise))
	case p.escalate != nil:
		b := p.escalate
		return p.end(b, gateway.Verdict{Decision: gateway.Escalate, Reason: b.reason, Expires: p.expires, Least: p.least})
	case p.approve != nil:
		return p.end(p.approve, gateway.Verdict{Decision: gateway.Approve, Reason: p.approve.id})
	}
	return gateway.Verdict{Reason: gateway.NoRuleMatched}
}

// end adds to a verdict its rule and the values that made the rule true.
func (p *pass) end(b *bound, v gateway.Verdict) gateway.Verdict {
	if p.unknown != nil {
		return p.notKnown()
	}
	v.Rule, v.Text, v.Values = b.id, b.say, p.shown(b)
	return v
}

// notKnown returns the verdict of a dry run if it depends on the result of an assumed call.
func (p *pass) notKnown() gateway.Verdict {
	b := p.unknown
	return gateway.Verdict{Unknown: true, Reason: b.reason, Rule: b.id, Text: b.say, Values: p.shown(b)}
}

// revised applies a revise. The new arguments must fit the tool.
func (p *pass) revised(b *bound) gateway.Verdict {
	args := maps.Clone(p.c.Args)
	if args == nil {
		args = map[string]any{}
	}
	for _, s := range b.set {
		v, err := s.compute(&p.view)
		if err != nil {
			if err == errNotKnown {
				p.unknown = b
			}
			return erred(b.id)
		}
		args[s.name] = v
	}
	if p.tool.made {
		proposed, untouched := p.tool.tool.Proposed(args)
		if !untouched || p.tool.tool.Check(proposed) != nil {
			return erred(b.id)
		}
	}
	return gateway.Verdict{Decision: gateway.Revise, Reason: b.id, Args: args}
}

var errNotKnown = fmt.Errorf(notKnownYet, expr.ErrEval)

// compute returns the value that an argument is set to.
func (s setter) compute(from *view) (any, error) {
	if s.term == nil {
		return s.value, nil
	}
	result := s.term.eval(from, from.calls())
	if optional, ok := result.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, fmt.Errorf(optionalWithoutValue, expr.ErrEval)
		}
		result = optional.GetValue()
	}
	switch {
	case types.IsUnknown(result):
		return nil, errNotKnown
	case types.IsError(result):
		return nil, expr.ErrEval
	}
	v, err := expr.Decode(result)
	if err == nil && !s.want.Accepts(v) {
		err = expr.ErrValue
	}
	return v, err
}
