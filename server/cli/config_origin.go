package cli

import (
	"bytes"
	"encoding/json"
	"strconv"

	"patterngate/catalog"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// originRow is one value in force and where it comes from.
type originRow struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
	// Origin is default, file, or the variable or flag that says it.
	Origin string `json:"origin"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

const (
	fromDefault = "default"
	fromFile    = "file"
)

// origin is where the value of a path comes from.
func (l Document) origin(path string) (origin, file string, line int) {
	at, said := l.said[path]
	switch {
	case path == "llm.api_key" && !l.LLM.Key.Set() && l.LLM.APIKey.Set():
		return keyVariable, "", 0
	case !said:
		return fromDefault, "", 0
	case at.Line > 0:
		return fromFile, at.Source, at.Line
	}
	return at.Source, "", 0
}

// origins are all values in force, secrets as references, by path in the order of the file's grammar.
func (l Document) origins() []originRow {
	var rows []originRow
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
				value = secretReference()
			}
			row := originRow{Path: below.String(), Value: value}
			row.Origin, row.File, row.Line = l.origin(row.Path)
			rows = append(rows, row)
		}
	}
	walk(l.keys(nil), nil)
	return rows
}

// originYAML is the effective configuration as a file, each value with where it comes from.
func (l Document) originYAML() []byte {
	var out bytes.Buffer
	grammar.WriteYAML(&out, l.keys(nil), nil, func(path string, value any) string {
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
