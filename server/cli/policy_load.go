package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
)

// instead reads files of policies in the place of those of the configuration.
func (r *configReader) instead(in ConfigSources, c *Config) {
	for _, name := range slices.Sorted(maps.Keys(in.Instead)) {
		path, err := filepath.Abs(in.Instead[name])
		if err != nil {
			path = in.Instead[name]
		}
		file := &yamlNode{kind: yamlText, text: path}
		n := (&yamlNode{kind: yamlMapping, members: []yamlMember{{key: "file", value: file.finish()}}}).finish()
		p := PolicyConfig{Source: policy.Source{Name: name}}
		r.policy(&p, n, (*keyPath)(nil).key("policies").key(name))
		replaceOrAdd(&c.Policies, p)
	}
}

// compiledPolicy is a policy of a loaded configuration, ready to judge, with the patterns that name it.
func (l LoadedConfig) compiledPolicy(p *PolicyConfig) (*policy.Policy, []string, error) {
	if l.ofTheDemo(p) {
		refund, _ := l.Pattern("supervised_refund")
		made, err := refunds.Compile(p.Source, refund.Params)
		return made, []string{refund.Name}, err
	}
	all, err := l.catalog()
	if err != nil {
		return nil, nil, err
	}
	reach := l.reach(p.Name, all)
	var patterns []string
	for _, q := range reach.Patterns {
		patterns = append(patterns, q.Name)
	}
	if l.made != nil && l.made.by[p.Name] != nil && l.made.catalog == all.Hash() {
		return l.made.by[p.Name], patterns, nil
	}
	made, faults := policy.New(p.Source, reach)
	for _, f := range faults {
		if made == nil && !f.Warning {
			return nil, nil, fmt.Errorf("policies.%s.%s: %s", p.Name, f.Member, f)
		}
	}
	if made == nil {
		return nil, nil, fmt.Errorf("policies.%s does not compile", p.Name)
	}
	return made, patterns, nil
}
