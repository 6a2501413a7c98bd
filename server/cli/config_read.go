package cli

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/server/settings/yamldoc"
)

// configReader reads nodes into a configuration and remembers where each value stood.
type configReader struct {
	faults *yamldoc.Faults
	places map[string]yamldoc.Place // of the values read last, by path
	home   func(path string) string // replaces ~/; nil: it is not replaced
	root   *yamldoc.Node            // of the file that was read last
	embeds bool                     // it reads the embedded default
	texts  map[string][]byte        // that stand in for those of files; see [ConfigSources]
	// compiled are the schemas of the file's arguments.
	compiled compiledArguments
	// strange are names of allow lists that the embedded default does not have; the file may.
	strange []strangeName
}

// strangeName is a name in an allow list, and where it stands.
type strangeName struct {
	at    yamldoc.Place
	path  *yamldoc.Path
	name  string
	known []string
	kind  gateway.Kind
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

func keyNames(keys []configKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

func unknownKey(key string, known []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: "unknown key", DidYouMean: gateway.Near(key, known)}
	if f.DidYouMean == "" {
		f.Want = "write " + yamldoc.Alternatives(known)
	}
	return f
}

// wrong records a value of another type than wanted.
func (r *configReader) wrong(n *yamldoc.Node, path *yamldoc.Path, want string) {
	r.faults.Add(n.At, path, yamldoc.Fault{Reason: "wrong type", Got: n.Shown(), Want: want})
}

// bounds are what a number may be.
type bounds struct {
	min, max float64
	whole    bool
	noun     string // a number of seconds; empty means a number, or a whole one
	seconds  bool
	above    bool // min itself is out of range
}

func (b bounds) words() string {
	switch {
	case b.noun != "":
		return b.noun
	case b.whole:
		return "a whole number"
	}
	return "a number"
}

// span words the bounds: a whole number from 0 to 10.
func (b bounds) span() string {
	from := b.words() + " from " + yamldoc.NumberText(b.min)
	if b.above {
		from = b.words() + " above " + yamldoc.NumberText(b.min)
	}
	if math.IsInf(b.max, 1) {
		return from + " on"
	}
	return from + " to " + yamldoc.NumberText(b.max)
}

// number reads a number; now is the value in force, for the message.
func (r *configReader) number(n *yamldoc.Node, path *yamldoc.Path, b bounds, now float64) (float64, bool) {
	if n.Kind != yamldoc.Number {
		r.wrong(n, path, "write "+b.words()+": "+yamldoc.NumberText(b.meant(n, now)))
		return 0, false
	}
	reason := ""
	switch {
	case b.whole && n.Number != math.Trunc(n.Number):
		reason = "not whole"
	case n.Number < b.min || n.Number > b.max || b.above && n.Number == b.min:
		reason = "out of range"
	default:
		return n.Number, true
	}
	r.faults.Add(n.At, path, yamldoc.Fault{Reason: reason, Got: spelling(n), Want: "write " + b.span()})
	return 0, false
}

func spelling(n *yamldoc.Node) string {
	if len(n.Text) > yamldoc.MaxQuoted {
		return yamldoc.NumberText(n.Number)
	}
	return n.Text
}

// textNumber is a number that somebody wrote as text, with or without a unit.
var textNumber = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*[a-zA-Z$%]*\s*$`)

// meant is the number that a text wanted to be, else the one in force.
func (b bounds) meant(n *yamldoc.Node, now float64) float64 {
	if n.Kind != yamldoc.Text {
		return now
	}
	v := math.NaN()
	if part := textNumber.FindStringSubmatch(n.Text); part != nil {
		v, _ = strconv.ParseFloat(part[1], 64)
	}
	if d, err := time.ParseDuration(n.Text); err == nil && b.seconds {
		v = d.Seconds()
	}
	if v >= b.min && v <= b.max && !(b.whole && v != math.Trunc(v)) {
		return v
	}
	return now
}

// word reads one of some words.
func (r *configReader) word(n *yamldoc.Node, path *yamldoc.Path, words []string) (string, bool) {
	if n.Kind != yamldoc.Text {
		r.wrong(n, path, "write "+yamldoc.Alternatives(words))
		return "", false
	}
	if !slices.Contains(words, n.Text) {
		r.faults.Add(n.At, path, yamldoc.Fault{
			Reason: "unknown word", Got: yamldoc.Quoted(n.Text), Want: "write " + yamldoc.Alternatives(words), DidYouMean: gateway.Near(n.Text, words),
		})
		return "", false
	}
	return n.Text, true
}

// boolWords tells who wrote a word of YAML 1.1 which one is meant.
func boolWords(n *yamldoc.Node) string {
	switch strings.ToLower(n.Text) {
	case "yes", "on", "y", "true":
		return "write true"
	case "no", "off", "n", "false":
		return "write false"
	}
	return "write true or false"
}

var toolName = lazily(`^[a-zA-Z0-9_-]{1,64}$`)

// names reads a list of tools' names; null within is no name. Names that nobody knows are warnings, since a call
// of them ends with *_missing.
func (r *configReader) names(n *yamldoc.Node, path *yamldoc.Path, known []string, kind gateway.Kind) ([]string, bool) {
	if n.Kind != yamldoc.List {
		want := "write a list of names, [] for none"
		if n.Kind == yamldoc.Text && toolName.MatchString(n.Text) {
			want = "write a list: [" + n.Text + "]"
		}
		r.wrong(n, path, want)
		return nil, false
	}
	names, ok := make([]string, 0, len(n.Items)), true
	for i, item := range n.Items {
		at := path.Item(i)
		switch {
		case item.Kind == yamldoc.Unreadable:
			ok = false
		case item.Kind != yamldoc.Text || !toolName.MatchString(item.Text):
			r.faults.Add(item.At, at, yamldoc.Fault{Reason: "not a name", Got: item.Shown(), Want: "write a name: 1 to 64 letters, digits, _ and -"})
			ok = false
		case !slices.Contains(known, item.Text):
			r.strange = append(r.strange, strangeName{item.At, at, item.Text, known, kind})
			fallthrough
		default:
			names = append(names, item.Text)
		}
	}
	return names, ok
}

// unknownName is the warning for a name that no tool, worker or route has.
func unknownName(name string, known []string, kind gateway.Kind) yamldoc.Fault {
	noun := map[gateway.Kind]string{gateway.Orchestrator: "worker", gateway.Routing: "route"}[kind]
	if noun == "" {
		noun = "tool"
	}
	f := yamldoc.Fault{Reason: "no " + noun + " " + name, DidYouMean: gateway.Near(name, known)}
	if f.DidYouMean == "" {
		f.Want = "there are " + strings.Join(known, ", ")
	}
	return f
}
