package cli

import (
	"encoding/json"
	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// heldKey is a mapping that is there only where the file has it, and replaced whole.
func heldKey[T any](name string, target **T, fresh func() T, keys func(*T) []configKey) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			value := fresh()
			r.group(n, path, keys(&value), unknownKey)
			*target = &value
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			return keys(*target)
		},
		below: func() []configKey {
			value := fresh()
			return keys(&value)
		},
	}
}

// need says that the key may not be left out, and what is missing then.
func (k configKey) need(want string) configKey {
	k.required = want
	return k
}

// configKey is one key of the file: how its value is read and how it is shown. One list of keys is the grammar, the
// names for suggestions, the effective configuration and the hash.
type configKey struct {
	name    string
	numeric bool   // a variable's text is read as a number
	takes   string // what may stand there, in words
	meaning string // what it is for, in a line; empty for a group
	// read takes a value that is not null; what is wrong with it goes to the reader's faults.
	read func(r *configReader, n *yamldoc.Node, path *yamldoc.Path)
	// show gives the value in force: nil, bool, float64, string, []string, another decoded value or, for a mapping, []configKey.
	show func() any
	// keep gives what a snapshot holds in the place of show, where that would lose an order; nil: show.
	keep func() any
	// ordered: of a mapping, the order of its members says something.
	ordered bool
	// form is the JSON schema of what may stand here; nil for a group.
	form func() map[string]any
	// required says what is missing where the key is absent; "": it may be left out.
	required string
	// below are the keys of a mapping that is not always there, or of each of its entries, whose names the file chooses.
	below   func() []configKey
	entries bool
	// others is, of a mapping of named groups, the JSON schema of what stands under names that the file adds. nil: it adds none.
	others func() map[string]any
}

// as says in JSON schema what may stand there.
func (k configKey) as(form map[string]any) configKey {
	k.form = func() map[string]any { return form }
	return k
}

// means says what a key is for, in a line of docs/config.md. Every key but a group has one: TestConfigPage holds it.
func (k configKey) means(line string) configKey {
	k.meaning = line
	return k
}

// groupKey is a mapping of keys. A key that is null is as if absent.
func groupKey(name string, keys ...configKey) configKey { return mappingKey(name, unknownKey, keys) }

// mappingKey is a groupKey with words of its own for a key that it does not know.
func mappingKey(name string, unknown func(key string, known []string) yamldoc.Fault, keys []configKey) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { r.group(n, path, keys, unknown) },
		show: func() any { return keys },
	}
}

// jsonLines is a list of which each item is shown on a line of its own.
type jsonLines []json.RawMessage

// values are the items decoded.
func (l jsonLines) values() []any {
	list := make([]any, len(l))
	for i, line := range l {
		list[i] = rawValue(line)
	}
	return list
}

func keyNames(keys []configKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

func unknownKey(key string, known []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: "unknown key", DidYouMean: catalog.Near(key, known)}
	if f.DidYouMean == "" {
		f.Want = "write " + yamldoc.Alternatives(known)
	}
	return f
}

func textValues(texts []string) []any {
	items := make([]any, len(texts))
	for i, text := range texts {
		items[i] = text
	}
	return items
}

// rawValue decodes what was kept as JSON.
func rawValue(text json.RawMessage) any {
	v, err := ijson.DecodeCanonical(text)
	if err != nil {
		return nil
	}
	return v
}
