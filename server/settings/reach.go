package settings

import (
	"cmp"
	"slices"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/settings/yamldoc"
)

// acrossReach checks what a pattern can reach. It must not mix demo and real tools, a policy must judge tools that change
// something, and a simulated person must not approve real changes.
func (r *loader) acrossReach(c *Config) {
	effects := map[string]realTool{}
	for _, t := range c.Catalog.Tools() {
		effects[t.Name] = realTool{t.Effect, t.Policy, t.Path.String()}
	}
	for _, p := range c.Patterns {
		if !p.Enabled {
			continue
		}
		here := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name)
		r.mixed(c, p, here, effects)
		r.acts(p.links(), effects, p.Judge, here.String())
		acts := slices.DeleteFunc(c.Leaves(p), func(name string) bool {
			e := effects[name].effect
			return e != catalog.Write && e != catalog.Destructive
		})
		if simulated := here.Key("approver").Key("kind"); len(acts) > 0 && p.Approver.Kind == patterns.SimulatedApprover {
			r.Faults.Add(r.At(simulated), simulated, yamldoc.Fault{
				Reason: simulatedReal(acts[0], string(effects[acts[0]].effect)), Want: wantInboxOrReject,
			})
		}
	}
	expose := (*yamldoc.Path)(nil).Key("catalog").Key("expose")
	var links []toolLink
	for i, name := range c.Catalog.Expose {
		links = append(links, toolLink{expose.Item(i), name})
	}
	r.acts(links, effects, "", "")
}

// mixed refuses a pattern that reaches tools of the demo and tools of the file.
func (r *loader) mixed(c *Config, p Pattern, here *yamldoc.Path, effects map[string]realTool) {
	demo, real := "", ""
	leaves := c.Leaves(p)
	for _, name := range leaves {
		_, declared := effects[name]
		switch both := slices.Contains(DemoTools, name); { // a name in both is already a fault
		case declared && !both:
			real = cmp.Or(real, name)
		case both && !declared:
			demo = cmp.Or(demo, name)
		}
	}
	path := here.Key("tools")
	if len(p.Hands) > 0 {
		path = here.Key(handsKeyOf(p.Kind))
	}
	if demo != "" && real != "" {
		r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: demoAndReal(demo, real), Want: wantOneKind})
	}
}

// realTool holds the effect of a tool of the file, and the policy that judges it in every pattern.
type realTool struct {
	effect catalog.Effect
	policy string
	path   string
}

// acts checks the tools among links that change something. judge is the policy of the pattern at here; without a pattern both
// are "". Without any policy, only an allow
// list restricts the tool: that is a fault for a destructive tool and a warning for one that writes (spec/config.md section
// 5.1).
func (r *loader) acts(links []toolLink, tools map[string]realTool, judge, here string) {
	for _, l := range links {
		t := tools[l.name]
		if t.effect != catalog.Write && t.effect != catalog.Destructive {
			continue
		}
		if judge != "" || t.policy != "" {
			continue
		}
		f := yamldoc.Fault{Reason: writesUnjudged(l.name), Want: wantPolicyIn(here, t.path)}
		if t.effect == catalog.Write {
			r.Faults.Warn(r.At(l.path), l.path, f)
			continue
		}
		f.Reason, f.Want = destroysUnjudged(l.name), orRemoveIt(wantPolicyIn(here, t.path))
		r.Faults.Add(r.At(l.path), l.path, f)
	}
}

// Leaves returns the tools that a pattern reaches directly and through the patterns that it calls, each once.
func (c *Config) Leaves(p Pattern) (names []string) {
	seen, reached := map[string]bool{}, map[string]bool{p.Name: true}
	for todo := []Pattern{p}; len(todo) > 0; todo = todo[1:] {
		for _, l := range todo[0].links() {
			if !seen[l.name] {
				seen[l.name] = true
				names = append(names, l.name)
			}
		}
		for _, h := range todo[0].Hands {
			if child, known := c.pattern(h.Pattern); known && !reached[h.Pattern] {
				reached[h.Pattern] = true
				todo = append(todo, *child)
			}
		}
	}
	return names
}
