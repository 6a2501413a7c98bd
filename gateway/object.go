package gateway

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// object is a JSON object of an intent on its way through a parser: what it holds, where it stands, and the faults
// that are noted about it. Places and reasons are only put together for what is wrong.
type object struct {
	*faults
	members map[string]any
	at      ijson.Pointer
	step    int // its number from 1, if it is a step of a plan
}

// wrong notes a fault of a member, as it stands or does not. A reason that begins with _ is that of a step, which
// has a number: step_3_missing_id.
func (o object) wrong(reason, key, want string) *Problem {
	return o.add(o.numbered(reason), o.at.Member(key), member(o.members, key), want)
}

func (o object) numbered(reason string) string {
	if strings.HasPrefix(reason, "_") {
		return "step_" + strconv.Itoa(o.step) + reason
	}
	return reason
}

// has reports whether there is such a member, null or not.
func (o object) has(key string) bool {
	_, there := o.members[key]
	return there
}

// text reads a member that must be a text, and strips it.
func (o object) text(key, reason, want string) string {
	s, ok := text(o.members[key])
	if !ok {
		o.wrong(reason, key, want).Fix = asText(o.at.Member(key), o.members[key])
	}
	return s
}

// nameReasons are how a name's absence and its refusal are called.
type nameReasons struct{ missing, notAllowed string }

// name reads a stripped name that must stand on an allowlist; false if it does not.
func (o object) name(key string, reasons nameReasons, allowed []string) (string, bool) {
	n, ok := text(o.members[key])
	if !ok {
		o.wrong(reasons.missing, key, oneOf(allowed))
		return "", false
	}
	if slices.Contains(allowed, n) {
		return n, true
	}
	p := o.wrong(reasons.notAllowed+":"+ijson.Cut(n, maxNamed), key, oneOf(allowed))
	p.Means(o.at.Member(key), n, catalog.Near(n, allowed))
	return n, false
}

// args reads arguments: absent and null are none.
func (o object) args(reason, want string) (map[string]any, bool) {
	v := o.members["args"]
	if v == nil {
		return map[string]any{}, true
	}
	args, ok := v.(map[string]any)
	if !ok {
		o.wrong(reason, "args", want).Fix = asObject(o.at.Member("args"), v)
	}
	return args, ok
}

// extra notes each member beyond the known ones, by name. A near name and a name of the table are renamed, and a member that
// says nothing is removed. The caller must decide about any other.
func (o object) extra(reason string, table []rename, known ...string) {
	unknown, means := misspelt(o.members, known)
	fixes := renamed(o.members, unknown, known, table)
	for _, name := range unknown {
		p := o.wrong(reason, name, listing("no member beyond ", known))
		fix, clear := fixes[name]
		switch {
		case means[name] != "":
			p.rename(o.members, o.at, name, means[name], "")
		case clear:
			p.Fix = fix.in(o.at, name)
		case saysNothing(name, o.members[name]):
			p.Fix = &Fix{At: o.at.Member(name), Remove: true}
		default:
			p.Choose = RemoveOrRename
		}
	}
}

// RemoveOrRename is what the caller must decide about a member that is not known, see [Problem.Choose].
const RemoveOrRename = "remove it or use a known name"

// misspelt lists an object's members beyond the known ones, by name, and which known one each means: a near name that
// is free, and that no other means.
func misspelt(obj map[string]any, known []string) (unknown []string, means map[string]string) {
	means = map[string]string{}
	meant := map[string]int{} // how many names mean a known one
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if slices.Contains(known, name) {
			continue
		}
		unknown = append(unknown, name)
		right := catalog.Near(name, known)
		if _, taken := obj[right]; right != "" && !taken {
			means[name] = right
			meant[right]++
		}
	}
	maps.DeleteFunc(means, func(_, right string) bool { return meant[right] > 1 })
	return unknown, means
}

// idSet tells whether ids of one intent are repeated.
type idSet struct {
	rows []any
	seen map[string]bool
	all  map[string]bool // every id that stands anywhere, so that a repair does not collide; made when first needed
}

func newIDs(rows []any) *idSet { return &idSet{rows: rows} }

// id reads a stripped id that no other object has.
func (o object) id(ids *idSet, missing, duplicate string) string {
	id, ok := text(o.members["id"])
	switch {
	case !ok:
		p := o.wrong(missing, "id", "a text that names it")
		if p.Fix = asText(o.at.Member("id"), o.members["id"]); p.Fix != nil && p.listed() {
			p.Fix.Value = ids.unused(p.Fix.Value.(string))
		}
	case ids.seen[id]:
		p := o.wrong(duplicate, "id", "an id that no other has")
		if p.listed() {
			p.Fix = &Fix{At: o.at.Member("id"), Value: ids.unused(id)}
		}
	case ids.seen == nil:
		ids.seen = make(map[string]bool, len(ids.rows))
		ids.seen[id] = true
	default:
		ids.seen[id] = true
	}
	return id
}

// unused is the id, with the first suffix _2, _3, ... that makes it one which nobody has.
func (ids *idSet) unused(id string) string {
	if ids.all == nil {
		ids.all = map[string]bool{}
		for _, row := range ids.rows {
			obj, _ := row.(map[string]any)
			if id, ok := text(obj["id"]); ok {
				ids.all[id] = true
			}
		}
	}
	next := id
	for n := 2; ids.all[next]; n++ {
		next = id + "_" + strconv.Itoa(n)
	}
	ids.all[next] = true
	return next
}

// otherName is the repair of a missing member that stands under a near name or under another name of the table; nil where none does.
func (o object) otherName(key string, table []rename, known ...string) *Fix {
	unknown, means := misspelt(o.members, known)
	fixes := renamed(o.members, unknown, known, table)
	for _, name := range unknown {
		if means[name] == key {
			return &Fix{At: o.at.Member(key), Value: o.members[name], From: o.at.Member(name)}
		}
	}
	for _, name := range unknown {
		if fix, clear := fixes[name]; clear && string(fix.At) == key {
			return fix.in(o.at, name)
		}
	}
	return nil
}

// extraPresent is [object.extra] where null members count as absent.
func (o object) extraPresent(reason string, table []rename, known []string) {
	if !o.hasOther(known) {
		return
	}
	present := make(map[string]any, len(o.members))
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if v := o.members[name]; v != nil {
			present[name] = v
		}
	}
	o.members = present
	o.extra(reason, table, known...)
}

// hasOther reports whether there are more members than the known ones; it is the quick way past nearly all objects.
func (o object) hasOther(known []string) bool {
	for name := range maps.Keys(o.members) { // in any order: the answer is the same
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}
