package document

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Object is a JSON object of an intent on its way through a parser: what it holds, where it stands, and the faults
// that are noted about it. Places and reasons are only put together for what is wrong.
type Object struct {
	*Faults
	Members map[string]any
	At      ijson.Pointer
	Step    int // its number from 1, if it is a step of a plan
}

// Wrong notes a fault of a member, as it stands or does not. A reason that begins with _ is that of a step, which
// has a number: step_3_missing_id.
func (o Object) Wrong(reason, key, want string) *Problem {
	return o.Add(o.Numbered(reason), o.At.Member(key), Member(o.Members, key), want)
}

func (o Object) Numbered(reason string) string {
	if strings.HasPrefix(reason, "_") {
		return "step_" + strconv.Itoa(o.Step) + reason
	}
	return reason
}

// Has reports whether there is such a member, null or not.
func (o Object) Has(key string) bool {
	_, there := o.Members[key]
	return there
}

// Text reads a member that must be a text, and strips it.
func (o Object) Text(key, reason, want string) string {
	s, ok := Text(o.Members[key])
	if !ok {
		o.Wrong(reason, key, want).Fix = asText(o.At.Member(key), o.Members[key])
	}
	return s
}

// NameReasons are how a name's absence and its refusal are called.
type NameReasons struct{ Missing, NotAllowed string }

// Name reads a stripped name that must stand on an allowlist; false if it does not.
func (o Object) Name(key string, reasons NameReasons, allowed []string) (string, bool) {
	n, ok := Text(o.Members[key])
	if !ok {
		o.Wrong(reasons.Missing, key, OneOf(allowed))
		return "", false
	}
	if slices.Contains(allowed, n) {
		return n, true
	}
	p := o.Wrong(reasons.NotAllowed+":"+ijson.Cut(n, MaxNamed), key, OneOf(allowed))
	p.Means(o.At.Member(key), n, catalog.Near(n, allowed))
	return n, false
}

// Args reads arguments: absent and null are none.
func (o Object) Args(reason, want string) (map[string]any, bool) {
	v := o.Members["args"]
	if v == nil {
		return map[string]any{}, true
	}
	args, ok := v.(map[string]any)
	if !ok {
		o.Wrong(reason, "args", want).Fix = AsObject(o.At.Member("args"), v)
	}
	return args, ok
}

// Extra notes each member beyond the known ones, by name. A near name and a name of the table are renamed, and a member that
// says nothing is removed. The caller must decide about any other.
func (o Object) Extra(reason string, table []Synonym, known ...string) {
	unknown, means := Misspellings(o.Members, known)
	fixes := renamed(o.Members, unknown, known, table)
	for _, name := range unknown {
		p := o.Wrong(reason, name, Listing("no member beyond ", known))
		fix, clear := fixes[name]
		switch {
		case means[name] != "":
			p.Rename(o.Members, o.At, name, means[name], "")
		case clear:
			p.Fix = fix.in(o.At, name)
		case saysNothing(name, o.Members[name]):
			p.Fix = &Fix{At: o.At.Member(name), Remove: true}
		default:
			p.Choose = RemoveOrRename
		}
	}
}

// RemoveOrRename is what the caller must decide about a member that is not known, see [Problem.Choose].
const RemoveOrRename = "remove it or use a known name"

// Misspellings lists an object's members beyond the known ones, by name, and which known one each means: a near name that
// is free, and that no other means.
func Misspellings(obj map[string]any, known []string) (unknown []string, means map[string]string) {
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

// IDs tells whether ids of one intent are repeated.
type IDs struct {
	rows []any
	seen map[string]bool
	all  map[string]bool // every id that stands anywhere, so that a repair does not collide; made when first needed
}

func NewIDs(rows []any) *IDs { return &IDs{rows: rows} }

// ID reads a stripped id that no other object has.
func (o Object) ID(ids *IDs, missing, duplicate string) string {
	id, ok := Text(o.Members["id"])
	switch {
	case !ok:
		p := o.Wrong(missing, "id", "a text that names it")
		if p.Fix = asText(o.At.Member("id"), o.Members["id"]); p.Fix != nil && p.Listed() {
			p.Fix.Value = ids.Unused(p.Fix.Value.(string))
		}
	case ids.seen[id]:
		p := o.Wrong(duplicate, "id", "an id that no other has")
		if p.Listed() {
			p.Fix = &Fix{At: o.At.Member("id"), Value: ids.Unused(id)}
		}
	case ids.seen == nil:
		ids.seen = make(map[string]bool, len(ids.rows))
		ids.seen[id] = true
	default:
		ids.seen[id] = true
	}
	return id
}

// Unused is the id, with the first suffix _2, _3, ... that makes it one which nobody has.
func (ids *IDs) Unused(id string) string {
	if ids.all == nil {
		ids.all = map[string]bool{}
		for _, row := range ids.rows {
			obj, _ := row.(map[string]any)
			if id, ok := Text(obj["id"]); ok {
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

// OtherName is the repair of a missing member that stands under a near name or under another name of the table; nil where none does.
func (o Object) OtherName(key string, table []Synonym, known ...string) *Fix {
	unknown, means := Misspellings(o.Members, known)
	fixes := renamed(o.Members, unknown, known, table)
	for _, name := range unknown {
		if means[name] == key {
			return &Fix{At: o.At.Member(key), Value: o.Members[name], From: o.At.Member(name)}
		}
	}
	for _, name := range unknown {
		if fix, clear := fixes[name]; clear && string(fix.At) == key {
			return fix.in(o.At, name)
		}
	}
	return nil
}

// ExtraPresent is [Object.Extra] where null members count as absent.
func (o Object) ExtraPresent(reason string, table []Synonym, known []string) {
	if !o.HasOther(known) {
		return
	}
	present := make(map[string]any, len(o.Members))
	for _, name := range slices.Sorted(maps.Keys(o.Members)) {
		if v := o.Members[name]; v != nil {
			present[name] = v
		}
	}
	o.Members = present
	o.Extra(reason, table, known...)
}

// HasOther reports whether there are more members than the known ones; it is the quick way past nearly all objects.
func (o Object) HasOther(known []string) bool {
	for name := range maps.Keys(o.Members) { // in any order: the answer is the same
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}
