package grammar

import (
	"slices"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// Reader reads nodes by keys, collects what is wrong, and remembers where each value was. One Reader reads one configuration: the file,
// then variables and flags.
type Reader struct {
	Faults *yamldoc.Faults
	Places map[string]yamldoc.Place // of each value that was read, by path
	Home   func(path string) string // replaces "~/"; nil leaves it
	Root   *yamldoc.Node            // of the file that was read last

	notes []any // see [NotesOf]
}

// NewReader returns a reader that adds to faults. The function home replaces "~/" at the beginning of a path; nil leaves it.
func NewReader(faults *yamldoc.Faults, home func(path string) string) *Reader {
	return &Reader{Faults: faults, Places: map[string]yamldoc.Place{}, Home: home}
}

// NotesOf returns a value of type T that belongs to the reading, at first its zero value. Keys use it to share data or to
// leave data for later checks. This package does not use it.
func NotesOf[T any](r *Reader) *T {
	for _, n := range r.notes {
		if of, ok := n.(*T); ok {
			return of
		}
	}
	of := new(T)
	r.notes = append(r.notes, of)
	return of
}

// File reads a whole file. It requires the key version; an empty file is a mapping without keys.
func (r *Reader) File(root *yamldoc.Node, keys []Key) {
	r.Root = root
	if root.Kind == yamldoc.Unreadable {
		return
	}
	if root.Kind == yamldoc.Null {
		root = &yamldoc.Node{Kind: yamldoc.Mapping, At: root.At}
	}
	if root.Kind != yamldoc.Mapping {
		r.Wrong(root, nil, wantVersionFirst)
		return
	}
	r.Group(root, nil, keys, UnknownKey)
	if !slices.ContainsFunc(root.Members, func(m yamldoc.Member) bool { return m.Key == "version" && m.Value.Kind != yamldoc.Null }) {
		r.Faults.Add(root.At, (*yamldoc.Path)(nil).Key("version"), yamldoc.Fault{Reason: "missing", Want: wantVersion})
	}
}

// Group reads a mapping by its keys, and records keys that are unknown or missing. At the root, keys that begin with "x-" are free.
func (r *Reader) Group(n *yamldoc.Node, path *yamldoc.Path, keys []Key, unknown func(string, []string) yamldoc.Fault) {
	if r.Members(n, path, keys, unknown) {
		r.Missing(n, path, keys)
	}
}

// Members reads those keys of a mapping that are there, and records unknown ones. It returns false if n is no mapping.
func (r *Reader) Members(n *yamldoc.Node, path *yamldoc.Path, keys []Key, unknown func(string, []string) yamldoc.Fault) bool {
	if n.Kind != yamldoc.Mapping {
		r.Wrong(n, path, wantMappingWith(yamldoc.Alternatives(NamesOf(keys))))
		return false
	}
	for _, m := range n.Members {
		below := path.Key(m.Key)
		at := slices.IndexFunc(keys, func(k Key) bool { return k.Name == m.Key })
		switch {
		case at < 0 && path == nil && strings.HasPrefix(m.Key, "x-"):
		case at < 0:
			r.Faults.Add(m.At, below, unknown(m.Key, NamesOf(keys)))
		case m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable:
			r.Places[below.String()] = m.Value.At
			keys[at].Read(r, m.Value, below)
		}
	}
	return true
}

// Missing records the keys that must be there and are not.
func (r *Reader) Missing(n *yamldoc.Node, path *yamldoc.Path, keys []Key) {
	for _, k := range keys {
		if m := n.Member(k.Name); k.Required != "" && (m == nil || m.Kind == yamldoc.Null) {
			r.Faults.Add(n.At, path.Key(k.Name), yamldoc.Fault{Reason: "missing", Want: k.Required})
		}
	}
}

// Each calls do for each member of a mapping with names of the file's choice. It skips members that are null or unreadable, and records
// names that break the rule.
func (r *Reader) Each(n *yamldoc.Node, path *yamldoc.Path, names NameRule, do func(m yamldoc.Member, below *yamldoc.Path)) {
	if n.Kind != yamldoc.Mapping {
		r.Wrong(n, path, wantMapping)
		return
	}
	for _, m := range n.Members {
		below := path.Key(m.Key)
		switch {
		case !names.Fits.MatchString(m.Key):
			r.Faults.Add(m.At, below, yamldoc.Fault{Reason: notName, Want: names.Want})
		case m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable:
			r.Places[below.String()] = m.Value.At
			do(m, below)
		}
	}
}

// List calls do for each readable item of a list. It returns false if n is no list.
func (r *Reader) List(n *yamldoc.Node, path *yamldoc.Path, do func(item *yamldoc.Node, at *yamldoc.Path)) bool {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, wantList)
		return false
	}
	for i, item := range n.Items {
		if item.Kind != yamldoc.Unreadable {
			do(item, path.Item(i))
		}
	}
	return true
}

// Wrong records a value of another type than wanted.
func (r *Reader) Wrong(n *yamldoc.Node, path *yamldoc.Path, want string) {
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: wrongType, Got: n.Shown(), Want: want})
}

// Said returns the value under these keys of the file; nil if there is none, or null.
func (r *Reader) Said(steps ...string) *yamldoc.Node {
	return SaidIn(r.Root, steps...)
}

// SaidIn is [Reader.Said] for another root, which may be nil.
func SaidIn(n *yamldoc.Node, steps ...string) *yamldoc.Node {
	if n == nil { // there is no file
		return nil
	}
	for _, step := range steps {
		if n = n.Member(step); n == nil || n.Kind == yamldoc.Null {
			return nil
		}
	}
	return n
}

// At returns the place of a path's value in the file that was read last, or of the nearest value around it.
func (r *Reader) At(path *yamldoc.Path) yamldoc.Place {
	_, value := r.Root.Find(path)
	return value.At
}

// KeyAt returns the place of a path's last key, or of the nearest value around it.
func (r *Reader) KeyAt(path *yamldoc.Path) yamldoc.Place {
	key, _ := r.Root.Find(path)
	return key
}
