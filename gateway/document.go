package gateway

import (
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// openReasons are how faults of the document itself are called.
type openReasons struct{ notObject, badKind string }

var documentReasons = openReasons{"not_object", "bad_kind"}

// openDocument checks what every intent has in common: an object of one of the kinds. False ends the list of faults.
// Where the caller left the kind out and only one is possible, it is filled.
func openDocument(f *faults, in Intent, reasons openReasons, kinds ...string) (object, []Filled, bool) {
	if in.fault != nil {
		f.add("non_json", in.fault.Pointer, Missing, fmt.Sprintf("one JSON object; byte %d: %s", in.fault.Offset, in.fault.Reason))
		return object{}, nil, false
	}
	members, ok := in.value.(map[string]any)
	if !ok {
		f.add(reasons.notObject, in.At, in.value, "an object")
		return object{}, nil, false
	}
	o := object{faults: f, members: members, at: in.At}
	if !o.has("kind") && in.Caller && len(kinds) == 1 {
		return o, []Filled{{in.At.Member("kind"), kinds[0]}}, true
	}
	kind, _ := members["kind"].(string)
	if slices.Contains(kinds, kind) {
		return o, nil, true
	}
	p, at := o.wrong(reasons.badKind, "kind", strings.Join(kinds, " or ")), in.At.Member("kind")
	p.Means(at, ijson.Trim(kind), catalog.Near(ijson.Trim(kind), kinds))
	if members["kind"] == nil && len(kinds) == 1 {
		p.Fix = &Fix{At: at, Value: kinds[0]}
	}
	return o, nil, true
}
