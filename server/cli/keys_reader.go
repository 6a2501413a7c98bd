package cli

import (
	"patterngate/server/settings/yamldoc"
	"slices"
	"strings"
)

// each goes through a mapping whose names the file chooses, past those that are null or could not be read.
func (r *configReader) each(n *yamldoc.Node, path *yamldoc.Path, names nameRule, do func(m yamldoc.Member, below *yamldoc.Path)) {
	if n.Kind != yamldoc.Mapping {
		r.wrong(n, path, "write a mapping of names, {} for none")
		return
	}
	for _, m := range n.Members {
		below := path.Key(m.Key)
		switch {
		case !names.fits.MatchString(m.Key):
			r.faults.Add(m.At, below, yamldoc.Fault{Reason: "not a name", Want: names.want})
		case m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable:
			r.places[below.String()] = m.Value.At
			do(m, below)
		}
	}
}

// list reads a list, past items that could not be read; false where it is none.
func (r *configReader) list(n *yamldoc.Node, path *yamldoc.Path, do func(item *yamldoc.Node, at *yamldoc.Path)) bool {
	if n.Kind != yamldoc.List {
		r.wrong(n, path, "write a list, [] for none")
		return false
	}
	for i, item := range n.Items {
		if item.Kind != yamldoc.Unreadable {
			do(item, path.Item(i))
		}
	}
	return true
}

// said is what stands under these keys of the file, where it is not null.
func (r *configReader) said(steps ...string) *yamldoc.Node {
	return saidIn(r.root, steps...)
}

func saidIn(n *yamldoc.Node, steps ...string) *yamldoc.Node {
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

// at is where the value of a path stands in the file that was read last, else the nearest value around it.
func (r *configReader) at(path *yamldoc.Path) yamldoc.Place {
	_, value := r.root.Find(path)
	return value.At
}

// keyAt is where the last key of a path stands, else the nearest value around it.
func (r *configReader) keyAt(path *yamldoc.Path) yamldoc.Place {
	key, _ := r.root.Find(path)
	return key
}

// configReader reads nodes into a configuration and remembers where each value stood.
type configReader struct {
	faults *yamldoc.Faults
	places map[string]yamldoc.Place // of the values read last, by path
	home   func(path string) string // replaces ~/; nil: it is not replaced
	root   *yamldoc.Node            // of the file that was read last
	// notes are what the keys of a section leave for those who check or use them. The reader only carries them.
	notes any
}

// newReader returns a reader that adds to faults. The function home replaces ~/ in paths; nil leaves it.
func newReader(faults *yamldoc.Faults, home func(path string) string) *configReader {
	return &configReader{faults: faults, places: map[string]yamldoc.Place{}, home: home}
}

// file reads a whole file.
func (r *configReader) file(root *yamldoc.Node, keys []configKey) {
	r.root = root
	if root.Kind == yamldoc.Unreadable {
		return
	}
	if root.Kind == yamldoc.Null {
		root = &yamldoc.Node{Kind: yamldoc.Mapping, At: root.At}
	}
	if root.Kind != yamldoc.Mapping {
		r.wrong(root, nil, "write a mapping that begins with version: 1")
		return
	}
	r.group(root, nil, keys, unknownKey)
	if !slices.ContainsFunc(root.Members, func(m yamldoc.Member) bool { return m.Key == "version" && m.Value.Kind != yamldoc.Null }) {
		r.faults.Add(root.At, (*yamldoc.Path)(nil).Key("version"), yamldoc.Fault{Reason: "missing", Want: "write version: 1"})
	}
}

// group reads a mapping by its keys. At the root keys that begin with x- are free.
func (r *configReader) group(n *yamldoc.Node, path *yamldoc.Path, keys []configKey, unknown func(string, []string) yamldoc.Fault) {
	if r.members(n, path, keys, unknown) {
		r.missing(n, path, keys)
	}
}

// missing finds the keys that may not be left out.
func (r *configReader) missing(n *yamldoc.Node, path *yamldoc.Path, keys []configKey) {
	for _, k := range keys {
		if m := n.Member(k.name); k.required != "" && (m == nil || m.Kind == yamldoc.Null) {
			r.faults.Add(n.At, path.Key(k.name), yamldoc.Fault{Reason: "missing", Want: k.required})
		}
	}
}

// members reads those keys of a mapping that are there; false where it is none.
func (r *configReader) members(n *yamldoc.Node, path *yamldoc.Path, keys []configKey, unknown func(string, []string) yamldoc.Fault) bool {
	if n.Kind != yamldoc.Mapping {
		r.wrong(n, path, "write a mapping with "+yamldoc.Alternatives(keyNames(keys)))
		return false
	}
	for _, m := range n.Members {
		below := path.Key(m.Key)
		at := slices.IndexFunc(keys, func(k configKey) bool { return k.name == m.Key })
		switch {
		case at < 0 && path == nil && strings.HasPrefix(m.Key, "x-"):
		case at < 0:
			r.faults.Add(m.At, below, unknown(m.Key, keyNames(keys)))
		case m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable:
			r.places[below.String()] = m.Value.At
			keys[at].read(r, m.Value, below)
		}
	}
	return true
}

// wrong records a value of another type than wanted.
func (r *configReader) wrong(n *yamldoc.Node, path *yamldoc.Path, want string) {
	r.faults.Add(n.At, path, yamldoc.Fault{Reason: "wrong type", Got: n.Shown(), Want: want})
}
