package policy

import (
	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
)

// Heard is one rule as a pass heard it, whether or not it decided.
type Heard struct {
	Rule, Text string
	Decision   gateway.Decision // what it does where it is true
	Is         Truth
	Decided    bool           // it is the one by which the pass ended
	Values     map[string]any // of what it reads, as far as there is a value
}

// Truth is what became of a rule's condition. The zero Truth is none.
type Truth string

// What a condition comes to.
const (
	IsTrue    Truth = "true"
	IsFalse   Truth = "false"
	IsError   Truth = "error"   // it has no value: the rule blocks
	IsUnknown Truth = "unknown" // it depends on what a call would return
)

// Explain is [Judge.Review] that tells of every rule that matches the tool, also of those that the pass did not come to.
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

// heard evaluates one rule by itself, so that what another breaks does not matter to it.
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

// Tools are those that the policy judges, final among them where a supervisor has it.
func (p *Policy) Tools() []string {
	if p == nil {
		return nil
	}
	return p.reached.judged
}

// RulesOf are the ids of the rules that match a tool, in their order.
func (p *Policy) RulesOf(tool string) []string {
	var ids []string
	for _, b := range p.byTool[tool] {
		ids = append(ids, b.id)
	}
	return ids
}

// Pass is one pass of review with all that it heard.
type Pass struct {
	Args    map[string]any // as they stood, with what the configuration sets
	Rules   []Heard
	Verdict gateway.Verdict
}

// Explain judges a test's call and tells of every pass; the ruling is that of [Policy.Test]. Of a call that a person approved it
// tells of the review before them and after.
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
