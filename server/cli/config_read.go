package cli

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/gateway"
)

// configReader reads nodes into a configuration and remembers where each value stood.
type configReader struct {
	faults *configFaults
	places map[string]place         // of the values read last, by path
	home   func(path string) string // replaces ~/; nil: it is not replaced
	root   *yamlNode                // of the file that was read last
	embeds bool                     // it reads the embedded default
	texts  map[string][]byte        // that stand in for those of files; see [ConfigSources]
	// compiled are the schemas of the file's arguments.
	compiled compiledArguments
	// strange are names of allow lists that the embedded default does not have; the file may.
	strange []strangeName
}

// strangeName is a name in an allow list, and where it stands.
type strangeName struct {
	at    place
	path  *keyPath
	name  string
	known []string
	kind  gateway.Kind
}

// file reads a whole file.
func (r *configReader) file(root *yamlNode, keys []configKey) {
	r.root = root
	if root.kind == yamlBad {
		return
	}
	if root.kind == yamlNull {
		root = &yamlNode{kind: yamlMapping, at: root.at}
	}
	if root.kind != yamlMapping {
		r.wrong(root, nil, "write a mapping that begins with version: 1")
		return
	}
	r.group(root, nil, keys, unknownKey)
	if !slices.ContainsFunc(root.members, func(m yamlMember) bool { return m.key == "version" && m.value.kind != yamlNull }) {
		r.faults.add(root.at, (*keyPath)(nil).key("version"), Fault{Reason: "missing", Want: "write version: 1"})
	}
}

// group reads a mapping by its keys. At the root keys that begin with x- are free.
func (r *configReader) group(n *yamlNode, path *keyPath, keys []configKey, unknown func(string, []string) Fault) {
	if r.members(n, path, keys, unknown) {
		r.missing(n, path, keys)
	}
}

// missing finds the keys that may not be left out.
func (r *configReader) missing(n *yamlNode, path *keyPath, keys []configKey) {
	for _, k := range keys {
		if m := n.member(k.name); k.required != "" && (m == nil || m.kind == yamlNull) {
			r.faults.add(n.at, path.key(k.name), Fault{Reason: "missing", Want: k.required})
		}
	}
}

// members reads those keys of a mapping that are there; false where it is none.
func (r *configReader) members(n *yamlNode, path *keyPath, keys []configKey, unknown func(string, []string) Fault) bool {
	if n.kind != yamlMapping {
		r.wrong(n, path, "write a mapping with "+listed(keyNames(keys)))
		return false
	}
	for _, m := range n.members {
		below := path.key(m.key)
		at := slices.IndexFunc(keys, func(k configKey) bool { return k.name == m.key })
		switch {
		case at < 0 && path == nil && strings.HasPrefix(m.key, "x-"):
		case at < 0:
			r.faults.add(m.at, below, unknown(m.key, keyNames(keys)))
		case m.value.kind != yamlNull && m.value.kind != yamlBad:
			r.places[below.String()] = m.value.at
			keys[at].read(r, m.value, below)
		}
	}
	return true
}

