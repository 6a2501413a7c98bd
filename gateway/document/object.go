package document

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Object is a JSON object of a document that a parser reads: its members, its place, and the faults found so far. Pointers and
// reasons are built only for faults.
type Object struct {
	*Faults
	Members map[string]any
	At      ijson.Pointer
	Step    int // the number of a step of a plan, from 1; 0 for other objects
}

// Wrong notes a fault of a member, which can be absent. A reason that begins with _ is a step's and gets its number, see
// [Object.Numbered].
func (o Object) Wrong(reason, key, want string) *Problem {
	return o.Add(o.Numbered(reason), o.At.Member(key), Member(o.Members, key), want)
}

// Numbered returns a reason that begins with _ with the number of the step before it: step_3_missing_id. It returns any other reason
// unchanged.
func (o Object) Numbered(reason string) string {
	if strings.HasPrefix(reason, "_") {
		return "step_" + strconv.Itoa(o.Step) + reason
	}
	return reason
}

// Has reports whether the member is there. A null counts.
func (o Object) Has(key string) bool {
	_, there := o.Members[key]
	return there
}

// Text reads a member that must be a text, and removes the blanks around it. It notes a fault of this reason if it is none.
func (o Object) Text(key, reason, want string) string {
	s, ok := Text(o.Members[key])
	if !ok {
		o.Wrong(reason, key, want).Fix = asText(o.At.Member(key), o.Members[key])
	}
	return s
}

// NameReasons are the reasons of a name that is missing and of one that is not allowed.
type NameReasons struct{ Missing, NotAllowed string }

// Name reads a name, without blanks around it, that must be one of the allowed. It is false if it is not.
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

// Args reads the member args, an object. Absent and null are an empty object. It is false for any other value.
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

// Extra notes each member that is not known, in the order of the names. Its problem offers to rename a misspelt name and a name
// of the table, and to remove a member without meaning. The caller must decide about any other member.
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

// RemoveOrRename is the [Problem.Choose] of a member that is not known.
const RemoveOrRename = removeOrKnown

// Misspellings lists the members of an object that are not known, in the order of the names, and which known name each means: a
// close one that the object does not have and that no other of its members means.
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

// IDs knows the ids of the objects of one list, so that a repeated id is noticed.
type IDs struct {
	rows []any
	seen map[string]bool
	all  map[string]bool // every id in the list, so that a repair does not repeat one; made when first needed
}

// NewIDs returns the ids of the objects in a list, none of which was read yet.
func NewIDs(rows []any) *IDs { return &IDs{rows: rows} }

// ID reads the member id, without blanks around it, which no object read before has. It notes a fault if it is missing or a duplicate.
func (o Object) ID(ids *IDs, missing, duplicate string) string {
	id, ok := Text(o.Members["id"])
	switch {
	case !ok:
		p := o.Wrong(missing, "id", textThatNames)
		if p.Fix = asText(o.At.Member("id"), o.Members["id"]); p.Fix != nil && p.Listed() {
			p.Fix.Value = ids.Unused(p.Fix.Value.(string))
		}
	case ids.seen[id]:
		p := o.Wrong(duplicate, "id", unusedID)
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

// Unused returns the id, or the id with the first suffix _2, _3, ... that no object has. It is used from then on.
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

// OtherName returns the repair of a missing member that is there under a misspelt name or under a name of the table; nil if it is
// not.
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

// ExtraPresent is [Object.Extra] for objects in which a null member counts as absent.
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

// HasOther reports whether there are members that are not known. It is fast, and false for nearly all objects.
func (o Object) HasOther(known []string) bool {
	for name := range maps.Keys(o.Members) { // in any order: the answer is the same
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}
