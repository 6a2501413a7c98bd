package operations

import (
	"fmt"
	"slices"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
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

// noteUnknown warns of a switch for a tool or pattern that this configuration does not have. The switch stays: another
// server with the same state file may have it.
func (a *Commands) noteUnknown(c assembly.Loaded, s patterns.Switch) {
	d, err := assembly.Declare(c, a.Environ)
	if err != nil {
		return
	}
	what, name, known := "tool", s.Tool, d.Tools.Names()
	if s.Pattern != "" {
		what, name, known = "pattern", s.Pattern, nil
		for _, spec := range d.Specs() {
			known = append(known, spec.Name)
		}
	}
	if name != "" && !slices.Contains(known, name) {
		_, _ = fmt.Fprintln(a.Err, unknownSwitch(what, console.Quoted(name), catalog.NearTyped(name, known)))
	}
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
