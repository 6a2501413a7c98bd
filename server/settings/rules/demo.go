package rules

import (
	_ "embed"
	"sync"

	"patterngate/gateway/policy"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// demoPolicyFile is the policy that judges the demo's refund tools, as people read it. Package refunds embeds the judging part a
// second time, in a form that every start reads. TestDemoPolicy checks that both are the same.
//
//go:embed demo_refunds.yaml
var demoPolicyFile []byte

// demoWhole returns the embedded policy with everything that its file contains.
var demoWhole = sync.OnceValue(func() policy.Source {
	source, _ := readDemo() // a test checks that this file has no faults
	return source
})

// readDemo reads the file of the embedded policy, with its tests and description. The error lists its faults.
func readDemo() (policy.Source, error) {
	p := Policy{Source: policy.Source{Name: Demo}}
	r := grammar.NewReader(&yamldoc.Faults{}, nil)
	r.Group(yamldoc.Read("demo_refunds.yaml", demoPolicyFile, r.Faults), nil, p.keys(false), grammar.UnknownKey)
	return p.Source, r.Faults.Err()
}

// Whole returns the policy with everything that its file contains. For the embedded policy, this adds tests and
// description.
func (p *Policy) Whole() *Policy {
	if p.Embedded && p.Node == nil {
		full := *p
		full.Source = demoWhole()
		return &full
	}
	return p
}
