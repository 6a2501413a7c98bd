package grammar

import "patterngate/server/settings/yamldoc"

// Entries describes a mapping of names, which the file chooses, to values of one shape.
type Entries[E any] struct {
	Names NameRule
	Named func(*E) string // the name of an entry
	// Fresh returns an entry of which the file has the name alone.
	Fresh func(name string, at Position) E
	Keys  func(*E) []Key
	// Off reports whether an entry counts as not declared. Then it may lack required keys. nil: none does.
	Off func(*E) bool
	// Finish checks or completes an entry after all its keys were read. nil: there is nothing to do.
	Finish func(r *Reader, n *yamldoc.Node, path *yamldoc.Path, entry *E)
}

// Key returns the key of such a mapping. Its list keeps the order of the file.
func (of Entries[E]) Key(name string, list *[]E) Key {
	return Key{
		Name: name, Takes: mappingOfNames, Entries: true,
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

// Position is a place in a file, both counted from 1. The zero Position is none.
type Position struct{ Line, Column int }

// NameRule is how a name is spelled, and what a fault tells people to write.
type NameRule struct {
	Fits *LazyRegexp
	Want string
}

// ToolNames are the names of tools and patterns.
var ToolNames = NameRule{ToolName, wantToolName}

// ServerNames are names that the file gives to its own things: servers, policies, roles, rules.
var ServerNames = NameRule{Lazily(`^[a-z][a-z0-9_]{0,63}$`), wantWordName}

// UpstreamNames are names of tools as their own server spells them. If a name does not fit [ToolNames], the file gives the
// tool another name with the key `as`.
var UpstreamNames = NameRule{Lazily(`^[\x21-\x7e]{1,256}$`), wantServersName}

// ArgumentNames are the names of a tool's arguments.
var ArgumentNames = NameRule{Lazily(`^[^\x00-\x1f\x7f]{1,256}$`), wantArgumentName}

// HeaderNames are the names of HTTP headers.
var HeaderNames = NameRule{Lazily("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$"), wantHeaderName}

// VariableNames are the names of environment variables.
var VariableNames = NameRule{Lazily(`^[^=\x00-\x1f\x7f]{1,256}$`), wantVariableName}

// QueryNames are the names of query parameters of a URL.
var QueryNames = NameRule{Lazily(`^[^\x00-\x1f\x7f]{1,256}$`), wantParameterName}
