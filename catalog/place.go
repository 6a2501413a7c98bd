package catalog

import "patterngate/ijson"

// Place describes the values at a place in a value that fits a schema.
type Place struct {
	Excluded bool   // no value can be there
	Type     string // as in [Property]; "" means several, any, or not known
}

// PlaceOf returns what the schema says about a place, as far as that is certain. If a value may be there, the place is
// not excluded. Any index of a list is accepted. A nil Schema excludes nothing.
func (s *Schema) PlaceOf(p ijson.Pointer) Place {
	if s == nil {
		return Place{}
	}
	n := s.root()
	for _, token := range p.Tokens() {
		switch {
		case n.elsewhere:
			return Place{}
		case n.kind == "object":
			member, ok := n.properties[token]
			if !ok {
				return Place{Excluded: n.closed}
			}
			n = member
		case n.kind == "array":
			if !isIndex(token) {
				return Place{Excluded: true}
			}
			if n.items == nil {
				return Place{}
			}
			n = n.items
		case n.kind != "":
			return Place{Excluded: true}
		default:
			return Place{}
		}
	}
	if n.elsewhere {
		return Place{}
	}
	return Place{Type: n.kind}
}

// isIndex reports whether a token of a pointer can name an element (RFC 6901).
func isIndex(token string) bool {
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return token == "0" || token != "" && token[0] != '0'
}
