package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
	"patterngate/server/settings"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/tools"
)

// policySet are the policies of a configuration, compiled for what they reach. It is fixed and safe for concurrent use.
//
//	PolicyConfig ─┐
//	catalog ──────┼─ policy.New ──▶ policySet ──▶ gateway.Among of each pattern
//	patterns ─────┘  (tests run)
type policySet struct {
	catalog string // hash of what it was compiled for
	by      map[string]*policy.Policy
}

// policyFault is a fault of a policy with the policy in which it was found.
type policyFault struct {
	of *rules.Policy
	expr.Fault
	row string // that differs; "": none
}

// makePolicies compiles what was read and runs its tests; what is wrong goes to the faults. The embedded policy alone is left
// until it is needed: its tests have run when this program was built.
func (r *loading) makePolicies(l *Loaded, tests bool) {
	if l.own == nil || !l.ownPolicies() {
		return
	}
	all, err := l.ruledCatalog()
	if err != nil { // told by who serves it
		return
	}
	told := faultyPaths(r.Faults.Found)
	set, faults := l.compile(all, told, tests)
	for _, f := range faults {
		if at := l.policyFault(f); !told.about(at.Path) {
			r.Faults.Record(at)
		}
	}
	l.made = set
	r.phrases(l)
}

// ownPolicies reports whether any policy has to be compiled with the tools of this configuration.
func (c *Loaded) ownPolicies() bool {
	return slices.ContainsFunc(c.Policies, func(p rules.Policy) bool { return !c.ofTheDemo(&p) })
}

// ofTheDemo reports a policy that judges nothing but the demo's refund tools, as it is embedded.
func (c *Loaded) ofTheDemo(p *rules.Policy) bool {
	elsewhere := func(q settings.Pattern) bool {
		return q.Judge == p.Name && q.Enabled && (q.Name != "supervised_refund" || !c.DemoRefunds(&q))
	}
	return p.Embedded && !slices.ContainsFunc(c.Patterns, elsewhere) &&
		!slices.ContainsFunc(c.Catalog.Tools(), func(t tools.Placed) bool { return t.Policy == p.Name })
}

// catalog are the tools of a configuration, as far as they could be made.
func (c *Loaded) catalog() (*catalog.Catalog, error) {
	var tools []catalog.Tool
	if c.DemoOn() {
		var err error
		if tools, err = demo.Tools(c.Demo); err != nil {
			return nil, err
		}
	}
	if c.own != nil {
		tools = append(tools, c.own.tools...)
	}
	return catalog.New(tools...)
}

// ruledCatalog are the tools of a configuration as rules see them: with the patterns that others call.
func (c *Loaded) ruledCatalog() (*catalog.Catalog, error) {
	all, err := c.catalog()
	if err != nil {
		return nil, err
	}
	return c.ruled(all, c.parts)
}

// inputOf is the schema of a pattern's own inputs, for rules; nil: none.
func (c *Loaded) inputOf(pattern string) *catalog.Schema {
	if c.parts == nil {
		return nil
	}
	return c.parts.by[pattern].inputs()
}

// compile makes the policies that are not the embedded one alone; with tests they are run too. One of which something was told
// already is compiled, to find what else is wrong, and its tests are not run.
func (c *Loaded) compile(all *catalog.Catalog, told toldPaths, tests bool) (*policySet, []policyFault) {
	set := &policySet{catalog: all.Hash(), by: map[string]*policy.Policy{}}
	var faults []policyFault
	for i := range c.Policies {
		p := &c.Policies[i]
		if c.ofTheDemo(p) || p.Node != nil && !p.Node.Readable() {
			continue
		}
		reach := c.reach(p.Name, all)
		made, found := policy.New(p.Source, reach)
		for _, f := range found {
			f.Warning = f.Warning || f.Dyn && waits(reach, p.Rules)
			faults = append(faults, policyFault{of: p, Fault: f})
		}
		if made == nil || p.Unsound {
			continue
		}
		set.by[p.Name] = made
		for _, f := range made.Gaps() {
			if !p.Embedded {
				faults = append(faults, policyFault{of: p, Fault: f})
			}
		}
		if tests {
			faults = append(faults, tested(p, made)...)
		}
	}
	return set, faults
}

// waits reports whether what a policy judges is not known yet: the types of its expressions come with the lock. Until then it
// blocks, and what is wrong with them keeps nobody from accepting those tools.
func waits(reach policy.Reach, rules []policy.RuleSource) bool {
	names := slices.Clone(reach.Alone)
	for _, p := range reach.Patterns {
		names = append(names, p.Tools...)
	}
	for _, r := range rules {
		names = append(names, r.Match...)
	}
	return slices.ContainsFunc(reach.Unknown, func(tool string) bool { return slices.Contains(names, tool) })
}

// tested runs the tests of a policy; one that fails is a fault.
func tested(p *rules.Policy, made *policy.Policy) (faults []policyFault) {
	for i, row := range p.Tests {
		result := made.Test(row)
		if result.Passed {
			continue
		}
		words := result.Differ
		if result.Err != nil {
			words = "cannot be run: " + result.Err.Error()
		}
		faults = append(faults, policyFault{of: p, row: cmp.Or(words, "it fails"), Fault: expr.Fault{Member: fmt.Sprintf("tests[%d]", i)}})
	}
	return faults
}

