package rules

import (
	_ "embed"
	"sync"

	"patterngate/gateway/policy"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// demoPolicyFile is the policy that judges the demo's refund tools, as people read it. What is judged of it package refunds embeds
// a second time, in a form that is read at every start; TestDemoPolicy holds that both are the same.
//
//go:embed demo_refunds.yaml
var demoPolicyFile []byte

// demoWhole is the embedded policy with all that its file says.
var demoWhole = sync.OnceValue(func() policy.Source {
	source, _ := ReadDemo() // a test holds that nothing is wrong with it
	return source
})

func ReadDemo() (policy.Source, error) {
	p := Policy{Source: policy.Source{Name: Demo}}
	r := grammar.NewReader(&yamldoc.Faults{}, nil)
	r.Group(yamldoc.Read("demo_refunds.yaml", demoPolicyFile, r.Faults), nil, p.keys(false), grammar.UnknownKey)
	return p.Source, r.Faults.Err()
}

// Whole is a policy with all that its file says: of the embedded one tests and description too.
func (p *Policy) Whole() *Policy {
	if p.Embedded && p.Node == nil {
		full := *p
		full.Source = demoWhole()
		return &full
	}
	return p
}
