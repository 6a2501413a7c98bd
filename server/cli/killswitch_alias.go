package cli

// aliased is the flag by which a tool, or pattern, is switched off that patterns give another name as their worker or route; "" for what
// is no such name, and where the configuration cannot be read whole.
func (c Config) aliased(name string, environ []string) (flag string) {
	if name == "" {
		return ""
	}
	d, err := declare(c, environ)
	if err != nil {
		return ""
	}
	if _, own := d.tools.Tool(name); own {
		return ""
	}
	for _, p := range d.patterns {
		tool, ok := p.spec.Catalog.Tool(name)
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
