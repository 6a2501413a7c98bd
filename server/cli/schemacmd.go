package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/cli/console"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
)

func (a *configCommands) schemaCommand() *cobra.Command {
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
				return console.Fault("schema", err)
			}
			_, err = a.Out.Write(text)
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
	root := grammar.SchemaOf(c.keys(nil))
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

// ownPatternSchema is a pattern of the file's own: its kind says what else it has.
func ownPatternSchema() map[string]any {
	kinds := make([]any, len(ownKinds))
	for i, word := range ownKinds {
		p := newPattern("NAME", gateway.Kind(word), grammar.Position{})
		kinds[i] = map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": word}}, "required": []any{"kind"}},
			"then": grammar.SchemaOf(p.keys(nil)),
		}
	}
	return map[string]any{
		"type": "object", "required": []any{"kind"}, "properties": map[string]any{"kind": map[string]any{"enum": grammar.TextValues(ownKinds)}}, "allOf": kinds,
	}
}
