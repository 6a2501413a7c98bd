package cli

import "patterngate/server/settings/yamldoc"

// Position is a place in a file, from 1; zero: none.
type Position struct{ Line, Column int }

var toolNames = nameRule{toolName, "write a name: 1 to 64 letters, digits, _ and -"}

var serverNames = nameRule{lazily(`^[a-z][a-z0-9_]{0,63}$`), "write a name: a small letter, then up to 63 small letters, digits and _"}

// A server calls its tools as it likes; what does not fit here is given another name with `as`.
var upstreamNames = nameRule{lazily(`^[\x21-\x7e]{1,256}$`), "write the tool's name as its server spells it"}

var argumentNames = nameRule{lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of an argument"}

var headerNames = nameRule{lazily("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$"), "write a header's name: letters, digits and -"}

var variableNames = nameRule{lazily(`^[^=\x00-\x1f\x7f]{1,256}$`), "write the name of an environment variable"}

var queryNames = nameRule{lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of a query parameter"}

// nameRule is how the names of entries are spelled.
type nameRule struct {
	fits *lazyPattern
	want string
}

// entries are values of one shape under names that the file chooses.
type entries[E any] struct {
	names nameRule
	named func(*E) string
	// fresh is an entry of which nothing was said.
	fresh func(name string, at Position) E
	keys  func(*E) []configKey
	// off reports an entry that is as if it were not declared: only what is said of it is checked. nil: none is.
	off func(*E) bool
	// finish sees an entry that was read whole. nil: nothing is left to do.
	finish func(r *configReader, n *yamldoc.Node, path *yamldoc.Path, entry *E)
}

// key is the mapping of such entries, kept in the order of the file.
func (of entries[E]) key(name string, list *[]E) configKey {
	return configKey{
		name: name, entries: true,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { *list = of.read(r, n, path) },
		show: func() any {
			shown := make([]configKey, len(*list))
			for i := range *list {
				e := &(*list)[i]
				shown[i] = groupKey(of.named(e), of.keys(e)...)
			}
			return shown
		},
		below: func() []configKey {
			e := of.fresh("NAME", Position{})
			return of.keys(&e)
		},
	}
}

func (of entries[E]) read(r *configReader, n *yamldoc.Node, path *yamldoc.Path) []E {
	var list []E
	r.each(n, path, of.names, func(m yamldoc.Member, below *yamldoc.Path) {
		e := of.fresh(m.Key, Position{m.At.Line, m.At.Column})
		keys := of.keys(&e)
		if !r.members(m.Value, below, keys, unknownKey) {
			return
		}
		if of.off == nil || !of.off(&e) {
			r.missing(m.Value, below, keys)
		}
		if of.finish != nil {
			of.finish(r, m.Value, below, &e)
		}
		list = append(list, e)
	})
	return list
}
