package settings

import (
	"maps"
	"math"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// refundParams are the params of the demo's refund policy, which the reference patterns have under these names.
var refundParams = []struct {
	name, meaning string
	bounds        grammar.Bounds
}{
	{"auto_refund_limit_usd", "The approver is asked about a refund above it.", grammar.Bounds{Max: math.Inf(1), Unit: grammar.InUSD}},
	{"max_refund_per_run_usd", "All refunds of a run together.", grammar.Bounds{Max: math.Inf(1), Unit: grammar.InUSD}},
	{"refund_window_days", "How long after the payment a refund is allowed.", grammar.Bounds{Max: ijson.MaxInteger, Whole: true}},
}

// refundKeys returns the keys of these params.
func (p *Pattern) refundKeys() []grammar.Key {
	keys := make([]grammar.Key, len(refundParams))
	for i, param := range refundParams {
		keys[i] = grammar.Scaled(param.name, param.bounds, func() any { return p.Params[param.name] }, func(v float64) { p.Param(param.name, v) }).Means(param.meaning)
	}
	return keys
}

// Param sets a param of the pattern, which replaces the policy's value. It copies the map first, so other patterns keep
// theirs.
func (p *Pattern) Param(name string, v any) {
	if p.Params = maps.Clone(p.Params); p.Params == nil {
		p.Params = map[string]any{}
	}
	p.Params[name] = v
}

// refunds reports whether a pattern's params are those of the embedded refund policy, as far as the file's text shows.
func (p *Pattern) refunds(r *grammar.Reader) bool {
	if p.Name != "supervised_refund" {
		return false
	}
	named := r.Said("patterns", p.Name, "policy")
	return r.Said("policies", rules.Demo) == nil && (named == nil || named.Text == rules.Demo) || grammar.NotesOf[rules.Notes](r).Embeds
}

// Says reports whether a file has a value under these keys.
func Says(root *yamldoc.Node, steps ...string) bool {
	return grammar.SaidIn(root, steps...) != nil
}

// paramsKey returns the key of the values that replace the policy's params. Compiling the policy later checks that it has
// them.
func (p *Pattern) paramsKey(name string) grammar.Key {
	meaning := "Values that replace the policy's own params, with the same types."
	if p.Name == "supervised_refund" { // each refund param has its own meaning
		meaning = ""
	}
	return grammar.Key{
		Name: name, Meaning: meaning, Takes: mappingOfValues,
		Form: func() map[string]any {
			form := grammar.MapForm(rules.ParamForm)
			if p.Name == "supervised_refund" {
				properties := map[string]any{}
				for _, k := range p.refundKeys() {
					properties[k.Name] = k.Schema()
				}
				form["properties"] = properties
			}
			return form
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if p.refunds(r) {
				r.Group(n, path, p.refundKeys(), grammar.UnknownKey)
				return
			}
			r.Each(n, path, grammar.ServerNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if v, _, ok := rules.ReadParam(r, m.Value, below); ok {
					p.Param(m.Key, v)
				}
			})
			grammar.CheckMost(r, n, path, len(n.Members), rules.MaxPolicyMembers)
		},
		Show: func() any {
			shown := []grammar.Key{}
			names := slices.Sorted(maps.Keys(p.Params))
			for _, k := range p.refundKeys() { // in their own order
				if at := slices.Index(names, k.Name); at >= 0 && p.Name == "supervised_refund" {
					names = slices.Delete(names, at, at+1)
					shown = append(shown, k)
				}
			}
			for _, name := range names {
				value := p.Params[name]
				shown = append(shown, grammar.Key{Name: name, Show: func() any { return value }})
			}
			return shown
		},
	}
}

// acrossPolicies gives each pattern its policy, and refuses names of policies that do not exist.
func (r *loader) acrossPolicies(c *Config) {
	known := c.PolicyNames()
	own := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return c.PolicyNamed(name).Embedded })
	for i := range c.Patterns {
		p := &c.Patterns[i]
		here := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name)
		said := func(path *yamldoc.Path) bool { _, ok := r.Places[path.String()]; return ok }
		c.Settle(p, said(here.Key("policy")), func(param string) bool { return said(here.Key("params").Key(param)) })
		if !p.Enabled {
			continue
		}
		r.noPolicy(p.Judge, known, own, here.Key("policy"))
		if p.Judge == "" && len(p.Params) > 0 {
			at := here.Key("params")
			r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: noParams, Want: wantPolicyBeside})
		}
	}
	for _, t := range c.Catalog.Tools() {
		r.noPolicy(t.Policy, known, own, t.Path.Key("policy"))
	}
}

// Settle removes defaults of the embedded configuration that do not apply. The policy demo_refunds judges only the demo's
// tools, and its params belong to no other policy. named says that the file names the pattern's policy, and said that it
// sets a param.
func (c *Config) Settle(p *Pattern, named bool, said func(param string) bool) {
	if !named && p.Judge == rules.Demo && !c.DemoRefunds(p) {
		p.Judge = ""
	}
	of := c.PolicyNamed(rules.Demo)
	if p.Name != "supervised_refund" || p.Judge == rules.Demo && of != nil && of.Embedded {
		return
	}
	for _, param := range refundParams {
		if _, there := p.Params[param.name]; there && !said(param.name) {
			p.Params = maps.Clone(p.Params)
			delete(p.Params, param.name)
		}
	}
}

// DemoRefunds reports whether the demo is on and a pattern reaches only tools of the demo.
func (c *Config) DemoRefunds(p *Pattern) bool {
	return c.DemoOn() && !slices.ContainsFunc(c.Leaves(*p), func(name string) bool { return !slices.Contains(DemoTools, name) })
}

// noPolicy refuses the name of a policy that does not exist. own are the policies of the file, without the embedded one.
func (r *loader) noPolicy(name string, known, own []string, path *yamldoc.Path) {
	if name == "" || slices.Contains(known, name) {
		return
	}
	f := yamldoc.Fault{Reason: noSuchPolicy(name), DidYouMean: gateway.NearTyped(name, known)}
	if f.DidYouMean == "" {
		f.Want = wantPolicyOf(name, yamldoc.Alternatives(own))
	}
	r.Faults.Add(r.At(path), path, f)
}

// PolicyNamed returns the policy of a name, or nil if there is none.
func (c *Config) PolicyNamed(name string) *rules.Policy {
	for i := range c.Policies {
		if c.Policies[i].Name == name {
			return &c.Policies[i]
		}
	}
	return nil
}

// Files returns the files that the configuration was read from: its own, the lock of its servers' tools, and those of its
// policies.
func (d *Document) Files() []string {
	var files []string
	for _, path := range append([]string{d.Path, d.Catalog.Pin}, d.PolicyFiles()...) {
		if path != "" {
			files = append(files, path)
		}
	}
	return files
}

// PolicyFiles returns the files that policies were read from, each once.
func (c *Config) PolicyFiles() []string {
	var files []string
	for i := range c.Policies {
		if file := c.Policies[i].File; file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// PolicyNames returns the names of all policies.
func (c *Config) PolicyNames() []string {
	names := make([]string, len(c.Policies))
	for i := range c.Policies {
		names[i] = c.Policies[i].Name
	}
	return names
}