// reach is what a policy judges in this configuration.
func (c *Loaded) reach(name string, all *catalog.Catalog) policy.Reach {
	reach := policy.Reach{Catalog: all, Unknown: c.unknownTools(all), Alone: c.judgedAlone(name)}
	for _, p := range c.Patterns {
		speaks := p.Name == c.speaker(name) // its params count although nobody calls it
		if p.Judge != name || !speaks && (!p.Enabled || !p.Equipped()) {
			continue
		}
		reach.Patterns = append(reach.Patterns, policy.Reached{Name: p.Name, Kind: p.Kind, Tools: p.RuleNames(), Params: p.Params, Input: c.inputOf(p.Name)})
	}
	return reach
}

// judgedAlone are the tools whose own policy it is.
func (c *Loaded) judgedAlone(name string) []string {
	var tools []string
	for _, t := range c.Catalog.Tools() {
		if t.Policy == name {
			tools = append(tools, t.Name)
		}
	}
	if name == rules.Demo && c.DemoOn() {
		tools = append(tools, demo.RefundTools...)
	}
	return tools
}

// unknownTools are declared, and what they take is not known: nobody accepted them, or they could not be made.
func (c *Loaded) unknownTools(all *catalog.Catalog) []string {
	var names []string
	if c.own != nil {
		for _, b := range c.own.behind {
			if b.pinned == nil {
				names = append(names, b.name)
			}
		}
	}
	for _, name := range c.ToolNames() {
		if _, made := all.Tool(name); !made && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// policyOf is the policy of a tool by itself; "" for none.
func (c *Loaded) policyOf(tool string) string {
	for _, t := range c.Catalog.Tools() {
		if t.Name == tool {
			return t.Policy
		}
	}
	if c.DemoOn() && slices.Contains(demo.RefundTools, tool) {
		return rules.Demo
	}
	return ""
}

// policies are those of a configuration over the catalog that it is served with: as they were compiled when it was read, if that
// was the same.
func (c *Loaded) policies(all *catalog.Catalog) (*policySet, error) {
	if c.made != nil && c.made.catalog == all.Hash() {
		return c.made, nil
	}
	if !c.ownPolicies() {
		return &policySet{}, nil
	}
	set, faults := c.compile(all, nil, false)
	for _, f := range faults {
		if !f.Warning {
			return nil, errors.New(strings.Join([]string{"policies", f.of.Name, f.Member}, ".") + ": " + f.String())
		}
	}
	return set, nil
}

// reviewer is what judges a pattern's calls: its policy and those of its tools by themselves; nil: the allowlists alone.
func (c *Loaded) reviewer(p settings.Pattern, set *policySet) gateway.Reviewer {
	var among gateway.Among
	if p.Judge != "" {
		among.Pattern = c.judge(set, p.Judge, p.Name)
	}
	for _, tool := range p.RuleNames() {
		own := c.policyOf(tool)
		if own == "" || own == p.Judge {
			continue
		}
		if among.Tools == nil {
			among.Tools = map[string]gateway.Reviewer{}
		}
		among.Tools[tool] = c.judge(set, own, c.speaker(own))
	}
	if among.Pattern == nil && among.Tools == nil {
		return nil
	}
	return among
}

// blockReasons are those by which the policies of a pattern and of its tools may block, for the registry of stop reasons.
func (c *Loaded) blockReasons(p settings.Pattern) []string {
	names := []string{p.Judge}
	for _, tool := range p.RuleNames() {
		names = append(names, c.policyOf(tool))
	}
	var reasons []string
	for i := range c.Policies {
		if !slices.Contains(names, c.Policies[i].Name) {
			continue
		}
		for _, r := range c.Policies[i].Rules {
			if r.Block == nil {
				continue
			}
			if reason := cmp.Or(r.Block.Reason, r.ID); !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return reasons
}

// speaker is the pattern whose params count where a policy judges a tool by itself: its own, but for the refund policy those of
// supervised_refund, so that it is one policy, whoever calls the refund tools.
func (c *Loaded) speaker(name string) string {
	if p, _ := c.Pattern("supervised_refund"); name == rules.Demo && p.Judge == rules.Demo {
		return p.Name
	}
	return ""
}

// judge is a policy as it judges a pattern. What was not compiled blocks.
func (c *Loaded) judge(set *policySet, name, pattern string) gateway.Reviewer {
	if made := set.by[name]; made != nil {
		return made.For(pattern)
	}
	if p := c.PolicyNamed(name); p != nil && c.ofTheDemo(p) {
		refund, _ := c.Pattern("supervised_refund")
		if c.BuiltinPolicy {
			return newBuiltinJudge(refund.Params)
		}
		return demoJudge(refund.Params)
	}
	return waiting(hashOf(ijson.Canonical(map[string]any{"waits": name})))
}

// waiting is a policy that could not be compiled: it blocks.
type waiting string

// Review implements [gateway.Reviewer].
func (waiting) Review(gateway.Case) gateway.Verdict { return gateway.Verdict{} }

// Hash implements [gateway.Hashed].
func (w waiting) Hash() string { return string(w) }

// policyHash is the hash of what judges a pattern's calls (spec/surface.md section 8).
func policyHash(reviewer gateway.Reviewer) string {
	if reviewer != nil {
		return gateway.PolicyHash(reviewer)
	}
	return emptyPolicyHash()
}
