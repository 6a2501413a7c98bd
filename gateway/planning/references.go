package planning

import (
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
)

// Strings in arguments that begin so are references ($results.ID, $results.ID.POINTER), or stand for themselves less one
// sign.
const (
	referenceMark = "$results."
	escapeMark    = "$$"
)

// maxResolved bounds what the references of one subtask may put into its arguments, see [ijson.Weight]: about as much as a
// whole plan may be long, for each call is recorded.
const maxResolved = 1 << 20

// Resolve puts in place of each reference in args what it refers to (spec/planning-reference.md section 15, References).
// result gives a completed subtask's result. The text of the first reference that finds nothing is returned as bad, with
// nil arguments; "" where all is well. The one with which the arguments would hold more than a plan may finds nothing
// either. args are not changed.
func Resolve(args map[string]any, result func(id string) (any, bool)) (resolved map[string]any, bad string) {
	if args == nil {
		return map[string]any{}, ""
	}
	weight := 0
	out := rewrite(args, "", func(_ ijson.Pointer, text string) any {
		ref, ok := parseReference(text)
		if !ok || bad != "" {
			bad = first(bad, text)
			return nil
		}
		v, there := result(ref.id)
		if there {
			v, there = ref.pointer.In(v)
		}
		if weight += ijson.Weight(v); !there || weight > maxResolved {
			bad = text
		}
		return v
	})
	if bad != "" {
		return nil, bad
	}
	return out.(map[string]any), ""
}

// HasReferences reports whether args hold a reference or an escaped one.
func HasReferences(args map[string]any) bool { return marked(args) }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// reference is what a string in arguments refers to: a place in the result of a subtask.
type reference struct {
	id      string
	pointer ijson.Pointer
}

// parseReference reads a string that begins with the mark.
func parseReference(text string) (reference, bool) {
	id, pointer, deeper := strings.Cut(strings.TrimPrefix(text, referenceMark), ".")
	ref := reference{id, ijson.Pointer(pointer)}
	if !isSubtaskID(id) || !deeper {
		return ref, isSubtaskID(id)
	}
	return ref, pointer == "" || ref.pointer.Tokens() != nil // the empty pointer is the whole result (RFC 6901)
}

func isReference(text string) bool { return strings.HasPrefix(text, referenceMark) }

// marked reports whether a value holds a string that does not stand for itself.
func marked(v any) bool {
	switch v := v.(type) {
	case string:
		return isReference(v) || strings.HasPrefix(v, escapeMark)
	case []any:
		for _, element := range v {
			if marked(element) {
				return true
			}
		}
	case map[string]any:
		for member := range maps.Values(v) { // in any order: the answer is the same
			if marked(member) {
				return true
			}
		}
	}
	return false
}

// rewrite returns a copy of a value in which put has replaced each reference, in order of place, and escaped strings have
// lost their first sign. What holds neither is shared. It calls itself once a level, of which a decoded value has few.
func rewrite(v any, at ijson.Pointer, put func(at ijson.Pointer, text string) any) any {
	switch v := v.(type) {
	case string:
		switch {
		case isReference(v):
			return put(at, v)
		case strings.HasPrefix(v, escapeMark):
			return v[1:]
		}
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = rewrite(element, at.Index(i), put)
		}
		return list
	case map[string]any:
		members := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members[name] = rewrite(v[name], at.Member(name), put)
		}
		return members
	}
	return v
}
