package settings

import (
	"slices"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// runReaders are the tools by which a client reads a run that outlasts its call. Results of every pattern name them.
var runReaders = []string{"run_status", "run_wait"}

// catalogTool describes what a plan of kind planning can name.
const catalogTool = "describe_catalog"

// offerKey returns the key that lists the tools that clients see. nil means all.
func offerKey(name string, target *[]string) grammar.Key {
	key := grammar.ToolList(name, target)
	key.Show = func() any {
		if *target == nil {
			return nil
		}
		return *target
	}
	return key
}

// acrossOffer refuses to offer tools that do not exist, and tools whose results name a tool that is not offered.
func (r *loader) acrossOffer(c *Config) {
	if c.Offer == nil {
		return
	}
	here := (*yamldoc.Path)(nil).Key("offer")
	fault := func(path *yamldoc.Path, f yamldoc.Fault) { r.Faults.Add(r.At(path), path, f) }
	if len(c.Offer) == 0 {
		fault(here, yamldoc.Fault{Reason: offersNothing, Want: wantOffered})
		return
	}
	owner := map[string]Pattern{} // by the names of its tools
	known := slices.Clone(reservedTools)
	for _, p := range slices.Concat(c.Patterns, c.Exposed()) {
		for _, tool := range p.ToolNames() {
			owner[tool] = p
			if p.Enabled {
				known = append(known, tool)
			}
		}
	}
	sound := true
	for i, name := range c.Offer {
		path := here.Item(i)
		switch p, declared := owner[name]; {
		case slices.Contains(c.Offer[:i], name):
			fault(path, yamldoc.Fault{Reason: namedTwice(name), Want: wantOnce})
		case slices.Contains(known, name):
			continue
		case declared:
			fault(path, yamldoc.Fault{Reason: isDisabled(p.Name), Want: wantPatternEnabled(p.Name)})
		default:
			f := yamldoc.Fault{Reason: noSuchTool(name), DidYouMean: gateway.NearTyped(name, known)}
			if f.DidYouMean == "" {
				f.Want = oneOfTools(known)
			}
			fault(path, f)
		}
		sound = false
	}
	for i := 0; i < len(c.Offer) && sound; i++ { // one fault of these shows all that is missing
		name, needs := c.Offer[i], []string(nil)
		switch p, declared := owner[name]; {
		case declared && p.Kind == gateway.Planning:
			needs = slices.Concat(p.ToolNames(), []string{catalogTool}, runReaders)
		case declared || name == "run_wait":
			needs = runReaders
		}
		var missing []string
		for _, tool := range needs {
			if !slices.Contains(c.Offer, tool) {
				missing = append(missing, tool)
			}
		}
		if len(missing) > 0 {
			fault(here.Item(i), yamldoc.Fault{Reason: needsOffered(name, missing), Want: wantAlso(missing)})
			sound = false
		}
	}
}

// Withholds reports whether the key offer leaves out a tool that clients would see without it.
func (c *Config) Withholds(tool string) bool {
	if c.Offer == nil || slices.Contains(c.Offer, tool) {
		return false
	}
	return slices.Contains(reservedTools, tool) || slices.ContainsFunc(slices.Concat(c.Patterns, c.Exposed()), func(p Pattern) bool {
		return p.Enabled && slices.Contains(p.ToolNames(), tool)
	})
}
