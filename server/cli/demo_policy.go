package cli

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
	source, _ := readDemoPolicy() // a test holds that nothing is wrong with it
	return source
})

func readDemoPolicy() (policy.Source, error) {
	p := PolicyConfig{Source: policy.Source{Name: demoPolicy}}
	r := grammar.NewReader(&yamldoc.Faults{}, nil)
	r.Group(yamldoc.Read("demo_refunds.yaml", demoPolicyFile, r.Faults), nil, p.keys(false), grammar.UnknownKey)
	return p.Source, r.Faults.Err()
}

// whole is a policy with all that its file says: of the embedded one tests and description too.
func (p *PolicyConfig) whole() *PolicyConfig {
	if p.embedded && p.node == nil {
		full := *p
		full.Source = demoWhole()
		return &full
	}
	return p
}
