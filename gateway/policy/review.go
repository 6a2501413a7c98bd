package policy

import (
	"fmt"
	"maps"
	"time"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// policyError begins the reason of a block by a rule that could not be evaluated; its id follows.
const policyError = "policy_error:"

// Review implements [gateway.Reviewer]: one pass (spec/config.md section 5.1). Rules are evaluated in the order of the file. The
// first that blocks ends the pass, and one that errs blocks at its place. What a revise sets is computed when no rule blocked.
func (j *Judge) Review(c gateway.Case) (v gateway.Verdict) {
	rule := ""
	defer func() {
		if p := recover(); p != nil { // nothing that a call holds may stop the program
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
	// Of all that escalate the shortest time, and the strictest demand.
	expires time.Duration
	least   gateway.Assurance
}

// take evaluates a rule; true: the pass ends with it.
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

// demand notes what a rule asks of the person: nobody gets around it because another rule stands above.
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

// verdict is what a pass comes to that no rule ended. A rule of which it is not known whether it is true may be so, or err, and
// then blocks: before it is known nothing is.
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

// end names the rule behind a verdict, and what made it true.
func (p *pass) end(b *bound, v gateway.Verdict) gateway.Verdict {
	if p.unknown != nil {
		return p.notKnown()
	}
	v.Rule, v.Text, v.Values = b.id, b.say, p.shown(b)
	return v
}

// notKnown is the verdict of a dry run that depends on what a call would return.
func (p *pass) notKnown() gateway.Verdict {
	b := p.unknown
	return gateway.Verdict{Unknown: true, Reason: b.reason, Rule: b.id, Text: b.say, Values: p.shown(b)}
}

// revised applies a revise; what it sets must fit the tool.
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

var errNotKnown = fmt.Errorf("%w: it is not known yet", expr.ErrEval)

// compute is the value that an argument is set to.
func (s setter) compute(from *view) (any, error) {
	if s.term == nil {
		return s.value, nil
	}
	result := s.term.eval(from, from.calls())
	if optional, ok := result.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, fmt.Errorf("%w: an optional without a value", expr.ErrEval)
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
