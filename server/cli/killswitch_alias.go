package cli

import (
	"patterngate/catalog"
	"patterngate/patterns"
)

// aliased is the flag by which a tool, or pattern, is switched off that patterns give another name as their worker or route; "" for what
// is no such name, and where the configuration cannot be read whole.
func (c Loaded) aliased(name string, environ []string) (flag string) {
	if name == "" {
		return ""
	}
	d, err := declare(c, environ)
	if err != nil {
		return ""
	}
	specs := make([]patterns.Spec, len(d.patterns))
	for i, p := range d.patterns {
		specs[i] = p.spec
	}
	return aliasedIn(d.tools, specs, name)
}

// aliasedIn is [Loaded.aliased] for what is declared.
func aliasedIn(tools *catalog.Catalog, specs []patterns.Spec, name string) (flag string) {
	if _, own := tools.Tool(name); own {
		return ""
	}
	for _, spec := range specs {
		tool, ok := spec.Catalog.Tool(name)
		switch {
		case !ok || tool.Own() == name:
		case tool.Pattern != "":
			return "--pattern " + tool.Own()
		default:
			return "--tool " + tool.Own()
		}
	}
	return ""
}
