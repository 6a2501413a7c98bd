package gateway

import (
	"maps"
	"slices"
)

// owned returns a deep copy of arguments, so that later changes do not reach what was judged.
func owned(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, v := range args {
		out[name] = copied(v)
	}
	return out
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return owned(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	}
	return v
}

// sortedKeys returns the names of the members, sorted.
func sortedKeys(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }
