package ijson

import (
	"maps"
	"slices"
)

// Set returns root with v at p, and true. Where the parent of p is missing, or is no container that could hold it, it
// returns root as it was, and false. A member that is not there is added; in a list, "-" or the index after the last
// appends.
//
// The containers on the way are copied, root itself never changes; all else is shared between the two.
func Set(root any, p Pointer, v any) (any, bool) {
	tokens, ok := p.split()
	if ok && len(tokens) == 0 {
		return v, true
	}
	return edit(root, tokens, func(parent any, token string) (any, bool) { return put(parent, token, v) })
}

// Remove returns root without what is at p, and true. Where there is nothing at p, and for the whole document, it returns
// root as it was, and false. The elements after a removed one move down. It copies as [Set] does.
func Remove(root any, p Pointer) (any, bool) {
	tokens, _ := p.split()
	return edit(root, tokens, drop)
}

// edit returns v with the container that the last token belongs to changed by change; v itself and false where that
// cannot be.
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

// put returns a copy of a container in which token is v.
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
