package ijson

import (
	"maps"
	"slices"
)

// Set returns root with v at p, and true. It adds a member that is missing. In a list, "-" or the index after the last
// element appends. If the parent of p is missing or cannot hold the token, Set returns root unchanged, and false.
//
// Set copies the containers on the path to p and never changes root. The result shares all other values with root.
func Set(root any, p Pointer, v any) (any, bool) {
	tokens, ok := p.split()
	if ok && len(tokens) == 0 {
		return v, true
	}
	return edit(root, tokens, func(parent any, token string) (any, bool) { return put(parent, token, v) })
}

// Remove returns root without the value at p, and true. The elements after a removed element move down. If there is no
// value at p, or p is the whole document, Remove returns root unchanged, and false. It copies as [Set] does.
func Remove(root any, p Pointer) (any, bool) {
	tokens, _ := p.split()
	return edit(root, tokens, drop)
}

// edit returns v after change has changed the container that holds the last token. If that is not possible, edit
// returns v itself, and false.
func edit(v any, tokens []string, change func(parent any, token string) (any, bool)) (any, bool) {
	if len(tokens) == 0 {
		return v, false
	}
	if len(tokens) > 1 {
		inner, ok := child(v, tokens[0])
		if !ok {
			return v, false
		}
		if inner, ok = edit(inner, tokens[1:], change); !ok {
			return v, false
		}
		return put(v, tokens[0], inner)
	}
	if changed, ok := change(v, tokens[0]); ok {
		return changed, true
	}
	return v, false
}

// put returns a copy of a container with v at token.
func put(parent any, token string, v any) (any, bool) {
	switch parent := parent.(type) {
	case map[string]any:
		members := make(map[string]any, len(parent)+1)
		maps.Copy(members, parent)
		members[token] = v
		return members, true
	case []any:
		i, ok := index(token)
		if token == "-" {
			i, ok = len(parent), true
		}
		switch {
		case !ok || i > len(parent):
			return nil, false
		case i == len(parent):
			return append(slices.Clip(parent), v), true
		}
		list := slices.Clone(parent)
		list[i] = v
		return list, true
	}
	return nil, false
}

// drop returns a copy of a container without token.
func drop(parent any, token string) (any, bool) {
	if _, ok := child(parent, token); !ok {
		return nil, false
	}
	if members, ok := parent.(map[string]any); ok {
		members = maps.Clone(members)
		delete(members, token)
		return members, true
	}
	i, _ := index(token)
	return slices.Delete(slices.Clone(parent.([]any)), i, i+1), true
}
