package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// instead reads files of policies in the place of those of the configuration.
func (r *configLoader) instead(in ConfigSources, c *Config) {
	for _, name := range slices.Sorted(maps.Keys(in.Instead)) {
		path, err := filepath.Abs(in.Instead[name])
		if err != nil {
			path = in.Instead[name]
		}
		file := &yamldoc.Node{Kind: yamldoc.Text, Text: path}
		n := (&yamldoc.Node{Kind: yamldoc.Mapping, Members: []yamldoc.Member{{Key: "file", Value: file.Counted()}}}).Counted()
		p := PolicyConfig{Source: policy.Source{Name: name}}
		readPolicy(r.Reader, &p, n, (*yamldoc.Path)(nil).Key("policies").Key(name))
		replaceOrAdd(&c.Policies, p)
	}
}

// readPolicyFile is readConfigFile of what is a file: a pipe would keep who reads it waiting.
func readPolicyFile(path string) ([]byte, yamldoc.Fault) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, yamldoc.Fault{Reason: "not a regular file", Want: "write the path of a file"}
	}
	return machine.ReadTrusted(path)
}

// readPolicyText is the text of a policy's file, or that which stands in for it.
func readPolicyText(r *grammar.Reader, path string) ([]byte, yamldoc.Fault) {
	if text, written := notesOf(r).texts[path]; written {
		return text, yamldoc.Fault{}
	}
	return readPolicyFile(path)
}

// inForce is the pattern whose params count where a policy judges a pattern's call: the pattern that names it, or, as the policy of
// the tool by itself, nobody ("") but for the refund policy.
func (c *Loaded) inForce(name, pattern string) string {
	if p, ok := c.Pattern(pattern); ok && p.Judge == name {
		return pattern
	}
	return c.speaker(name)
}

// compiledPolicy is a policy of a loaded configuration, ready to judge, with the patterns that name it.
func (l Loaded) compiledPolicy(p *PolicyConfig) (*policy.Policy, []string, error) {
	if l.ofTheDemo(p) {
		refund, _ := l.Pattern("supervised_refund")
		made, err := refunds.Compile(p.Source, refund.Params)
		return made, []string{refund.Name}, err
	}
	all, err := l.ruledCatalog()
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
