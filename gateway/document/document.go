package document

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// OpenReasons are the reasons of a document that is not an object and of one whose kind is wrong.
type OpenReasons struct{ NotObject, BadKind string }

// DefaultReasons are those of nearly all documents.
var DefaultReasons = OpenReasons{"not_object", "bad_kind"}

// Open checks what all documents have in common: an object of one of the kinds. If it returns false, there is nothing more to
// check. If a caller left the kind out and only one is possible, Open fills it.
func Open(f *Faults, in Intent, reasons OpenReasons, kinds ...string) (Object, []Filled, bool) {
	if in.fault != nil {
		f.Add("non_json", in.fault.Pointer, Missing, oneObject(in.fault.Offset, in.fault.Reason))
		return Object{}, nil, false
	}
	members, ok := in.value.(map[string]any)
	if !ok {
		f.Add(reasons.NotObject, in.At, in.value, anObject)
		return Object{}, nil, false
	}
	o := Object{Faults: f, Members: members, At: in.At}
	if !o.Has("kind") && in.Caller && len(kinds) == 1 {
		return o, []Filled{{in.At.Member("kind"), kinds[0]}}, true
	}
	kind, _ := members["kind"].(string)
	if slices.Contains(kinds, kind) {
		return o, nil, true
	}
	p, at := o.Wrong(reasons.BadKind, "kind", strings.Join(kinds, " or ")), in.At.Member("kind")
	p.Means(at, ijson.Trim(kind), catalog.Near(ijson.Trim(kind), kinds))
	if members["kind"] == nil && len(kinds) == 1 {
		p.Fix = &Fix{At: at, Value: kinds[0]}
	}
	return o, nil, true
}
