package cli

import (
	_ "embed"
	"sync"

	"patterngate/gateway/policy"
)

// The policy that judges the demo's refund tools. What is judged of it is embedded a second time in the form in which a snapshot
// has it: every start reads that, and reading YAML takes longer than all else of a start. TestDemoPolicy holds that both are the same.
var (
	//go:embed demo_refunds.yaml
	demoPolicyFile []byte
	//go:embed demo_refunds.json
	demoPolicyKept []byte
)

// demoSource is the embedded policy without its tests and description.
var demoSource = sync.OnceValue(func() policy.Source { return sourceOf("demo_refunds.json", demoPolicyKept) })

// demoWhole is the embedded policy with all that its file says.
var demoWhole = sync.OnceValue(func() policy.Source { return sourceOf("demo_refunds.yaml", demoPolicyFile) })

// sourceOf reads an embedded policy; a test holds that nothing is wrong with it.
func sourceOf(file string, text []byte) policy.Source {
	p := PolicyConfig{Source: policy.Source{Name: demoPolicy}}
	r := &configReader{faults: &configFaults{}, places: map[string]place{}}
	r.group(readYAML(file, text, r.faults), nil, p.keys(false), unknownKey)
	return p.Source
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
