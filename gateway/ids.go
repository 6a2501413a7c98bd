package gateway

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/ijson"
)

// idSet holds the stripped ids of one intent.
type idSet struct {
	seen map[string]bool
	all  map[string]bool // every id that stands anywhere, so that a repair does not collide
}

type idReasons struct{ missing, duplicate string }

func newIDs(rows []any) *idSet {
	ids := &idSet{map[string]bool{}, map[string]bool{}}
	for _, row := range rows {
		if obj, ok := row.(map[string]any); ok {
			if id, ok := text(obj["id"]); ok {
				ids.all[id] = true
			}
		}
	}
	return ids
}

// take reads an id that must be a text of its own.
func (ids *idSet) take(f *faults, v any, at ijson.Pointer, reasons idReasons, got any) string {
	id, ok := text(v)
	if !ok {
		p := f.add(reasons.missing, at, got, "a text that names it")
		if p.Fix = asText(at, v); p.Fix != nil {
			p.Fix.Value = ids.unused(p.Fix.Value.(string))
		}
		return ""
	}
	if ids.seen[id] {
		f.add(reasons.duplicate, at, v, "an id that no other has").Fix = &Fix{At: at, Value: ids.unused(id)}
	}
	ids.seen[id] = true
	return id
}

// unused is the id, with the first suffix _2, _3, ... that makes it one which nobody has.
func (ids *idSet) unused(id string) string {
	next := id
	for n := 2; ids.all[next]; n++ {
		next = id + "_" + strconv.Itoa(n)
	}
	ids.all[next] = true
	return next
}

func sortedKeys(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }

func contains(names []string, n string) bool { return slices.Contains(names, n) }
