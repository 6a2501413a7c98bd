package grammar

import (
	"encoding/json"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Held is a mapping that is there only where the file has it, and replaced whole.
func Held[T any](name string, target **T, fresh func() T, keys func(*T) []Key) Key {
	return Key{
		Name: name,
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

// Need says that the key may not be left out, and what is missing then.
func (k Key) Need(want string) Key {
	k.Required = want
	return k
}

// Key is one key of the file: how its value is read and how it is shown. One list of keys is the grammar, the
// names for suggestions, the effective configuration and the hash.
type Key struct {
	Name    string
	Numeric bool   // a variable's text is read as a number
	Takes   string // what may stand there, in words
	Meaning string // what it is for, in a line; empty for a group
	// read takes a value that is not null; what is wrong with it goes to the reader's faults.
	Read func(r *Reader, n *yamldoc.Node, path *yamldoc.Path)
	// show gives the value in force: nil, bool, float64, string, []string, another decoded value or, for a mapping, []configKey.
	Show func() any
	// keep gives what a snapshot holds in the place of show, where that would lose an order; nil: show.
	Keep func() any
	// ordered: of a mapping, the order of its members says something.
	Ordered bool
	// form is the JSON schema of what may stand here; nil for a group.
	Form func() map[string]any
	// required says what is missing where the key is absent; "": it may be left out.
	Required string
	// below are the keys of a mapping that is not always there, or of each of its entries, whose names the file chooses.
	Below   func() []Key
	Entries bool
	// others is, of a mapping of named groups, the JSON schema of what stands under names that the file adds. nil: it adds none.
	Others func() map[string]any
}

// as says in JSON schema what may stand there.
func (k Key) as(form map[string]any) Key {
	k.Form = func() map[string]any { return form }
	return k
}

// Means says what a key is for, in a line of docs/config.md. Every key but a group has one: TestConfigPage holds it.
func (k Key) Means(line string) Key {
	k.Meaning = line
	return k
}

// Group is a mapping of keys. A key that is null is as if absent.
func Group(name string, keys ...Key) Key { return GroupWith(name, UnknownKey, keys) }

// GroupWith is a groupKey with words of its own for a key that it does not know.
func GroupWith(name string, unknown func(key string, known []string) yamldoc.Fault, keys []Key) Key {
	return Key{
		Name: name,
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) { r.Group(n, path, keys, unknown) },
		Show: func() any { return keys },
	}
}

// JSONLines is a list of which each item is shown on a line of its own.
type JSONLines []json.RawMessage

// Values are the items decoded.
func (l JSONLines) Values() []any {
	list := make([]any, len(l))
	for i, line := range l {
		list[i] = RawValue(line)
	}
	return list
}

func NamesOf(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

func UnknownKey(key string, known []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: "unknown key", DidYouMean: catalog.Near(key, known)}
	if f.DidYouMean == "" {
		f.Want = "write " + yamldoc.Alternatives(known)
	}
	return f
}

func TextValues(texts []string) []any {
	items := make([]any, len(texts))
	for i, text := range texts {
		items[i] = text
	}
	return items
}

// RawValue decodes what was kept as JSON.
func RawValue(text json.RawMessage) any {
	v, err := ijson.DecodeCanonical(text)
	if err != nil {
		return nil
	}
	return v
}
