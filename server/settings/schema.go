package settings

import (
	"bytes"
	"encoding/json"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
)

// Schema returns the grammar of the file as an indented JSON schema. It comes from the same keys as the reader.
func Schema() ([]byte, error) {
	var c Config
	if err := c.Embed(nil); err != nil {
		return nil, err
	}
	root := grammar.SchemaOf(c.Keys(nil))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Patterngate configuration"
	root["required"] = []any{"version"}
	root["patternProperties"] = map[string]any{"^x-": true}
	root["$defs"] = map[string]any{"secret": tools.SecretDefinition()}
	var out bytes.Buffer
	if err := json.Indent(&out, ijson.Canonical(root), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// ownPatternSchema returns the schema of a pattern of the file's own. Its kind decides which keys it has.
func ownPatternSchema() map[string]any {
	kinds := make([]any, len(OwnKinds))
	for i, word := range OwnKinds {
		p := newPattern("NAME", gateway.Kind(word), grammar.Position{})
		kinds[i] = map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": word}}, "required": []any{"kind"}},
			"then": grammar.SchemaOf(p.Keys(nil)),
		}
	}
	return map[string]any{
		"type": "object", "required": []any{"kind"}, "properties": map[string]any{"kind": map[string]any{"enum": grammar.TextValues(OwnKinds)}}, "allOf": kinds,
	}
}
