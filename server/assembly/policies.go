package assembly

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

// policySet holds the compiled policies of a configuration. It does not change and is safe for concurrent use.
//
//	Policy ───────┐
//	catalog ──────┼─ policy.New ──▶ policySet ──▶ gateway.Among of each pattern
//	patterns ─────┘  (tests run)
type policySet struct {
	catalog string // hash of the catalog that they were compiled for
	by      map[string]*policy.Policy
}

// policyFault is a fault and the policy that has it.
type policyFault struct {
	of *rules.Policy
	expr.Fault
	row string // what a failed test says; "": no test
}

// makePolicies compiles the loaded policies, runs their tests if tests is true, and adds their faults. It skips the
// embedded policy if only the demo uses it: that one is compiled at first use, and its tests run when Patterngate is built.
func (r *loading) makePolicies(l *Loaded, tests bool) {
	if l.own == nil || !l.ownPolicies() {
		return
	}
	all, err := l.RuledCatalog()
	if err != nil { // serving it reports this error
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

// ownPolicies reports whether any policy must be compiled with the tools of this configuration.
func (c *Loaded) ownPolicies() bool {
	return slices.ContainsFunc(c.Policies, func(p rules.Policy) bool { return !c.IsDemoPolicy(&p) })
}

// IsDemoPolicy reports whether a policy is the embedded one and judges only the demo's refund tools.
func (c *Loaded) IsDemoPolicy(p *rules.Policy) bool {
	elsewhere := func(q settings.Pattern) bool {
		return q.Judge == p.Name && q.Enabled && (q.Name != "supervised_refund" || !c.DemoRefunds(&q))
	}
	return p.Embedded && !slices.ContainsFunc(c.Patterns, elsewhere) &&
		!slices.ContainsFunc(c.Catalog.Tools(), func(t tools.Placed) bool { return t.Policy == p.Name })
}

// catalog returns the tools of a configuration, as far as they could be made.
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

// RuledCatalog returns the tools as rules see them: with the patterns that others call.
func (c *Loaded) RuledCatalog() (*catalog.Catalog, error) {
	all, err := c.catalog()
	if err != nil {
		return nil, err
	}
	return c.ruled(all, c.parts)
}

// inputOf returns the schema of a pattern's own inputs, for rules; nil: none.
func (c *Loaded) inputOf(pattern string) *catalog.Schema {
	if c.parts == nil {
		return nil
	}
	return c.parts.by[pattern].inputs()
}

// compile compiles all policies except an embedded one that only the demo uses. If tests is true, it also runs their tests.
// A policy with earlier faults is compiled to find more, but its tests do not run.
func (c *Loaded) compile(all *catalog.Catalog, told toldPaths, tests bool) (*policySet, []policyFault) {
	set := &policySet{catalog: all.Hash(), by: map[string]*policy.Policy{}}
	var faults []policyFault
	for i := range c.Policies {
		p := &c.Policies[i]
		if c.IsDemoPolicy(p) || p.Node != nil && !p.Node.Readable() {
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

// waits reports whether a policy judges tools that are not known yet, because their types come with the lock. Until then
// the policy blocks, and faults of its types are only warnings, so that people can accept the tools.
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

// tested runs the tests of a policy, and returns a fault for each that fails.
func tested(p *rules.Policy, made *policy.Policy) (faults []policyFault) {
	for i, row := range p.Tests {
		result := made.Test(row)
		if result.Passed {
			continue
		}
		words := result.Differ
		if result.Err != nil {
			words = testNotRun(result.Err.Error())
		}
		faults = append(faults, policyFault{of: p, row: cmp.Or(words, testFails), Fault: expr.Fault{Member: fmt.Sprintf("tests[%d]", i)}})
	}
	return faults
}

// reach returns the tools and patterns that a policy judges in this configuration.
func (c *Loaded) reach(name string, all *catalog.Catalog) policy.Reach {
	reach := policy.Reach{Catalog: all, Unknown: c.unknownTools(all), Alone: c.judgedAlone(name)}
	for _, p := range c.Patterns {
		speaks := p.Name == c.speaker(name) // its params count although no client calls it
		if p.Judge != name || !speaks && (!p.Enabled || !p.Equipped()) {
			continue
		}
		reach.Patterns = append(reach.Patterns, policy.Reached{Name: p.Name, Kind: p.Kind, Tools: p.RuleNames(), Params: p.Params, Input: c.inputOf(p.Name)})
	}
	return reach
}

// judgedAlone returns the tools whose own policy has this name.
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

// unknownTools returns declared tools with unknown arguments: they are not accepted yet, or could not be made.
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

// PolicyOf returns the name of a tool's own policy; "" for none.
func (c *Loaded) PolicyOf(tool string) string {
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

// policies returns the policies over the catalog that is served. It reuses those compiled at load time if the catalog is
// the same.
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

// reviewer returns the reviewer of a pattern's calls: its policy and its tools' own policies. It returns nil if only the
// allow lists apply.
func (c *Loaded) reviewer(p settings.Pattern, set *policySet) gateway.Reviewer {
	var among gateway.Among
	if p.Judge != "" {
		among.Pattern = c.judge(set, p.Judge, p.Name)
	}
	for _, tool := range p.RuleNames() {
		own := c.PolicyOf(tool)
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

// blockReasons returns the reasons that the policies of a pattern and of its tools can block with, for the registry of stop
// reasons.
func (c *Loaded) blockReasons(p settings.Pattern) []string {
	names := []string{p.Judge}
	for _, tool := range p.RuleNames() {
		names = append(names, c.PolicyOf(tool))
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

// speaker returns the pattern whose params apply when a policy judges a tool by itself. It returns "" for the policy's own
// params. For the refund policy it is supervised_refund, so that the same params apply to every caller of the refund tools.
func (c *Loaded) speaker(name string) string {
	if p, _ := c.Pattern("supervised_refund"); name == rules.Demo && p.Judge == rules.Demo {
		return p.Name
	}
	return ""
}

// judge returns a policy as the reviewer of a pattern. A policy that was not compiled blocks every call.
func (c *Loaded) judge(set *policySet, name, pattern string) gateway.Reviewer {
	if made := set.by[name]; made != nil {
		return made.For(pattern)
	}
	if p := c.PolicyNamed(name); p != nil && c.IsDemoPolicy(p) {
		refund, _ := c.Pattern("supervised_refund")
		if c.BuiltinPolicy {
			return newBuiltinJudge(refund.Params)
		}
		return demoJudge(refund.Params)
	}
	return waiting(hashOf(ijson.Canonical(map[string]any{"waits": name})))
}

// waiting is the reviewer for a policy that could not be compiled: it blocks every call.
type waiting string

// Review implements [gateway.Reviewer].
func (waiting) Review(gateway.Case) gateway.Verdict { return gateway.Verdict{} }

// Hash implements [gateway.Hashed].
func (w waiting) Hash() string { return string(w) }

// policyHash returns the hash of a reviewer of a pattern's calls (spec/surface.md section 8).
func policyHash(reviewer gateway.Reviewer) string {
	if reviewer != nil {
		return gateway.PolicyHash(reviewer)
	}
	return emptyPolicyHash()
}
