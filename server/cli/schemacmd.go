package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of the configuration file, for editors",
		Long: "Prints the JSON schema (draft 2020-12) of the configuration file, with what each key is for. An editor completes and\n" +
			"checks a file whose first line names it. What a schema cannot say, such as links between tools, says \"patterngate validate\".",
		Example: "  patterngate schema > patterngate.schema.json\n" +
			"  # and as the first line of the file:\n" +
			"  # yaml-language-server: $schema=./patterngate.schema.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := configSchema()
			if err != nil {
				return fault("schema", err)
			}
			_, err = a.out.Write(text)
			return err
		},
	}
}

// configSchema is the file's grammar as an indented JSON schema, made of the same keys as the reader.
func configSchema() ([]byte, error) {
	var c Config
	if err := c.embed(nil); err != nil {
		return nil, err
	}
	root := groupSchema(c.keys(nil))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Patterngate configuration"
	root["required"] = []any{"version"}
	root["patternProperties"] = map[string]any{"^x-": true}
	root["$defs"] = map[string]any{"secret": secretDefinition()}
	var out bytes.Buffer
	if err := json.Indent(&out, ijson.Canonical(root), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// groupSchema is a mapping of keys. One that is off may lack what it would need.
func groupSchema(keys []configKey) map[string]any {
	properties := make(map[string]any, len(keys))
	var required []string
	canBeOff := false
	for _, k := range keys {
		properties[k.name] = k.schema()
		if k.required != "" {
			required = append(required, k.name)
		}
		canBeOff = canBeOff || k.name == "enabled"
	}
	schema := objectForm(properties)
	switch {
	case len(required) > 0 && canBeOff:
		schema["if"] = map[string]any{"properties": map[string]any{"enabled": map[string]any{"const": false}}, "required": []any{"enabled"}}
		schema["else"] = map[string]any{"required": textValues(required)}
	case len(required) > 0:
		schema["required"] = textValues(required)
	}
	return schema
}

// ownPatternSchema is a pattern of the file's own: its kind says what else it has.
func ownPatternSchema() map[string]any {
	kinds := make([]any, len(ownKinds))
	for i, word := range ownKinds {
		p := newPattern("NAME", gateway.Kind(word), Position{})
		kinds[i] = map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": word}}, "required": []any{"kind"}},
			"then": groupSchema(p.keys(nil)),
		}
	}
	return map[string]any{
		"type": "object", "required": []any{"kind"}, "properties": map[string]any{"kind": map[string]any{"enum": textValues(ownKinds)}}, "allOf": kinds,
	}
}

// schema is what may stand at a key. null is as if it were absent.
func (k configKey) schema() map[string]any {
	var form map[string]any
	value := k.show()
	group, grouped := value.([]configKey)
	switch {
	case k.form != nil:
		form = k.form()
	case k.entries:
		form = map[string]any{"type": "object", "additionalProperties": orNull(groupSchema(k.below()))}
	case grouped && k.below != nil && len(group) > 0: // patterns: those that are built in, and others
		form = groupSchema(group)
		if k.name == "patterns" {
			form["additionalProperties"] = orNull(ownPatternSchema())
		}
	case k.below != nil:
		form = groupSchema(k.below())
	default:
		form = groupSchema(group)
	}
	schema := orNull(form)
	if k.meaning != "" {
		schema["description"] = k.meaning
	}
	if !grouped && value != nil && k.required == "" {
		schema["default"] = plainValue(value)
	}
	return schema
}

// plainValue is a value in force as a decoded one.
func plainValue(v any) any {
	switch v := v.(type) {
	case []string:
		return textValues(v)
	case json.RawMessage:
		return rawValue(v)
	case jsonLines:
		return v.values()
	}
	return v
}
