package policy

import (
	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
)

// Heard is what a pass found out about one rule, also if another rule decided.
type Heard struct {
	Rule, Text string
	Decision   gateway.Decision // the rule's decision if it is true
	Is         Truth
	Decided    bool           // the rule decided the pass
	Values     map[string]any // values that the rule reads, if they have one
}

// Truth is the result of a rule's condition. The zero Truth is none.
type Truth string

// The results of a condition.
const (
	IsTrue    Truth = "true"
	IsFalse   Truth = "false"
	IsError   Truth = "error"   // it has no value: the rule blocks
	IsUnknown Truth = "unknown" // it depends on what a call would return
)

// Explain does the same as [Judge.Review]. It also returns every rule that matches the tool, including those that the
// pass did not reach.
func (j *Judge) Explain(c gateway.Case) (gateway.Verdict, []Heard) {
	verdict := j.Review(c)
	d := j.docket(c.Tool)
	if d == nil {
		return verdict, nil
	}
	name := d.tool.name
	var all []Heard
	for _, b := range j.policy.byTool[name] {
		all = append(all, j.heard(name, b, c, verdict))
	}
	return verdict, all
}

// heard evaluates one rule alone, so that an error in another rule does not matter.
func (j *Judge) heard(tool string, b bound, c gateway.Case, verdict gateway.Verdict) (h Heard) {
	h = Heard{Rule: b.id, Text: b.say, Decision: b.decision, Is: IsTrue, Decided: verdict.Rule == b.id}
	defer func() {
		if recover() != nil {
			h.Is, h.Values = IsError, nil
		}
	}()
	p := &pass{view: view{judge: j, tool: j.tools[tool].tool, vars: j.policy.terms[tool], c: &c}}
	if b.when != nil {
		switch v := b.when.eval(&p.view, p.calls()); {
		case v == types.True:
		case v == types.False:
			h.Is = IsFalse
		case types.IsUnknown(v):
			h.Is = IsUnknown
		default:
			h.Is = IsError
		}
	}
	h.Values = p.shown(&b)
	return h
}

// Tools returns the tools that the policy judges. It includes final if a supervisor has the policy, or if no pattern
// and no tool has it.
func (p *Policy) Tools() []string {
	if p == nil {
		return nil
	}
	return p.reached.judged
}

// RulesOf returns the ids of the rules that match a tool, in the order of the file.
func (p *Policy) RulesOf(tool string) []string {
	var ids []string
	for _, b := range p.byTool[tool] {
		ids = append(ids, b.id)
	}
	return ids
}

// Pass is one pass of review with the results of all its rules.
type Pass struct {
	Args    map[string]any // at this pass, with the arguments that the configuration sets
	Rules   []Heard
	Verdict gateway.Verdict
}

// Explain judges a test's call and returns every pass. The ruling is that of [Policy.Test]. If a person approved the
// call, the passes before and after the approval are returned.
func (p *Policy) Explain(row Row) ([]Pass, gateway.Ruling, error) {
	judge, err := p.judgeOf(row)
	if err != nil {
		return nil, gateway.Ruling{}, err
	}
	var passes []Pass
	r := p.ruleBy(gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		verdict, heard := judge.Explain(c)
		passes = append(passes, Pass{Args: c.Args, Rules: heard, Verdict: verdict})
		return verdict
	}), judge, row)
	return passes, r, nil
}
