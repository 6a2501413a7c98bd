package inspect

import (
	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// Schema returns the command "schema".
func (a *Commands) Schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of the configuration file, for editors",
		Long: "Prints the JSON schema (draft 2020-12) of the configuration file, with a description of each key. An editor " +
			"completes and checks a file whose first line names the schema.\n\n" +
			"A schema cannot check everything, for example links between tools. \"patterngate validate\" does.",
		Example: "  patterngate schema > patterngate.schema.json\n" +
			"  # and as the first line of the file:\n" +
			"  # yaml-language-server: $schema=./patterngate.schema.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := settings.Schema()
			if err != nil {
				return console.Fault("schema", err)
			}
			_, err = a.Out.Write(text)
			return err
		},
	}
}