// member is the value of a key; nil where there is none.
func (n *yamlNode) member(key string) *yamlNode {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func keyNames(keys []configKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

func unknownKey(key string, known []string) Fault {
	f := Fault{Reason: "unknown key", DidYouMean: gateway.Near(key, known)}
	if f.DidYouMean == "" {
		f.Want = "write " + listed(known)
	}
	return f
}

// wrong records a value of another type than wanted.
func (r *configReader) wrong(n *yamlNode, path *keyPath, want string) {
	r.faults.add(n.at, path, Fault{Reason: "wrong type", Got: gotWords(n), Want: want})
}

// gotWords is a value as a message shows it.
func gotWords(n *yamlNode) string {
	switch n.kind {
	case yamlNull:
		return "null"
	case yamlBool:
		return strconv.FormatBool(n.flag)
	case yamlNumber:
		return n.text
	case yamlText:
		return quoted(n.text)
	case yamlList:
		return "a list"
	case yamlMapping:
		return "a mapping"
	}
	return "nothing readable"
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
	from := b.words() + " from " + numberText(b.min)
	if b.above {
		from = b.words() + " above " + numberText(b.min)
	}
	if math.IsInf(b.max, 1) {
		return from + " on"
	}
	return from + " to " + numberText(b.max)
}

// number reads a number; now is the value in force, for the message.
func (r *configReader) number(n *yamlNode, path *keyPath, b bounds, now float64) (float64, bool) {
	if n.kind != yamlNumber {
		r.wrong(n, path, "write "+b.words()+": "+numberText(b.meant(n, now)))
		return 0, false
	}
	reason := ""
	switch {
	case b.whole && n.number != math.Trunc(n.number):
		reason = "not whole"
	case n.number < b.min || n.number > b.max || b.above && n.number == b.min:
		reason = "out of range"
	default:
		return n.number, true
	}
	r.faults.add(n.at, path, Fault{Reason: reason, Got: spelling(n), Want: "write " + b.span()})
	return 0, false
}

func spelling(n *yamlNode) string {
	if len(n.text) > maxQuoted {
		return numberText(n.number)
	}
	return n.text
}

// textNumber is a number that somebody wrote as text, with or without a unit.
var textNumber = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*[a-zA-Z$%]*\s*$`)

// meant is the number that a text wanted to be, else the one in force.
func (b bounds) meant(n *yamlNode, now float64) float64 {
	if n.kind != yamlText {
		return now
	}
	v := math.NaN()
	if part := textNumber.FindStringSubmatch(n.text); part != nil {
		v, _ = strconv.ParseFloat(part[1], 64)
	}
	if d, err := time.ParseDuration(n.text); err == nil && b.seconds {
		v = d.Seconds()
	}
	if v >= b.min && v <= b.max && !(b.whole && v != math.Trunc(v)) {
		return v
	}
	return now
}

// word reads one of some words.
func (r *configReader) word(n *yamlNode, path *keyPath, words []string) (string, bool) {
	if n.kind != yamlText {
		r.wrong(n, path, "write "+listed(words))
		return "", false
	}
	if !slices.Contains(words, n.text) {
		r.faults.add(n.at, path, Fault{
			Reason: "unknown word", Got: quoted(n.text), Want: "write " + listed(words), DidYouMean: gateway.Near(n.text, words),
		})
		return "", false
	}
	return n.text, true
}

// boolWords tells who wrote a word of YAML 1.1 which one is meant.
func boolWords(n *yamlNode) string {
	switch strings.ToLower(n.text) {
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
func (r *configReader) names(n *yamlNode, path *keyPath, known []string, kind gateway.Kind) ([]string, bool) {
	if n.kind != yamlList {
		want := "write a list of names, [] for none"
		if n.kind == yamlText && toolName.MatchString(n.text) {
			want = "write a list: [" + n.text + "]"
		}
		r.wrong(n, path, want)
		return nil, false
	}
	names, ok := make([]string, 0, len(n.items)), true
	for i, item := range n.items {
		at := path.item(i)
		switch {
		case item.kind == yamlBad:
			ok = false
		case item.kind != yamlText || !toolName.MatchString(item.text):
			r.faults.add(item.at, at, Fault{Reason: "not a name", Got: gotWords(item), Want: "write a name: 1 to 64 letters, digits, _ and -"})
			ok = false
		case !slices.Contains(known, item.text):
			r.strange = append(r.strange, strangeName{item.at, at, item.text, known, kind})
			fallthrough
		default:
			names = append(names, item.text)
		}
	}
	return names, ok
}

// unknownName is the warning for a name that no tool, worker or route has.
func unknownName(name string, known []string, kind gateway.Kind) Fault {
	noun := map[gateway.Kind]string{gateway.Orchestrator: "worker", gateway.Routing: "route"}[kind]
	if noun == "" {
		noun = "tool"
	}
	f := Fault{Reason: "no " + noun + " " + name, DidYouMean: gateway.Near(name, known)}
	if f.DidYouMean == "" {
		f.Want = "there are " + strings.Join(known, ", ")
	}
	return f
}
