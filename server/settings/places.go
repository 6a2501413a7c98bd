package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// FaultAt returns a fault that was found after the configuration was read, with its place. The place is the value under
// these keys (items as "[0]"), or the nearest value around it. An empty Severity becomes that of a fault.
func (l Document) FaultAt(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	return Placed(f, value.At, path, l.Path)
}

// FaultAtKey is FaultAt for a key that must not be there: the place is the key's.
func (l Document) FaultAtKey(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	key, _ := l.Root.Find(path)
	return Placed(f, key, path, l.Path)
}

// FaultIn is FaultAt for a byte in the text of the value, such as one of a CEL expression. The place is the exact
// character, however the text is quoted or folded.
func (l Document) FaultIn(f yamldoc.Fault, offset int, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	return Placed(f, value.Character(l.Path, l.Text, offset), path, l.Path)
}

// FaultInSchema is FaultAt for the value at a JSON pointer below the keys.
func (l Document) FaultInSchema(f yamldoc.Fault, pointer ijson.Pointer, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	found, _, at := value.FindPointer(pointer)
	return Placed(f, at, yamldoc.PathOf(slices.Concat(steps, found)), l.Path)
}

// Placed returns a fault with its place set. file is the file of a place without a source.
func Placed(f yamldoc.Fault, at yamldoc.Place, path *yamldoc.Path, file string) yamldoc.Fault {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	if f.File == "" {
		f.File = file
	}
	if f.Severity == "" {
		f.Severity = yamldoc.SeverityFault
	}
	return f
}

// Origin is one value in force and its source.
type Origin struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
	// Origin is default, file, or the variable or flag that sets it.
	Origin string `json:"origin"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

const (
	fromDefault = "default"
	// fromFile is the Origin of a value that the file sets.
	fromFile = "file"
)

// origin returns the source of the value of a path.
func (l Document) origin(path string) (origin, file string, line int) {
	at, said := l.said[path]
	switch {
	case path == "llm.api_key" && !l.LLM.Key.Set() && l.LLM.APIKey.Set():
		return KeyVariable, "", 0
	case !said:
		return fromDefault, "", 0
	case at.Line > 0:
		return fromFile, at.Source, at.Line
	}
	return at.Source, "", 0
}

// Origins returns all values in force by path, in the order of the file's grammar. Secrets are references.
func (l Document) Origins() []Origin {
	var rows []Origin
	var walk func(keys []grammar.Key, path *yamldoc.Path)
	walk = func(keys []grammar.Key, path *yamldoc.Path) {
		for _, k := range keys {
			below := path.Key(k.Name)
			value := k.Show()
			switch v := value.(type) {
			case []grammar.Key:
				if walk(v, below); len(v) > 0 {
					continue
				}
				value = map[string]any{}
			case json.RawMessage:
				value = grammar.RawValue(v)
			case grammar.JSONLines:
				value = v.Values()
			}
			if below.String() == "llm.api_key" && l.LLM.APIKey.Set() && !l.LLM.Key.Set() {
				value = SecretReference()
			}
			row := Origin{Path: below.String(), Value: value}
			row.Origin, row.File, row.Line = l.origin(row.Path)
			rows = append(rows, row)
		}
	}
	walk(l.Keys(nil), nil)
	return rows
}

// OriginYAML returns the effective configuration as a file in which a comment gives the source of each value.
func (l Document) OriginYAML() []byte {
	var out bytes.Buffer
	grammar.WriteYAML(&out, l.Keys(nil), nil, func(path string, value any) string {
		if _, group := value.(grammar.WholeGroup); group {
			return ""
		}
		origin, file, line := l.origin(path)
		if origin == fromFile {
			origin = file + ":" + strconv.Itoa(line)
		}
		if path == "llm.api_key" && l.LLM.keyed() {
			origin = catalog.Masked + " from " + origin
		}
		return origin
	})
	return out.Bytes()
}
