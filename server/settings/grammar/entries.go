package grammar

import "patterngate/server/settings/yamldoc"

// Position is a place in a file, from 1; zero: none.
type Position struct{ Line, Column int }

var ToolNames = NameRule{ToolName, "write a name: 1 to 64 letters, digits, _ and -"}

var ServerNames = NameRule{Lazily(`^[a-z][a-z0-9_]{0,63}$`), "write a name: a small letter, then up to 63 small letters, digits and _"}

// A server calls its tools as it likes; what does not fit here is given another name with `as`.
var UpstreamNames = NameRule{Lazily(`^[\x21-\x7e]{1,256}$`), "write the tool's name as its server spells it"}

var ArgumentNames = NameRule{Lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of an argument"}

var HeaderNames = NameRule{Lazily("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$"), "write a header's name: letters, digits and -"}

var VariableNames = NameRule{Lazily(`^[^=\x00-\x1f\x7f]{1,256}$`), "write the name of an environment variable"}

var QueryNames = NameRule{Lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of a query parameter"}

// NameRule is how the names of entries are spelled.
type NameRule struct {
	Fits *LazyRegexp
	Want string
}

// Entries are values of one shape under names that the file chooses.
type Entries[E any] struct {
	Names NameRule
	Named func(*E) string
	// fresh is an entry of which nothing was said.
	Fresh func(name string, at Position) E
	Keys  func(*E) []Key
	// off reports an entry that is as if it were not declared: only what is said of it is checked. nil: none is.
	Off func(*E) bool
	// finish sees an entry that was read whole. nil: nothing is left to do.
	Finish func(r *Reader, n *yamldoc.Node, path *yamldoc.Path, entry *E)
}

// Key is the mapping of such entries, kept in the order of the file.
func (of Entries[E]) Key(name string, list *[]E) Key {
	return Key{
		Name: name, Entries: true,
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) { *list = of.read(r, n, path) },
		Show: func() any {
			shown := make([]Key, len(*list))
			for i := range *list {
				e := &(*list)[i]
				shown[i] = Group(of.Named(e), of.Keys(e)...)
			}
			return shown
		},
		Below: func() []Key {
			e := of.Fresh("NAME", Position{})
			return of.Keys(&e)
		},
	}
}

func (of Entries[E]) read(r *Reader, n *yamldoc.Node, path *yamldoc.Path) []E {
	var list []E
	r.Each(n, path, of.Names, func(m yamldoc.Member, below *yamldoc.Path) {
		e := of.Fresh(m.Key, Position{m.At.Line, m.At.Column})
		keys := of.Keys(&e)
		if !r.Members(m.Value, below, keys, UnknownKey) {
			return
		}
		if of.Off == nil || !of.Off(&e) {
			r.Missing(m.Value, below, keys)
		}
		if of.Finish != nil {
			of.Finish(r, m.Value, below, &e)
		}
		list = append(list, e)
	})
	return list
}
