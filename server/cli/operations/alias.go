package operations

import (
	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/assembly"
)

// aliased returns the flag that stops a tool or pattern which patterns call by another name, as a worker or route. It
// returns "" if name is not such a name, or if the configuration cannot be read completely.
func aliased(c assembly.Loaded, name string, environ []string) (flag string) {
	if name == "" {
		return ""
	}
	d, err := assembly.Declare(c, environ)
	if err != nil {
		return ""
	}
	return aliasedIn(d.Tools, d.Specs(), name)
}

// aliasedIn is [aliased] for a declared configuration.
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
