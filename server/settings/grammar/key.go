package grammar

import (
	"encoding/json"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Key is one key of the file: how its value is read, shown and described. The functions of this package make keys for common values;
// each reads into a target and shows that target. A Key made by hand needs Name, Read and Show.
type Key struct {
	Name    string
	Numeric bool   // the text of a variable or flag is read as a number
	Takes   string // what the value may be, as docs/config.md says it
	Meaning string // one line about its purpose; empty for a group
	// Read reads a value that is not null, and adds what is wrong to the reader's faults.
	Read func(r *Reader, n *yamldoc.Node, path *yamldoc.Path)
	// Show returns the value in force: nil, bool, float64, string, []string, json.RawMessage, [JSONLines], another decoded value or,
	// for a mapping, []Key.
	Show func() any
	// Keep returns what a snapshot keeps instead, if an order matters that Show would lose. nil is Show.
	Keep func() any
	// Ordered says that the order of a mapping's members matters.
	Ordered bool
	// Form returns the JSON schema of the value; nil for a mapping whose schema comes from its keys.
	Form func() map[string]any
	// Required says what to write if the key is missing. Empty means that it may be left out.
	Required string
	// Below returns the keys of a mapping that is not always there. With Entries they are those of each entry, and the file chooses
	// the names.
	Below   func() []Key
	Entries bool
	// Brief says that the keys below have no lines of their own in docs/config.md, because Takes or Meaning names them. Their schema
	// has no descriptions and no defaults.
	Brief bool
	// Others returns the JSON schema of members that the file adds to a mapping of named groups. nil: it adds none.
	Others func() map[string]any
}

// Means returns the key with its purpose, one line of docs/config.md. Every key except a group has one.
func (k Key) Means(line string) Key {
	k.Meaning = line
	return k
}

// Need returns the key as one that must be there. The fault of a missing key says what to write.
func (k Key) Need(want string) Key {
	k.Required = want
	return k
}

// as returns the key with this JSON schema.
func (k Key) as(form map[string]any) Key {
	k.Form = func() map[string]any { return form }
	return k
}

// Group is a mapping with these keys. A key that is null counts as absent.
func Group(name string, keys ...Key) Key { return groupWith(name, UnknownKey, keys) }

// groupWith is a [Group] that words the fault of an unknown key itself.
func groupWith(name string, unknown func(key string, known []string) yamldoc.Fault, keys []Key) Key {
	return Key{
		Name: name,
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) { r.Group(n, path, keys, unknown) },
		Show: func() any { return keys },
	}
}

// Held is a mapping that is nil unless the file has it. The file replaces it as a whole: keys that it leaves out have the values of fresh.
func Held[T any](name string, target **T, fresh func() T, keys func(*T) []Key) Key {
	return Key{
		Name: name, Takes: "mapping",
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			value := fresh()
			r.Group(n, path, keys(&value), UnknownKey)
			*target = &value
		},
		Show: func() any {
			if *target == nil {
				return nil
			}
			return keys(*target)
		},
		Below: func() []Key {
			value := fresh()
			return keys(&value)
		},
	}
}

// InBrief returns a [Group] or [Held] as a key that is described in one line.
func InBrief(k Key) Key {
	if below, _ := k.Show().([]Key); k.Below == nil {
		k.Below = func() []Key { return below }
	}
	k.Brief, k.Takes = true, Braced(k.Below())
	return k
}

// Braced returns the names of keys as a text: {tool, args}.
func Braced(keys []Key) string { return "{" + strings.Join(NamesOf(keys), ", ") + "}" }

// NamesOf returns the names of keys, in their order.
func NamesOf(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// UnknownKey is the fault of a key that is not among the known ones. It has the nearest name, else all of them.
func UnknownKey(key string, known []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: unknownKey, DidYouMean: catalog.NearTyped(key, known)}
	if f.DidYouMean == "" {
		f.DidYouMean = longer(key, known)
	}
	if f.DidYouMean == "" {
		f.Want = "write " + yamldoc.Alternatives(known)
	}
	return f
}

// longer returns the only known key that has all words of the key and more, in their order, as max_plan_steps for max_steps.
// It returns "" if there is none or if the key has only one word.
func longer(key string, known []string) string {
	words := strings.Split(key, "_")
	if len(words) < 2 {
		return ""
	}
	found := ""
	for _, k := range known {
		rest := words
		for _, w := range strings.Split(k, "_") {
			if len(rest) > 0 && w == rest[0] {
				rest = rest[1:]
			}
		}
		switch {
		case len(rest) > 0:
		case found != "":
			return ""
		default:
			found = k
		}
	}
	return found
}

// JSONLines is a list that is shown with one item a line.
type JSONLines []json.RawMessage

// Values returns the items decoded.
func (l JSONLines) Values() []any {
	list := make([]any, len(l))
	for i, line := range l {
		list[i] = RawValue(line)
	}
	return list
}

// list returns the items as a JSON array.
func (l JSONLines) list() []byte {
	out := []byte{'['}
	for i, line := range l {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, line...)
	}
	return append(out, ']')
}

// RawValue decodes a text that was kept as canonical JSON; nil if it is none.
func RawValue(text json.RawMessage) any {
	v, err := ijson.DecodeCanonical(text)
	if err != nil {
		return nil
	}
	return v
}

// TextValues returns texts as a decoded list.
func TextValues(texts []string) []any {
	items := make([]any, len(texts))
	for i, text := range texts {
		items[i] = text
	}
	return items
}
