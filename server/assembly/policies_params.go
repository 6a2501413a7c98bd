package assembly

import (
	"fmt"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
	"patterngate/server/settings/rules"
)

// ParamsPattern returns the pattern whose params apply when a policy judges a pattern's call. It is the pattern, if it names the
// policy. Otherwise the policy judges the tool by itself, and [Loaded.speaker] returns the pattern.
func (c *Loaded) ParamsPattern(name, pattern string) string {
	if p, ok := c.Pattern(pattern); ok && p.Judge == name {
		return pattern
	}
	return c.speaker(name)
}

// CompiledPolicy returns a compiled policy of a loaded configuration, with the names of the patterns that use it.
func (l Loaded) CompiledPolicy(p *rules.Policy) (*policy.Policy, []string, error) {
	if l.IsDemoPolicy(p) {
		refund, _ := l.Pattern("supervised_refund")
		made, err := refunds.Compile(p.Source, refund.Params)
		return made, []string{refund.Name}, err
	}
	all, err := l.RuledCatalog()
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
			return nil, nil, fmt.Errorf(policyParam, p.Name, f.Member, f)
		}
	}
	if made == nil {
		return nil, nil, fmt.Errorf(policyNotCompiled, p.Name)
	}
	return made, patterns, nil
}
