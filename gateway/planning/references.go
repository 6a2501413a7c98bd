package planning

import (
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
)

// Texts in arguments that begin with referenceMark are references ($results.ID, $results.ID.POINTER). A text that begins with
// escapeMark means the same text without its first $.
const (
	referenceMark = "$results."
	escapeMark    = "$$"
)

// maxResolved bounds the values that the references of one subtask put into its arguments, see [ijson.Weight]. It is about the
// length of a whole plan, as each call is recorded.
const maxResolved = 1 << 20

// Resolve returns args with each reference replaced by its value (spec/planning-reference.md section 15, References). result returns
// the result of a completed subtask. If a reference has no value, or if the values exceed 1 MiB together, Resolve returns nil and
// the text of that reference as bad; else bad is "". It does not change args.
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

// HasReferences reports whether args contain a reference or an escaped text.
func HasReferences(args map[string]any) bool { return marked(args) }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// reference is a place in the result of a subtask.
type reference struct {
	id      string
	pointer ijson.Pointer
}

// parseReference reads a text that begins with referenceMark.
func parseReference(text string) (reference, bool) {
	id, pointer, deeper := strings.Cut(strings.TrimPrefix(text, referenceMark), ".")
	ref := reference{id, ijson.Pointer(pointer)}
	if !isSubtaskID(id) || !deeper {
		return ref, isSubtaskID(id)
	}
	return ref, pointer == "" || ref.pointer.Tokens() != nil // the empty pointer is the whole result (RFC 6901)
}

func isReference(text string) bool { return strings.HasPrefix(text, referenceMark) }

// marked reports whether a value contains a reference or an escaped text.
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

// rewrite returns a copy of a value in which put replaced each reference, in order of place, and escaped texts lost their first $.
// It is recursive; a decoded value has few levels.
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
