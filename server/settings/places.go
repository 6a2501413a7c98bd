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

// FaultAt is a fault that was found after the configuration was read, at the value under these keys (items as "[0]"), or at
// the nearest one around it. Its Severity is a fault's where it has none.
func (l Document) FaultAt(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	return Placed(f, value.At, path, l.Path)
}

// FaultAtKey is FaultAt for a key that should not be there.
func (l Document) FaultAtKey(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	key, _ := l.Root.Find(path)
	return Placed(f, key, path, l.Path)
}

// FaultIn is FaultAt for a byte of the text that stands there, such as one of a CEL expression: it is placed at the very
// character, however the text is quoted or folded.
func (l Document) FaultIn(f yamldoc.Fault, offset int, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	return Placed(f, value.Character(l.Path, l.Text, offset), path, l.Path)
}

// FaultInSchema is FaultAt for what stands at a JSON pointer below.
func (l Document) FaultInSchema(f yamldoc.Fault, pointer ijson.Pointer, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.Root.Find(path)
	found, _, at := value.FindPointer(pointer)
	return Placed(f, at, yamldoc.PathOf(slices.Concat(steps, found)), l.Path)
}

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

// Refused is the error of a configuration with these faults, sorted by place; nil where there are none. Warnings among them
// do not count.
func Refused(faults []yamldoc.Fault) error {
	collected := &yamldoc.Faults{}
	for _, f := range faults {
		if f.Severity != yamldoc.SeverityWarning {
			collected.Found = append(collected.Found, f)
		}
	}
	return collected.Err()
}

// Origin is one value in force and where it comes from.
type Origin struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
	// Origin is default, file, or the variable or flag that says it.
	Origin string `json:"origin"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

const (
	fromDefault = "default"
	FromFile    = "file"
)

// origin is where the value of a path comes from.
func (l Document) origin(path string) (origin, file string, line int) {
	at, said := l.said[path]
	switch {
	case path == "llm.api_key" && !l.LLM.Key.Set() && l.LLM.APIKey.Set():
		return KeyVariable, "", 0
	case !said:
		return fromDefault, "", 0
	case at.Line > 0:
		return FromFile, at.Source, at.Line
	}
	return at.Source, "", 0
}

// Origins are all values in force, secrets as references, by path in the order of the file's grammar.
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

// OriginYAML is the effective configuration as a file, each value with where it comes from.
func (l Document) OriginYAML() []byte {
	var out bytes.Buffer
	grammar.WriteYAML(&out, l.Keys(nil), nil, func(path string, value any) string {
		if _, group := value.(grammar.WholeGroup); group {
			return ""
		}
		origin, file, line := l.origin(path)
		if origin == FromFile {
			origin = file + ":" + strconv.Itoa(line)
		}
		if path == "llm.api_key" && l.LLM.keyed() {
			origin = catalog.Masked + " from " + origin
		}
		return origin
	})
	return out.Bytes()
}
