package catalog

import "patterngate/ijson"

// Place is what a schema says of the values at a place in a value that fits it.
type Place struct {
	Excluded bool   // nothing can stand there
	Type     string // as in [Property]; "" means several, any, or not known
}

// PlaceOf reads a schema as far as that is sure: where it leaves open whether there is something, nothing is excluded. Any
// index of a list passes. A nil Schema excludes nothing.
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
