package settings

import (
	"cmp"
	"slices"

	"patterngate/gateway"
	"patterngate/server/settings/yamldoc"
)

// MaxFallbacks is the maximum number of fallbacks, one after another, from a role.
const MaxFallbacks = 2

// acrossModels checks roles and patterns together: names, fallbacks and prices.
func (r *loader) acrossModels(c *Config) {
	llm := (*yamldoc.Path)(nil).Key("llm")
	names := make([]string, len(c.LLM.Models))
	for i, m := range c.LLM.Models {
		names[i] = m.Name
	}
	asked := []string{PlanRole, FinalRole, c.LLM.Role}
	r.noRole(c.LLM.Role, names, llm.Key("role"))
	for _, p := range c.Patterns {
		if asked = append(asked, p.LLM.Role); p.Enabled {
			r.noRole(p.LLM.Role, names, patternPath(p.Name).Key("llm").Key("role"))
		}
	}
	for _, m := range c.LLM.Models {
		r.fallbacks(c, m, names)
		asked = append(asked, m.Fallback)
	}
	for _, m := range c.LLM.Models {
		if at := llm.Key("models").Key(m.Name); !slices.Contains(asked, m.Name) {
			r.Faults.Warn(r.KeyAt(at), at, yamldoc.Fault{Reason: roleUnused, Want: wantRoleUsed})
		}
	}
	r.prices(c)
	for _, p := range c.Patterns {
		own := c.LLM.LaidOver(p.LLM)
		role, _ := c.LLM.RoleNamed(own.Role)
		if p.Enabled && p.LLM.Provider == "openai" && !c.LLM.keyed() && !c.LLM.Key.Set() && c.LLM.BaseURL == "" && !role.Key.Set() && role.BaseURL == "" {
			at := patternPath(p.Name).Key("llm").Key("provider")
			r.Faults.Add(r.At(at), at, yamldoc.Fault{Reason: noKey})
		}
	}
}

// noRole refuses the name of a role that does not exist.
func (r *loader) noRole(name string, known []string, path *yamldoc.Path) {
	if name == "" || slices.Contains(known, name) {
		return
	}
	f := yamldoc.Fault{Reason: noSuchRole(name), DidYouMean: gateway.NearTyped(name, known)}
	if f.DidYouMean == "" {
		f.Want = wantDeclared
		if len(known) > 0 {
			f.Want = "write " + yamldoc.Alternatives(known[:min(len(known), 20)])
		}
	}
	r.Faults.Add(r.At(path), path, f)
}

// fallbacks refuses a chain of fallbacks that is too long or that returns to an earlier role.
func (r *loader) fallbacks(c *Config, m ModelRole, known []string) {
	at := (*yamldoc.Path)(nil).Key("llm").Key("models").Key(m.Name).Key("fallback")
	way := []string{m.Name}
	for next := m; next.Fallback != ""; {
		if !slices.Contains(known, next.Fallback) {
			if next.Name == m.Name {
				r.noRole(m.Fallback, known, at)
			}
			return
		}
		if way = append(way, next.Fallback); slices.Contains(way[:len(way)-1], next.Fallback) {
			if next.Fallback == m.Name { // only a role in the loop gets the fault, not one that leads to it
				r.Faults.Add(r.At(at), at, yamldoc.Fault{Reason: aLoop(shownWay(way)), Want: wantNoFallback})
			}
			return
		}
		next, _ = c.LLM.RoleNamed(next.Fallback)
	}
	if len(way) > MaxFallbacks+1 {
		r.Faults.Add(r.At(at), at, yamldoc.Fault{Reason: yamldoc.NumberText(float64(len(way)-1)) + " steps: " + shownWay(way), Want: wantSteps(yamldoc.NumberText(MaxFallbacks))})
	}
}

// prices refuses max_cost_usd if the price of a model is unknown. It looks at the models of the pattern and of the patterns
// that it calls.
func (r *loader) prices(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if !p.Enabled || !p.Budget.MaxCost.Named() || r.Said("patterns", p.Name, "budget", "max_cost_usd") == nil {
			continue
		}
		if model := c.unpriced(p); model != "" {
			at := patternPath(p.Name).Key("budget").Key("max_cost_usd")
			r.Faults.Add(r.At(at), at, yamldoc.Fault{Reason: noPrice(model), Want: wantPrice})
		}
	}
}

// unpriced returns the first model without a price that a pattern, or one that it calls, can ask. It returns "" if all have
// a price.
func (c *Config) unpriced(p *Pattern) string {
	reached := map[string]bool{p.Name: true}
	for todo := []*Pattern{p}; len(todo) > 0; todo = todo[1:] {
		llm := c.LLM.LaidOver(todo[0].LLM)
		if todo[0].Kind != gateway.Call && llm.Provider != "rules" {
			for _, m := range llm.asked(todo[0].LLM, c.LLM.Model) {
				if !llm.priced(m, c.LLM.Model) {
					return cmp.Or(m.Model, llm.Model)
				}
			}
		}
		for _, h := range todo[0].Hands {
			if child, known := c.pattern(h.Pattern); known && !reached[h.Pattern] {
				reached[h.Pattern] = true
				todo = append(todo, child)
			}
		}
	}
	return ""
}

// asked returns the roles that a pattern can ask, with their fallbacks. standing is the model of the llm section itself,
// which the pattern can override.
func (c LLM) asked(p PatternLLM, standing string) (list []ModelRole) {
	roles := []string{PlanRole, FinalRole}
	if c.Role != "" {
		roles = []string{c.Role}
	}
	for _, name := range roles {
		m, known := c.RoleNamed(name)
		if p.Model != "" { // it replaces the role's model
			m.Model, m.Price = p.Model, PriceUnless(known && cmp.Or(m.Model, standing) != p.Model, m.Price)
		}
		list = append(list, m)
		for range MaxFallbacks {
			if m, known = c.RoleNamed(m.Fallback); !known {
				break
			}
			list = append(list, m)
		}
	}
	return list
}

// PriceUnless returns price, or nil if other is true. other says that the pattern uses another model than the price is for.
func PriceUnless(other bool, price *Price) *Price {
	if other {
		return nil
	}
	return price
}

// priced reports whether the price of a model is known. Any role can set it for the same model on the same server.
func (c LLM) priced(m ModelRole, standing string) bool {
	if m.Price != nil {
		return true
	}
	model, server := cmp.Or(m.Model, c.Model), cmp.Or(m.BaseURL, c.BaseURL)
	return slices.ContainsFunc(c.Models, func(other ModelRole) bool {
		return other.Price != nil && cmp.Or(other.Model, standing) == model && cmp.Or(other.BaseURL, c.BaseURL) == server
	})
}
