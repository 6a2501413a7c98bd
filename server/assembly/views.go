package assembly

import (
	"fmt"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings"
)

// view returns the catalog as a pattern sees it. It is the catalog that rules see, with workers and routes first, under the
// names that the pattern gives them.
func (c *Loaded) view(p settings.Pattern, ruled *catalog.Catalog) (*catalog.Catalog, error) {
	var hands []catalog.Tool
	for _, h := range p.Hands {
		tool, made := ruled.Tool(h.Target())
		if !made || tool.Pattern != h.Pattern { // the call reports that it is missing
			continue
		}
		if tool.Name != h.Name {
			tool.Of, tool.Name = tool.Own(), h.Name
		}
		if h.Description != "" {
			tool.Description = h.Description
		}
		hands = append(hands, tool)
	}
	if len(hands) == 0 {
		return ruled, nil
	}
	view, err := ruled.With(hands...)
	if err != nil {
		return nil, fmt.Errorf("patterns.%s: %w", p.Name, err)
	}
	return view, nil
}

// ruled returns the catalog as rules see it: with the patterns that others call, under their own names.
func (c *Loaded) ruled(all *catalog.Catalog, set *patternSet) (*catalog.Catalog, error) {
	var called []catalog.Tool
	seen := map[string]bool{}
	for i := range c.Patterns {
		for _, h := range c.Patterns[i].Hands {
			if h.Pattern == "" || seen[h.Pattern] || !c.Patterns[i].Enabled {
				continue
			}
			seen[h.Pattern] = true
			if tool, made := c.patternTool(h.Pattern, all, set); made {
				called = append(called, tool)
			}
		}
	}
	if len(called) == 0 {
		return all, nil
	}
	return all.With(called...)
}

// patternTool returns a pattern as a tool for other patterns, under its own name. Each call begins a run, and the policy of
// that run judges its calls too.
func (c *Loaded) patternTool(name string, all *catalog.Catalog, set *patternSet) (catalog.Tool, bool) {
	p, known := c.Pattern(name)
	if set == nil {
		return catalog.Tool{}, false
	}
	parts := set.by[name]
	if !known || parts == nil || !p.Equipped() {
		return catalog.Tool{}, false
	}
	if tool, there := all.Tool(name); there { // a catalog of rules already has it; reading the file refused a tool of the same name
		return tool, tool.Pattern == name
	}
	tool := catalog.Tool{
		Name: name, Title: p.Title, Description: p.Description, Server: catalog.PatternServer, Pattern: name, Goal: p.Goal,
		Input: parts.asked, Defaults: parts.defaults, Effect: c.worst(p, all),
	}
	var reached []catalog.Tool
	if tool.Simulated, reached = c.simulated(p, all); tool.Simulated {
		for _, t := range reached {
			tool.Supplied = append(tool.Supplied, t.Supplied...)
		}
		if len(reached) == 0 { // nothing is known of them yet
			tool.Supplied = []string{patterns.RequestIDArgument, patterns.TicketArgument}
		}
		slices.Sort(tool.Supplied)
		tool.Supplied = slices.Compact(tool.Supplied)
	}
	if p.Kind == gateway.Call {
		called, made := all.Tool(p.Tool)
		if !made {
			return catalog.Tool{}, false
		}
		tool.Input, tool.Defaults, tool.Goal = called.Input, called.Defaults, ""
		if tool.Title == "" {
			tool.Title = called.Title
		}
		if tool.Description == "" {
			tool.Description = called.Description
		}
	}
	return tool, tool.Input != nil
}

// worst returns the most dangerous effect that a pattern can reach, directly or through the patterns that it calls.
func (c *Loaded) worst(p settings.Pattern, all *catalog.Catalog) catalog.Effect {
	worst := catalog.Read
	reached := map[string]bool{p.Name: true}
	for todo := []settings.Pattern{p}; len(todo) > 0; todo = todo[1:] {
		for _, name := range todo[0].RuleNames() {
			tool, made := all.Tool(name)
			switch child, known := c.Pattern(name); {
			case made && (tool.Effect == catalog.Destructive || worst == catalog.Read):
				worst = tool.Effect
			case !made && known && !reached[name]:
				reached[name] = true
				todo = append(todo, child)
			}
		}
	}
	return worst
}

// simulated reports whether all tools that a pattern reaches are simulated: a pattern never mixes simulated and real tools.
// It also returns those that the catalog has.
func (c *Loaded) simulated(p settings.Pattern, all *catalog.Catalog) (bool, []catalog.Tool) {
	whole := true
	var tools []catalog.Tool
	for _, name := range c.Leaves(p) {
		if t, ok := all.Tool(name); ok {
			tools, whole = append(tools, t), whole && t.Simulated
		}
	}
	return whole, tools
}
